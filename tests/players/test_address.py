"""Test all addresses of players with what is there, and invalid ones."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fairplay import BadRequest
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.players.address import open_player, split_label
from fairplay.players.location import Command, ListenAddress, Location, parse_remote_address
from fairplay.referee.referee import Referee
from fairplay.render.text import printable

NO_NAME, NO_TURN = "names no player; write py:module:Name", "is not a player: it has no method take_turn(view)"
GAME = Fish(rows=4, columns=4)
VIEW = GAME.view(GAME.deal(2, bytes(32)), 0)
KEY = bytes(32)

STRATEGY = """
from fairplay.games.fish import Fish

def take_turn(view):
    return next(Fish().actions(view))
"""
PLAYER = """
from fairplay.games.fish import Fish

class Player:
    def start(self, seat, names, view):
        self.seat = seat

    def take_turn(self, view):
        assert view.seat == self.seat
        return next(Fish().actions(view))
"""


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that we are in; the modules that are loaded from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]


def open_fish(address: str, key: bytes = KEY) -> Any:
    return open_player(address, game_info("fish"), key)


def write(path: Path, source: str) -> Path:
    path.write_text(dedent(source))
    return path


def refusal(address: str) -> str:
    """The one line with which an address is refused."""
    with pytest.raises(BadRequest) as caught:
        open_fish(address)
    said = str(caught.value)
    assert said
    assert "\n" not in said
    return said


def survives(player: Any) -> bool:
    """Does it play a match to its end against itself?"""
    return not Referee().run(GAME, [player, player], seed=bytes(32)).result.ejected


# Built-in players.


def test_the_parameter_of_a_built_in_player_changes_how_it_plays() -> None:
    shallow, deep = (
        Referee().run(GAME, [open_fish(address), open_fish("greedy")], seed=bytes([4]) * 32)
        for address in ("lookahead:1", "lookahead:3")
    )

    assert shallow.state != deep.state


def test_a_built_in_player_draws_from_the_key_of_its_seat() -> None:
    drawn = {open_fish("random", bytes([number]) * 32)(VIEW) for number in range(10)}

    assert len(drawn) > 1
    assert open_fish("random")(VIEW) == open_fish("random")(VIEW)


# Labels.


@pytest.mark.parametrize(
    ("text", "label", "address"),
    [
        ("lookahead:2", "lookahead:2", "lookahead:2"),
        ("ann=lookahead:2", "ann", "lookahead:2"),
        ("a b=./x.py", "a b", "./x.py"),
        ("ann=bob=random", "ann", "bob=random"),
    ],
)
def test_a_label_may_stand_before_the_address(text: str, label: str, address: str) -> None:
    assert split_label(text) == (label, address)


@pytest.mark.parametrize("text", ["=random", "ann=", "="])
def test_half_a_label_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="write NAME=PLAYER"):
        split_label(text)


# Modules.


def test_a_module_may_hold_a_class_a_function_or_an_object_and_be_in_a_package(bots: Path) -> None:
    (bots / "more").mkdir()
    write(bots / "more" / "good.py", STRATEGY)
    write(bots / "several.py", f"{PLAYER}\n{STRATEGY}\nann = Player()\nann.seat = None\n")

    player, strategy, ann = (open_fish(f"py:several:{name}") for name in ("Player", "take_turn", "ann"))

    assert survives(strategy)
    assert survives(open_fish("py:more.good:take_turn"))
    assert type(player) is type(ann)
    assert player is not ann
    assert open_fish("py:several:Player") is not player
    assert open_fish("py:several:ann") is ann


# Files.

WITH_NAMES = """
    from __future__ import annotations
    from dataclasses import dataclass
    from fairplay import *
    from fairplay.games.fish import Fish

    @dataclass
    class Memory:
        turns: int = 0

    def take_turn(view):
        return next(Fish().actions(view))
"""
OBJECT = f"{PLAYER}\nplayer = Player()\ndel Player\n"


@pytest.mark.parametrize("source", [PLAYER, STRATEGY, OBJECT, WITH_NAMES], ids=["class", "function", "object", "names"])
@pytest.mark.parametrize("address", ["./bot.py", "bot.py"])
def test_a_file_may_hold_a_class_a_function_or_an_object(source: str, address: str, bots: Path) -> None:
    write(bots / "bot.py", source)

    players = [open_fish(address), open_fish(address)]

    assert not Referee().run(GAME, players, seed=bytes(32)).result.ejected


def test_a_player_file_is_loaded_anew_for_each_seat(bots: Path) -> None:
    address = str(write(bots / "bot.py", "seen = []\ndef take_turn(view): seen.append(view)\n"))

    one, other = open_fish(address), open_fish(address)
    one(VIEW)

    assert (one.__globals__["seen"], other.__globals__["seen"]) == ([VIEW], [])


def test_a_player_file_may_have_the_name_of_a_standard_module(bots: Path) -> None:
    before = sys.modules["textwrap"]

    assert survives(open_fish(str(write(bots / "textwrap.py", STRATEGY))))
    assert sys.modules["textwrap"] is before


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "defines no player: neither a class Player nor a function take_turn"),
        ("def takes_turn(view): pass", "defines no player"),
        ("player = 3", NO_TURN),
        ("class Player: pass", NO_TURN),
        ("class Player:\n    take_turn = 3", NO_TURN),
        ("x = 1\ndef take_turn(view)\n    return x", "SyntaxError: expected ':' ("),
        ("def take_turn(view):\nreturn", "line 2)"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("\nraise RuntimeError('not today')", "RuntimeError: not today (bot.py, line 2)"),
        ("raise RuntimeError", "RuntimeError"),
        ("raise SyntaxError", "SyntaxError"),
        ("import sys\nsys.exit(0)", "SystemExit"),
        ("class Player:\n    def __init__(self): raise ValueError('no')", "ValueError: no (bot.py, line 2)"),
        ("class Player:\n    def __init__(self, game): self.game = game", "TypeError"),
        ("class Odd(Exception):\n    def __str__(self): raise Odd\nraise Odd", "Odd"),
        ("x = (" * 500, "SyntaxError"),
        ("x = '\0'", "null bytes"),
    ],
)
def test_a_file_without_a_player_is_refused_with_the_reason(source: str, why: str, bots: Path) -> None:
    address = str(write(bots / "bot.py", source))

    said = refusal(address)

    assert why in said
    assert address in said


def test_an_exception_of_a_player_file_is_escaped_for_the_terminal(bots: Path) -> None:
    write(bots / "bot.py", "raise RuntimeError('one\\ntwo \\x1b[2J')")

    with pytest.raises(BadRequest) as caught:
        open_fish("./bot.py")

    assert printable(str(caught.value), 2000).isprintable()


KNOWN = "it has random, greedy, lookahead, sampler, territory"
NO_PLAYERS: dict[str, str] = {
    **{f"lookahead:{it}": f"not '{it}'" for it in ("x", "0", "10", "1:2", "²")},
    **dict.fromkeys(("random:3", "greedy:much"), "takes no parameter"),
    **{
        it: f"fish has no player '{it.partition(':')[0]}'; {KNOWN}" for it in ("rando", "Random", ":", " random", "x:1")
    },
    **{it: f"'{it}' {NO_NAME}" for it in ("py:", "py::", "py:x", "py:x:", "py::X")},
    "py:nowhere_to_be_found:Bot": "ModuleNotFoundError: No module named 'nowhere_to_be_found'",
    "py:..:Bot": "TypeError",
    "py:empty:Bot": "module empty has no 'Bot'",
    "py:empty:take_turn.deeper": "module empty has no 'take_turn.deeper'",
    "py:empty:__name__": NO_TURN,
    "py:broken:Bot": "SyntaxError",
    **{it: f"there is no Python file {it}" for it in ("./no.py", "no.py", "./", "/", "./bot", "./bot.txt", "./dir.py")},
}


@pytest.mark.parametrize("address", NO_PLAYERS)
def test_an_address_without_a_player_is_refused(address: str, bots: Path) -> None:
    (bots / "dir.py").mkdir()
    for name, source in {"empty.py": "", "broken.py": "def x()\n", "bot": STRATEGY, "bot.txt": STRATEGY}.items():
        write(bots / name, source)

    assert NO_PLAYERS[address] in refusal(address)


def test_the_keyboard_is_not_a_player(bots: Path) -> None:
    write(bots / "bot.py", "raise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        open_fish("./bot.py")


# Where players are.


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("tcp:4000", ListenAddress("tcp", "4000")),
        ("ws:example.org:80", ListenAddress("ws", "example.org:80")),
        ("exec:./bot --flag 'two words'", Command(("./bot", "--flag", "two words"))),
        ("./bot", Command(("./bot",))),
        ("random", None),
        ("lookahead:2", None),
        ("in-process:some.module:Name", None),
        ("in-process:module:Name.py", None),
    ],
)
def test_an_address_has_a_location(address: str, place: Location | None) -> None:
    assert parse_remote_address(address) == place


def test_a_directory_plays_by_its_main_file_and_is_an_argument(tmp_path: Path) -> None:
    directory = str(tmp_path)
    with pytest.raises(BadRequest, match=f"there is neither a program bot nor a file bot.py in {directory}"):
        parse_remote_address(directory)
    (tmp_path / "bot").touch()
    assert parse_remote_address(directory) == Command((f"{directory}/bot", directory))
    (tmp_path / "bot.py").touch()
    assert parse_remote_address(f"{directory}/") == Command(
        (sys.executable, "-P", "-m", "fairplay.bot", f"{directory}/")
    )


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("alone", "alone.py"),
        ("whole", "whole"),
        ("whole.inner.deep", "whole"),
        ("mere.alone", "mere/alone.py"),
        ("mere.whole.deep", "mere/whole"),
    ],
)
def test_a_module_plays_as_a_program_that_sees_its_file_or_its_package(
    module: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("alone.py", "whole/__init__.py", "whole/inner/deep.py", "mere/alone.py", "mere/whole/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("raise SystemExit('this is run')")
    monkeypatch.chdir(tmp_path)

    command = parse_remote_address(f"py:{module}:Bot")

    words = ("-P", "-m", "fairplay.bot", f"py:{module}:Bot", f"--from={tmp_path}", f"{tmp_path}/{place}")
    assert command == Command((sys.executable, *words))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("exec:", "exec: names no program"),
        ("exec:'", "exec:' is not a command line: No closing quotation"),
        ("./missing.py", "there is no Python file ./missing.py"),
        ("py:missing_module:Bot", "py:missing_module:Bot cannot be loaded: ModuleNotFoundError: No module"),
        ("py:..:Bot", "No module named '..'"),
        ("py:json.missing", "'py:json.missing' names no player; write py:module:Name"),
    ],
)
def test_an_address_that_has_no_location_is_refused(address: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        parse_remote_address(address)
