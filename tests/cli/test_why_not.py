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
    DAMAGE_MESSAGES,
    CommandResult,
    damage_journal,
    forge_journal,
    record_journal,
    refusal_line,
    run_fairplay,
    run_script,
)
from tests.journal.journals import first_action, good_then, play_illegal_action, record_match
from tests.journal.test_ejection_report import kicked
from tests.nonempty import nonempty
from tests.testing.test_hostile import SEATINGS

PLACE = '{"type": "place", "at": [0, 0]}'
CHEATS = [(name, game) for name, game in SEATINGS if HOSTILE_PLAYERS[name].fault is Fault.ILLEGAL]


def text_of(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def view_file(directory: Path, game: str, state: Any, seat: int | None) -> str:
    """A file with the packed view of a seat."""
    rules, path = game_info(game).rules(), directory / "view.json"
    path.write_text(text_of(rules.pack(rules.view(state, seat))))
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
def test_a_journal_gives_the_view_of_the_player_on_turn(name: str, game: str, tmp_path: Path) -> None:
    path = kicked(tmp_path, name, game)
    one = next(report for report in ejection_reports(read_legal(path)) if report.seat == 0)
    assert one.legal is not None
    there = ("why-not", game, "--view", str(path), "--at", str(one.facts))

    no, yes = run_fairplay(*there, text_of(one.answer)), run_fairplay(*there, text_of(one.legal.example))

    assert (no.code, no.err, no.out.partition("\n")[0]) == (1, "", f"no: {one.why}")
    assert yes == CommandResult(0, f"yes: Bad {one.legal.example}\n", "")


@pytest.mark.parametrize(("name", "game"), CHEATS)
def test_a_view_kept_in_a_journal_can_be_used(name: str, game: str, tmp_path: Path) -> None:
    one = next(report for report in ejection_reports(read_legal(kicked(tmp_path, name, game))) if report.seat == 0)
    view = tmp_path / "shown.json"
    view.write_text(text_of(one.shown))

    done = run_fairplay("why-not", game, "--view", str(view), text_of(one.answer))

    assert (done.code, done.err, done.out.partition("\n")[0]) == (1, "", f"no: {one.why}")


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


def test_a_spectator_is_never_to_move(tmp_path: Path) -> None:
    view = view_file(tmp_path, "fish", game_info("fish").examples["start"], None)

    done = run_fairplay("why-not", "fish", "--view", view, PLACE)

    assert (done.code, done.out.partition("\n")[0]) == (1, "no: rule 2.3: it is not your turn")
    assert "  legal     none: a spectator is not to move, or has no legal option\n" in done.out


def test_why_not_says_that_a_finished_match_has_no_turn(tmp_path: Path) -> None:
    path = record_journal(tmp_path)
    facts = len(read_legal(path).facts)

    assert run_fairplay("why-not", "fish", "--view", str(path), PLACE) == CommandResult(
        1, f"no: no player is to move after {facts} facts: the game is over\n", ""
    )


def test_an_unfinished_match_is_taken_at_its_end(tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), "unfinished")
    match = read_legal(path).match_after(None)
    assert match.turn is not None
    action = next(match.game.actions(match.view(match.turn)))

    done = run_fairplay("why-not", "fish", "--view", str(path), text_of(action))

    assert done == CommandResult(0, f"yes: {match.names[match.turn]} {action}\n", "")


def test_names_in_a_journal_reach_no_terminal_raw(tmp_path: Path) -> None:
    path = record_journal(tmp_path, "\x1b[2Jann=greedy", "bob\u202e=random")

    for facts in ("0", "1"):
        for action in (PLACE, '{"type": "place", "at": [99, 99]}'):
            done = run_fairplay("why-not", "fish", "--view", str(path), "--at", facts, action)
            assert all(line.isprintable() for line in done.out.split("\n"))


# Standard input.


def say(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode())))


def test_the_action_can_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say(f" {PLACE}\n", monkeypatch)
    view = view_file(tmp_path, "fish", game_info("fish").examples["start"], 0)

    assert run_fairplay("why-not", "fish", "--view", view, "-").out == "yes: seat 0 places a penguin at [0, 0]\n"


def test_the_view_can_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say(Path(view_file(tmp_path, "fish", game_info("fish").examples["start"], 0)).read_text(), monkeypatch)

    assert run_fairplay("why-not", "fish", "--view", "-", PLACE).out == "yes: seat 0 places a penguin at [0, 0]\n"


def test_not_both_can_come_from_standard_input() -> None:
    assert refusal_line(run_fairplay("why-not", "fish", "--view", "-", "-")) == (
        "only one of the view and the action can come from standard input"
    )


def test_no_journal_can_come_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say(record_journal(tmp_path).read_text(), monkeypatch)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", "-", PLACE)) == (
        "a journal cannot come from standard input: name its file"
    )


def test_the_script_answers_the_same(tmp_path: Path) -> None:
    arguments = ("why-not", "fish", "--view", str(record_journal(tmp_path)), "--at", "1")

    for action in (PLACE, '{"type": "place", "at": [99, 99]}', "{}"):
        assert run_script(*arguments, action) == run_fairplay(*arguments, action)
        assert run_script(*arguments, "-", input=action) == run_fairplay(*arguments, action)


# What is refused.


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("", "the action is not JSON: Input data was truncated; write "),
        ("place", "the action is not JSON: JSON is malformed: "),
        ('{"type": "place"', "the action is not JSON: "),
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


def test_in_a_finished_match_the_example_is_from_another_position(tmp_path: Path) -> None:
    line = refusal_line(run_fairplay("why-not", "fish", "--view", str(record_journal(tmp_path)), "{}"))

    assert line.endswith('; write {"type":"place","at":[0,0]} or {"type":"move","from":[3,1],"to":[4,2]}')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "{view} is neither a journal nor a view in JSON: Input data was truncated"),
        ("hello", "{view} is neither a journal nor a view in JSON: JSON is malformed: invalid character (byte 0)"),
        ("[" * 100_000, "{view} is neither a journal nor a view in JSON: "),
        ("null", "{view} is neither a journal nor a view of fish: not a position of Fish: "),
        ("{}", "{view} is neither a journal nor a view of fish: not a position of Fish: Object missing required field"),
    ],
)
def test_an_invalid_view_is_refused(text: str, why: str, tmp_path: Path) -> None:
    view = tmp_path / "view.json"
    view.write_text(text)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(view), PLACE)).startswith(why.format(view=view))


@pytest.mark.parametrize(("game", "other"), [("fish", "q"), ("q", "tsuro"), ("tsuro", "fish")])
def test_a_view_of_another_game_is_refused(game: str, other: str, tmp_path: Path) -> None:
    view = view_file(tmp_path, game, game_info(game).examples["start"], 0)

    line = refusal_line(run_fairplay("why-not", other, "--view", view, "{}"))

    assert line.startswith(f"{view} is neither a journal nor a view of {other}: ")


def test_a_journal_of_another_game_is_refused(tmp_path: Path) -> None:
    path = record_journal(tmp_path)

    assert refusal_line(run_fairplay("why-not", "q", "--view", str(path), '{"type": "pass"}')) == (
        f"{path} is the journal of a match of fish, not of q"
    )


def test_parameters_are_for_views_alone(tmp_path: Path) -> None:
    path, view = record_journal(tmp_path), view_file(tmp_path, "fish", game_info("fish").examples["start"], 0)
    sized = ("--set", "rows=4")

    assert run_fairplay("why-not", "fish", "--view", view, *sized, PLACE).code == 0
    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(path), *sized, PLACE)) == (
        f"--set cannot be used with a journal, which has the parameters of its match: {path}"
    )


@pytest.mark.parametrize(
    ("sized", "why"),
    [
        ("rows", "--set rows: expected NAME=VALUE, each NAME once"),
        ("rows=0", "fish cannot be played with rows=0 (rows: of the board, 1 to 100)"),
        ("x=1", "fish has no parameter 'x'; it has rows, columns, fish, holes, colours, cramped"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(sized: str, why: str, tmp_path: Path) -> None:
    view = view_file(tmp_path, "fish", game_info("fish").examples["start"], 0)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", view, "--set", sized, PLACE)) == why


@pytest.mark.parametrize("at", ["0", "1"])
def test_a_place_in_a_match_is_for_journals_alone(at: str, tmp_path: Path) -> None:
    view = view_file(tmp_path, "fish", game_info("fish").examples["start"], 0)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", view, "--at", at, PLACE)) == (
        f"--at is for a journal, and {view} is not one"
    )


@pytest.mark.parametrize("at", ["-1", "10000"])
def test_a_place_that_is_not_in_the_match_is_refused(at: str, tmp_path: Path) -> None:
    done = run_fairplay("why-not", "fish", "--view", str(record_journal(tmp_path)), "--at", at, PLACE)

    assert refusal_line(done).startswith(f"there is no position after {at} facts: the match has ")


@pytest.mark.parametrize("how", DAMAGE_MESSAGES)
def test_no_broken_journal_is_looked_into(how: str, tmp_path: Path) -> None:
    path = damage_journal(record_journal(tmp_path), how)

    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(path), PLACE)).startswith(str(path))


def test_no_forged_match_is_looked_into(tmp_path: Path) -> None:
    path = forge_journal(record_journal(tmp_path))

    assert refusal_line(run_fairplay("why-not", "fish", "--view", str(path), PLACE)).startswith(
        f"{path}: line 5: this is not legal: rule 3.3: "
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "Missing argument 'GAME'. Choose from fish, tsuro, q"),
        (("fish", "--view", "x"), "Missing argument 'ACTION'."),
        (("fish", PLACE), "Missing option '--view'."),
        (
            ("chess", "--view", "x", PLACE),
            "there is no game 'chess'; there is fish, tsuro, q; name your own game with --game py:module:Name",
        ),
        (("fish", "--view", "/nowhere", PLACE), "/nowhere cannot be read: No such file or directory"),
        (("fish", "--view", "/", PLACE), "/ cannot be read: Is a directory"),
        (("fish", "--view", "a\0b", PLACE), "a\ufffdb cannot be read: embedded null byte"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    assert refusal_line(run_fairplay("why-not", *arguments)) == why
