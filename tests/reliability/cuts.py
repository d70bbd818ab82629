"""Cut journals at every line and in between; check that whole lines are read and the rest is played again."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from fairplay.core.errors import BadJournal, BadRequest, FairplayError
from fairplay.journal import replay
from fairplay.journal.lines import JournalLine
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.referee.referee import Referee
from tests.reliability.crashes import UndisturbedMatch, play_undisturbed
from tests.reliability.process_attempts import (
    STEPS,
    Fuse,
    fact_as_json,
    find_difference,
    interrupted_journal,
    whole_lines,
)
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each
from tests.reliability.tables import TABLES, MeterTable

NEAR_LINE_END = range(-8, 9)  # bytes around the end of a line
CUTS_PER_JOURNAL = 84  # cuts of each journal
RESUMED_CUTS = 40  # of the cuts of a journal; of every fourth journal all


def try_cuts(number: int, seed: bytes) -> Iterator[str]:
    """Cut the journal of a match that was interrupted two or three times."""
    lots, table, match_seed = make_lots(seed, number), TABLES[number % len(TABLES)], make_seed(seed, number)
    expected = play_undisturbed(table, match_seed)
    fuses = [Fuse(STEPS[lots.below(len(STEPS))], 2 + lots.below(8)) for _ in range(2 + lots.below(2))]
    with TemporaryDirectory() as directory:
        try:
            text = interrupted_journal(table, match_seed, Path(directory), fuses).read_bytes()
        except FairplayError as error:
            yield f"journal {number} ({table.game}), interrupted: {error}"
            return
    places = places_near_line_ends(text)
    places += [lots.below(len(text) + 1) for _ in range(CUTS_PER_JOURNAL)]
    resumed = {places[lots.below(len(places))] for _ in range(RESUMED_CUTS)} if number % 4 else set(places)
    for place in places:
        failure = find_misread(text[:place])
        if not failure and place in resumed:
            failure = find_misresumed(text[:place], table, match_seed, expected)
        yield failure and f"journal {number} ({table.game}), cut at byte {place} of {len(text)}: {failure}"


def places_near_line_ends(text: bytes) -> list[int]:
    ends = [0, *(place + 1 for place, byte in enumerate(text) if byte == ord("\n"))]
    return sorted({end + near for end in ends for near in NEAR_LINE_END if 0 <= end + near <= len(text)})


def find_misread(text: bytes) -> str:
    lines = whole_lines(text)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "cut.jsonl"
        path.write_bytes(text)
        try:
            recorded = read_journal(path)
        except BadJournal as error:
            return "" if not lines else f"refused: {error}"
    if not lines:
        return "something was read before the first line was whole"
    if recorded.heads != tuple(line["hash"] for line in lines):
        return f"{len(recorded.heads)} lines were read, not {len(lines)}"
    if [fact_as_json(fact) for fact in recorded.facts] != [line["fact"] for line in lines if line["type"] == "fact"]:
        return "other facts were read than are there"
    if (recorded.closing is not None) != (lines[-1]["type"] == "result"):
        return "it was read wrongly whether the match is finished"
    whole = text.rfind(b"\n") + 1
    measured = (recorded.whole_bytes, recorded.torn_bytes) == (whole, len(text) - whole)
    return "" if measured else "the torn end was not measured right"


def find_misresumed(text: bytes, table: MeterTable, seed: bytes, expected: UndisturbedMatch) -> str:
    """In what the match does not come to the same end if it is resumed from the text."""
    lines = whole_lines(text)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "cut.jsonl"
        path.write_bytes(text)
        journal = Journal(directory, sync=Durability.OFF)
        if not lines or lines[-1]["type"] == "result":
            try:
                journal.resume(path)
            except BadRequest:
                return "" if path.read_bytes() == text else "the file was changed, though it was refused"
            return "it was resumed, though there is nothing to be resumed"
        try:
            record, recorded = journal.resume(path)
            match = recorded.match_after(None)
            players = [table.player(seat, seed) for seat in sorted(match.remaining_seats)]
            with record:
                Referee().resume(match, players, record=record)
            return find_difference(path, expected.facts, expected.result, None)
        except FairplayError as error:
            return f"{type(error).__name__}: {error}"


ParsedLines = tuple[list[JournalLine], tuple[str, ...], int]
parse_lines = replay.parse_lines


def drop_line_before_torn_one(text: bytes) -> ParsedLines:
    lines, heads, torn = parse_lines(text)
    return (lines[:-1], heads[:-1], torn) if torn and len(lines) > 1 else (lines, heads, torn)


def keep_line_without_end(text: bytes) -> ParsedLines:
    return parse_lines(text + b"\n" if text.endswith(b'"}') else text)


CUT_METER = Meter(
    "cuts",
    measure_each(try_cuts),
    full=range(24),
    least=2_000,
    small=range(1, 3),
    parts=24,
    bugs={
        "drops a line too many": lambda: patch.object(replay, "parse_lines", drop_line_before_torn_one),
        "keeps a line too many": lambda: patch.object(replay, "parse_lines", keep_line_without_end),
    },
)
