"""Play tournaments of an external game in other processes, which hear of it by what they are given to do alone."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fairplay.games import register
from fairplay.tournament.running.cluster import dask
from fairplay.tournament.running.conduct import conduct
from fairplay.tournament.running.runners import Runner, pool
from fairplay.tournament.settings import RoundRobin
from tests.games.others import module, nothing_known
from tests.tournament.small_cups import cup_of

__all__ = ["nothing_known"]
pytestmark = pytest.mark.usefixtures("nothing_known")
BOT = """
import os
from game_coin import Heads
assert not [value for value in os.environ.values() if "game_coin" in value]
def take_turn(view):
    return Heads()
"""


@pytest.mark.parametrize("runner", [lambda: pool(2), lambda: dask("", 1)], ids=["pool", "dask"])
def test_workers_hear_of_an_external_game_by_their_matches(
    runner: Callable[[], Runner], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module(tmp_path, "game_coin")
    (tmp_path / "bot.py").write_text(BOT)
    game = register("py:game_coin:Coin")
    cup = cup_of("./bot.py", "random", game=game, parameters={}, format=RoundRobin(games=4), sandbox="none")

    final = conduct(cup, tmp_path / "cup", runner)

    assert [(one.faults, one.void) for one in final.counted] == [((), "")] * 4
    assert final.verdicts == {"./bot.py": ""}
    assert not [value for value in os.environ.values() if "game_coin" in value]
