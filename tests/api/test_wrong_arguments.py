"""Test that wrong arguments are refused in one line, before anything is played or recorded."""

from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from fairplay.app.arguments import describe
from fairplay.referee.referee import Referee
from tests.api.fish_players import FISH, Last, first

GREEDY = ["greedy", "greedy"]
WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "a game that does not exist": ({"game": "fihs"}, fp.BadRequest, "there is no game 'fihs': did you mean 'fish'?"),
    "a parameter that does not exist": ({"game": "fish(row=3)"}, fp.BadRequest, "fish has no parameter 'row'; it has "),
    "a parameter out of range": ({"game": "fish(rows=1000)"}, fp.BadRequest, "fish cannot be played with rows=1000 "),
    "a parameter without a value": ({"game": "fish(rows)"}, fp.BadRequest, "'fish(rows)' is no game: write PARAMETER="),
    "a parameter given twice": ({"game": "fish(rows=3,rows=4)"}, fp.BadRequest, "'fish(rows=3,rows=4)' is no game: "),
    "brackets that do not match": ({"game": "fish(rows=3"}, fp.BadRequest, "'fish(rows=3' is no game; write NAME or "),
    "a game that is a number": ({"game": 7}, TypeError, "game must be a name or a value of a game, not 7 (an int)"),
    "the class of a game": ({"game": type(FISH)}, TypeError, "game must be a name or a value of a game, not "),
    "one player": ({"players": ["greedy"]}, fp.BadRequest, "fish is for 2 to 4 players, not for 1"),
    "too many players": ({"players": ["greedy"] * 5}, fp.BadRequest, "fish is for 2 to 4 players, not for 5"),
    "a built-in player that does not exist": (
        {"players": ["gredy", "greedy"]},
        fp.BadRequest,
        "fish has no player 'gredy'; it has random, greedy, ",
    ),
    "a file that does not exist": (
        {"players": ["greedy", "./nobot.py"]},
        fp.BadRequest,
        "there is no Python file ./nobot.py",
    ),
    "a path that does not exist": (
        {"players": ["greedy", Path("nobot.py")]},
        fp.BadRequest,
        "there is no Python file ./nobot.py",
    ),
    "one text as players": (
        {"players": "greedy"},
        TypeError,
        "players must be a list, or a dict by name, not 'greedy' (a str)",
    ),
    "a set of players": ({"players": {"greedy", "random"}}, TypeError, "players must be a list, or a dict by name, "),
    "a player that is a number": (
        {"players": ["greedy", 7]},
        TypeError,
        "player 1 must be a name, an address, a function or an object with a method take_turn(view), not 7 (an int)",
    ),
    "a class as a player": ({"players": {"ann": Last, "bob": "greedy"}}, TypeError, "player ann is the class Last; "),
    "a name that is a number": (
        {"players": {"ann": "greedy", 3: "greedy"}},
        TypeError,
        "the name of a player must be a text, not 3 (an int)",
    ),
    "a name that is empty": ({"players": {"": "greedy", "b": first}}, TypeError, "the name of a player must be a text"),
    "a name that cannot be written": (
        {"players": {"b\ud800": "greedy", "c": "greedy"}},
        fp.BadRequest,
        "a name holds half a character",
    ),
    "a seed that is a fraction": (
        {"seed": 3.5},
        TypeError,
        "seed must be an int, a str or 32 bytes, not 3.5 (a float)",
    ),
    "a seed that is a truth value": ({"seed": True}, TypeError, "seed must be an int, a str or 32 bytes, not True "),
    "a seed of too few bytes": ({"seed": b"x"}, fp.BadRequest, "a seed of bytes has 32 of them, not 1; "),
    "ages that are texts": ({"ages": ["x", "y"]}, TypeError, "ages must be a list of numbers, not ['x', 'y'] (a list)"),
    "too few ages": ({"ages": [7]}, fp.BadRequest, "there are 2 players, but 1 ages"),
    "limits that are a list": ({"limits": [3]}, TypeError, "limits must be Limits, seconds or a text such as "),
    "limits that are no time": ({"limits": "soon"}, fp.BadRequest, "'soon' is "),
    "limits below zero": ({"limits": -1}, fp.BadRequest, "'-1' is "),
    "limits made by hand below zero": ({"limits": fp.Limits(move=-1.0)}, fp.BadRequest, "these limits make no sense: "),
    "a sandbox that does not exist": (
        {"sandbox": "yes"},
        fp.BadRequest,
        "sandbox must be one of 'auto', 'strict', 'none', not 'yes' (a str)",
    ),
    "observers that are no list": ({"observers": first}, TypeError, "observers must be a list, not "),
    "an observer that is a number": ({"observers": [3]}, TypeError, "an observer must be an object with a method "),
    "an observer that does not exist": (
        {"observers": ["py:nowhere:X"]},
        fp.BadRequest,
        "py:nowhere:X cannot be loaded",
    ),
    "a journal that is a number": ({"journal": 3}, TypeError, "journal must be a path, not 3 (an int)"),
    "a time to sync that does not exist": (
        {"sync": "alway"},
        fp.BadRequest,
        "sync must be one of 'always', 'batch', 'off', not 'alway' (a str)",
    ),
    "resuming without a journal": ({"resume": True}, fp.BadRequest, "resume=True needs journal=DIRECTORY, in which "),
}


@pytest.mark.parametrize("case", WRONG)
def test_play_says_what_is_wrong_in_one_line(case: str, tmp_path: Path) -> None:
    given, kind, message = WRONG[case]
    journal = {} if case == "resuming without a journal" else {"journal": tmp_path}

    with pytest.raises(kind) as told:
        fp.play(**{"game": FISH, "players": GREEDY, **journal, **given})

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


OTHER_CALLS: dict[str, tuple[Any, type[Exception], str]] = {
    "a referee that is given a name": (
        lambda: Referee().run(FISH, ["greedy", first]),  # type: ignore[list-item]
        fp.BadRequest,
        "'greedy' is the name of a player, and a Referee takes players: write built_in_strategy('fish', 'greedy'); ",
    ),
    "verify without a path": (lambda: fp.verify(), TypeError, "verify() takes the path of at least one journal"),
    "verify of a number": (lambda: fp.verify(3), TypeError, "path must be the path of a journal, not 3 (an int)"),  # type: ignore[arg-type]
    "verify of a file that does not exist": (
        lambda: fp.verify("nowhere.jsonl"),
        fp.BadRequest,
        "nowhere.jsonl: cannot be read: No such file",
    ),
    "a receipt for two journals": (
        lambda: fp.verify("a", "b", receipt=fp.Receipt(1, "0" * 64)),
        TypeError,
        "a receipt is for one match, and there are 2 paths",
    ),
    "a receipt that is none": (lambda: fp.verify("a", receipt="x"), fp.BadRequest, "'x' is "),
    "a journal that is another file": (
        lambda: fp.read_journal(__file__),
        fp.BadRequest,
        f"{__file__}: line 1 (byte 0): ",
    ),
    "a game to register that is a value": (
        lambda: fp.register_game(FISH),  # type: ignore[arg-type]
        TypeError,
        "game must be a class that is derived from Game, or py:module:Name, not ",
    ),
    "a module that does not exist": (
        lambda: fp.register_game("py:nowhere:X"),
        fp.BadRequest,
        "py:nowhere:X cannot be loaded: ModuleNotFoundError",
    ),
    "a game to make that is a value": (lambda: fp.make_game(FISH), TypeError, "game must be a name, not "),  # type: ignore[arg-type]
    "a parameter to make a game": (lambda: fp.make_game("fish", row=3), fp.BadRequest, "fish has no parameter 'row'"),
    "a setting of a server": (lambda: fp.serve("fish", prot=1), fp.BadRequest, "serve: unknown key 'prot': did you "),
    "a port that is a text": (lambda: fp.serve("fish", port="x"), fp.BadRequest, "port: "),
    "settings beside a file": (
        lambda: fp.serve("server.toml", port=1),
        TypeError,
        "port must stand in the settings, which say all",
    ),
}


@pytest.mark.parametrize("case", OTHER_CALLS)
def test_other_calls_say_what_is_wrong_in_one_line(case: str) -> None:
    call, kind, message = OTHER_CALLS[case]

    with pytest.raises(kind) as told:
        call()

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)


def test_a_wrong_value_is_described_in_a_few_words() -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError

    assert describe(3.5) == "3.5 (a float)"
    assert describe(list(range(100))) == "a list"
    assert describe(Unprintable()) == "an Unprintable"
