"""Show a match while it is played, and say how it ended."""

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import click

from fairplay.cli.output import teller
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Event
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed
from fairplay.games import Title
from fairplay.journal.record import Journal
from fairplay.observers.feed import Feed
from fairplay.observers.reporter import Reporter, outcome
from fairplay.referee.host import Referee
from fairplay.render.text import printable


class Notes:
    """A record for the person who hosts: keeps what failing players said, and passes everything on to the journal."""

    def __init__(self, journal: Journal | None) -> None:
        self.evidence: list[tuple[int, str]] = []  # (seat, what it said)
        self.clock: Callable[[], float] = time.perf_counter
        self._journal = journal

    def open(self, match: Match[Any, Any, Any], seed: bytes | None) -> None:
        """Begin the journal, if there is one."""
        if self._journal is not None:
            self._journal.open(match, seed)

    def write(self, event: Event, answer: Answer | None) -> None:
        """Write it down, before anybody is told."""
        if self._journal is not None:
            self._journal.write(event, answer)
        if isinstance(event, Ejected) and isinstance(answer, Failed) and answer.evidence:
            self.evidence.append((event.seat, answer.evidence))


# The options of every verb that plays a match.
journal_option = click.option(
    "--journal", "directory", metavar="DIR", type=click.Path(file_okay=False), help="Record the match there."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print only the ranking and who was ejected.")
events_option = click.option("--events", is_flag=True, help="Print one JSON object per event instead.")


def show(
    shelf: Title,
    journal: Journal | None,
    run: Callable[[Referee, Notes], Match[Any, Any, Any]],
    *,
    quiet: bool,
    events: bool,
) -> None:
    """Let a match run, and show it as it was asked for."""
    if quiet and events:
        raise BadRequest("--quiet and --events cannot go together")
    notes, referee = Notes(journal), Referee()
    if events:
        referee.subscribe(Feed(teller(sys.stdout)))
    elif not quiet:
        referee.subscribe(Reporter(teller(sys.stdout), partial(shelf.text, colour=sys.stdout.isatty())))
    with redirect_stdout(sys.stderr):  # what players print must not come between the events
        match = run(referee, notes)
    if quiet:
        click.echo("\n".join(outcome(match.result, match.names)))
    if not events:
        for seat, said in notes.evidence:
            click.echo(f"    {printable(match.names[seat], 40)}: {printable(said, 600)}")
        if journal is not None:
            click.echo(f"journal: {journal.path}")


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Take nothing that is not UTF-8, for no journal could hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is no text in UTF-8") from None
