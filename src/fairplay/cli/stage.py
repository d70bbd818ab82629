"""Show a match while it is played, and say how it ended."""

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from typing import Any

import click

from fairplay.cli.output import teller
from fairplay.core.chance import SEED_BYTES, derive
from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Ejected, Event, Receipt
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed, Message
from fairplay.games import Title
from fairplay.journal.record import Journal
from fairplay.journal.scroll import Sync
from fairplay.observers.feed import Feed
from fairplay.observers.reporter import Reporter, outcome
from fairplay.players.address import AnyPlayer, open_player
from fairplay.referee.host import Referee
from fairplay.render.text import printable


class Notes:
    """A record for the person who hosts: keeps what failing players said, and passes everything on to the journal."""

    def __init__(self, journal: Journal | None) -> None:
        self.evidence: list[tuple[int, str]] = []  # (seat, what it said)
        self.clock: Callable[[], float] = time.perf_counter
        self._journal = journal

    def open(self, match: Match[Any, Any, Any]) -> None:
        """Begin the journal, if there is one."""
        if self._journal is not None:
            self._journal.open(match)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> None:
        """Write it down, before anybody is told."""
        if self._journal is not None:
            self._journal.write(event, message, answer)
        if isinstance(event, Ejected) and isinstance(answer, Failed) and answer.evidence:
            self.evidence.append((event.seat, answer.evidence))

    def receipt(self) -> Receipt | None:
        """Where the journal stands, if there is one."""
        return None if self._journal is None else self._journal.receipt()


# The options of every verb that plays a match.
journal_option = click.option(
    "--journal",
    "directory",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Record the match there.",
)
sync_option = click.option(
    "--sync",
    type=click.Choice([sync.value for sync in Sync]),
    default=Sync.BATCH.value,
    show_default=True,
    help="When a recorded fact is safe from a power cut: before it is told, at most 50 ms later, or nobody knows when.",
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
    try:
        with journal or nullcontext(), redirect_stdout(sys.stderr):  # what players print must not come between events
            match = run(referee, notes)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{hint(journal)}") from None
    except HostFault as fault:
        raise HostFault(f"{fault}{hint(journal)}") from fault
    if quiet:
        click.echo("\n".join(outcome(match.result, match.names)))
    if not events:
        for seat, said in notes.evidence:
            click.echo(f"    {printable(match.names[seat], 40)}: {printable(said, 600)}")
        if journal is not None:
            click.echo(f"journal: {journal.path}\nreceipt: {journal.receipt()}")


def seated(shelf: Title, addresses: Mapping[int, str], seed: bytes) -> list[AnyPlayer]:
    """The players of these seats."""
    return [open_player(address, shelf, derive(seed, f"seat {seat}")) for seat, address in addresses.items()]


def go_on(
    referee: Referee, notes: Notes, shelf: Title, match: Match[Any, Any, Any], addresses: Sequence[str]
) -> Match[Any, Any, Any]:
    """Play a match on from where it stands, with the players at these addresses for those who were not ejected."""
    seed = match.seed or secrets.token_bytes(SEED_BYTES)
    table = seated(shelf, {seat: addresses[seat] for seat in sorted(match.seated)}, seed)
    return referee.resume(match, table, record=notes)


def hint(journal: Journal | None) -> str:
    """How to go on with a match that was interrupted."""
    if journal is None or journal.path is None or not journal.path.exists():
        return ""
    return f"; to go on with the match: fairplay resume {journal.path}"


def refuse_unreadable(texts: Iterable[str]) -> None:
    """Take nothing that is not UTF-8, for no journal could hold it."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise BadRequest(f"{text!r} is no text in UTF-8") from None
