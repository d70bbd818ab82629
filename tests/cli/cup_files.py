"""Write files of small tournaments, run them for as long as a test wants, and read what came of them."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay.tournament import notebook as notebooks
from tests.cli.command import SCRIPT, in_foreground, started
from tests.python_path import python_path

CUP = {
    "game": '"fish"',
    "seed": '"any"',
    "parameters": "{ rows = 4, columns = 4 }",
    "format": '{ kind = "round-robin", games = 6 }',
    "gate": '"skip"',
    "players": '[{ player = "random" }, { player = "greedy" }, { player = "lookahead:1" }]',
}
NAPPER = """
import os
import time

from fairplay.games.fish import Fish


def take_turn(view):
    time.sleep(float(os.environ.get("NAP", "0")))
    return next(Fish().actions(view))
"""
SLOW = {  # as long as NAP says how long a turn takes
    "format": '{ kind = "round-robin", games = 24 }',
    "players": '[{ player = "random" }, { player = "greedy" }, '
    '{ name = "nap", player = "in-process:napper:take_turn" }]',
}
ENOUGH = 60.0  # seconds for anything here
HERE = ("--executor", "here")


def cup_file(folder: Path, **changes: str) -> Path:
    """A file cup.toml, in which some keys have other values."""
    path = folder / "cup.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in (CUP | changes).items()))
    return path


def nappers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a player that naps, for this process and for those that it starts."""
    (folder / "napper.py").write_text(NAPPER)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", python_path(folder))


def napping(
    *arguments: str | Path, nap: float = 0.03, start: Callable[[], None] = in_foreground, **options: Any
) -> "subprocess.Popen[str]":
    """The command in a process of its own, with players that nap."""
    return started([SCRIPT, *arguments], start=start, env={**os.environ, "NAP": str(nap)}, **options)


def counted(folder: Path) -> int:
    """How many matches of a tournament count so far."""
    return len(notebooks.read(folder).counted) if notebooks.exists(folder) else 0


def wait_for_matches(folder: Path, number: int, process: "subprocess.Popen[str]") -> None:
    """Wait until so many matches count, of a tournament that goes on behind them."""
    deadline = time.monotonic() + ENOUGH
    while counted(folder) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def results(folder: Path) -> Any:
    """What results.json holds, but for how long turns took."""
    found = json.loads((folder / "results.json").read_text())
    del found["times"]
    for match in found["matches"]:
        match.pop("receipt", None)  # a void match has none
    return found
