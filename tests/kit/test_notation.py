"""Test how people type actions of games of the kit."""

from typing import Any

import pytest

from examples.games.connect_four import ConnectFour, Drop
from examples.games.tic_tac_toe import Mark, TicTacToe
from fairplay import BadRequest
from fairplay.kit import Action, BoardGame
from fairplay.kit.notation import build_action, format_action, help_text, parse_action, preview
from tests.kit.nim import Heaps, Pass, Take
from tests.nonempty import nonempty

GAMES: list[BoardGame[Any, Any]] = [TicTacToe(), ConnectFour(), Heaps()]


class Odd(Action, frozen=True):
    at: tuple[int, int]
    loud: bool
    to: str | None = None


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_what_is_written_is_read(game: BoardGame[Any, Any]) -> None:
    view = game.view(game.deal(2, bytes(32)), 0)

    for action in nonempty(list(game.actions(view))):
        assert parse_action(view, format_action(action)) == action
        assert parse_action(view, f"  {format_action(action).upper()} ") == action


@pytest.mark.parametrize(
    ("typed", "action"),
    [("mark 0 2", Mark(0, 2)), ("0 2", Mark(0, 2)), ("0,2", Mark(0, 2)), ("(1, 1)", Mark(1, 1)), ("7 -1", Mark(7, -1))],
)
def test_people_need_not_say_everything(typed: str, action: Mark) -> None:
    game = TicTacToe()

    assert parse_action(game.view(game.deal(2, bytes(32)), 0), typed) == action


def test_the_right_one_of_several_kinds_is_meant() -> None:
    game = Heaps()
    view = game.view(game.deal(2, bytes(32)), 0)

    assert parse_action(view, "pass") == Pass()
    assert parse_action(view, "2 1") == Take(2, 1)
    assert parse_action(view, "take 9 9") == Take(9, 9)


@pytest.mark.parametrize("typed", ["", "mark", "mark 0", "0 1 2", "take 0 0", "mark a b", "0.5 1"])
def test_what_cannot_be_meant_is_answered_by_what_can(typed: str) -> None:
    game = TicTacToe()

    with pytest.raises(BadRequest, match="write mark 0 0, or mark 0 1, or mark 0 2"):
        parse_action(game.view(game.deal(2, bytes(32)), 0), typed)


def test_details_of_any_kind_are_written_one_after_the_other() -> None:
    assert format_action(Odd((1, 2), True)) == "odd 1 2 yes -"
    assert build_action(int, ["7"]) is None


def test_help_lists_every_kind() -> None:
    assert help_text(Heaps).splitlines()[:2] == [
        "take HEAP COUNT         take some matches from a heap",
        "pass                    do nothing, once in a game",
    ]


def test_what_comes_of_an_action_is_foreseen() -> None:
    game = ConnectFour()
    view = game.view(game.deal(2, bytes(32)), 0)

    assert preview(view, Drop(3)).position[3] == "R"
    assert preview(view, Drop(3)).seat == 0
