"""Test that `fairplay play` refuses what cannot be played, in one line and before anything happens."""

from pathlib import Path

import pytest

from tests.cli.command import SMALL_BOARD, make_in_process_player, refusal_line, run_fairplay, run_script

TWO = ("random", "greedy")

REFUSED = {
    "no game": ((), "Missing argument 'GAME'. Choose from fish, tsuro, q"),
    "no players": (
        ("fish",),
        "Missing argument 'PLAYERS...'. Choose from random, greedy, lookahead, sampler, territory, human, exec:, tcp:, "
        "ws:, py:, ./file.py",
    ),
    "a label that is none": (
        ("fish", "<b></b>=random", "greedy"),
        "there is no program '<b></b>=random'; if a label stands before the =, it may hold neither / nor :",
    ),
    "an unknown game": (("chess", *TWO), "there is no game 'chess'; there is "),
    "an unknown player": (
        ("fish", "rando", "greedy"),
        "fish has no player 'rando'; it has random, greedy, lookahead, sampler, territory, "
        "and takes human, ./file.py, exec:COMMAND, tcp:PORT, ws:PORT and py:module:Name",
    ),
    "a bad parameter of a player": (
        ("fish", "lookahead:x", "greedy"),
        "lookahead looks 1 to 9 turns ahead, as in lookahead:2; not 'x'",
    ),
    "a parameter of a player that has none": (
        ("fish", "random:1", "greedy"),
        "random takes no parameter, not even '1'",
    ),
    "a label without a player": (("fish", "ann=", "greedy"), "'ann=' names no player; write NAME=PLAYER"),
    "a player without its label": (("fish", "=random", "greedy"), "'=random' names no player; write NAME=PLAYER"),
    "a missing file": (("fish", "./nobody.py", "greedy"), "there is no Python file ./nobody.py"),
    "half a module": (("fish", "py:nobody", "greedy"), "'py:nobody' names no player; write py:module:Name"),
    "a missing module": (("fish", "py:nobody_there:Bot", "greedy"), "No module named 'nobody_there'"),
    "an unknown parameter": (
        ("fish", *TWO, "--set", "depth=3"),
        "fish has no parameter 'depth'; it has rows, columns, fish, holes, colours, cramped",
    ),
    "a parameter without a name": (("fish", *TWO, "--set", "=3"), "--set =3: expected NAME=VALUE"),
    "text for a number": (("fish", *TWO, "--set", "rows=many"), "rows"),
    "nothing for a number": (("fish", *TWO, "--set", "rows="), "rows"),
    "half a number": (("fish", *TWO, "--set", "rows=4.5"), "rows"),
    "a side too short": (("fish", *TWO, "--set", "rows=0"), "rows"),
    "a side below zero": (("fish", *TWO, "--set", "columns=-4"), "columns"),
    "a side too long": (("fish", *TWO, "--set", "rows=101"), "rows"),
    "a huge side": (("fish", *TWO, "--set", f"rows={'9' * 5000}"), "rows"),
    "too many fish": (("fish", *TWO, "--set", "fish=6"), "fish"),
    "no fish": (("fish", *TWO, "--set", "fish=0"), "fish"),
    "holes of another kind": (("fish", *TWO, "--set", "holes=some"), "holes"),
    "unknown colours": (("fish", *TWO, "--set", "colours=pink"), "colours"),
    "neither true nor false": (("fish", *TWO, "--set", "cramped=perhaps"), "cramped"),
    "a parameter without a value": (
        ("fish", *TWO, "--set", "rows"),
        "--set rows: expected NAME=VALUE, each NAME once",
    ),
    "a parameter twice": (
        ("fish", *TWO, "--set", "rows=5", "--set", "rows=6"),
        "--set rows=6: expected NAME=VALUE, each NAME once",
    ),
    "too few players": (("fish", "random"), "fish is for 2 to 4 players, not for 1"),
    "too many players": (("fish", *TWO, *TWO, "random"), "fish is for 2 to 4 players, not for 5"),
    "a board too small": (
        ("fish", *TWO, "--set", "rows=2", "--set", "columns=3"),
        "a board of 2 x 3 with 0 holes is too small for 2 players with 4 penguins each",
    ),
    "too many holes": (
        ("fish", *TWO, "--set", "holes=57"),
        "a board of 8 x 8 with 57 holes is too small for 2 players with 4 penguins each",
    ),
    "too few ages": (("fish", *TWO, "--ages", "20"), "there are 2 players, but 1 ages"),
    "too many ages": (("fish", *TWO, "--ages", "20,30,40"), "there are 2 players, but 3 ages"),
    "ages that are no numbers": (
        ("fish", *TWO, "--ages", "young,old"),
        "--ages young,old: expected whole numbers with commas between them",
    ),
    "a missing age": (("fish", *TWO, "--ages", "20,"), "--ages 20,: expected whole numbers with commas between them"),
    "no ages at all": (("fish", *TWO, "--ages", ""), "expected whole numbers with commas between them"),
    "quiet events": (("fish", *TWO, "--quiet", "--events"), "--quiet and --events cannot go together"),
    "an unknown option": (("fish", *TWO, "--fast"), "No such option '--fast'."),
    "a seed without a text": (("fish", *TWO, "--seed"), "Option '--seed' requires an argument."),
    "a journal without a directory": (("fish", *TWO, "--journal"), "Option '--journal' requires an argument."),
    "a seed that is no text": (("fish", *TWO, "--seed", "\udcff"), "'\\udcff' is not valid UTF-8"),
    "a label that is no text": (("fish", "\udcff=random", "greedy"), "'\\udcff=random' is not valid UTF-8"),
    "a parameter that is no text": (("fish", *TWO, "--set", "fish=\udcff"), "'fish=\\udcff' is not valid UTF-8"),
    "escape codes": (("fish", "\x1b[2J\n", "greedy"), "fish has no player"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_play_refuses_invalid_arguments_in_one_line(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, why = REFUSED[what]
    monkeypatch.chdir(tmp_path)

    assert why in refusal_line(run_fairplay("play", *arguments))


@pytest.mark.parametrize("what", ["an unknown game", "too few players", "a seed that is no text", "an unknown option"])
def test_the_script_refuses_it_like_that_too(what: str) -> None:
    arguments, why = REFUSED[what]

    assert why in refusal_line(run_script("play", *arguments))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "module {module} has no 'take_turn', which 'in-process:{module}:take_turn' needs"),
        ("def take_turn(view)\n    pass", "in-process:{module}:take_turn cannot be loaded: SyntaxError: expected ':'"),
        ("print('hello')\nraise RuntimeError('not today')", "RuntimeError: not today ({module}.py, line 2)"),
        ("import sys\nsys.exit(0)", "in-process:{module}:take_turn cannot be loaded: SystemExit"),
        ("class Player:\n    def __init__(self): raise ValueError('no')", "ValueError: no ({module}.py, line 2)"),
        ("take_turn = 3", "in-process:{module}:take_turn is not a player: it has no method take_turn(view)"),
        ("raise RuntimeError('\\x1b[2J\\nline two')", "RuntimeError"),
    ],
)
def test_a_module_that_holds_no_player_is_refused_in_one_line(
    source: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = make_in_process_player(source, tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--journal", str(tmp_path / "games"))

    line = refusal_line(done._replace(err=done.err.removeprefix("hello\n")))
    assert why.format(module=address.split(":")[1]) in line
    assert not (tmp_path / "games").exists()


def test_a_file_where_the_journal_should_go_is_refused(tmp_path: Path) -> None:
    (tmp_path / "games").write_text("in the way")

    done = run_fairplay("play", "fish", *TWO, "--journal", str(tmp_path / "games"))

    assert "is a file" in refusal_line(done)


def test_nothing_is_written_when_the_request_is_bad(tmp_path: Path) -> None:
    into = ("--journal", str(tmp_path / "games"))

    refusal_line(run_fairplay("play", "fish", "random", "rando", *into))
    refusal_line(run_fairplay("play", "fish", "random", *into))
    refusal_line(run_fairplay("play", "fish", *TWO, "--set", "rows=1", "--set", "columns=1", *into))

    assert list(tmp_path.iterdir()) == []


def test_the_keyboard_ends_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = make_in_process_player("def take_turn(view): raise KeyboardInterrupt", tmp_path, monkeypatch)

    done = run_fairplay("play", "fish", "greedy", address, *SMALL_BOARD, "--quiet")

    assert done == (130, "", "\nfairplay: interrupted\n")  # the first newline is for the ^C
