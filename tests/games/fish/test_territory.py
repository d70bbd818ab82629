"""Test the territory search of Fish against positions evaluated by hand and against an exhaustive search."""

import pytest

from fairplay.core.game import Seat
from fairplay.games.fish import territory
from fairplay.games.fish.state import Stage, State, state_of
from fairplay.games.fish.steps import NOWHERE, apply_step
from fairplay.games.fish.strategies import greedy
from fairplay.games.fish.territory import Territory, best_step
from fairplay.games.fish.tree import Node
from fairplay.games.fish.view import View
from tests.games.fish.positions import small_positions
from tests.nonempty import nonempty

CAUGHT, NEARER = 3, 2  # the same values as in the kernels


def line(*fish: int) -> list[list[int]]:
    """A board of one straight line, from north to south."""
    return [[count] for tile in fish for count in (tile, 0)]


def evaluate(state: State, me: Seat = 0) -> int:
    search = Territory(state, 1)
    search.me = me
    return search.evaluate(state)


def test_a_fish_that_was_caught_counts_in_full() -> None:
    state = state_of(line(1, 0, 1), [[(0, 0)], [(4, 0)]], scores=[7, 3])

    assert evaluate(state) == CAUGHT * (7 - 3)
    assert evaluate(state, 1) == CAUGHT * (3 - 7)


def test_the_tile_under_a_penguin_counts_if_the_penguin_can_move() -> None:
    free, stuck = state_of(line(5, 1), [[(0, 0)], []]), state_of(line(5, 0, 1), [[(0, 0)], []])

    assert evaluate(free) == CAUGHT * 5 + NEARER * 1
    assert evaluate(stuck) == 0


def test_a_tile_belongs_to_the_player_that_reaches_it_in_fewer_moves() -> None:
    # North of the wall of penguins red is alone; both reach the tiles between them equally soon.
    state = state_of(line(2, 4, 1, 3, 5, 1), [[(4, 0)], [(10, 0)]])

    assert evaluate(state) == CAUGHT * (1 - 1) + NEARER * (2 + 4)


def test_two_moves_are_farther_than_one_long_one() -> None:
    # White slides north over [3, 0] to [1, 0]; red is beside [1, 0], and has to turn there to get to [3, 0].
    state = state_of([[1], [2], [0], [3], [0], [1]], [[(0, 0)], [(5, 0)]])

    assert evaluate(state) == NEARER * (0 - 3)


def test_the_penguins_of_three_players_are_evaluated_together() -> None:
    state = state_of([[1, 0, 1, 0, 1], [0] * 5, [2, 0, 3, 0, 4]], [[(0, 0)], [(0, 2)], [(0, 4)]], scores=[9, 1, 1])

    assert evaluate(state) == CAUGHT * (8 + 8) + NEARER * ((2 - 3) + (2 - 4))


def test_a_tile_that_two_of_three_players_reach_equally_soon_counts_for_none() -> None:
    # Red and white are at the ends of one line, brown is alone on another.
    state = state_of([[1, 1], [0, 0], [5, 4], [0, 0], [1, 0]], [[(0, 0)], [(4, 0)], [(0, 1)]])

    assert evaluate(state) == NEARER * ((0 - 0) + (0 - 4))


def test_the_territory_search_cuts_the_opponent_off_instead_of_taking_the_nearest_fish() -> None:
    state = state_of(line(1, 1, 5, 5, 5, 5, 1), [[(12, 0)], [(0, 0)]])

    assert best_step(state, 100) == (12, 2)
    assert greedy(View(0, state)).to != (2, 0)  # type: ignore[union-attr]  # it moves


def test_a_territory_search_of_one_position_takes_the_most_fish() -> None:
    state = state_of(line(1, 1, 5, 5, 5, 5, 1), [[(12, 0)], [(0, 0)]])

    assert best_step(state, 1) == (12, 4)


def test_a_player_that_can_do_nothing_has_no_step() -> None:
    assert best_step(state_of(line(1, 0, 1), [[(0, 0)], [(4, 0)]]), 10) is None


def test_a_penguin_is_placed_from_nowhere() -> None:
    state = state_of(line(1, 1, 3, 1, 0, 5), [[], []], stage=Stage.PLACING, each=1)

    assert best_step(state, 1000) == (NOWHERE, 4)


def lead(state: State, me: Seat) -> int:
    """The sum of my leads over each of the others."""
    others = [state.scores[seat] for seat in state.order if seat != me]
    return sum(state.scores[me] - score for score in others) if others else state.scores[me]


def plain_lead(node: Node, me: Seat) -> int:
    """My lead at the end, by the definition."""
    branches = list(node.branches())
    if not branches:
        return lead(node.state, me)
    return (max if node.state.order[0] == me else min)(node.map_children(lambda after: plain_lead(after, me)))


def test_with_enough_positions_the_territory_search_is_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(territory, "WIDTH", 100)
    for state in nonempty(small_positions(seed=5, count=150, most_free=6)):
        me, step = state.order[0], best_step(state, 10**6)
        assert step is not None
        assert plain_lead(Node(apply_step(state, step)), me) == plain_lead(Node(state), me), state
