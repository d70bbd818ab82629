"""Test `fairplay standings` of finished and unfinished tournaments, and of directories without one."""

from pathlib import Path
from shutil import copy

import pytest
from msgspec.structs import replace

from fairplay.terminal import progress
from fairplay.terminal.progress import live_standings, round_count, show_standings
from fairplay.tournament.layout import LOG_FILE
from fairplay.tournament.result import read_result
from fairplay.tournament.settings import Duplicate, Ladder, RoundRobin, Settings, Swiss, Versus
from tests.cli.command import refusal_line, run_fairplay, run_script
from tests.cli.tournament_files import INLINE_OPTIONS, write_tournament_file


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory of a tournament that is over, and what was said at its end."""
    directory = tmp_path_factory.mktemp("ended")
    return directory / "cup", run_fairplay("tournament", str(write_tournament_file(directory)), *INLINE_OPTIONS).out


@pytest.fixture
def steps(ended: tuple[Path, str], tmp_path: Path) -> Path:
    """The file of a tournament that is over, to be changed."""
    return Path(copy(ended[0] / LOG_FILE, tmp_path))


def test_those_of_a_tournament_that_is_over_are_what_it_said_at_its_end(ended: tuple[Path, str]) -> None:
    directory, said = ended

    done = run_fairplay("standings", str(directory))

    table, _, _ = said.rpartition("\nresults: ")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"fish, round-robin: 6 matches, finished\n\n{table}"


def test_those_of_a_tournament_that_is_not_over_are_of_the_matches_so_far(steps: Path) -> None:
    lines = steps.read_bytes().splitlines(keepends=True)
    torn = b"".join([*lines[:4], lines[4][:20]])  # the opening, the round, two matches, and half a match
    steps.write_bytes(torn)

    done = run_fairplay("standings", str(steps.parent))

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("fish, round-robin: 2 matches, not finished yet\n\n#  name")
    assert done.out.endswith("\n? too few games to rely on\n\nno two players are significantly different\n")
    assert steps.read_bytes() == torn

    steps.write_bytes(lines[0])  # and before the first match
    shown = run_fairplay("standings", str(steps.parent)).out.splitlines()
    assert [line.split() for line in shown[2:6]] == [
        ["#", "name", "rating", "95", "%", "ranks", "games", "points"],
        *(["1", name, "-", "0", "0.0"] for name in ("random", "greedy", "lookahead:1")),
    ]


def test_a_sequential_test_says_what_it_has_decided(tmp_path: Path) -> None:
    players = '[{ name = "ann", player = "greedy" }, { name = "bob", player = "random" }]'
    path = write_tournament_file(tmp_path, format='{ kind = "versus", games = 8 }', players=players)
    assert run_fairplay("tournament", str(path), *INLINE_OPTIONS).code == 0

    *_, last = run_fairplay("standings", str(tmp_path / "cup")).out.splitlines()
    assert last.startswith("no decision between ann and bob after 4 deals")
    assert live_standings(read_result(tmp_path / "cup"))[-2:] == ["", last]  # as it says while it runs


def test_below_a_bar_there_are_no_more_lines_than_fit(steps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = read_result(steps.parent)
    whole = live_standings(result)
    monkeypatch.setattr(progress, "MAX_LIVE_ROWS", 2)

    assert live_standings(result) == whole[:2] != whole


@pytest.mark.parametrize("void", [0, 1, 2])
def test_matches_that_do_not_count_are_counted(
    void: int, ended: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    final = read_result(ended[0])
    cancelled = (replace(one, void="the disk was full") for one in final.counted[:void])
    final = replace(final, counted=(*cancelled, *final.counted[void:]))

    show_standings(final)

    said = [line for line in capsys.readouterr().out.splitlines() if "do not count" in line]
    assert said == ([f"{void} of 6 matches do not count: see results.json"] if void else [])


@pytest.mark.parametrize(
    ("format", "rounds"),
    [(RoundRobin(), 1), (Duplicate(), 1), (Swiss(rounds=3), 3), (Ladder(rounds=4), 4), (Versus(), None)],
)
def test_of_a_format_it_is_known_how_many_rounds_it_has(
    format: Settings, rounds: int | None, ended: tuple[Path, str]
) -> None:
    tournament = replace(read_result(ended[0]).spec, format=format)

    assert round_count(tournament) == rounds


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (None, f"there is no tournament in {{directory}}: no {LOG_FILE}"),
        (b"", "there is no tournament in {directory}: it has not begun"),
        (bytes(range(256)) * 100, f"{{directory}}/{LOG_FILE}: line 1 was changed after it was written"),
    ],
    ids=["nothing", "empty", "binary"],
)
def test_a_directory_without_a_tournament_gets_one_line(log: bytes | None, why: str, tmp_path: Path) -> None:
    if log is not None:
        (tmp_path / LOG_FILE).write_bytes(log)

    assert refusal_line(run_fairplay("standings", str(tmp_path))) == why.format(directory=tmp_path)


def test_names_are_written_as_far_as_a_terminal_can_show_them(tmp_path: Path) -> None:
    players = '[{ name = "Zoé 安", player = "random" }, { name = "[red]:skull:", player = "greedy" }]'
    assert run_fairplay("tournament", str(write_tournament_file(tmp_path, players=players)), *INLINE_OPTIONS).code == 0

    latin = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = run_script("standings", str(tmp_path / "cup"), environment=latin, encoding="latin-1")

    assert (done.code, done.err) == (0, "")
    assert "Zoé ??" in done.out
    assert "[red]:skull:" in done.out
