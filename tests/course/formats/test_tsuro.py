"""Test the conversion of the course's JSON of Tsuro to our positions, and back."""

from fairplay.course.formats.tsuro import COURSE_BOARD_SIZE, format_place, parse_action, parse_table, parse_turn
from fairplay.games.tsuro import Lay
from fairplay.games.tsuro.board import EMPTY

STATE = [[[2, 90], "red", "C", 3, 4], [[7, 0], 5, 5], [[2, 0], "white", "A", 8, 8]]


def test_colours_sit_in_their_own_order_whatever_the_list_says() -> None:
    table, seats = parse_table(STATE)

    assert seats == {"white": 0, "red": 1}
    assert table.colours == ("white", "red")
    assert [table.grid.place(spot) for spot in table.avatars] == [((8, 8), "A"), ((3, 4), "C")]


def test_every_tile_lies_where_it_was_put() -> None:
    table, _ = parse_table(STATE)

    assert {table.grid.squares[square] for square, code in enumerate(table.board) if code != EMPTY} == {
        (3, 4),
        (5, 5),
        (8, 8),
    }
    assert len(table.board) == COURSE_BOARD_SIZE**2


def test_a_tile_is_listed_once_for_each_avatar_on_it() -> None:
    both = [[[2, 0], "red", "C", 3, 4], [[2, 0], "blue", "D", 3, 4]]

    assert parse_table(both)[1] == {"red": 0, "blue": 1}


def test_a_state_may_have_no_players() -> None:
    assert parse_table([])[1] == {}


def test_a_place_is_written_with_the_fewest_degrees() -> None:
    table, seats = parse_table(STATE)

    assert format_place(table.board, "red", table.avatars[seats["red"]]) == [[2, 0], "red", "C", 3, 4]


def test_actions_and_turns_name_a_colour_and_a_tile() -> None:
    assert parse_action(["red", [3, 180]]) == ("red", Lay(3, 180))
    assert parse_turn([["blue", [3, 0]], 3, 4]) == ("blue", Lay(3, 0), (3, 4))
