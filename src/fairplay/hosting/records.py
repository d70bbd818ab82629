"""Resume and branch matches from their journals, and read the outcomes of finished ones."""

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

OTHER_MATCH = "this journal is of another match than the spec"


def open_journal(
    directory: Path | str, sync: Durability, key: str | None = None, warn: Callable[[str], None] | None = None
) -> Journal:
    """Open the journal in a directory, with the key in this file, else the user's own, else without a key."""
    try:
        file = str(key or user_key_file())
        return journal_with_key(str(directory), sync, file, key_file_stamp(file))
    except NoKey as why:
        if key is not None:
            raise
        if warn is not None:
            warn(f"the match is recorded WITHOUT A MAC, so that it can be resumed only with --trust: {why}")
        return Journal(directory, sync=sync)


@lru_cache(maxsize=16)
def journal_with_key(directory: str, sync: Durability, key: str, stamp: tuple[int, ...]) -> Journal:
    """Open a journal with the key in a file, which is read again only if its stamp changes."""
    return Journal(directory, sync=sync, key=load_key(key))


def key_file_stamp(file: str) -> tuple[int, ...]:
    """A value that changes when the key or the permissions of its file change."""
    try:
        status = os.lstat(file)
    except (OSError, ValueError):  # opening the file reports the error
        return (int.from_bytes(os.urandom(8), "big"),)
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_size, status.st_ctime_ns


def resume_interrupted(spec: MatchSpec, tell: Callable[[str], None] = print_warning) -> PreparedMatch | None:
    """Resume the oldest interrupted match of this spec, unless another process plays it; None: there is none."""
    without_mac = []
    for path in find_unfinished(spec.journal, partial(matches_spec, spec)) if spec.journal is not None else ():
        try:
            return resume_spec_match(spec, path)
        except (InUse, Finished):  # another process plays it, or has just finished it
            continue
        except WithoutMac as error:
            without_mac.append(str(error))
    for why in without_mac[:1]:
        more = f" ({len(without_mac) - 1} more like that)" if without_mac[1:] else ""
        tell(f"a new match begins: {why}{more}")
    return None


def matches_spec(spec: MatchSpec, opening: Opening) -> bool:
    """Was a match begun from this very spec?"""
    game = spec.load_game()
    dealt = opening.random_seed if spec.seed is None else opening.seed == spec.seed.hex()
    recorded = (opening.game, opening.parameters, opening.names, opening.players, opening.pondering, opening.sealed)
    known = (opening.format, opening.rules) == (FORMAT, game.version)
    wanted = (game.name, game.parameters(), spec.labels, spec.addresses, spec.pondering, spec.sealed)
    return known and dealt and recorded == wanted and opening.parent is None


def resume_spec_match(spec: MatchSpec, path: Path) -> PreparedMatch:
    """Resume the match of this spec from its journal."""
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
    """Resume an interrupted match in its own file, under the conditions in its record."""
    with ExitStack() as undo:
        undo.enter_context(journal_errors(path))
        record, recorded = journal.resume(path, trusted=trusted)
        undo.callback(record.close)
        opening = recorded.opening
        if spec is not None and not matches_spec(spec, opening):
            raise BadRequest(f"{path}: {OTHER_MATCH}")
        if len(opening.players) != len(opening.names):
            raise BadRequest(f"{path}: the record does not name the players")
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
    """Raise BadRequest if a record names a module to import, which would run here without a sandbox."""
    for address in addresses:
        if address.startswith(IN_PROCESS_PREFIX):
            raise BadRequest(
                f"{path}: this record names {address}, and nothing is imported because a record names it; "
                "repeat the command that began the match, or name the players to begin a branch"
            )


def prepare_branch(
    recorded: RecordedMatch,
    facts: int | None,
    names: tuple[str, ...],
    addresses: tuple[str, ...],
    conditions: MatchConditions,
    journal: Journal | None = None,
) -> PreparedMatch:
    """Prepare a new match that branches off a recorded one after some facts."""
    match = branch_match(recorded, facts, names)
    begin: Callable[[AnyMatch], Record] = begin_unrecorded
    if journal is not None:
        begin = partial(journal.branch, recorded=recorded, facts=facts, players=addresses, **conditions.journal_fields)
    entries = recorded.entries[:facts]
    untimed = {seat: [0.0] * len(turns) for seat, turns in turn_times(entries).items()}  # of other players
    return PreparedMatch(
        match,
        names,
        addresses,
        conditions,
        begin,
        turn_times=untimed,
        resumed=True,
        guessable=recorded.opening.guessable,
        facts=len(entries),
    )


def turn_times(entries: Iterable[Entry]) -> dict[Seat, list[float]]:
    """The times of all turns, by seat."""
    times: dict[Seat, list[float]] = {}
    for entry in entries:
        if isinstance(entry.fact, Acted) or entry.fact.moment is Moment.TURN:
            times.setdefault(entry.fact.seat, []).append(entry.took)
    return times


def recorded_outcome(spec: MatchSpec) -> Outcome:
    """The outcome of a match that was finished before. Raises BadRequest for another match or an invalid mac."""
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
