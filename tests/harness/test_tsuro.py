"""Try out the harnesses of Tsuro where their cases say nothing."""

from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.games.tsuro import strategies
from fairplay.harness.knockout import Entrant, groups, played, tournament
from fairplay.harness.tsuro import xadmin, xboard, xref, xrules, xtiles

STATE = [[[34, 0], "red", "C", 0, 0], [[34, 0], "blue", "E", 2, 0], [[33, 0], "white", "D", 0, 2]]


def entrants(count: int) -> list[Entrant]:
    return [Entrant(age, f"p{age}", strategies.second) for age in range(count)]


def test_xtiles_answers_for_each_value() -> None:
    assert xtiles() == []
    assert [answer[3] for answer in xtiles([0, 90, "A"], [13, 270, "A"])] == ["F", "G"]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(6, [3, 3]), (7, [4, 3]), (8, [5, 3]), (9, [5, 4]), (10, [5, 5]), (11, [5, 3, 3]), (12, [5, 4, 3]), (20, [5] * 4)],
)
def test_a_round_is_cut_into_games_by_age(count: int, sizes: list[int]) -> None:
    cut = groups(entrants(count))

    assert [len(group) for group in cut] == sizes
    assert [entrant.age for group in cut for entrant in group] == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_for_a_game_are_all_winners(count: int) -> None:
    standing = tournament(entrants(count))

    assert [list(rank) for rank in standing.ranks] == [entrants(count)][: min(count, 1)]
    assert standing.cheaters == ()


def test_the_last_game_decides() -> None:
    assert tournament(entrants(5)) == played(entrants(5))


def test_a_round_that_removes_nobody_ends_the_tournament(monkeypatch: pytest.MonkeyPatch) -> None:
    from fairplay.harness import knockout

    monkeypatch.setattr(knockout, "played", lambda group: knockout.Standing((tuple(group),), ()))

    assert [entrant.age for entrant in tournament(entrants(7)).ranks[0]] == list(range(7))


def test_a_colour_that_is_no_longer_there_is_ignored() -> None:
    assert xboard(STATE, ["black", [34, 0]]) == [[34, 0], "red", "C", 0, 0]


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
