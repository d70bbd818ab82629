"""Show a match while it is played, and say how it ended."""

import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from fairplay.cli.output import teller
from fairplay.core.chance import SEED_BYTES, derive
from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Acted, Ejected, Event, Fact, Receipt
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Failed, Message
from fairplay.games import Title
from fairplay.journal.append_file import Sync
from fairplay.journal.record import Journal
from fairplay.observers.feed import Feed
from fairplay.observers.reporter import Reporter, standings
from fairplay.players.address import AnyPlayer, open_player
from fairplay.players.limits import Limits, limits_from
from fairplay.players.remote import DEFAULT
from fairplay.players.sandbox import Level, Sandbox, sandbox_from, wrap
from fairplay.players.table import OPEN, Command, Location, Near, Table, far
from fairplay.referee.host import Referee
from fairplay.render.text import printable

MOST_EVIDENCE = 12  # lines of what a failing player said


class Notes:
    """A record for the person who hosts: keeps what failing players said, and passes everything on to the journal."""

    def __init__(self, journal: Journal | None) -> None:
        self.evidence: list[tuple[int, str]] = []  # (seat, what it said)
        self.clock: Callable[[], float] = time.perf_counter
        self._journal = journal

    @property
    def match_id(self) -> str:
        """The id of the match; if nobody records it, one that nobody else has."""
        return secrets.token_hex(16) if self._journal is None else self._journal.match_id

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
limit_option = click.option(
    "--limit",
    default=f"{DEFAULT.move:g}",
    show_default=True,
    metavar="SECONDS",
    help="For each answer of a player elsewhere; or move=5,first=20,bank=60,increment=1,start=10,arrival=60.",
)
sandbox_option = click.option(
    "--sandbox",
    type=click.Choice(["auto", *(level.value for level in Level)]),
    default="auto",
    show_default=True,
    help="How programs are shut in; see: fairplay doctor.",
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
        click.echo("\n".join(standings(match.result, match.names)))
    if not events:
        for seat, said in notes.evidence:
            for line in said.splitlines()[-MOST_EVIDENCE:]:
                click.echo(f"    {printable(match.names[seat], 40)}: {printable(line, 600)}")
        if journal is not None:
            click.echo(f"journal: {journal.path}\nreceipt: {journal.receipt()}")


def nothing() -> None:
    """The record goes on."""


class Terms(msgspec.Struct, frozen=True):
    """On what terms players are let in: how long they may take, and how programs are shut in."""

    limits: Limits | None  # None: all are in this process, and nobody is timed
    sandbox: Sandbox | None  # None: there are no programs

    @property
    def kept(self) -> dict[str, Any]:
        """What a journal keeps of them."""
        sandbox = "" if self.sandbox is None else self.sandbox.level.value
        limits = None if self.limits is None else msgspec.structs.asdict(self.limits)
        return {"limits": limits and {name: it for name, it in limits.items() if it is not None}, "sandbox": sandbox}


def terms_for(addresses: Sequence[str], limit: str, sandbox: str, *journals: str) -> Terms:
    """The terms for the players at these addresses; programs may not see the directories of journals."""
    limits, places = limits_from(limit), [far(address) for address in addresses]
    commands = [place for place in places if isinstance(place, Command)]
    if not commands:
        return Terms(limits if any(places) else None, None)
    for directory in journals:
        try:
            Path(directory).mkdir(parents=True, exist_ok=True)  # what is not there cannot be hidden
        except OSError as error:
            raise HostFault(f"no journal can be written in {directory}: {error.strerror}") from error
    shut_in = msgspec.structs.replace(sandbox_from(sandbox), hidden=journals)
    for command in commands:
        wrap(command.words, shut_in)  # is it there at all?
    return Terms(limits, shut_in)


def sit_down(
    referee: Referee,
    notes: Notes,
    shelf: Title,
    match: Match[Any, Any, Any],
    addresses: Sequence[str],
    terms: Terms,
    *,
    begin: Callable[[], object] = nothing,
    facts: Iterable[Fact] = (),
) -> Match[Any, Any, Any]:
    """Play a match from where it stands, with the players at these addresses for those who were not ejected.

    The record is begun once it is clear that all of them can be found, and before any of them is let in. Turns are
    counted from those in the facts that led here.
    """
    turns = Counter(fact.seat for fact in facts if isinstance(fact, Acted))
    places = locations(shelf, match, addresses)
    with Table(places, limits=terms.limits or DEFAULT, sandbox=terms.sandbox or OPEN) as table:
        begin()
        return table.play(referee, match, record=notes, match_id=notes.match_id, turns=turns)


def locations(shelf: Title, match: Match[Any, Any, Any], addresses: Sequence[str]) -> dict[int, Location]:
    """Where the players are of those seats that were not ejected."""
    seed = match.seed or secrets.token_bytes(SEED_BYTES)
    places: dict[int, Location] = {}
    for seat in sorted(match.seated):
        places[seat] = far(addresses[seat]) or Near(open_here(shelf, addresses[seat], seat, seed))
    return places


def open_here(shelf: Title, address: str, seat: int, seed: bytes) -> AnyPlayer:
    """A player in this process."""
    return open_player(address, shelf, derive(seed, f"seat {seat}"))


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


def settings(parameters: Sequence[str]) -> dict[str, str]:
    """The parameters of --set NAME=VALUE."""
    found: dict[str, str] = {}
    for text in parameters:
        name, equals, value = text.partition("=")
        if not equals or name in found:
            raise BadRequest(f"--set {text}: write NAME=VALUE, and each name once")
        found[name] = value
    return found
