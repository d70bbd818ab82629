"""Open the journals of matches: go on with what was interrupted, branch off, and say what came of what is over."""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import lru_cache, partial
from pathlib import Path

from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Receipt
from fairplay.core.game import Moment, Seat
from fairplay.core.roles import Record
from fairplay.hosting.sitting import AnyMatch, Sitting, path_of, to_hide, unrecorded
from fairplay.hosting.spec import MatchSpec, Outcome, turns_of
from fairplay.hosting.terms import Terms, terms_on_record
from fairplay.journal.key import NoKey, key_in, own_key_file
from fairplay.journal.lines import FORMAT, Entry, Opening
from fairplay.journal.record import Journal, branched
from fairplay.journal.replay import Recorded, about
from fairplay.journal.requests import Finished, InUse, Sync, Unmarked
from fairplay.journal.unfinished import unfinished
from fairplay.players.address import IN_PROCESS
from fairplay.protocol.limits import Limits
from fairplay.referee.host import complain

ANOTHER = "this is another match than the one that is to be played"


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
    wanted = (game.name, game.parameters(), spec.labels, spec.addresses, spec.pondering, spec.sealed)
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
        if address.startswith(IN_PROCESS):
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


def outcome_on_record(spec: MatchSpec) -> Outcome:
    """What came of a match that was finished before. Raises BadRequest if it is another one, or not ours."""
    path = path_of(spec)
    with about(path):
        recorded = journal_in(path.parent, spec.sync, spec.key).own(path)
    if recorded.closing is None or not is_same(spec, recorded.opening):
        raise BadRequest(f"{path}: {ANOTHER}")
    entries = recorded.entries
    head = Receipt(len(recorded.heads) - 1, recorded.heads[-1])
    return Outcome(
        id=recorded.opening.match,
        names=recorded.names,
        result=replace(recorded.closing.result, receipt=head),
        journal=str(path),
        evidence=tuple((entry.fact.seat, entry.evidence) for entry in entries if entry.evidence),
        turns=turns_of(turns_taken(entries), len(recorded.names)),
        took=recorded.closing.at - recorded.opening.at,
    )
