"""Test the default parts of games of the kit: how actions are typed, cheats, examples, and the rule book."""

from typing import Any

import pytest

from examples.games.connect_four import ConnectFour, Drop
from examples.games.tic_tac_toe import Mark, TicTacToe
from fairplay import BadRequest, Fault
from fairplay.games.fish import Fish
from fairplay.kit import Action, BoardGame
from fairplay.kit.built_in import BUILT_IN
from fairplay.kit.cheats import cheats_of
from fairplay.kit.examples import examples_of
from fairplay.kit.notation import build_action, format_action, help_text, parse_action, preview
from fairplay.kit.rule_book import rule_book
from fairplay.referee.referee import Referee
from fairplay.testing.cheats import broken_clause, cheating_strategy, describe_cheat
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
    assert format_action(Odd((1, 2), True)) == "odd 1 2 yes -"
    assert build_action(int, ["7"]) is None


@pytest.mark.parametrize(
    ("game", "typed", "action"),
    [
        (GAMES[0], "mark 0 2", Mark(0, 2)),
        (GAMES[0], "0,2", Mark(0, 2)),
        (GAMES[0], "(1, 1)", Mark(1, 1)),
        (GAMES[0], "7 -1", Mark(7, -1)),
        (GAMES[2], "pass", Pass()),
        (GAMES[2], "2 1", Take(2, 1)),
        (GAMES[2], "take 9 9", Take(9, 9)),
    ],
)
def test_people_need_not_say_everything(game: BoardGame[Any, Any], typed: str, action: Mark | Pass | Take) -> None:
    assert parse_action(game.view(game.deal(2, bytes(32)), 0), typed) == action


@pytest.mark.parametrize("typed", ["", "mark", "mark 0", "0 1 2", "take 0 0", "mark a b", "0.5 1"])
def test_what_cannot_be_meant_is_answered_by_what_can(typed: str) -> None:
    game = TicTacToe()

    with pytest.raises(BadRequest, match="write mark 0 0, or mark 0 1, or mark 0 2"):
        parse_action(game.view(game.deal(2, bytes(32)), 0), typed)


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


RULES: list[type[BoardGame[Any, Any]]] = [TicTacToe, ConnectFour, Heaps]
each_game = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)


@each_game
def test_cheats_are_found_out_by_their_clause(rules: type[BoardGame[Any, Any]]) -> None:
    for cheat in nonempty(cheats_of(rules).values()):
        found = set()
        for key in range(40):  # it may take a few matches until it is possible
            bad = cheating_strategy(cheat, BUILT_IN["random"].make("", bytes([key] * 32)))
            match = Referee().run(rules(), [bad, bad], seed=bytes(32))
            found |= {(out.fault, out.clause) for out in match.result.ejected}

        assert found == {(Fault.ILLEGAL, broken_clause(cheat))}
        assert describe_cheat(cheat)


@each_game
def test_examples_are_positions_with_a_player_on_turn(rules: type[BoardGame[Any, Any]]) -> None:
    found = examples_of(rules)

    assert [*found] == ["start", "in the middle", "near the end"]
    assert len({str(state) for state in found.values()}) == 3
    assert all(rules().turn(state) is not None for state in found.values())


def test_the_rule_book_has_the_clauses_of_the_module_and_of_all() -> None:
    book = rule_book(TicTacToe)

    assert book.startswith("# The rules of tic-tac-toe\n\nVersion 1.\n\nThree in a row")
    assert "- **2** On its turn a player marks a square that is free." in book
    assert "- **0.2** On its turn a player does one thing" in book


def test_the_rule_book_of_a_game_that_is_not_of_the_kit_has_its_own_clauses_alone() -> None:
    book = rule_book(Fish)

    assert book.startswith("# The rules of fish\n")
    assert "- **" not in book  # as there are none where it is looked for
