"""Test that the actions of built-in players depend only on their key and the view, in every game."""

import os
import subprocess
import sys
from typing import Any

import pytest

from fairplay.core.chance import derive_seed
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.events import Acted, Fact
from fairplay.core.game import Moment
from fairplay.core.match import Match
from fairplay.games import GAMES, game_info, make_game
from fairplay.games.q.search import DEFAULT_TILE_TRIES
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("game", "player"), [one for one in BUILT_IN if one != ("tsuro", "first")])
def test_built_in_players_act_legally_where_they_can(game: str, player: str, seed: int) -> None:
    rules = make_game(game, game_info(game).quick)
    state = rules.deal(rules.seats[seed % len(rules.seats)], bytes([seed] * 32))
    strategy = quick_player(game, player, KEY)
    assert rules.turn(state) == 0
    while (seat := rules.turn(state)) is not None:
        view = rules.view(state, seat)
        action = strategy(view)
        try:
            rules.check(view, action)
        except IllegalAction:
            assert not list(rules.actions(view))
            state = rules.eject(state, seat, Moment.TURN)
        else:
            state = rules.apply(state, action)


@pytest.mark.parametrize("game", GAMES)
def test_the_ladder_has_five_built_in_players_that_differ(game: str) -> None:
    ladder = game_info(game).ladder

    assert len({*ladder}) == len(ladder) == 5
    assert {rung.partition(":")[0] for rung in ladder} <= {*game_info(game).built_in}


NUMBERS = {  # the most that a built-in player takes as its parameter; the others take none
    ("fish", "lookahead"): 9,
    ("fish", "sampler"): 50_000,
    ("fish", "territory"): 10**7,
    ("tsuro", "careless"): 99,
    ("tsuro", "foresight"): 100_000,
    ("q", "best"): DEFAULT_TILE_TRIES,
    ("q", "foresight"): 1000,
}


@pytest.mark.parametrize(("game", "player"), BUILT_IN)
def test_an_invalid_parameter_is_refused_in_one_line(game: str, player: str) -> None:
    made, most = game_info(game).built_in[player], NUMBERS.get((game, player), 0)
    assert made.description.isprintable()
    for parameter in ("0", "-1", "x", "05", " 2", "1.5", "1e3", "2:2", "²", "٣", "9" * 5000, str(most + 1)):
        with pytest.raises(BadRequest) as refused:
            made.make(parameter, KEY)
        assert str(refused.value).isprintable()
        assert player in str(refused.value) and repr(parameter) in str(refused.value)
    if most:
        made.make(str(most), KEY)


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
