"""Write files of small tournaments, run them for as long as a test wants, and read their results."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay.tournament import tournament_log
from tests.cli.command import INSTALLED_COMMAND, accept_ctrl_c, start_process
from tests.python_path import python_path

TOURNAMENT_KEYS = {
    "game": '"fish"',
    "seed": '"any"',
    "parameters": "{ rows = 4, columns = 4 }",
    "format": '{ kind = "round-robin", games = 6 }',
    "bot_check": '"skip"',
    "players": '[{ player = "random" }, { player = "greedy" }, { player = "lookahead:1" }]',
}
NAPPING_PLAYER = """
import os
import time

from fairplay.games.fish import Fish


def take_turn(view):
    time.sleep(float(os.environ.get("NAP", "0")))
    return next(Fish().actions(view))
"""
SLOW_KEYS = {  # as long as NAP says how long a turn takes
    "format": '{ kind = "round-robin", games = 24 }',
    "players": '[{ player = "random" }, { player = "greedy" }, '
    '{ name = "nap", player = "in-process:napper:take_turn" }]',
}
TIMEOUT_S = 60.0  # seconds for anything here
INLINE_OPTIONS = ("--executor", "here")


def write_tournament_file(directory: Path, **changes: str) -> Path:
    """A file cup.toml, in which some keys have other values."""
    path = directory / "cup.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in (TOURNAMENT_KEYS | changes).items()))
    return path


def install_napping_player(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a player that naps, for this process and for those that it starts."""
    (directory / "napper.py").write_text(NAPPING_PLAYER)
    monkeypatch.syspath_prepend(directory)
    monkeypatch.setenv("PYTHONPATH", python_path(directory))


def start_with_napping_players(
    *arguments: str | Path, nap: float = 0.03, start: Callable[[], None] = accept_ctrl_c, **options: Any
) -> "subprocess.Popen[str]":
    """The command in a process of its own, with players that nap."""
    return start_process([INSTALLED_COMMAND, *arguments], start=start, env={**os.environ, "NAP": str(nap)}, **options)


def count_matches(directory: Path) -> int:
    """How many matches of a tournament count so far."""
    return len(tournament_log.read_log(directory).counted) if tournament_log.log_exists(directory) else 0


def wait_for_matches(directory: Path, number: int, process: "subprocess.Popen[str]") -> None:
    """Wait until so many matches count, of a tournament that goes on behind them."""
    deadline = time.monotonic() + TIMEOUT_S
    while count_matches(directory) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def read_results(directory: Path) -> Any:
    """What results.json holds, but for how long turns took."""
    found = json.loads((directory / "results.json").read_text())
    del found["thinking_times"]
    for match in found["matches"]:
        match.pop("receipt", None)  # a void match has none
    return found
