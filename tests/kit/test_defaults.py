"""Test the default parts of games of the kit: cheats, examples, and the rule book."""

from typing import Any

import pytest

from examples.games.connect_four import ConnectFour
from examples.games.tic_tac_toe import TicTacToe
from fairplay import Fault
from fairplay.games import PARTS
from fairplay.games.fish import Fish
from fairplay.kit import BoardGame
from fairplay.kit.built_in import BUILT_IN
from fairplay.kit.cheats import cheats_of, rare_cheats_of
from fairplay.kit.defaults import DEFAULTS, default_part
from fairplay.kit.examples import examples_of
from fairplay.kit.rule_book import rule_book
from fairplay.referee.referee import Referee
from fairplay.testing.cheats import broken_clause, cheating_strategy, describe_cheat
from tests.kit.nim import Heaps
from tests.nonempty import nonempty

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


def test_those_that_are_not_possible_from_the_start_are_said_to_be_seldom() -> None:
    assert rare_cheats_of(TicTacToe) == {"does what is not offered in tic-tac-toe"}
    assert rare_cheats_of(ConnectFour) == {"does what is not offered in connect-four"}


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


@each_game
def test_everything_that_a_title_has_to_have_is_there(rules: type[BoardGame[Any, Any]]) -> None:
    needed = {name for name, (_, _, *otherwise) in PARTS.items() if not otherwise}

    assert needed <= {*DEFAULTS} <= {*PARTS}
    assert all(default_part(rules, name) is not None for name in DEFAULTS)
