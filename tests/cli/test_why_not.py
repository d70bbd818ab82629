"""Test `fairplay why-not`."""

import importlib
import json
import sys
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import IllegalAction
from fairplay.core.events import Fault
from fairplay.games import GAMES, game_info
from fairplay.games.tsuro.examples import EXAMPLES as TSURO_EXAMPLES
from fairplay.journal.ejection_report import clauses, ejection_reports
from fairplay.journal.verification import read_legal
from fairplay.testing.hostile import HOSTILE_PLAYERS
from tests.cli.command import (
    CommandResult,
    damage_journal,
    record_journal,
    refusal_line,
    run_fairplay,
)
from tests.journal.journals import first_action, good_then, play_illegal_action, record_match
from tests.journal.test_ejection_report import kicked
from tests.nonempty import nonempty
from tests.testing.test_hostile import SEATINGS

PLACE = '{"type": "place", "at": [0, 0]}'
CHEATS = [(name, game) for name, game in SEATINGS if HOSTILE_PLAYERS[name].fault is Fault.ILLEGAL]


def text_of(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def view_text(game: str, state: Any, seat: int | None) -> str:
    rules = game_info(game).rules()
    return text_of(rules.pack(rules.view(state, seat)))


def view_file(directory: Path, game: str, state: Any, seat: int | None) -> str:
    """A file with the packed view of a seat."""
    path = directory / "view.json"
    path.write_text(view_text(game, state, seat))
    return str(path)


def broken() -> list[Any]:
    """Every illegal action that the tests of the rules know."""
    return [
        pytest.param(game, *bug, id=f"{game} {bug[0]} {number}")
        for game in GAMES
        for number, bug in enumerate(importlib.import_module(f"tests.games.{game}.test_rules").BROKEN)
    ]


@pytest.mark.parametrize(("game", "clause", "state", "seat", "action"), broken())
def test_an_illegal_action_is_answered_by_the_rule_that_it_breaks(
    game: str, clause: str, state: Any, seat: int | None, action: Any, tmp_path: Path
) -> None:
    rules = game_info(game).rules()

    done = run_fairplay("why-not", game, "--view", view_file(tmp_path, game, state, seat), text_of(action))

    with pytest.raises(IllegalAction) as illegal:
        rules.check(rules.view(state, seat), action)
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(f"no: rule {clause}: {illegal.value.why}\n\n  rule {clause}  ")
    assert clauses(game)[clause] in " ".join(done.out.split())


def legal(game: str, name: str) -> list[Any]:
    """A few actions that are legal in an example."""
    rules, state = game_info(game).rules(), game_info(game).examples[name]
    turn = rules.turn(state)
    return [] if turn is None else list(islice(rules.actions(rules.view(state, turn)), 3))


@pytest.mark.parametrize(
    ("game", "name"), [(game, name) for game in GAMES for name in game_info(game).examples if legal(game, name)]
)
def test_a_legal_action_is_answered_by_yes(game: str, name: str, tmp_path: Path) -> None:
    state = game_info(game).examples[name]
    seat = game_info(game).rules().turn(state)

    for action in nonempty(legal(game, name)):
        done = run_fairplay("why-not", game, "--view", view_file(tmp_path, game, state, seat), text_of(action))
        assert done == CommandResult(0, f"yes: seat {seat} {action}\n", "")


@pytest.mark.parametrize(("name", "game"), CHEATS)
def test_a_journal_gives_the_view_of_the_player_on_turn_and_that_it_was_shown(
    name: str, game: str, tmp_path: Path
) -> None:
    path, kept = kicked(tmp_path, name, game), tmp_path / "shown.json"
    one = next(report for report in ejection_reports(read_legal(path)) if report.seat == 0)
    assert one.legal is not None
    kept.write_text(text_of(one.shown))
    there = ("why-not", game, "--view", str(path), "--at", str(one.facts))

    for command in (there, ("why-not", game, "--view", str(kept))):
        no = run_fairplay(*command, text_of(one.answer))
        assert (no.code, no.err, no.out.partition("\n")[0]) == (1, "", f"no: {one.why}")
    yes = run_fairplay(*there, text_of(one.legal.example))
    assert yes == CommandResult(0, f"yes: Bad {one.legal.example}\n", "")


def test_a_refusal_says_what_would_be_legal(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, good_then(1, play_illegal_action)])

    done = run_fairplay("why-not", "fish", "--view", str(path), "--at", "3", PLACE)

    assert done.out == (
        "no: rule 3.3: a penguin stands at [0, 0] already\n\n"
        "  rule 3.3  The tile must be free: no penguin stands on it.\n"
        "  action    player-2 places a penguin at [0, 0]\n"
        "  legal     13 actions, such as: player-2 places a penguin at [0, 3]\n"
        '            {"type":"place","at":[0,3]}\n'
    )


def test_where_there_is_no_legal_option_that_is_said(tmp_path: Path) -> None:
    state = TSURO_EXAMPLES["no legal option"]
    rules = game_info("tsuro").rules()
    seat = rules.turn(state)
    tile = rules.view(state, seat).dealt[0]
    view = view_file(tmp_path, "tsuro", state, seat)

    done = run_fairplay("why-not", "tsuro", "--view", view, text_of({"type": "lay", "tile": tile, "degrees": 0}))

    assert done.code == 1
    assert done.out.startswith("no: rule 4.5: no legal option: ")
    assert f"  legal     none: seat {seat} is not to move, or has no legal option\n" in done.out

    view = view_file(tmp_path, "fish", game_info("fish").examples["start"], None)
    done = run_fairplay("why-not", "fish", "--view", view, PLACE)
    assert (done.code, done.out.partition("\n")[0]) == (1, "no: rule 2.3: it is not your turn")
    assert "  legal     none: a spectator is not to move, or has no legal option\n" in done.out


def test_why_not_says_that_a_finished_match_has_no_turn(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    over = f"no: no player is to move after {len(read_legal(path).facts)} facts: the game is over\n"

    assert run_fairplay("why-not", "fish", "--view", str(path), PLACE) == CommandResult(1, over, "")
    examples = '; write {"type":"place","at":[0,0]} or {"type":"move","from":[3,1],"to":[4,2]}'
    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(path), "{}")).endswith(examples)

    match = read_legal(damage_journal(path, "unfinished")).match_after(None)
    assert match.turn is not None
    action = next(match.game.actions(match.view(match.turn)))
    done = run_fairplay("why-not", "fish", "--view", str(path), text_of(action))
    assert done == CommandResult(0, f"yes: {match.names[match.turn]} {action}\n", "")


def say(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode())))


def test_the_action_or_the_view_can_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view, yes = view_file(tmp_path, "fish", game_info("fish").examples["start"], 0), "yes: seat 0 places a penguin at "

    say(f" {PLACE}\n", monkeypatch)
    assert run_fairplay("why-not", "fish", "--view", view, "--set", "rows=4", "-").out == f"{yes}[0, 0]\n"
    say(Path(view).read_text(), monkeypatch)
    assert run_fairplay("why-not", "fish", "--view", "-", PLACE).out == f"{yes}[0, 0]\n"
    say(record_journal(tmp_path).read_text(), monkeypatch)
    refused = run_fairplay("why-not", "fish", "--view", "-", PLACE)
    assert refusal_line(refused) == "a journal cannot come from standard input: name its file"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("", "the action is not JSON: Input data was truncated; write "),
        ("place", "the action is not JSON: JSON is malformed: "),
        (f"{PLACE} {PLACE}", "the action is not JSON: "),
        ("\udcff", "the action is not JSON: "),
        ("[" * 100_000, "not an action of fish: "),
        ("null", "not an action of fish: Expected `object`, got `null`; write "),
        ("{}", "not an action of fish: Object missing required field `type`; write "),
        ('{"type": "win"}', "not an action of fish: Invalid value 'win' - at `$.type`; write "),
        ('{"type": "place"}', "not an action of fish: Object missing required field `at`; write "),
        ('{"type": "place", "at": [0, 0], "x": 1}', "not an action of fish: Object contains unknown field `x`"),
        ('{"type": "place", "at": [0.5, 0]}', "not an action of fish: Expected `int`, got `float`"),
        ('{"type": "place", "at": ["\\ud800", 0]}', " is not "),
    ],
)
def test_an_invalid_action_is_refused_with_an_example(action: str, why: str, tmp_path: Path) -> None:
    line = refusal_line(run_fairplay("why-not", "fish", "--view", str(record_journal(tmp_path)), "--at", "0", action))

    assert why in line
    assert line.endswith(' {"type":"place","at":[0,0]}')


@pytest.mark.parametrize("game", GAMES)
def test_where_nothing_is_legal_the_example_is_from_another_position(game: str, tmp_path: Path) -> None:
    rules = game_info(game).rules()
    view = view_file(tmp_path, game, game_info(game).examples["start"], None)

    line = refusal_line(run_fairplay("why-not", game, "--view", view, "{}"))

    kinds = set()
    for example in line.partition("; write ")[2].split(" or "):
        msgspec.json.decode(example, type=rules.action)
        kinds.add(json.loads(example)["type"])
    assert kinds == {kind.__struct_config__.tag for kind in rules.action.__args__}


VIEW_OF_Q = view_text("q", game_info("q").examples["start"], 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (VIEW_OF_Q, "{view} is neither a journal nor a view of fish: "),
        ("", "{view} is neither a journal nor a view in JSON: Input data was truncated"),
        ("hello", "{view} is neither a journal nor a view in JSON: JSON is malformed: invalid character (byte 0)"),
        ("[" * 100_000, "{view} is neither a journal nor a view in JSON: "),
        ("{}", "{view} is neither a journal nor a view of fish: not a position of Fish: Object missing required field"),
    ],
)
def test_an_invalid_view_is_refused(text: str, why: str, tmp_path: Path) -> None:
    view = tmp_path / "view.json"
    view.write_text(text)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(view), PLACE)).startswith(why.format(view=view))
