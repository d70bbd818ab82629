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
from fairplay.hosting.conditions import MatchConditions, recorded_conditions
from fairplay.hosting.prepared_match import AnyMatch, PreparedMatch, begin_unrecorded, hidden_paths, journal_path
from fairplay.hosting.spec import MatchSpec, Outcome, summarise_turns
from fairplay.journal.key import NoKey, load_key, user_key_file
from fairplay.journal.lines import FORMAT, Entry, Opening
from fairplay.journal.options import Durability, Finished, InUse, WithoutMac
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import RecordedMatch, journal_errors
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.players.address import IN_PROCESS_PREFIX
from fairplay.protocol.limits import Limits
from fairplay.referee.referee import print_warning

OTHER_MATCH = "this is another match than the one that is to be played"


def open_journal(
    directory: Path | str, sync: Durability, key: str | None = None, warn: Callable[[str], None] | None = None
) -> Journal:
    """The journal in a directory, with the key in this file or else our own; without one if there is no place for ours."""
    try:
        file = str(key or user_key_file())
        return journal_with_key(str(directory), sync, file, key_file_stamp(file))
    except NoKey as why:
        if key is not None:
            raise
        if warn is not None:
            warn(f"the match is recorded WITHOUT A MARK, so that only --trust can go on with it: {why}")
        return Journal(directory, sync=sync)


@lru_cache(maxsize=16)
def journal_with_key(directory: str, sync: Durability, key: str, stamp: tuple[int, ...]) -> Journal:
    """The journal in a directory with the key in a file, which is read only once for as long as its stamp is the same."""
    return Journal(directory, sync=sync, key=load_key(key))


def key_file_stamp(file: str) -> tuple[int, ...]:
    """What changes if the key in a file is another one, or others may read it."""
    try:
        status = os.lstat(file)
    except (OSError, ValueError):  # it is not there, or cannot be: whoever opens it says why
        return (int.from_bytes(os.urandom(8), "big"),)
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_ctime_ns


def resume_interrupted(spec: MatchSpec, tell: Callable[[str], None] = print_warning) -> PreparedMatch | None:
    """The oldest match of this spec that was interrupted here, and that nobody else plays; None: there is none."""
    strange = []
    for path in find_unfinished(spec.journal, partial(matches_spec, spec)) if spec.journal is not None else ():
        try:
            return resume_spec_match(spec, path)
        except (InUse, Finished):  # somebody else goes on with it, or has just done so
            continue
        except WithoutMac as error:
            strange.append(str(error))
    for why in strange[:1]:
        more = f" ({len(strange) - 1} more are like that)" if strange[1:] else ""
        tell(f"a new match begins: {why}{more}")
    return None


def matches_spec(spec: MatchSpec, opening: Opening) -> bool:
    """Was a match opened by this very spec?"""
    game = spec.load_game()
    dealt = opening.random_seed if spec.seed is None else opening.seed == spec.seed.hex()
    asked = (opening.game, opening.parameters, opening.names, opening.players, opening.pondering, opening.sealed)
    known = (opening.format, opening.rules) == (FORMAT, game.version)
    wanted = (game.name, game.parameters(), spec.labels, spec.addresses, spec.pondering, spec.sealed)
    return known and dealt and asked == wanted and opening.parent is None


def resume_spec_match(spec: MatchSpec, path: Path) -> PreparedMatch:
    """The match of this spec, in whose file it was interrupted."""
    return resume_match(path, spec.limits, spec.sandbox, open_journal(path.parent, spec.sync, spec.key), spec)


def resume_match(
    path: Path | str,
    limits: Limits | None,
    sandbox: str | None,
    journal: Journal,
    spec: MatchSpec | None = None,
    *,
    trusted: bool = False,
    bot_logs: str | None = None,
) -> PreparedMatch:
    """A match that was interrupted, to be gone on with in its own file on the conditions that it has on record."""
    with ExitStack() as undo:
        undo.enter_context(journal_errors(path))
        record, recorded = journal.resume(path, trusted=trusted)
        undo.callback(record.close)
        opening = recorded.opening
        if spec is not None and not matches_spec(spec, opening):
            raise BadRequest(f"{path}: {OTHER_MATCH}")
        if len(opening.players) != len(opening.names):
            raise BadRequest(f"{path}: the record does not say who played")
        match, directory = recorded.match_after(None), str(Path(path).parent)
        addresses = [opening.players[seat] for seat in sorted(match.remaining_seats)]
        if spec is None:
            refuse_imports(path, addresses)
        logs = bot_logs if spec is None else spec.bot_logs
        hidden = [directory, *([logs] if logs else [])] if spec is None else hidden_paths(spec)
        conditions = recorded_conditions(recorded, addresses, limits, sandbox, hidden)
        record.set_resumed(2 + len(recorded.resumptions), **conditions.changed_fields(recorded))
        undo.pop_all()
    return PreparedMatch(
        match,
        opening.names,
        opening.players,
        conditions,
        lambda match: record,
        turn_times=turn_times(recorded.entries),
        resumed=True,
        open_record=record,
        guessable=opening.guessable,
        facts=len(recorded.entries),
        bot_logs=logs,
    )


def refuse_imports(path: Path | str, addresses: Iterable[str]) -> None:
    """Raise BadRequest if a record would have us import something: it would run in this process, and not shut in."""
    for address in addresses:
        if address.startswith(IN_PROCESS_PREFIX):
            raise BadRequest(
                f"{path}: nothing is imported because a record names it, as this one does {address}; "
                "give the command again that began the match, or name the players, which begins a branch"
            )


def prepare_branch(
    recorded: RecordedMatch,
    facts: int | None,
    names: tuple[str, ...],
    addresses: tuple[str, ...],
    conditions: MatchConditions,
    journal: Journal | None = None,
) -> PreparedMatch:
    """A match of its own that goes on from where another stood after so many facts."""
    match = branch_match(recorded, facts, names)
    begin: Callable[[AnyMatch], Record] = begin_unrecorded
    if journal is not None:
        begin = partial(journal.branch, recorded=recorded, facts=facts, players=addresses, **conditions.journal_fields)
    entries = recorded.entries[:facts]
    taken = turn_times(entries)
    anew = {seat: [0.0] * len(turns) for seat, turns in taken.items()}  # it is not the time of those who play now
    return PreparedMatch(
        match,
        names,
        addresses,
        conditions,
        begin,
        turn_times=anew,
        resumed=True,
        guessable=recorded.opening.guessable,
        facts=len(entries),
    )


def turn_times(entries: Iterable[Entry]) -> dict[Seat, list[float]]:
    """How long each turn of each seat took."""
    taken: dict[Seat, list[float]] = {}
    for entry in entries:
        if isinstance(entry.fact, Acted) or entry.fact.moment is Moment.TURN:
            taken.setdefault(entry.fact.seat, []).append(entry.took)
    return taken


def recorded_outcome(spec: MatchSpec) -> Outcome:
    """What came of a match that was finished before. Raises BadRequest if it is another one, or not ours."""
    path = journal_path(spec)
    with journal_errors(path):
        recorded = open_journal(path.parent, spec.sync, spec.key).read_own(path)
    if recorded.closing is None or not matches_spec(spec, recorded.opening):
        raise BadRequest(f"{path}: {OTHER_MATCH}")
    entries = recorded.entries
    head = Receipt(len(recorded.heads) - 1, recorded.heads[-1])
    return Outcome(
        id=recorded.opening.match,
        names=recorded.names,
        result=replace(recorded.closing.result, receipt=head),
        journal=str(path),
        evidence=tuple((entry.fact.seat, entry.evidence) for entry in entries if entry.evidence),
        turns=summarise_turns(turn_times(entries), len(recorded.names)),
        took=recorded.closing.at - recorded.opening.at,
    )
