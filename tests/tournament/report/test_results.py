"""Test results.json and results.csv as programs and spreadsheets read them."""

import csv
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.report.figures import ThinkingTime, head_to_head, thinking_times
from fairplay.tournament.report.results import MAX_CELL_CHARS, write_file_atomically, write_results
from fairplay.tournament.result import TournamentResult
from fairplay.tournament.spec import TournamentSpec
from tests.nonempty import nonempty
from tests.tournament.example_tournaments import HOSTILE, SEED, make_spec, random_matches

NAMES = ["ann", "bob", "cyd"]


def written(directory: Path, counted: list[CountedMatch], tournament: TournamentSpec | None = None) -> dict[str, Any]:
    tournament = tournament or make_spec(NAMES)
    write_results(TournamentResult(tournament, directory, tuple(counted)))
    found: dict[str, Any] = msgspec.json.decode((directory / "results.json").read_bytes())  # which refuses NaN
    return found


def sheet(directory: Path) -> list[dict[str, str]]:
    with (directory / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_all_is_there_that_was_asked_for(tmp_path: Path) -> None:
    counted = random_matches(NAMES, 90, bad="cyd")

    found = written(tmp_path, counted)

    assert next(iter(found)) == "standings"
    assert [row["name"] for row in found["standings"]] == NAMES
    for row in nonempty(found["standings"][:2]):
        assert row["rating_low"] < row["rating"] < row["rating_high"]
    assert (found["game"], found["parameters"]["rows"], found["format"]["kind"]) == ("fish", 5, "round-robin")
    assert [seat["seat"] for seat in found["seat_effects"]] == [0, 1]
    assert {"better": "ann", "worse": "cyd"} in found["significant_pairs"]
    assert found["faults"]["crashed"] == {"cyd": sum("cyd" in one.names for one in counted)}
    assert found["faults"]["gone"] == {}
    assert [one["name"] for one in found["thinking_times"]] == NAMES
    assert [one["match"] for one in found["matches"]] == [one.match for one in counted]
    assert [one["places"] for one in found["matches"]] == [list(one.places) for one in counted]
    rows = sheet(tmp_path)
    assert [row["name"] for row in rows] == NAMES
    assert [float(row["rating"]) for row in rows] == [row["rating"] for row in found["standings"]]
    assert float(rows[2]["rating"]) < 0 and rows[2]["rating_low"] == ""
    assert [int(row["crashed"]) > 9 for row in rows] == [False, False, True]
    assert all(int(row[fault.value]) >= 0 for row in rows for fault in nonempty(Fault))


def test_results_can_be_written_before_the_first_match_and_are_ascii(tmp_path: Path) -> None:
    assert [row["rating"] for row in written(tmp_path, [])["standings"]] == [None] * 3
    assert [row["rating"] for row in sheet(tmp_path)] == [""] * 3

    found = written(tmp_path, random_matches(HOSTILE, 100, 3), make_spec(HOSTILE))

    assert (tmp_path / "results.json").read_bytes().isascii()
    assert {row["name"] for row in found["standings"]} == set(HOSTILE)


def test_heads_are_counted_both_ways(tmp_path: Path) -> None:
    matches = {"ann bob cyd": (1, 2, 2), "bob ann": (2, 1), "cyd bob": (1, 1)}
    counted = [
        CountedMatch(match=names, deal=0, names=tuple(names.split()), places=places)
        for names, places in matches.items()
    ]
    two_ejected = CountedMatch(match="1", deal=0, names=("ann", "bob", "cyd"), places=(3, 1, 3))

    met, ejected = head_to_head(NAMES, counted), head_to_head(NAMES, [two_ejected])

    assert met.games == [[0, 2, 1], [2, 0, 2], [1, 2, 0]]
    assert met.points == [[0, 2, 1], [0, 0, 1], [0, 1, 0]]
    assert ejected.games == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert ejected.points == [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    found = written(tmp_path, counted)["head_to_head"]
    assert (found["names"][0], found["points"][0]) == ("ann", [0, 1, 2]), "bob is last"


def test_thinking_times_have_the_slowest_turn_and_the_mean_of_all_matches() -> None:
    def match(
        names: tuple[str, ...], turns: tuple[int, ...], times: tuple[float, ...], slowest: tuple[float, ...]
    ) -> CountedMatch:
        return CountedMatch(match="", deal=0, names=names, turns=turns, thinking_s=times, slowest_turn_s=slowest)

    counted = [
        match(("ann", "bob"), (4, 0), (6.0, 0.0), (5.0, 0.0)),
        match(("bob", "ann"), (0, 1), (0.0, 1.5), (0.0, 1.5)),
    ]

    assert thinking_times(NAMES, counted) == (ThinkingTime("ann", 5, 1.5, 5.0),)


def test_times_are_in_a_section_of_their_own(tmp_path: Path) -> None:
    counted = random_matches(NAMES)
    slower = [replace(one, thinking_s=(50.0, 60.0), slowest_turn_s=(6.0, 8.0)) for one in counted]

    found, other = written(tmp_path, counted), written(tmp_path, slower)

    assert found.pop("thinking_times") != (times := other.pop("thinking_times"))
    assert found == other
    assert {one["slowest_s"] for one in times} <= {6.0, 8.0}
    assert all(5 <= one["mean_s"] <= 6 for one in nonempty(times))


def test_results_have_no_seed_and_no_hidden_information(tmp_path: Path) -> None:
    tiles = list(range(20))
    tournament = replace(make_spec(NAMES), game="tsuro", parameters={"tiles": tiles, "size": 5})

    found = written(tmp_path, random_matches(NAMES), tournament)

    text = (tmp_path / "results.json").read_text().lower()
    assert found["parameters"]["size"] == 5
    assert found["parameters"]["tiles"] != tiles
    assert "seed" not in text
    assert SEED.hex() not in text
    assert SEED.hex()[:16] not in text


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n@x", "＝1", "a\n=1", '"=1"', "-1;=1"]


@pytest.mark.parametrize(
    ("text", "delimiter"), [(text, sign) for number, text in enumerate(FORMULAS) for sign in ("", ",;|\t"[number % 4])]
)
def test_no_reader_finds_a_formula_in_a_name(text: str, delimiter: str, tmp_path: Path) -> None:
    name = f"ann{delimiter}{text}{delimiter}" if delimiter else text
    written(tmp_path, random_matches([name, "bob"]), make_spec([name, "bob"]))

    with (tmp_path / "results.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell.lstrip() for row in csv.reader(file, delimiter=delimiter or ",") for cell in row]

    (shown,) = {row["name"] for row in sheet(tmp_path)} - {"bob"}
    assert not shown.lstrip().startswith(tuple("=+-@＝"))
    is_number = re.compile(r"[+-]?\d+(\.\d+)?").fullmatch
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@＝")) and not is_number(cell)]
    assert (tmp_path / "results.csv").read_bytes().count(b"\n") == 3, "nor for a line of its own"


def test_a_cell_of_the_sheet_has_an_end(tmp_path: Path) -> None:
    tournament = make_spec(["ann", "bob"])
    ann, bob = tournament.players

    written(
        tmp_path,
        random_matches(["ann", "bob"]),
        replace(tournament, players=(replace(ann, address="exec:" + "x" * 100_000), bob)),
    )

    assert len(sheet(tmp_path)[0]["address"]) == MAX_CELL_CHARS


def test_every_column_of_the_csv_is_documented(tmp_path: Path) -> None:
    written(tmp_path, random_matches(NAMES))
    page = (Path(__file__).parents[3] / "docs" / "tournaments.md").read_text()
    section = page.partition("### results.csv")[2].partition("\n## ")[0]

    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    told = [name for row in rows for name in re.findall("`([a-z_]+)`", row)]

    assert told == list(sheet(tmp_path)[0])


def test_a_results_file_is_replaced_atomically(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_file_atomically(path, "old")
    with path.open() as reader:
        write_file_atomically(path, "bob\ud800")

        assert (reader.read(), path.read_text()) == ("old", "bob?")
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_our_fault_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "results.json" / "directory").mkdir(parents=True)

    for path in (tmp_path / "results.json", tmp_path / "nowhere" / "results.json"):
        with pytest.raises(HostFault, match=r"results.json: cannot be written"):
            write_file_atomically(path, "new")

    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]
