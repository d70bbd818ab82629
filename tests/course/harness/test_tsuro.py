"""Test the harnesses of Tsuro beyond the cases of the course."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.course.harness.tsuro import parse_strategy, xadmin, xboard, xref, xrules, xtiles

STATE = [[[34, 0], "red", "C", 0, 0], [[34, 0], "blue", "E", 2, 0], [[33, 0], "white", "D", 0, 2]]


def players(count: int) -> list[dict[str, str]]:
    return [{"name": f"p{age}", "strategy": "first"} for age in range(count)]


def test_xtiles_answers_for_each_value() -> None:
    assert xtiles() == []
    assert [answer[3] for answer in xtiles([0, 90, "A"], [13, 270, "A"])] == ["F", "G"]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_for_a_game_are_all_winners(count: int) -> None:
    assert xadmin(players(count)) == ({"winners": [[f"p{age}" for age in range(count)]]} if count else {})


def test_the_last_game_decides() -> None:
    names = [f"p{age}" for age in range(5)]

    assert xadmin(players(5)) == xref(names)
    assert set(xref(names)) == {"winners", "cheaters"}


def test_the_file_of_a_program_says_its_strategy_and_no_directory_does() -> None:
    assert parse_strategy("first-homework/Players/Second-S.rkt") == "second"


def test_names_are_no_keys() -> None:
    told = xref(["ann", "bob", "ann", "ann"])

    assert sorted(sum(told["winners"], told["cheaters"])) == ["ann", "ann", "ann", "bob"]


def test_a_colour_that_is_no_longer_there_is_ignored() -> None:
    assert xboard(STATE, ["black", [34, 0]]) == [[34, 0], "red", "C", 0, 0]


def test_a_colour_that_has_left_the_board_lays_no_more_tiles() -> None:
    red = [[34, 0], "red", "C", 8, 9]  # beside the last square of all
    leave = ["blue", [4, 0]]

    assert xboard([red, [[34, 0], "blue", "C", 0, 0]], leave, leave) == red


def test_two_avatars_that_leave_the_board_together_do_not_collide() -> None:
    state = [[[34, 0], "red", "C", 0, 0], [[34, 0], "blue", "H", 2, 0], [[33, 0], "white", "D", 0, 2]]

    assert xboard(state, ["red", [3, 90]]) == "red died"


def test_without_red_there_is_nothing_to_say() -> None:
    assert xboard(STATE[1:], ["blue", [34, 0]]) == "red never played"


def test_a_colour_without_an_avatar_cheats() -> None:
    assert xrules(STATE, [["green", [34, 0]], 34, 33]) == "cheating"


@pytest.mark.parametrize(
    ("harness", "values", "says"),
    [
        (xtiles, ([35, 0, "A"],), "not a tile with an entrance of Tsuro"),
        (xtiles, ([0, 45, "A"],), "not a tile with an entrance of Tsuro"),
        (xtiles, ([0, 0, "I"],), "not a tile with an entrance of Tsuro"),
        (xboard, ({},), "not a state of Tsuro"),
        (xboard, ([[1]],), "not a place of Tsuro"),
        (xboard, ([[[34, 0], "red", "A", 0, 0]],), "red does not face an empty square"),
        (xboard, ([[[34, 0], 3, 3], [[33, 0], 3, 3]],), r"two tiles lie at \[3, 3\]"),
        (xboard, ([*STATE, [[34, 0], "red", "C", 5, 5]],), "red is in two places"),
        (xboard, (STATE, ["pink", [34, 0]]), "not an action of Tsuro"),
        (xrules, (STATE, [["red", [34, 0]], 34]), "not a turn of Tsuro"),
        (xref, (["a", "b"],), "not a list of three to five names of Tsuro"),
        (xref, (["a", "b", "c", "d", "e", "f"],), "not a list of three to five names of Tsuro"),
        (xadmin, ([{"name": "a", "strategy": "fourth"}],), "there is no strategy 'fourth'"),
        (xadmin, ([{"name": "\ud800"}],), "not a list of players of Tsuro"),
    ],
)
def test_anything_else_is_refused_in_one_line(harness: Any, values: tuple[Any, ...], says: str) -> None:
    with pytest.raises(BadRequest, match=says) as refused:
        harness(*values)

    assert "\n" not in str(refused.value)
