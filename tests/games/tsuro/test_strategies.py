"""Test the built-in players of Tsuro, and the search by playouts of one of them."""

from collections import Counter

import pytest

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.match import Match
from fairplay.games.tsuro import Action, Lay, Place, State, Tsuro, View, kernel, strategies
from fairplay.games.tsuro.examples import EXAMPLES
from fairplay.games.tsuro.futures import best_lay
from fairplay.games.tsuro.rules import STANDARD
from fairplay.games.tsuro.strategies import BUILT_IN
from fairplay.referee.referee import Referee
from tests.games.tsuro.positions import CORNERS, STRAIGHT, TSURO, UTURN, make_position


def seen(state: State) -> View:
    return TSURO.view(state, TSURO.turn(state))


def played(*players: str, seed: str, size: int = 10) -> Match[State, View, Action]:
    key = seed_from_text(seed)
    table = [BUILT_IN[player].make("", derive_seed(key, f"seat {seat}")) for seat, player in enumerate(players)]
    return Referee().run(Tsuro(size=size), table, seed=key)


def test_first_second_and_third_place_the_third_tile_clockwise_or_counter_clockwise() -> None:
    view = seen(TSURO.deal(3, bytes(32)))

    assert strategies.first(view) == strategies.second(view) == Place(2, 0, "C", (1, 0))
    assert strategies.third(view) == Place(2, 0, "A", (0, 1))


def test_first_lays_the_first_tile_and_second_and_third_the_first_legal_one_of_their_first_tile() -> None:
    choice, together = seen(EXAMPLES["a choice"]), seen(EXAMPLES["together"])

    assert strategies.first(choice) == strategies.second(choice) == strategies.third(choice) == Lay(2, 0)
    assert (strategies.second(together).tile, strategies.third(together).tile) == (0, 1)


def test_without_a_legal_option_something_is_said() -> None:
    view = seen(EXAMPLES["no legal option"])

    assert strategies.first(view) == strategies.second(view) == Lay(34, 0)
    assert strategies.third(view) == Lay(4, 0)
    for name in ("random", "survivor", "careless", "foresight"):
        assert isinstance(BUILT_IN[name].make("", bytes(32))(view), Lay)


@pytest.mark.parametrize("name", ["a choice", "forced suicide", "forced loop", "together"])
@pytest.mark.parametrize("player", ["second", "third", "random", "survivor", "careless", "foresight"])
def test_built_in_players_act_legally_if_they_can(player: str, name: str) -> None:
    view = seen(EXAMPLES[name])

    assert BUILT_IN[player].make("", bytes(32))(view) in STANDARD.lays(view)


def test_random_placements_are_legal_and_spread_over_all_that_are() -> None:
    game = Tsuro(size=3, tiles=(0, 0, 34, *range(30)))
    view = game.view(game.deal(3, bytes(32)), 0)
    legal = set(game.actions(view))

    drawn = Counter(BUILT_IN["random"].make("", derive_seed(bytes(32), f"{n}"))(view) for n in range(6000))

    assert set(drawn) == legal
    assert max(drawn.values()) < 3 * 6000 / len(legal)


def test_the_survivor_beats_second() -> None:
    firsts: Counter[str] = Counter()
    for number in range(60):
        players = ["second", "second", "second"]
        players[number % 3] = "survivor"
        match = played(*players, seed=f"survivor {number}")
        for seat in match.result.ranking[0] if match.result.ranking else ():
            firsts[players[seat]] += 1

    assert firsts["survivor"] > firsts["second"]  # than both of them together


def test_the_careless_play_as_survivor_does_but_for_some_turns() -> None:
    view = seen(EXAMPLES["a choice"])
    best = strategies.survivor(view)

    rare, often = (
        sum(BUILT_IN["careless"].make(turns, derive_seed(bytes(32), f"{n}"))(view) == best for n in range(300))
        for turns in ("10", "90")
    )

    assert 240 < rare < 300
    assert often < 150


SEED = bytes(range(32))


@pytest.mark.parametrize("choose", [best_lay, kernel.best_future])
def test_a_player_that_can_drive_its_only_rival_off_does_so(choose: object) -> None:
    # Both face [1, 1]: straight over they part, and round the corners the rival is led off at the north.
    state = make_position(
        {(1, 0): STRAIGHT, (0, 1): UTURN}, [(1, 0, "E"), (0, 1, "C"), None], (STRAIGHT, CORNERS), size=6
    )
    view = TSURO.view(state, 0)

    assert callable(choose)
    assert choose(view, 400, SEED) == Lay(CORNERS, 0)
