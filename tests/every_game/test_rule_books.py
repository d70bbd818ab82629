"""Test that the code of every game cites each clause of its rule book and no others, and names the broken one."""

import importlib
import re
from importlib.resources import files
from typing import Any

import pytest

from fairplay.core.errors import IllegalAction, NotOnTurn
from fairplay.games import GAMES, game_info
from fairplay.games.q.pieces import NAMES

CITED = re.compile(r'§(\d+(?:\.\d+)?)|\(\s*"(\d\.\d)"')  # in a text, or in what an illegal action names
NAMED = re.compile(r'\(\s*"(\d\.\d)"')

TILE = re.compile("|".join([*NAMES, r"tile \d"]))  # which a player could be told of without having seen it
BROKEN = {game: importlib.import_module(f"tests.games.{game}.test_rules").BROKEN for game in GAMES}

each_game = pytest.mark.parametrize("game", GAMES)


def rule_book(game: str) -> str:
    return files(f"fairplay.games.{game}").joinpath("RULES.md").read_text()


def clauses(game: str) -> set[str]:
    return set(re.findall(r"^- \*\*([\d.]+)\*\*", rule_book(game), re.MULTILINE))


def source(game: str, *only: str) -> str:
    """The code of a game, or some of its files; cheats break the clauses that others have to keep."""
    directory = [file for file in files(f"fairplay.games.{game}").iterdir() if file.name != "cheats.py"]
    return "".join(file.read_text() for file in directory if file.name.endswith(only or ".py"))


@each_game
def test_the_code_cites_every_clause_of_the_rule_book_and_no_others(game: str) -> None:
    chapters = set(re.findall(r"^## (\d+) ", rule_book(game), re.MULTILINE))
    cited = {one or other for one, other in CITED.findall(source(game))}

    assert cited <= clauses(game) | chapters
    assert {clause for clause in clauses(game) if not {clause, clause.partition(".")[0]} & cited} == set()


@each_game
def test_every_clause_that_an_action_can_break_is_tried(game: str) -> None:
    assert set(NAMED.findall(source(game, "game.py", "rules.py"))) == {clause for clause, *_ in BROKEN[game]}


@pytest.mark.parametrize(
    ("game", "clause", "state", "seat", "action"),
    [(game, *row) for game in GAMES for row in BROKEN[game]],
    ids=[f"{game} {clause} {action}" for game in GAMES for clause, *_, action in BROKEN[game]],
)
def test_an_illegal_action_names_its_clause_but_no_tile_and_is_not_offered(
    game: str, clause: str, state: Any, seat: int | None, action: Any
) -> None:
    rules = game_info(game).rules()
    view = rules.view(state, seat)

    with pytest.raises(IllegalAction) as illegal:
        rules.check(view, action)

    assert (illegal.value.clause, bool(illegal.value.why)) == (clause, True)
    assert not TILE.search(str(illegal.value))
    assert rules.view(state, seat) == view
    if seat is not None and rules.turn(state) == seat:
        assert action not in list(rules.actions(view))
    else:
        with pytest.raises(NotOnTurn):
            rules.actions(view)


@each_game
def test_the_version_of_the_rules_is_that_of_the_rule_book(game: str) -> None:
    assert f"Version {game_info(game).rules.version}." in rule_book(game)
