"""Test that wrong arguments are refused in one line, before anything is played or recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fairplay as fp
from fairplay.app.arguments import describe
from fairplay.referee.referee import Referee
from tests.api.fish_players import FISH, Last, first

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown game": ({"game": "fihs"}, "there is no game 'fihs': did you mean 'fish'?"),
    "a parameter without a value": ({"game": "fish(rows)"}, "'fish(rows)' is no game: write PARAMETER="),
    "a parameter given twice": ({"game": "fish(rows=3,rows=4)"}, "'fish(rows=3,rows=4)' is no game: "),
    "brackets that do not match": ({"game": "fish(rows=3"}, "'fish(rows=3' is no game; write NAME or "),
    "one player": ({"players": ["greedy"]}, "fish is for 2 to 4 players, not for 1"),
    "an unknown player": ({"players": ["gredy", first]}, "fish has no player 'gredy'; it has random, greedy, "),
    "a missing path": ({"players": ["greedy", Path("nobot.py")]}, "there is no Python file ./nobot.py"),
    "a seed of too few bytes": ({"seed": b"x"}, "a seed of bytes has 32 of them, not 1; "),
    "too few ages": ({"ages": [7]}, "there are 2 players, but 1 ages"),
    "limits that are no time": ({"limits": "soon"}, "'soon' is "),
    "limits below zero": ({"limits": -1}, "'-1' is "),
    "limits made by hand below zero": ({"limits": fp.Limits(move=-1.0)}, "these limits make no sense: "),
    "a wrong sandbox": (
        {"sandbox": "yes"},
        "sandbox must be one of 'auto', 'strict', 'landlock', 'none', not 'yes'",
    ),
    "a wrong time to sync": ({"sync": "alway"}, "sync must be one of 'always', 'batch', 'off', not 'alway' (a str)"),
    "no journal": ({"resume": True, "journal": None}, "resume=True needs journal=DIRECTORY, in which "),
}
NO_PLAYER = "player 1 must be a name, an address, a function or an object with a method take_turn(view), not 7 (an int)"
WRONG: dict[str, tuple[dict[str, Any], str]] = {  # of which a TypeError tells
    "a game that is a number": ({"game": 7}, "game must be a name or a value of a game, not 7 (an int)"),
    "the class of a game": ({"game": type(FISH)}, "game must be a name or a value of a game, not "),
    "one text as players": ({"players": "greedy"}, "players must be a list, or a dict by name, not 'greedy' (a str)"),
    "a set of players": ({"players": {"greedy", "random"}}, "players must be a list, or a dict by name, "),
    "a player that is a number": ({"players": ["greedy", 7]}, NO_PLAYER),
    "a class as a player": ({"players": {"ann": Last, "bob": "greedy"}}, "player ann is the class Last; "),
    "a name that is a number": (
        {"players": {"ann": "greedy", 3: "greedy"}},
        "the name of a player must be a text, not 3 (an int)",
    ),
    "a name that is empty": ({"players": {"": "greedy", "b": first}}, "the name of a player must be a text"),
    "a seed that is a fraction": ({"seed": 3.5}, "seed must be an int, a str or 32 bytes, not 3.5 (a float)"),
    "a seed that is a truth value": ({"seed": True}, "seed must be an int, a str or 32 bytes, not True "),
    "ages that are texts": ({"ages": ["x", "y"]}, "ages must be a list of numbers, not ['x', 'y'] (a list)"),
    "limits that are a list": ({"limits": [3]}, "limits must be Limits, seconds or a text such as "),
    "observers that are no list": ({"observers": first}, "observers must be a list, not "),
    "an observer that is a number": ({"observers": [3]}, "an observer must be an object with a method "),
    "a journal that is a number": ({"journal": 3}, "journal must be a path, not 3 (an int)"),
}


@pytest.mark.parametrize("case", REFUSED | WRONG)
def test_play_says_what_is_wrong_in_one_line(case: str, tmp_path: Path) -> None:
    given, message = (REFUSED | WRONG)[case]

    with pytest.raises(fp.BadRequest if case in REFUSED else TypeError) as told:
        fp.play(**{"game": FISH, "players": ["greedy", "greedy"], "journal": tmp_path, **given})

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


NO_REFEREE = (
    "'greedy' is the name of a player, and a Referee takes players: write built_in_strategy('fish', 'greedy'); "
)
RECEIPT = fp.Receipt(1, "0" * 64)
OTHER_CALLS: list[tuple[Callable[..., Any], list[Any], dict[str, Any], type[Exception], str]] = [
    (Referee().run, [FISH, ["greedy", first]], {}, fp.BadRequest, NO_REFEREE),
    (fp.verify, [], {}, TypeError, "verify() takes the path of at least one journal"),
    (fp.verify, [3], {}, TypeError, "path must be the path of a journal, not 3 (an int)"),
    (fp.verify, ["nowhere.jsonl"], {}, fp.BadRequest, "nowhere.jsonl: cannot be read: No such file"),
    (fp.verify, ["a", "b"], {"receipt": RECEIPT}, TypeError, "a receipt is for one match, and there are 2 paths"),
    (fp.verify, ["a"], {"receipt": "x"}, fp.BadRequest, "'x' is "),
    (fp.read_journal, [__file__], {}, fp.BadRequest, f"{__file__}: line 1 (byte 0): "),
    (
        fp.register_game,
        [FISH],
        {},
        TypeError,
        "game must be a class that is derived from Game, or py:module:Name, not ",
    ),
    (fp.register_game, ["py:nowhere:X"], {}, fp.BadRequest, "py:nowhere:X cannot be loaded: ModuleNotFoundError"),
    (fp.make_game, [FISH], {}, TypeError, "game must be a name, not "),
    (fp.make_game, ["fish"], {"row": 3}, fp.BadRequest, "fish has no parameter 'row'"),
    (fp.serve, ["fish"], {"prot": 1}, fp.BadRequest, "serve: unknown key 'prot': did you "),
    (fp.serve, ["fish"], {"port": "x"}, fp.BadRequest, "port: "),
    (fp.serve, ["server.toml"], {"port": 1}, TypeError, "port must stand in the settings, which say all"),
]


@pytest.mark.parametrize(("call", "arguments", "options", "kind", "message"), OTHER_CALLS)
def test_other_calls_say_what_is_wrong_in_one_line(
    call: Callable[..., Any], arguments: list[Any], options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as told:
        call(*arguments, **options)

    assert str(told.value).startswith(message)
    assert "\n" not in str(told.value)


def test_a_wrong_value_is_described_in_a_few_words() -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError

    assert describe(3.5) == "3.5 (a float)"
    assert describe(list(range(100))) == "a list"
    assert describe(Unprintable()) == "an Unprintable"
