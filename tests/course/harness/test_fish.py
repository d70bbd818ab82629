"""Test the harnesses of Fish beyond the cases of the course."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.course.harness.fish import xboard, xref, xstate, xstrategy, xtree

RED = {"color": "red", "score": 0, "places": [[0, 0]]}
WHITE = {"color": "white", "score": 0, "places": [[1, 1]]}


def test_xboard_refuses_a_position_off_the_board() -> None:
    with pytest.raises(BadRequest, match=r"\[0, 2\] is not on the board"):
        xboard({"position": [0, 2], "board": [[1, 1]]})


@pytest.mark.parametrize("players", [[], [{**RED, "places": []}, WHITE], [RED, WHITE]])
def test_xstate_is_false_where_no_silly_move_is_possible(players: list[Any]) -> None:
    assert xstate({"players": players, "board": [[1, 0, 1], [0, 1, 0]]}) is False


def test_xstate_takes_the_first_penguin_only() -> None:
    stuck_first = {**RED, "places": [[0, 2], [0, 0]]}

    assert xstate({"players": [stuck_first], "board": [[1, 0, 1], [1, 0, 0]]}) is False


def test_xtree_refuses_a_move_that_is_none() -> None:
    with pytest.raises(IllegalAction):
        xtree({"state": {"players": [RED, WHITE], "board": [[1, 1], [1, 1]]}, "from": [0, 0], "to": [0, 1]})


def test_xtree_is_false_where_the_next_player_is_stuck() -> None:
    board = [[1, 0, 0, 1], [1, 0, 0, 0]]
    stuck = {**WHITE, "places": [[0, 3]]}

    assert xtree({"state": {"players": [RED, stuck], "board": board}, "from": [0, 0], "to": [1, 0]}) is False


@pytest.mark.parametrize("players", [[], [{**RED, "places": [[0, 2]]}, {**WHITE, "places": [[0, 0]]}]])
def test_xstrategy_is_false_where_there_is_no_move(players: list[Any]) -> None:
    assert xstrategy([2, {"players": players, "board": [[1, 0, 1], [1, 0, 0]]}]) is False


def test_xstrategy_without_depth_takes_the_first_move_of_all() -> None:
    state = {"players": [{**RED, "places": [[1, 1], [0, 0]]}], "board": [[1, 5], [5, 5]]}

    assert xstrategy([0, state]) == [[0, 0], [1, 0]]


def test_xref_sorts_by_code_point_and_keeps_names_that_are_the_same() -> None:
    players = [["b", 1], ["b", 1], ["B", 1], ["é", 1]]

    assert xref({"row": 2, "column": 4, "players": players, "fish": 3}) == ["B", "b", "b", "é"]


def test_xref_has_no_winners_if_penguins_cannot_be_placed() -> None:
    assert xref({"row": 1, "column": 1, "players": [["a", 1], ["b", 2]], "fish": 1}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"players": [["a", 1]]},
        {"players": [["a", 1]] * 5},
        {"players": [["a", 10], ["b", 1]]},
        {"players": [["a", "1"], ["b", 1]]},
        {"fish": 0},
        {"fish": 6},
        {"row": 0},
        {"column": 101},
        {"column": 2.5},
        {"more": 1},
    ],
)
def test_xref_refuses_what_cannot_be_played(change: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match="not a Game-Description of Fish"):
        xref({"row": 5, "column": 5, "players": [["a", 1], ["b", 1]], "fish": 1, **change})
