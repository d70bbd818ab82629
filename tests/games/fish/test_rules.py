"""Test the rules of Fish, clause by clause, from the deal on."""

from typing import Any

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match
from fairplay.games.fish import Action, Fish, Move, Place, Stage, State
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.pieces import COLOURS
from fairplay.games.fish.state import state_of
from fairplay.referee.drivers import play
from fairplay.testing.scripted import ScriptedChannel, strategy_script

FISH = Fish()


@pytest.mark.parametrize(("seats", "each"), [(2, 4), (3, 3), (4, 2)])
def test_each_player_has_six_penguins_minus_one_for_each_player(seats: int, each: int) -> None:
    state = FISH.deal(seats, bytes(32))

    assert (state.each, state.order, FISH.turn(state)) == (each, tuple(range(seats)), 0)
    assert state.scores == (0,) * seats


@pytest.mark.parametrize(
    ("rows", "columns", "holes", "seats"), [(2, 3, 0, 2), (1, 8, 1, 2), (3, 3, 1, 3), (4, 2, 1, 4), (1, 1, 0, 2)]
)
def test_a_board_that_is_too_small_is_refused_unless_cramped(rows: int, columns: int, holes: int, seats: int) -> None:
    with pytest.raises(BadRequest, match="too small"):
        Fish(rows=rows, columns=columns, holes=holes).deal(seats, bytes(32))

    cramped = Fish(rows=rows, columns=columns, holes=holes, cramped=True).deal(seats, bytes(32))
    assert cramped.free.bit_count() == rows * columns - holes
    if holes:
        just_enough = Fish(rows=rows, columns=columns).deal(seats, bytes(32))
        assert just_enough.free.bit_count() == seats * just_enough.each


def test_random_holes_leave_enough_tiles_and_depend_on_the_seed() -> None:
    game = Fish(rows=4, columns=4, holes="random")

    tiles = [game.deal(3, seed_from_text(str(number))).free.bit_count() for number in range(200)]

    assert set(tiles) == set(range(9, 17))


def test_random_fish_are_one_to_five_and_a_number_of_fish_is_on_every_tile() -> None:
    mixed = Fish(rows=9, columns=9).deal(2, bytes(32))
    same = Fish(rows=9, columns=9, fish=3).deal(2, bytes(32))

    assert {mixed.fish_at(cell) for cell in range(81)} == {1, 2, 3, 4, 5}
    assert {same.fish_at(cell) for cell in range(81)} == {3}
    assert (mixed.colours, Fish().deal(4, bytes(32)).colours) == (COLOURS[:2], COLOURS)


def test_random_colours_are_a_permutation_and_depend_on_the_seed() -> None:
    game = Fish(colours="random")

    drawn = {game.deal(4, seed_from_text(str(number))).colours for number in range(300)}

    assert all(sorted(colours) == sorted(COLOURS) for colours in drawn)
    assert len(drawn) == 24


PLACING, STAR = EXAMPLES["placing"], EXAMPLES["star"]

# For each clause that an action can break: a position, the seat that acts, and what it does. They are tried in
# tests/every_game/test_rule_books.py.
BROKEN: list[tuple[str, State, Seat | None, Action]] = [
    ("2.3", EXAMPLES["start"], 1, Place((0, 0))),
    ("2.3", EXAMPLES["start"], None, Place((0, 0))),
    ("2.3", STAR, 1, Move((5, 2), (3, 2))),
    ("2.3", EXAMPLES["tie"], 0, Move((0, 0), (2, 0))),
    ("3.2", PLACING, 0, Place((0, 3))),
    ("3.2", PLACING, 0, Place((0, -1))),
    ("3.2", PLACING, 0, Place((2**31 - 1, -(2**31)))),
    ("3.3", PLACING, 0, Place((0, 0))),
    ("3.4", PLACING, 0, Move((0, 0), (2, 0))),
    ("3.5", EXAMPLES["cramped"], 2, Place((0, 0))),
    ("4.1", STAR, 0, Move((5, 2), (3, 2))),
    ("4.1", STAR, 0, Move((6, 1), (4, 1))),
    ("4.2", STAR, 0, Move((3, 1), (3, 1))),
    ("4.2", STAR, 0, Move((3, 1), (-1, 1))),
    ("4.3", STAR, 0, Move((3, 1), (5, 2))),
    ("4.3", state_of([[1], [1], [0], [1], [1], [1]], [[(0, 0)], [(5, 0)]]), 0, Move((0, 0), (4, 0))),
    ("4.3", state_of([[1], [1], [1], [1], [1], [1]], [[(0, 0), (2, 0)], [(5, 0)]]), 0, Move((0, 0), (4, 0))),
    ("4.5", STAR, 0, Place((0, 0))),
]


def then(state: State, *actions: Action) -> State:
    for action in actions:
        FISH.check(FISH.view(state, FISH.turn(state)), action)
        state = FISH.apply(state, action)
    return state


def legal(state: State) -> list[Action]:
    return list(FISH.actions(FISH.view(state, FISH.turn(state))))


def zigzag(view: Any) -> Action:
    return next(FISH.actions(view), Place((0, 0)))


# 3 Placing.


def test_when_all_penguins_are_placed_the_first_player_moves_if_it_can() -> None:
    playing = then(PLACING, Place((0, 1)), Place((1, 2)), Place((2, 1)))
    assert (playing.stage, FISH.turn(playing)) == (Stage.PLAYING, 0)

    state = Fish(rows=2, columns=4, fish=1).deal(2, bytes(32))

    after = then(state, *(Place(at) for at in state.grid.positions))

    assert (after.stage, FISH.turn(after)) == (Stage.DONE, None)
    assert FISH.ranking(after) == (frozenset({0, 1}),)


def test_the_number_of_penguins_does_not_change_when_a_player_leaves() -> None:
    state = Fish(rows=4, columns=4).deal(4, bytes(32))

    for seat, moment in ((0, Moment.GREETING), (3, Moment.GREETING)):
        state = FISH.eject(state, seat, moment)
    after = then(state, *(Place(at) for at in state.grid.positions[:4]))

    assert [len(penguins) for penguins in after.penguins] == [0, 2, 2, 0]
    assert after.stage is Stage.PLAYING


def test_a_player_without_a_free_tile_to_place_on_is_out_by_clause_3_5() -> None:
    state = EXAMPLES["cramped"]
    match: Any = Match(FISH, state, ("ann", "bob", "cyd"))

    final = play(match, [ScriptedChannel(strategy_script(zigzag)) for _ in range(3)])

    assert legal(state) == []
    assert [(ejected.seat, ejected.fault) for ejected in final.ejected] == [(2, Fault.ILLEGAL)]
    assert final.ejected[0].why.startswith("rule 3.5: no legal option")
    assert {seat for group in final.result.ranking for seat in group} == {0, 1}
