"""Write the results of a tournament for programs and spreadsheets: results.json and results.csv."""

import csv
import json
import os
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.render.text import printable
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.standings import StandingsRow
from fairplay.tournament.report.decision import describe_verdict
from fairplay.tournament.report.figures import head_to_head, thinking_times
from fairplay.tournament.result import TournamentResult

JSON_FILE, CSV_FILE = "results.json", "results.csv"
MAX_CELL_CHARS = 500
FORMULA_START = r"[\s\"']*[=+\-@＝＋－＠]"  # with which a spreadsheet takes text for a formula
# At the start of a cell, with any separator of cells.
FORMULA_STARTS = re.compile(rf"(?:^|(?<=[,;|\t]))(?={FORMULA_START})")
CSV_COLUMNS = (
    "place",
    "name",
    "address",
    "rating",
    "rating_low",
    "rating_high",
    "best_rank",
    "worst_rank",
    "best_probability",
    "games",
    "points",
    "wins",
    "shared_wins",
    "mean_place",
    "mean_score",
)


def write_results(result: TournamentResult) -> None:
    """Write both files into the directory of a tournament, each of them whole or not at all."""
    write_file_atomically(result.directory / JSON_FILE, format_json(results_dict(result)))
    write_file_atomically(result.directory / CSV_FILE, format_csv(result.standings))


def results_dict(result: TournamentResult) -> dict[str, Any]:
    """The results of a tournament as plain values, without seeds and hidden information."""
    tournament, rows, counted, ratings = result.spec, result.standings, result.counted, result.ratings
    names, decided = [row.name for row in rows], describe_verdict(tournament, counted)
    met = head_to_head(names, counted)
    return {
        "standings": [msgspec.to_builtins(row) for row in rows],
        "game": tournament.game,
        "parameters": msgspec.to_builtins(tournament.rules().public_parameters()),
        "format": msgspec.to_builtins(tournament.format),
        "seat_effects": [
            {
                "seat": it.seat,
                "advantage": round_rating(it.advantage),
                "advantage_low": round_rating(it.low),
                "advantage_high": round_rating(it.high),
            }
            for it in ratings.seats
        ],
        "tie_parameter": round(ratings.tie_parameter, 4),
        **({} if decided is None else {"sequential_test": {"summary": decided[0], **msgspec.to_builtins(decided[1])}}),
        "significant_pairs": [{"better": better, "worse": worse} for better, worse in ratings.significant_pairs],
        "head_to_head": {"names": names, "games": met.games, "points": met.points},
        "faults": {
            fault.value: {row.name: row.faults[fault.value] for row in rows if fault.value in row.faults}
            for fault in Fault
        },
        "thinking_times": [
            {"name": it.name, "turns": it.turns, "mean_s": round(it.mean_s, 6), "slowest_s": round(it.slowest_s, 6)}
            for it in thinking_times(names, counted)
        ],
        "matches": [match_summary(one) for one in counted],
    }


def match_summary(one: CountedMatch) -> dict[str, Any]:
    """A match without empty fields and times."""
    known = msgspec.to_builtins(one)
    for key in ("turns", "thinking_s", "slowest_turn_s"):
        known.pop(key, None)
    return known  # type: ignore[no-any-return]


def round_rating(rating: float) -> float:
    """A rating, rounded, and never -0."""
    return round(rating, 1) + 0


def format_json(values: dict[str, Any]) -> str:
    """Values as JSON in plain ASCII, with a line for each value and each item of a list."""
    return (
        "{\n" + ",\n".join(f"{json.dumps(key)}: {format_json_value(value)}" for key, value in values.items()) + "\n}\n"
    )


def format_json_value(value: Any) -> str:
    """A value as JSON; a list has a line for each item."""
    if not isinstance(value, list):
        return json.dumps(value, allow_nan=False)
    return "[" + ",".join(f"\n {json.dumps(item, allow_nan=False)}" for item in value) + "]"


def format_csv(rows: Sequence[StandingsRow]) -> str:
    """The standings for a spreadsheet: a line for each player, a column for each fault."""
    written = StringIO()
    sheet = csv.writer(written, lineterminator="\r\n")
    sheet.writerow([*CSV_COLUMNS, *(fault.value for fault in Fault), "expelled", "note"])
    sheet.writerows(map(list, map(row_cells, rows)))
    return written.getvalue()


def row_cells(row: StandingsRow) -> Iterator[str | float]:
    """A row of the standings, as cells."""
    known: dict[str, Any] = msgspec.to_builtins(row)
    for column in CSV_COLUMNS:
        yield format_cell(known[column])
    yield from (row.faults.get(fault.value, 0) for fault in Fault)
    yield "yes" if row.expelled else "no"
    yield row.note


def format_cell(value: str | float | None) -> str | float:
    """The text of a cell; no spreadsheet takes it for a formula, whichever character separates cells.

    >>> format_cell("=1+1"), format_cell("  @SUM(A1)"), format_cell(-1.5), format_cell(None), format_cell("ann;=1+1")
    ("'=1+1", "'  @SUM(A1)", -1.5, '', "ann;'=1+1")
    """
    if not isinstance(value, str):
        return "" if value is None else value
    return FORMULA_STARTS.sub("'", printable(value, MAX_CELL_CHARS))


def write_file_atomically(path: Path, text: str) -> None:
    """Replace a file atomically: readers see the old one or the new one. Raises HostFault if it cannot be written."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8", errors="replace", newline="")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise HostFault(f"{path}: cannot be written: {error.strerror}") from None
