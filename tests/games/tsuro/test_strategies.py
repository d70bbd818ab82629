"""Test the built-in players of Tsuro."""

from collections import Counter

import pytest

from fairplay.core.chance import derive_seed, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.match import Match
from fairplay.games.tsuro import Action, Lay, Place, State, Tsuro, View, strategies
from fairplay.games.tsuro.examples import EXAMPLES
from fairplay.games.tsuro.rules import STANDARD
from fairplay.games.tsuro.strategies import BUILT_IN, LADDER, clockwise, counter_clockwise
from fairplay.referee.referee import Referee

TSURO = Tsuro(tiles="cycle")


def seen(state: State) -> View:
    return TSURO.view(state, TSURO.turn(state))


def played(*players: str, seed: str, size: int = 10) -> Match[State, View, Action]:
    key = seed_from_text(seed)
    table = [BUILT_IN[player].make("", derive_seed(key, f"seat {seat}")) for seat, player in enumerate(players)]
    return Referee().run(Tsuro(size=size), table, seed=key)


def test_the_ways_around_the_rim_are_those_of_the_course() -> None:
    grid = EXAMPLES["start"].table.grid
    squares = [grid.squares[square] for square in clockwise(grid)]
    mirrored = [grid.squares[square] for square in counter_clockwise(grid)]

    assert squares[:2] == [(1, 0), (2, 0)]
    assert squares[8:10] == [(9, 0), (9, 1)]
    assert squares[17:19] == [(9, 9), (8, 9)]
    assert squares[-2:] == [(0, 1), (0, 0)]
    assert mirrored[:2] == [(0, 1), (0, 2)]
    assert mirrored[-2:] == [(1, 0), (0, 0)]
    assert len(set(squares)) == len(set(mirrored)) == 36


def test_first_and_second_place_the_third_tile_clockwise() -> None:
    view = seen(TSURO.deal(3, bytes(32)))

    assert strategies.first(view) == strategies.second(view) == Place(2, 0, "C", (1, 0))


def test_third_places_counter_clockwise_and_begins_with_port_a() -> None:
    assert strategies.third(seen(TSURO.deal(3, bytes(32)))) == Place(2, 0, "A", (0, 1))


def test_first_lays_the_first_tile_legal_or_not() -> None:
    assert strategies.first(seen(EXAMPLES["no legal option"])) == Lay(34, 0)
    assert strategies.first(seen(EXAMPLES["a choice"])) == Lay(2, 0)


def test_second_takes_the_first_legal_option_and_third_begins_with_the_second_tile() -> None:
    assert strategies.second(seen(EXAMPLES["a choice"])) == strategies.third(seen(EXAMPLES["a choice"])) == Lay(2, 0)
    assert strategies.second(seen(EXAMPLES["together"])).tile == 0
    assert strategies.third(seen(EXAMPLES["together"])).tile == 1


def test_without_a_legal_option_something_is_said() -> None:
    view = seen(EXAMPLES["no legal option"])

    assert strategies.second(view) == Lay(34, 0)
    assert strategies.third(view) == Lay(4, 0)
    assert isinstance(strategies.survivor(view), Lay)
    assert isinstance(BUILT_IN["random"].make("", bytes(32))(view), Lay)
    assert isinstance(BUILT_IN["careless"].make("", bytes(32))(view), Lay)
    assert isinstance(BUILT_IN["foresight"].make("", bytes(32))(view), Lay)


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


def test_random_draws_the_same_in_the_same_position_with_the_same_key() -> None:
    view = seen(TSURO.deal(3, bytes(32)))

    assert BUILT_IN["random"].make("", bytes(32))(view) == BUILT_IN["random"].make("", bytes(32))(view)


def test_random_players_are_ejected_only_without_a_legal_option() -> None:
    for number in range(20):
        match = played("second", "third", "random", "survivor", "second", seed=f"{number}")

        assert all("no legal option" in ejected.why for ejected in match.result.ejected)


def test_the_survivor_beats_second() -> None:
    firsts: Counter[str] = Counter()
    for number in range(60):
        players = ["second", "second", "second"]
        players[number % 3] = "survivor"
        match = played(*players, seed=f"survivor {number}")
        for seat in match.result.ranking[0] if match.result.ranking else ():
            firsts[players[seat]] += 1

    assert firsts["survivor"] > firsts["second"]  # than both of them together


@pytest.mark.parametrize("player", ["first", "second", "third", "random", "survivor"])
def test_most_built_in_players_take_no_parameter(player: str) -> None:
    with pytest.raises(BadRequest, match=f"{player} takes no parameter"):
        BUILT_IN[player].make("3", bytes(32))


@pytest.mark.parametrize("player", ["careless", "foresight"])
@pytest.mark.parametrize("parameter", ["0", "-1", "x", "05", "1.5", "٣", "100001", "9" * 5000])
def test_a_parameter_out_of_bounds_is_refused(player: str, parameter: str) -> None:
    with pytest.raises(BadRequest, match=f"as in {player}:"):
        BUILT_IN[player].make(parameter, bytes(32))


def test_the_careless_play_as_survivor_does_but_for_some_turns() -> None:
    view = seen(EXAMPLES["a choice"])
    best = strategies.survivor(view)

    rare, often = (
        sum(BUILT_IN["careless"].make(turns, derive_seed(bytes(32), f"{n}"))(view) == best for n in range(300))
        for turns in ("10", "90")
    )

    assert 240 < rare < 300
    assert often < 150


def test_the_ladder_has_five_rungs_that_play_legally() -> None:
    assert len(set(LADDER)) == 5
    for number, addresses in enumerate(zip(LADDER, LADDER[1:], LADDER[2:], strict=False)):
        key = seed_from_text(f"ladder {number}")
        table = [rung(address, derive_seed(key, f"seat {seat}")) for seat, address in enumerate(addresses)]
        match = Referee().run(Tsuro(size=4), table, seed=key)

        assert all("no legal option" in ejected.why for ejected in match.result.ejected)


def rung(address: str, key: bytes) -> strategies.Pathfinder:
    """A player of the ladder; whoever plays out what may come does so with few nodes."""
    name, _, parameter = address.partition(":")
    return BUILT_IN[name].make("20" if name == "foresight" else parameter, key)
