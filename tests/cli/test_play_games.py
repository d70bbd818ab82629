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


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_rotate(players: int, tmp_path: Path) -> None:
    names = ("ann", "bob", "cyd", "dan")[:players]
    arguments = [f"{name}=random" for name in names]

    done = run_fairplay(
        "play", "fish", *arguments, *SMALL_BOARD, "--set", "cramped=true", "--games", "12", "--out", str(tmp_path), *ONE
    )

    assert done.code == 0
    assert done.out.endswith(
        f"\nresults: {tmp_path}/results.json, results.csv, report.html; matches: {tmp_path}/matches\n"
    )
    found = read_results(tmp_path)
    seated = Counter((name, seat) for match in found["matches"] for seat, name in enumerate(match["names"]))
    assert seated == {(name, seat): 12 // players for name in names for seat in range(players)}
    assert {row["name"]: row["games"] for row in found["standings"]} == dict.fromkeys(names, 12)


def test_an_empty_seed_is_a_seed_that_a_command_without_one_does_not_go_on_with(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "x"))
    assert run_fairplay(*GAMES, *out, "--seed", "").code == 0

    other = run_fairplay(*GAMES, *out)

    assert "belongs to another tournament" in refusal_line(other)
    assert run_fairplay(*GAMES, *out, "--seed", "").code == 0


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


def test_the_names_and_the_parameters_of_all_games_are_those_of_one(tmp_path: Path) -> None:
    run_fairplay("play", "fish", "random", "random", *SMALL_BOARD, "--games", "1", *ONE, "--out", str(tmp_path))

    tournament = tournament_log.read_log(tmp_path).opening.spec
    assert [player.name for player in tournament.players] == ["random", "random-2"]
    assert (tournament.parameters["rows"], tournament.parameters["columns"]) == (4, 4)


def test_a_file_in_the_place_of_the_matches_is_named(tmp_path: Path) -> None:
    (tmp_path / "matches").touch()

    done = run_fairplay(*GAMES, "--quiet", "--out", str(tmp_path))

    assert refusal_line(done, 3).startswith(f"{tmp_path}/matches cannot be used: File exists; to go on: ")


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


def test_prints_of_players_in_a_worker_are_not_in_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from fairplay.games.fish import Fish\n"
    source += "def take_turn(view):\n    print('look', flush=True)\n    return next(Fish().actions(view))"
    chatty = make_in_process_player(source, tmp_path, monkeypatch)

    done = run_script(
        *("play", "fish", "greedy", f"ann={chatty}", *SMALL_BOARD, "--games", "2", *ONE),
        environment={"PYTHONPATH": python_path(tmp_path)},
    )

    assert done.code == 0
    assert "look" not in done.out
    assert set(done.err.splitlines()) == {"look", NOT_KEPT}


TABLE = ("play", "fish", "greedy", "random")

REFUSED = {
    "no games": ((*TABLE, "--games", "0"), "Invalid value for '--games': 0 is not in the range 1<=x<=1000000."),
    "games that are no number": (
        (*TABLE, "--games", "many"),
        "Invalid value for '--games': 'many' is not a valid integer range.",
    ),
    "one player": (("play", "fish", "greedy", "--games", "2"), "fish is for 2 to 4 players, not for 1"),
    "too many players": ((*TABLE, *TABLE[2:], "random", "--games", "2"), "fish is for 2 to 4 players, not for 5"),
    "an unknown player": (
        ("play", "fish", "gredy", "random", "--games", "2"),
        "fish has no player 'gredy'; it has random, greedy, lookahead, sampler, territory, "
        "and takes human, ./file.py, exec:COMMAND, tcp:PORT, ws:PORT and py:module:Name",
    ),
    "a missing file": (("play", "fish", "./no.py", "random", "--games", "2"), "there is no Python file ./no.py"),
    "a journal": (
        (*TABLE, "--games", "2", "--journal", "x"),
        "--journal cannot be used with --games; see: fairplay play --help",
    ),
    "ages": (
        (*TABLE, "--games", "2", "--ages", "1,2"),
        "--ages cannot be used with --games; see: fairplay play --help",
    ),
    "lines": ((*TABLE, "--games", "2", "--lines"), "--lines cannot be used with --games; see: fairplay play --help"),
    "a pace": (
        (*TABLE, "--games", "2", "--pace", "1"),
        "--pace cannot be used with --games; see: fairplay play --help",
    ),
    "no pace at all": (
        (*TABLE, "--games", "2", "--pace", "0"),
        "--pace cannot be used with --games; see: fairplay play --help",
    ),
    "events": ((*TABLE, "--games", "2", "--events"), "--events cannot be used with --games; see: fairplay play --help"),
    "a sync": (
        (*TABLE, "--games", "2", "--sync", "always"),
        "--sync always cannot be used with --games; see: fairplay play --help",
    ),
    "jobs of one match": (
        (*TABLE, "--jobs", "2"),
        "--jobs cannot be used with a single match; see: fairplay play --help",
    ),
    "a directory for one match": (
        (*TABLE, "--out", "x"),
        "--out cannot be used with a single match; see: fairplay play --help",
    ),
    "a log of messages of several": (
        (*TABLE, "--games", "2", "--verbose"),
        "--verbose cannot be used with --games; see: fairplay play --help",
    ),
    "a directory without a name": (
        (*TABLE, "--games", "2", "--out", ""),
        "Invalid value for '--out': the name of the directory is empty",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_in_one_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, why = REFUSED[case]

    assert refusal_line(run_fairplay(*arguments)) == why
    assert list(tmp_path.iterdir()) == []


def test_output_that_cannot_be_written_is_a_fault_of_the_host() -> None:
    with Path("/dev/full").open("w") as full:
        done = run_script(*GAMES, "--quiet", stdout=full)

    assert refusal_line(done, 3) == "the output cannot be written: No space left on device"


def test_where_nothing_could_be_written_there_is_nothing_to_go_on_with() -> None:
    done = run_fairplay(*GAMES, "--quiet", "--out", "/proc/nowhere")

    assert refusal_line(done, 3) == "cannot write journals in /proc/nowhere: No such file or directory"


def test_an_extra_that_is_missing_is_named_and_one_match_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("numpy", "scipy", "matplotlib", "distributed"):
        monkeypatch.setitem(sys.modules, library, None)

    assert refusal_line(run_fairplay(*GAMES)) == (
        "numpy is missing, which tournaments need: pip install 'fairplay[tournament]'"
    )
    assert run_fairplay(*TABLE, *SMALL_BOARD).code == 0
