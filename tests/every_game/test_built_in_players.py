"""Test that the actions of built-in players depend only on their key and the view, in every game."""

import os
import subprocess
import sys
from typing import Any

import pytest

from fairplay.core.chance import derive_seed
from fairplay.core.events import Acted, Fact
from fairplay.core.match import Match
from fairplay.games import GAMES, game_info
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from tests.built_in_players import quick_player
from tests.nonempty import nonempty
from tools.readme_tables import ROOT

KEY = bytes(range(32))
BUILT_IN = [(game, player) for game in GAMES for player in game_info(game).built_in]


def facts(game: str, player: str, key: bytes = KEY) -> list[Fact]:
    rules = game_info(game).rules()
    seats = rules.seats[0]
    match = Match(rules, rules.deal(seats, KEY), tuple(f"p{seat}" for seat in range(seats)))
    heard: list[Any] = []
    table = [LocalChannel(quick_player(game, player, derive_seed(key, f"seat {seat}")), rules) for seat in range(seats)]
    play(match, table, on_event=lambda event, match: heard.append(event))
    return heard[1:-1]


@pytest.mark.parametrize(("game", "player"), BUILT_IN)
def test_the_same_key_plays_the_same_match(game: str, player: str) -> None:
    assert facts(game, player) == facts(game, player)


@pytest.mark.parametrize("game", GAMES)
def test_another_key_draws_otherwise(game: str) -> None:
    assert facts(game, "random") != facts(game, "random", KEY[::-1])


@pytest.mark.parametrize(("game", "player"), BUILT_IN)
def test_a_strategy_forgets_what_it_has_seen(game: str, player: str) -> None:
    rules = game_info(game).rules()
    state = rules.deal(rules.seats[0], KEY)
    worn = quick_player(game, player, KEY)

    for fact in nonempty(facts(game, player)[:12]):
        view = rules.view(state, rules.turn(state))
        assert worn(view) == quick_player(game, player, KEY)(view)
        if isinstance(fact, Acted):
            state = rules.apply(state, fact.action)


def test_what_they_do_does_not_depend_on_the_process() -> None:
    code = "from tests.every_game.test_built_in_players import *\nprint([facts(*one) for one in BUILT_IN])\n"
    other = {**os.environ, "PYTHONHASHSEED": "1"}
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=other, capture_output=True, text=True, check=True)

    assert said.stdout.strip() == str([facts(*one) for one in BUILT_IN])
