"""Test the conversion of the course's JSON of Fish to our positions, and back."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.formats.fish import CourseState, format_action, format_state, pad_rows, parse_state
from fairplay.course.formats.plain import read
from fairplay.games.fish.actions import Move
from fairplay.games.fish.state import Stage, State, remove_seat

RED = {"color": "red", "score": 3, "places": [[1, 0], [0, 0]]}
BLACK = {"color": "black", "score": 0, "places": [[0, 1]]}


def decoded(plain: Any) -> State:
    return parse_state(read(plain, CourseState, "a state of Fish"))


def plain_state(players: Any = (RED, BLACK), board: Any = ((1, 2, 0), (3, 4, 5)), **more: Any) -> Any:
    return {"players": list(players), "board": [list(row) for row in board], **more}


def test_a_state_survives_the_round_trip() -> None:
    assert format_state(decoded(plain_state())) == plain_state()


def test_players_sit_where_they_come_in_the_list() -> None:
    state = decoded(plain_state([BLACK, RED]))

    assert state.order == (0, 1)
    assert state.colours == ("black", "red")
    assert state.scores == (0, 3)
    assert state.penguins == ((1,), (3, 0))
    assert state.stage is Stage.PLAYING


def test_short_rows_are_filled_up_with_holes() -> None:
    state = decoded(plain_state([], [[1], [2, 3, 4], []]))

    assert format_state(state)["board"] == [[1, 0, 0], [2, 3, 4], [0, 0, 0]]


def test_the_first_player_is_on_turn_even_if_stuck() -> None:
    stuck = {"color": "white", "score": 9, "places": [[0, 0]]}
    other = {"color": "red", "score": 0, "places": [[0, 2]]}
    plain = plain_state([stuck, other], [[1, 0, 1], [0, 0, 1]])

    assert decoded(plain).order == (0, 1)
    assert format_state(decoded(plain)) == plain


def test_a_formatted_state_starts_with_the_player_on_turn_and_omits_players_that_left() -> None:
    third = {"color": "white", "score": 1, "places": [[1, 2]]}
    state = decoded(plain_state([RED, BLACK, third]))

    assert format_state(remove_seat(state, 0))["players"] == [BLACK, third]


def test_there_may_be_no_players() -> None:
    assert format_state(decoded(plain_state([]))) == plain_state([])


def test_scores_may_be_huge() -> None:
    plain = plain_state([{**RED, "score": 10**30}])

    assert format_state(decoded(plain)) == plain


@pytest.mark.parametrize(
    ("plain", "says"),
    [
        (7, "Expected `object`"),
        ({"board": [[1]]}, "players"),
        (plain_state(extra=1), "extra"),
        (plain_state([{**RED, "color": "green"}]), "green"),
        (plain_state([{**RED, "score": -1}]), "score"),
        (plain_state([{**RED, "score": True}]), "score"),
        (plain_state([{**RED, "score": 1.5}]), "score"),
        (plain_state([{**RED, "places": [[0]]}]), "places"),
        (plain_state([{**RED, "places": [[2, 0]]}]), "no tile for the penguin at [2, 0]"),
        (plain_state([{**RED, "places": [[-1, 0]]}]), "no tile for the penguin at [-1, 0]"),
        (plain_state([{**RED, "places": [[0, 2]]}]), "no tile for the penguin at [0, 2]"),
        (plain_state([RED, {**BLACK, "places": [[1, 0]]}]), "two penguins stand at [1, 0]"),
        (plain_state([{**RED, "places": []}] * 5), "players"),
        (plain_state([], [[6]]), "<= 5"),
        (plain_state([], [[-1]]), ">= 0"),
        (plain_state([], []), "no place on it"),
        (plain_state([], [[], []]), "no place on it"),
        (plain_state([], [[1] * 101]), "board"),
        (plain_state([], [[1]] * 101), "board"),
        (plain_state([{**RED, "color": "\ud800"}]), "not a state of Fish"),
    ],
)
def test_anything_else_is_refused_in_one_line(plain: Any, says: str) -> None:
    with pytest.raises(BadRequest) as refused:
        decoded(plain)

    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_board_becomes_a_rectangle() -> None:
    assert pad_rows(((1,), (2, 3))) == [[1, 0], [2, 3]]


def test_an_action_is_two_positions() -> None:
    assert format_action(Move((0, 1), (2, 3))) == [[0, 1], [2, 3]]


def test_no_action_is_false() -> None:
    assert format_action(None) is False
