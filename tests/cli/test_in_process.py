"""Test that players in modules run in a process of their own, and with --in-process in that of the referee."""

from pathlib import Path

import pytest

from tests.cli.command import BEST_SANDBOX, LEGAL_BOT, SMALL_BOARD, CommandResult, run_script

EXITS = "import os\n\ndef take_turn(view):\n    os._exit(7)\n"  # which no handler of exceptions notices
TOURNAMENT = """
game = "fish"
parameters = { rows = 3, columns = 3 }
format = { kind = "round-robin", games = 2 }
bot_check = "skip"
players = [{ name = "ann", player = "py:leaver:take_turn" }, { name = "bob", player = "greedy" }]
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "leaver.py").write_text(EXITS)
    (tmp_path / "steady.py").write_text(LEGAL_BOT)
    return tmp_path


def play(directory: Path, *arguments: str) -> CommandResult:
    return run_script("play", "fish", *arguments, *SMALL_BOARD, "--quiet", cwd=directory)


def test_a_module_that_ends_its_process_loses_its_own_match_only(directory: Path) -> None:
    done = play(directory, "py:leaver:take_turn", "greedy", *BEST_SANDBOX)

    assert done.code == 0
    assert "1. greedy" in done.out
    assert "py:leaver:take_turn (0) is out: crashed (turn), the program ended with exit code 7" in done.out


def test_a_module_that_ends_its_process_ends_the_referee_with_in_process(directory: Path) -> None:
    assert play(directory, "py:leaver:take_turn", "greedy", "--in-process").code == 7
    assert play(directory, "in-process:leaver:take_turn", "greedy").code == 7


@pytest.mark.parametrize("options", [BEST_SANDBOX, ("--in-process",)])
def test_a_module_plays_in_its_own_process_and_in_this_one(options: tuple[str, ...], directory: Path) -> None:
    done = play(directory, "ann=py:steady:take_turn", "greedy", *options)

    assert done.code == 0
    assert "ann" in done.out
    assert "is out" not in done.out


def test_a_match_with_a_module_is_resumed_from_its_record(directory: Path) -> None:
    recorded = run_script(
        "play",
        "fish",
        "py:steady:take_turn",
        "greedy",
        *SMALL_BOARD,
        "--journal",
        "games",
        *BEST_SANDBOX,
        cwd=directory,
    )
    (path,) = (directory / "games").glob("*.jsonl")
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text[: len(text) // 2]))

    resumed = run_script("resume", str(path), "--quiet", cwd=directory)

    assert (recorded.code, resumed.code) == (0, 0)
    assert "is out" not in resumed.out


def test_a_module_that_ends_its_process_ends_no_worker_of_a_tournament(directory: Path) -> None:
    (directory / "cup.toml").write_text(TOURNAMENT)

    done = run_script("tournament", "cup.toml", "--quiet", "--executor", "here", cwd=directory)

    assert done.code == 0
    assert (directory / "cup" / "results.json").is_file()


def test_a_tournament_keeps_modules_in_its_workers_with_in_process(directory: Path) -> None:
    (directory / "cup.toml").write_text(TOURNAMENT)

    assert (
        run_script("tournament", "cup.toml", "--quiet", "--executor", "here", "--in-process", cwd=directory).code == 7
    )
