"""Test tournaments of an external game in other processes, which learn of it from their jobs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.games import register
from fairplay.tournament.running.cluster import dask_runner
from fairplay.tournament.running.directory_run import run_in_directory
from fairplay.tournament.running.runners import Runner, process_pool_runner
from fairplay.tournament.settings import RoundRobin
from tests.games.external_games import forget_external_games, write_module
from tests.tournament.small_tournaments import make_tournament

__all__ = ["forget_external_games"]
pytestmark = pytest.mark.usefixtures("forget_external_games")
BOT = """
import os
from game_coin import Heads
assert not [value for value in os.environ.values() if "game_coin" in value]
def take_turn(view):
    return Heads()
"""


@pytest.mark.parametrize("runner", [lambda: process_pool_runner(2), lambda: dask_runner("", 1)], ids=["pool", "dask"])
def test_workers_hear_of_an_external_game_by_their_matches(
    runner: Callable[[], Runner], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_module(tmp_path, "game_coin")
    (tmp_path / "bot.py").write_text(BOT)
    game = register("py:game_coin:Coin")
    tournament = make_tournament(
        "./bot.py", "random", game=game, parameters={}, format=RoundRobin(games=4), sandbox="none"
    )

    final = run_in_directory(tournament, tmp_path / "cup", runner)

    assert [(one.faults, one.void) for one in final.counted] == [((), "")] * 4
    assert final.bot_failures == {"./bot.py": ""}
    assert not [value for value in os.environ.values() if "game_coin" in value]
