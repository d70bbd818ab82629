"""Make a match ready to be played: a new one from a spec, or one that was interrupted from its record."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairplay.core.chance import SEED_BYTES, derive
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.match import Match
from fairplay.core.roles import UNRECORDED, Record
from fairplay.games import title
from fairplay.hosting.spec import MatchSpec
from fairplay.hosting.terms import Terms, asked_for, terms_for, terms_on_record
from fairplay.journal.append_file import InUse, Sync
from fairplay.journal.key import NoKey, key_in, own_key_file
from fairplay.journal.lines import FORMAT, Entry, Opening
from fairplay.journal.record import Finished, Journal, Unmarked, branched, check_id
from fairplay.journal.replay import Recorded, about
from fairplay.journal.unfinished import has_begun, unfinished
from fairplay.players.address import AnyPlayer, open_player
from fairplay.players.limits import Limits
from fairplay.players.location import HUMAN, Location, Near, far, near, of_the_house
from fairplay.referee.blame import host_to_blame
from fairplay.referee.host import complain, dealt

if TYPE_CHECKING:
    from fairplay.hosting.table import Table

AnyMatch = Match[Any, Any, Any]
ANOTHER = "this is another match than the one that is to be played"


class Sitting(NamedTuple):
    """A match that is about to be played from where it stands, with the players who are to sit down to it."""

    match: AnyMatch
    labels: tuple[str, ...]  # by seat
    addresses: tuple[str, ...]  # by seat
    terms: Terms
    begin: Callable[[AnyMatch], Record]  # begins its record, once it is clear that the players can be found
    took: Mapping[Seat, Sequence[float]] = {}  # by seat: how long each of its turns took before
    resumed: bool = False  # was the match begun before? Then everybody is greeted again
    held: Record = UNRECORDED  # is open already, and has to be closed on every path
    guessable: bool = False  # was the seed made from a short text?
    facts: int = 0  # that are on record already
    bot_logs: str | None = None  # the folder where what programs say on stderr is kept

    @property
    def caution(self) -> str:
        """What whoever runs it should know before, in one line; empty: nothing."""
        seated = [self.addresses[seat] for seat in self.match.seated]
        return caution(self.match.game, seated, guessable=self.guessable)

    def near(self) -> dict[Seat, AnyPlayer] | None:
        """The players by seat, if all of them are in this process and nobody has to be waited for."""
        if any(far(self.addresses[seat]) is not None for seat in self.match.seated):
            return None
        places = locations(self.match, self.addresses)
        return {seat: place.player for seat, place in places.items() if isinstance(place, Near)}

    def table(self) -> "Table":
        """The table for it, with its doors open."""
        from fairplay.hosting.table import OPEN, Table  # where all players are in this process, nobody needs it

        places = locations(self.match, self.addresses)
        limits, sandbox = self.terms.limits or Limits(), self.terms.sandbox or OPEN
        return Table(places, limits=limits, sandbox=sandbox, logs=self.bot_logs)


def caution(game: Game[Any, Any, Any], addresses: Iterable[str], *, guessable: bool) -> str:
    """What to say to whoever chose a seed that players of strangers may guess, where there is something to hide."""
    strangers = [address for address in addresses if address != HUMAN and not of_the_house(address, game.name)]
    if not (guessable and game.hidden and strangers):
        return ""
    return f"a seed that can be guessed is for trying things out: a player that finds it knows {game.hidden}"


def sitting_for(spec: MatchSpec) -> Sitting:
    """A new match; or the one with the id that the spec gives, if it was begun before and interrupted."""
    if spec.journal is not None and spec.id:
        check_id(spec.id)  # before it is part of a path
        if is_there(spec) and has_begun(path_of(spec)):
            return gone_on_with_by(spec, path_of(spec))
    return new_match(spec)


def is_there(spec: MatchSpec) -> bool:
    """Is there a file, or anything else, where the match of a spec would be recorded?"""
    return os.path.lexists(f"{spec.journal}/{spec.id}.jsonl")  # in a tenth of the time of asking a Path


def path_of(spec: MatchSpec) -> Path:
    """Where the match of a spec with an id is recorded."""
    return Path(spec.journal or ".") / f"{spec.id}.jsonl"


def new_match(spec: MatchSpec) -> Sitting:
    """A match that is dealt now."""
    game, journal, labels, addresses = spec.rules(), None, spec.labels, spec.addresses
    if spec.journal is not None:
        journal = journal_in(spec.journal, spec.sync, spec.key, warn=complain)
    limits = asked_for(spec.limits, addresses)
    terms = terms_for(addresses, limits, spec.sandbox, to_hide(spec), pondering=spec.pondering)
    with host_to_blame(game):
        match = dealt(game, labels, spec.seed, match_id=spec.id or None, sealed=spec.sealed)
    begin: Callable[[AnyMatch], Record] = unrecorded
    if journal is not None:
        begin = partial(
            journal.begin,
            players=addresses,
            drawn=spec.seed is None,
            guessable=spec.guessable,
            pondering=spec.pondering,
            **terms.kept,
        )
    return Sitting(match, labels, addresses, terms, begin, guessable=spec.guessable, bot_logs=spec.bot_logs)


def journal_in(
    folder: Path | str, sync: Sync, key: str | None = None, warn: Callable[[str], None] | None = None
) -> Journal:
    """The journal in a folder, with the key in this file or else our own; without one if there is no place for ours."""
    try:
        file = str(key or own_key_file())
        return marked_journal(str(folder), sync, file, stamp_of(file))
    except NoKey as why:
        if key is not None:
            raise
        if warn is not None:
            warn(f"the match is recorded WITHOUT A MARK, so that only --trust can go on with it: {why}")
        return Journal(folder, sync=sync)


@lru_cache(maxsize=16)
def marked_journal(folder: str, sync: Sync, key: str, stamp: tuple[int, ...]) -> Journal:
    """The journal in a folder with the key in a file, which is read only once for as long as its stamp is the same."""
    return Journal(folder, sync=sync, key=key_in(key))


def stamp_of(file: str) -> tuple[int, ...]:
    """What changes if the key in a file is another one, or others may read it."""
    try:
        status = os.lstat(file)
    except (OSError, ValueError):  # it is not there, or cannot be: whoever opens it says why
        return (int.from_bytes(os.urandom(8), "big"),)
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_ctime_ns


def to_hide(spec: MatchSpec) -> list[str]:
    """What the programs of a spec may not see: journals, logs, the key if it has one of its own, and what it names."""
    kept = () if spec.journal is None else (spec.journal, spec.key)
    return [place for place in (*kept, spec.bot_logs, *spec.hidden) if place is not None]


def interrupted(spec: MatchSpec, tell: Callable[[str], None] = complain) -> Sitting | None:
    """The oldest match of this spec that was interrupted here, and that nobody else plays; None: there is none."""
    strange = []
    for path in unfinished(spec.journal, partial(is_same, spec)) if spec.journal is not None else ():
        try:
            return gone_on_with_by(spec, path)
        except (InUse, Finished):  # somebody else goes on with it, or has just done so
            continue
        except Unmarked as error:
            strange.append(str(error))
    for why in strange[:1]:
        more = f" ({len(strange) - 1} more are like that)" if strange[1:] else ""
        tell(f"a new match begins: {why}{more}")
    return None


def is_same(spec: MatchSpec, opening: Opening) -> bool:
    """Was a match opened by this very spec?"""
    game = spec.rules()
    dealt = opening.drawn if spec.seed is None else opening.seed == spec.seed.hex()
    asked = (opening.game, opening.parameters, opening.names, opening.players, opening.pondering, opening.sealed)
    known = (opening.format, opening.rules) == (FORMAT, game.version)
    wanted = (spec.game, game.parameters(), spec.labels, spec.addresses, spec.pondering, spec.sealed)
    return known and dealt and asked == wanted and opening.parent is None


def gone_on_with_by(spec: MatchSpec, path: Path) -> Sitting:
    """The match of this spec, in whose file it was interrupted."""
    return gone_on_with(path, spec.limits, spec.sandbox, journal_in(path.parent, spec.sync, spec.key), spec)


def gone_on_with(
    path: Path | str,
    limits: Limits | None,
    sandbox: str | None,
    journal: Journal,
    spec: MatchSpec | None = None,
    *,
    trusted: bool = False,
    bot_logs: str | None = None,
) -> Sitting:
    """A match that was interrupted, to be gone on with in its own file on the terms that it has on record."""
    with ExitStack() as undo:
        undo.enter_context(about(path))
        record, recorded = journal.resume(path, trusted=trusted)
        undo.callback(record.close)
        opening = recorded.opening
        if spec is not None and not is_same(spec, opening):
            raise BadRequest(f"{path}: {ANOTHER}")
        if len(opening.players) != len(opening.names):
            raise BadRequest(f"{path}: the record does not say who played")
        match, folder = recorded.at(None), str(Path(path).parent)
        addresses = [opening.players[seat] for seat in sorted(match.seated)]
        if spec is None:
            refuse_imports(path, addresses)
        logs = bot_logs if spec is None else spec.bot_logs
        hidden = [folder, *([logs] if logs else [])] if spec is None else to_hide(spec)
        terms = terms_on_record(recorded, addresses, limits, sandbox, hidden)
        record.go_on(2 + len(recorded.resumptions), **terms.other_than(recorded))
        undo.pop_all()
    return Sitting(
        match,
        opening.names,
        opening.players,
        terms,
        lambda match: record,
        took=turns_taken(recorded.entries),
        resumed=True,
        held=record,
        guessable=opening.guessable,
        facts=len(recorded.entries),
        bot_logs=logs,
    )


def refuse_imports(path: Path | str, addresses: Iterable[str]) -> None:
    """Raise BadRequest if a record would have us import something: it would run in this process, and not shut in."""
    for address in addresses:
        if address.startswith("py:"):
            raise BadRequest(
                f"{path}: nothing is imported because a record names it, as this one does {address}; "
                "give the command again that began the match, or name the players, which begins a branch"
            )


def branch_of(
    recorded: Recorded,
    facts: int | None,
    names: tuple[str, ...],
    addresses: tuple[str, ...],
    terms: Terms,
    journal: Journal | None = None,
) -> Sitting:
    """A match of its own that goes on from where another stood after so many facts."""
    match = branched(recorded, facts, names)
    begin: Callable[[AnyMatch], Record] = unrecorded
    if journal is not None:
        begin = partial(journal.branch, recorded=recorded, facts=facts, players=addresses, **terms.kept)
    entries = recorded.entries[:facts]
    taken = turns_taken(entries)
    anew = {seat: [0.0] * len(turns) for seat, turns in taken.items()}  # it is not the time of those who play now
    return Sitting(
        match,
        names,
        addresses,
        terms,
        begin,
        took=anew,
        resumed=True,
        guessable=recorded.opening.guessable,
        facts=len(entries),
    )


def turns_taken(entries: Iterable[Entry]) -> dict[Seat, list[float]]:
    """How long each turn of each seat took."""
    taken: dict[Seat, list[float]] = {}
    for entry in entries:
        if isinstance(entry.fact, Acted) or entry.fact.moment is Moment.TURN:
            taken.setdefault(entry.fact.seat, []).append(entry.took)
    return taken


def unrecorded(match: AnyMatch) -> Record:
    """Nobody keeps a record."""
    return UNRECORDED


def locations(match: AnyMatch, addresses: Sequence[str]) -> dict[Seat, Location]:
    """Where the players are of those seats that were not ejected."""
    seed = match.seed or os.urandom(SEED_BYTES)
    return {
        seat: far(addresses[seat]) or near(addresses[seat], match.game.name, seat_key(seed, seat))
        for seat in sorted(match.seated)
    }


def open_here(game: str, address: str, seat: Seat, seed: bytes) -> AnyPlayer:
    """A player in this process."""
    return open_player(address, title(game), seat_key(seed, seat))


def seat_key(seed: bytes, seat: Seat) -> bytes:
    """What a house player at this seat draws its lots from."""
    return derive(seed, f"seat {seat}")
