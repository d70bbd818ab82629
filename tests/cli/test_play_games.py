"""Test `fairplay play --games`: many matches of the same players, with rotating seats and a comparison at the end."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from fairplay.tournament import tournament_log
from tests.cli.command import SMALL_BOARD, make_in_process_player, refusal_line, run_fairplay, run_script
from tests.cli.tournament_files import read_results
from tests.python_path import python_path

ONE = ("--jobs", "1")
NOT_KEPT = "fairplay: journals and results are not kept; --out DIR keeps them"
GAMES = ("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--games", "6", *ONE)


def test_a_table_of_results_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    done = run_fairplay(*GAMES, "--seed", "any")

    assert (done.code, done.err) == (0, f"{NOT_KEPT}\n")
    lines = done.out.splitlines()
    assert lines[0].split() == ["#", "name", "rating", "95", "%", "ranks", "games", "points", "score"]
    assert [line.split()[:2] for line in lines[1:3]] == [["1", "ann"], ["2", "bob"]]
    assert "results" not in done.out
    assert list(tmp_path.iterdir()) == []
    assert run_fairplay(*GAMES, "--seed", "any").out == done.out
    assert run_fairplay(*GAMES, "--seed", "another").out != done.out


@pytest.mark.parametrize("players", [2, 3])
def test_seats_rotate(players: int, tmp_path: Path) -> None:
    names = ("ann", "bob", "cyd", "dan")[:players]
    arguments = [f"{name}=random" for name in names]

    options = ("--set", "cramped=true", "--games", "12", "--out", str(tmp_path))
    done = run_fairplay("play", "fish", *arguments, *SMALL_BOARD, *options, *ONE)

    assert done.code == 0
    files = "results.json, results.csv, report.html"
    assert done.out.endswith(f"\nresults: {tmp_path}/{files}; matches: {tmp_path}/matches\n")
    found = read_results(tmp_path)
    seated = Counter((name, seat) for match in found["matches"] for seat, name in enumerate(match["names"]))
    assert seated == {(name, seat): 12 // players for name in names for seat in range(players)}
    assert {row["name"]: row["games"] for row in found["standings"]} == dict.fromkeys(names, 12)


def test_the_same_games_command_resumes(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "x"))
    first = run_fairplay(*GAMES, *out)

    again = run_fairplay(*GAMES, *out)
    other = run_fairplay("play", "fish", "ann=greedy", "bob=random", *SMALL_BOARD, "--games", "7", *out)

    assert (again.code, again.out) == (0, first.out)
    assert again.err == "fairplay: it was over before, and nothing is left to be played\n"
    assert refusal_line(other) == (
        f"{tmp_path / 'x'} belongs to another tournament (format.games was 6 and is 7); "
        "name another directory with --out"
    )


def test_an_empty_seed_is_a_seed_that_a_command_without_one_does_not_go_on_with(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "x"))
    assert run_fairplay(*GAMES, *out, "--seed", "").code == 0

    assert "belongs to another tournament" in refusal_line(run_fairplay(*GAMES, *out))
    assert run_fairplay(*GAMES, *out, "--seed", "").code == 0


def test_the_names_and_the_parameters_of_all_games_are_those_of_one(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "random", "random", *SMALL_BOARD, "--games", "1", *ONE, "--out", str(tmp_path))

    tournament = tournament_log.read_log(tmp_path).opening.spec
    assert [player.name for player in tournament.players] == ["random", "random-2"]
    assert (tournament.parameters["rows"], tournament.parameters["columns"]) == (4, 4)


@pytest.mark.parametrize("options", [(), ("--pondering",)])
def test_programs_may_ponder_if_that_is_asked_for(options: tuple[str, ...], tmp_path: Path) -> None:
    run_fairplay(*GAMES, *options, "--out", str(tmp_path))

    assert tournament_log.read_log(tmp_path).opening.spec.pondering is bool(options)


def test_a_misbehaving_player_is_reported_at_once_and_has_a_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = make_in_process_player('def take_turn(view):\n    raise RuntimeError("\\x1b[2Jboom")', tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", python_path(tmp_path))

    done = run_fairplay("play", "fish", "greedy", f"b\x1b[2Jad={bad}", *SMALL_BOARD, "--games", "4", *ONE)

    assert done.code == 0
    assert done.err.splitlines() == [
        *(f"fairplay: b�[2Jad was ejected from m0000{match}: crashed, raised RuntimeError" for match in (1, 2, 3)),
        "fairplay: further ejections of b�[2Jad are not shown",
        NOT_KEPT,
    ]
    assert done.out.splitlines()[0].endswith("  crashed")
    assert done.out.splitlines()[2].split()[1] == "b�[2Jad"
    assert done.out.splitlines()[2].endswith(" 4")
    assert run_fairplay("play", "fish", "greedy", f"bad={bad}", *SMALL_BOARD, "--games", "4", *ONE, "--quiet").err == ""


def test_output_that_cannot_be_written_is_a_fault_of_the_host(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run_script(*GAMES, "--quiet", stdout=full)
    assert refusal_line(done, 3) == "the output cannot be written: No space left on device"

    (tmp_path / "matches").touch()
    why = refusal_line(run_fairplay(*GAMES, "--quiet", "--out", str(tmp_path)), 3)
    assert why.startswith(f"{tmp_path}/matches cannot be used: File exists; to go on: ")

    why = refusal_line(run_fairplay(*GAMES, "--quiet", "--out", "/proc/nowhere"), 3)
    assert why == "cannot write journals in /proc/nowhere: No such file or directory"  # and nothing to go on with


def test_an_extra_that_is_missing_is_named_and_one_match_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("numpy", "scipy", "matplotlib", "distributed"):
        monkeypatch.setitem(sys.modules, library, None)

    assert refusal_line(run_fairplay(*GAMES)) == (
        "numpy is missing, which tournaments need: pip install 'fairplay[tournament]'"
    )
    assert run_fairplay("play", "fish", "greedy", "random", *SMALL_BOARD).code == 0
