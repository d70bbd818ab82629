"""Test the deal of Fish and its example positions."""

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.games.fish import Fish, Move, Place, Stage
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.pieces import COLOURS

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


@pytest.mark.parametrize(
    ("rows", "columns", "holes", "seats"), [(2, 4, 0, 2), (1, 8, 0, 4), (3, 3, 0, 3), (5, 2, 2, 2)]
)
def test_a_board_with_a_tile_for_each_penguin_is_large_enough(rows: int, columns: int, holes: int, seats: int) -> None:
    state = Fish(rows=rows, columns=columns, holes=holes).deal(seats, bytes(32))

    assert state.free.bit_count() == seats * state.each


def test_random_holes_leave_enough_tiles_and_depend_on_the_seed() -> None:
    game = Fish(rows=4, columns=4, holes="random")

    tiles = [game.deal(3, seed_from_text(str(number))).free.bit_count() for number in range(200)]

    assert set(tiles) == set(range(9, 17))


def test_a_given_number_of_holes_is_dealt() -> None:
    for number in range(20):
        state = Fish(rows=5, columns=5, holes=7).deal(4, seed_from_text(str(number)))

        assert state.free.bit_count() == 18


def test_random_fish_are_one_to_five_and_a_number_of_fish_is_on_every_tile() -> None:
    mixed = Fish(rows=9, columns=9).deal(2, bytes(32))
    same = Fish(rows=9, columns=9, fish=3).deal(2, bytes(32))

    assert {mixed.fish_at(cell) for cell in range(81)} == {1, 2, 3, 4, 5}
    assert {same.fish_at(cell) for cell in range(81)} == {3}


def test_colours_are_in_the_fixed_order() -> None:
    assert [FISH.deal(seats, bytes(32)).colours for seats in (2, 3, 4)] == [COLOURS[:2], COLOURS[:3], COLOURS]


def test_random_colours_are_a_permutation_and_depend_on_the_seed() -> None:
    game = Fish(colours="random")

    drawn = {game.deal(4, seed_from_text(str(number))).colours for number in range(300)}

    assert all(sorted(colours) == sorted(COLOURS) for colours in drawn)
    assert len(drawn) == 24


def test_random_colours_leave_the_board_as_it_is() -> None:
    fixed = Fish(holes="random", colours="fixed").deal(4, bytes(32))
    drawn = Fish(holes="random", colours="random").deal(4, bytes(32))

    assert (fixed.fish, fixed.free) == (drawn.fish, drawn.free)


# The examples, and the text of actions.


def test_the_examples_are_at_the_stage_that_they_show() -> None:
    stages = {name: state.stage for name, state in EXAMPLES.items()}

    assert stages == {
        "start": Stage.PLACING,
        "placing": Stage.PLACING,
        "star": Stage.PLAYING,
        "stuck": Stage.PLAYING,
        "freed by an ejection": Stage.PLAYING,
        "tie": Stage.DONE,
        "cramped": Stage.PLACING,
    }


def test_every_seat_of_fish_sees_the_whole_state() -> None:
    for state in EXAMPLES.values():
        seats = [*range(len(state.scores)), None]

        assert all(FISH.view(state, seat).state is state for seat in seats)


def test_actions_have_readable_text() -> None:
    assert str(Place((1, 2))) == "places a penguin at [1, 2]"
    assert str(Move((1, 2), (3, 2))) == "moves from [1, 2] to [3, 2]"
