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
from fairplay.tournament.counted import Counted
from fairplay.tournament.rating.standings import Row
from fairplay.tournament.report.decision import decision
from fairplay.tournament.report.figures import meetings, paces
from fairplay.tournament.result import TournamentResult

JSON, CSV = "results.json", "results.csv"
LONGEST = 500  # signs of a cell
FORMULA = r"[\s\"']*[=+\-@＝＋－＠]"  # what makes a spreadsheet take words for a formula
FORMULAS = re.compile(rf"(?:^|(?<=[,;|\t]))(?={FORMULA})")  # at the start of a cell, wherever a reader splits it
COLUMNS = (
    "place",
    "name",
    "address",
    "rating",
    "low",
    "high",
    "best_rank",
    "worst_rank",
    "best",
    "games",
    "points",
    "wins",
    "shared",
    "mean_place",
    "mean_score",
)


def write_results(result: TournamentResult) -> None:
    """Write both files into the directory of a tournament, each of them whole or not at all."""
    put(result.directory / JSON, as_json(results(result)))
    put(result.directory / CSV, as_csv(result.standings))


def results(result: TournamentResult) -> dict[str, Any]:
    """All that came of a tournament, as plain values. No seed is in it, and nothing that players may not know."""
    cup, rows, counted, ratings = result.cup, result.standings, result.counted, result.ratings
    names, decided = [row.name for row in rows], decision(cup, counted)
    met = meetings(names, counted)
    return {
        "standings": [msgspec.to_builtins(row) for row in rows],
        "game": cup.game,
        "parameters": msgspec.to_builtins(cup.rules().public_parameters()),
        "format": msgspec.to_builtins(cup.format),
        "seats": [
            {"seat": it.seat, "rating": tenth(it.rating), "low": tenth(it.low), "high": tenth(it.high)}
            for it in ratings.seats
        ],
        "ties": round(ratings.ties, 4),
        **({} if decided is None else {"test": {"said": decided[0], **msgspec.to_builtins(decided[1])}}),
        "apart": [{"better": better, "worse": worse} for better, worse in ratings.apart],
        "head_to_head": {"names": names, "games": met.games, "points": met.points},
        "faults": {
            fault.value: {row.name: row.faults[fault.value] for row in rows if fault.value in row.faults}
            for fault in Fault
        },
        "times": [
            {"name": it.name, "turns": it.turns, "mean": round(it.mean, 6), "slowest": round(it.slowest, 6)}
            for it in paces(names, counted)
        ],
        "matches": [in_short(one) for one in counted],
    }


def in_short(one: Counted) -> dict[str, Any]:
    """A match, without what is empty and without times."""
    known = msgspec.to_builtins(one)
    for key in ("turns", "seconds", "slowest"):
        known.pop(key, None)
    return known  # type: ignore[no-any-return]


def tenth(rating: float) -> float:
    """A rating as it is written down."""
    return round(rating, 1) + 0


def as_json(values: dict[str, Any]) -> str:
    """Values as JSON that is plain ASCII: a line for each, and for each item of a list."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {lines(value)}" for key, value in values.items()) + "\n}\n"


def lines(value: Any) -> str:
    """A value as JSON, a list of objects with a line for each of them."""
    if not isinstance(value, list):
        return json.dumps(value, allow_nan=False)
    return "[" + ",".join(f"\n {json.dumps(item, allow_nan=False)}" for item in value) + "]"


def as_csv(rows: Sequence[Row]) -> str:
    """The standings for a spreadsheet: a line for each player, a column for each fault."""
    written = StringIO()
    sheet = csv.writer(written, lineterminator="\r\n")
    sheet.writerow([*COLUMNS, *(fault.value for fault in Fault), "expelled", "note"])
    sheet.writerows(map(list, map(cells, rows)))
    return written.getvalue()


def cells(row: Row) -> Iterator[str | float]:
    """A row of the standings, as cells."""
    known: dict[str, Any] = msgspec.to_builtins(row)
    known["best_rank"], known["worst_rank"] = row.ranks or (None, None)
    for column in COLUMNS:
        yield cell(known[column])
    yield from (row.faults.get(fault.value, 0) for fault in Fault)
    yield "yes" if row.expelled else "no"
    yield row.note


def cell(value: str | float | None) -> str | float:
    """What stands in a cell; no words are taken for a formula, whichever sign separates cells.

    >>> cell("=1+1"), cell("  @SUM(A1)"), cell(-1.5), cell(None), cell("ann;=1+1")
    ("'=1+1", "'  @SUM(A1)", -1.5, '', "ann;'=1+1")
    """
    if not isinstance(value, str):
        return "" if value is None else value
    return FORMULAS.sub("'", printable(value, LONGEST))


def put(path: Path, text: str) -> None:
    """Write a file whole: whoever reads it sees the old one or the new one. Raises HostFault if it cannot be."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8", errors="replace", newline="")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise HostFault(f"{path}: cannot be written: {error.strerror}") from None
