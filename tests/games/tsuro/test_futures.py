"""Test the search of Tsuro by playouts, in positions that a person can judge."""

import pytest

from fairplay.core.chance import Dice
from fairplay.games.tsuro import Lay, kernel
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.futures import FIRST, Future, best_lay, draw_tile, ways_on
from fairplay.games.tsuro.pieces import TILES
from tests.games.tsuro.positions import CORNERS, DIAGONAL, STRAIGHT, TSURO, UTURN, make_position

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


def test_the_first_place_is_shared_by_those_who_are_led_off_last() -> None:
    grid = TSURO.deal(3, bytes(32)).table.grid
    nobody = (OUT,) * 3

    assert Future(grid, b"", nobody, (0, 2)).worth(0) == FIRST // 2
    assert Future(grid, b"", nobody, (0, 2)).worth(1) == 0
    assert Future(grid, b"", (OUT, 1, OUT), (0, 2)).worth(0) == 0
    assert Future(grid, b"", (OUT, 1, OUT), (0, 2)).worth(1) == FIRST


def test_a_player_with_more_room_is_worth_more() -> None:
    table = make_position({(0, 0): DIAGONAL, (5, 5): CORNERS}, [(0, 0, "D"), (5, 5, "A"), None]).table
    future = Future(table.grid, table.board, table.avatars)

    assert future.worth(1) > FIRST // 2 > future.worth(0)


def test_ways_on_are_those_that_stay_on_the_board() -> None:
    table = make_position({(0, 0): DIAGONAL, (4, 4): DIAGONAL}, [(0, 0, "D"), (4, 4, "A")], size=10).table

    assert [ways_on(table.grid, table.board, spot) for spot in table.avatars] == [4, 7]


def test_the_bag_holds_each_tile_once_and_is_filled_again() -> None:
    bag, dice = list(range(TILES)), Dice(SEED, 0)

    assert sorted(draw_tile(bag, dice) for _ in range(TILES)) == list(range(TILES))
    assert draw_tile(bag, dice) in range(TILES)
    assert len(bag) == TILES - 1


def test_a_playout_ends_after_some_rounds_and_is_the_same_with_the_same_dice() -> None:
    table = make_position({(0, 0): DIAGONAL, (5, 5): CORNERS}, [(0, 0, "D"), (5, 5, "A"), None]).table
    one, other = (Future(table.grid, table.board, table.avatars) for _ in range(2))

    assert one.play(0, (1,), (0, 1), Dice(SEED, 3)) == other.play(0, (1,), (0, 1), Dice(SEED, 3)) <= 13
    assert (one.board, one.avatars) == (other.board, other.avatars)
