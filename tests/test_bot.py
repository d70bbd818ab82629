"""Test bots as programs: they protect their connection to the referee, and end as they should."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fairplay import BadRequest, Ejected, Fault, Moment, Receipt
from fairplay.bot import run
from fairplay.core.events import Result
from fairplay.core.messages import End, Start, TakeTurn
from fairplay.games import game_info
from fairplay.games.fish import Fish
from fairplay.games.tsuro import Tsuro
from fairplay.players.address import open_player
from fairplay.protocol import wire
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from tests.architecture.test_import import loaded_by
from tests.examples.programs import deal_match, play_match, seat_key

GAME = Fish(rows=3, columns=3)
VIEW = GAME.view(GAME.deal(2, bytes(32)), 0)
A_PLAYER = Path(__file__).parents[1] / "examples" / "a_player.py"

HELLO = wire.encode_hello(GAME, match_id="m", nonce="n-1", limit=5.0)
START = wire.encode_question(Start(0, ("ann", "bob"), VIEW), GAME, match_id="m", turn=0, nonce="n-2", limit=5.0)
TURN = wire.encode_question(TakeTurn(VIEW), GAME, match_id="m", turn=1, nonce="n-3", limit=5.0)
GOODBYE = wire.encode_goodbye(
    "m", Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")
)

END = wire.encode_question(End(Result((frozenset({0, 1}),), ())), GAME, match_id="m", turn=1, nonce="n-4", limit=5.0)
CLOSING = wire.encode_closing(Receipt(7, "0f" * 32), match_id="m", turn=1, nonce="n-5", limit=0.25)

GREETED = b'{"nonce":"n-1","answer":null}\n'
FIRST = b'{"nonce":"n-3","answer":{"type":"place","at":[0,0]}}\n'  # what `first` below answers

FIRST_ACTION = """
from fairplay.games.fish import Fish

def take_turn(view):
    return next(Fish().actions(view))
"""
CLASS = f"""{FIRST_ACTION}
class Player:
    def __init__(self):
        self.heard = []

    def start(self, seat, names, view):
        self.heard.append(names[seat])

    def take_turn(self, view):
        assert self.heard == ["bot"]
        return take_turn(view)

    def end(self, result):
        self.heard.append(result.ranking)
"""


def bot(source: str, player: str = "take_turn") -> list[str]:
    """The command of a bot that was written with the kit."""
    return [sys.executable, "-c", f"{dedent(source)}\nfrom fairplay.bot import run\nrun({player})"]


def fairplay_bot(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fairplay.bot", *arguments]


def in_file(directory: Path, source: str) -> list[str]:
    path = directory / "my_bot.py"
    path.write_text(dedent(source))
    return fairplay_bot(str(path))


def said(command: list[str], *lines: bytes, code: int = 0, **options: Any) -> tuple[bytes, str]:
    """What a bot says on stdout and on stderr when it hears these lines and then nothing more."""
    done = subprocess.run(command, input=b"".join(lines), capture_output=True, check=False, timeout=60, **options)
    assert done.returncode == code, done
    return done.stdout, done.stderr.decode()


def complaint(err: str) -> str:
    start, line, end = err[:14], err[14:-1], err[-1:]
    assert (start, end, line.isprintable()) == ("fairplay.bot: ", "\n", True)
    return line


# Players of all kinds.


COMMANDS = {player: bot(CLASS, player) for player in ("take_turn", "Player", "Player()")}
SOURCES = {
    "function": FIRST_ACTION,
    "class": CLASS,
    "a_player.py": A_PLAYER.read_text(),
    "calls run": f"{FIRST_ACTION}\nfrom fairplay.bot import run\nrun(take_turn)\n",
}


@pytest.mark.parametrize("name", [*COMMANDS, *SOURCES])
def test_a_function_a_class_an_object_or_a_file_without_protocol_code_plays_a_match(name: str, tmp_path: Path) -> None:
    command = COMMANDS.get(name) or in_file(tmp_path, SOURCES[name])

    done = play_match(deal_match(GAME, ["greedy", "bot"], "1"), ["greedy", command])

    assert (done.match.result.ejected, done.code, done.err) == ((), 0, "")


def test_a_player_may_have_methods_for_its_ejection_and_for_the_receipt() -> None:
    source = f"""{CLASS}
    def ejected(self, fault, why):
        print(type(fault).__name__, fault.value, why)

    def closing(self, receipt):
        print(receipt)
"""

    before, err = said(bot(source, "Player"), HELLO, GOODBYE, TURN)
    out, receipt = said(bot(source, "Player"), HELLO, END, CLOSING)

    assert before == GREETED
    heard, complained = err.splitlines()
    assert heard == "Fault illegal rule 3.2: there is no tile at [9, 9]"
    assert complained == "fairplay.bot: ejected: illegal: rule 3.2: there is no tile at [9, 9]"
    assert out.count(b"\n") == 2  # to the last there is nothing to reply
    assert receipt == f"7:{'0f' * 32}\n"


def test_unknown_messages_after_the_end_are_ignored() -> None:
    out, err = said(bot(FIRST_ACTION), HELLO, END, CLOSING, b'{"type":"chat"}\n', b"junk\n")

    assert (out.count(b"\n"), err) == (2, "")


def test_a_player_in_a_module_has_the_usual_address(tmp_path: Path) -> None:
    (tmp_path / "several.py").write_text(FIRST_ACTION)

    out, err = said(fairplay_bot("py:several:take_turn"), HELLO, TURN, cwd=tmp_path)

    assert (out, err) == (GREETED + FIRST, "")


def test_a_built_in_player_plays_the_same_in_a_process_of_its_own() -> None:
    match = deal_match(Tsuro(size=5), players := ("random", "survivor", "random"), "7")
    keys = [seat_key(match, seat) for seat in range(3)]
    strategies = [open_player(name, game_info("tsuro"), key) for name, key in zip(players, keys, strict=True)]

    done = play_match(match, [fairplay_bot("random", "--key", keys[0].hex()), *players[1:]])

    assert (done.code, done.err) == (0, "")
    assert done.match == play(match, [LocalChannel(strategy, match.game) for strategy in strategies])


def test_a_built_in_player_without_a_key_draws_one() -> None:
    assert len({said(fairplay_bot("random"), HELLO, TURN)[0] for _ in range(5)}) > 1


def test_a_bot_may_ask_for_a_name_which_is_checked_before_any_message() -> None:
    out, _ = said(bot(FIRST_ACTION, "take_turn, name='ann'"), HELLO)

    assert out == b'{"nonce":"n-1","answer":{"name":"ann"}}\n'
    with pytest.raises(TypeError, match=r"no method take_turn\(view\)"):
        run(3)  # type: ignore[arg-type]
    for name in ("", "x" * 21, "ann b"):
        with pytest.raises(BadRequest, match="is not a valid name: a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"):
            run(print, name=name)


# The line is the referee's alone.


def test_printed_output_goes_to_stderr(tmp_path: Path) -> None:
    source = FIRST_ACTION + dedent("""
        import os, subprocess, sys
        print("loading")
        first = take_turn
        def take_turn(view):
            print("thinking")
            sys.__stdout__.write("hidden\\n")
            os.write(1, b"raw\\n")
            subprocess.run(["echo", "child"])
            return first(view)
    """)

    for command in (in_file(tmp_path, source), bot(source)):
        out, err = said(command, HELLO, TURN, env={**os.environ, "PYTHONUNBUFFERED": ""})

        assert out == GREETED + FIRST
        assert sorted(err.split()) == ["child", "hidden", "loading", "raw", "thinking"]


def test_printed_output_is_not_lost_when_the_program_is_killed(tmp_path: Path) -> None:
    source = "import os\ndef take_turn(view): print('last words'); os._exit(7)"

    _, err = said(in_file(tmp_path, source), HELLO, TURN, code=7, env={**os.environ, "PYTHONUNBUFFERED": ""})

    assert err == "last words\n"


def test_no_child_process_reads_the_messages_of_the_referee(tmp_path: Path) -> None:
    source = FIRST_ACTION + dedent("""
        import subprocess, sys
        assert subprocess.run(["cat"], capture_output=True).stdout == b""
        assert sys.stdin.read() == ""
    """)
    turns = 1000  # more than fits into any buffer

    out, err = said(in_file(tmp_path, source), HELLO, TURN * turns)

    assert (out, err) == (GREETED + FIRST * turns, "")


# How it ends.


@pytest.mark.parametrize("lines", [[], [HELLO, START], [HELLO, TURN[:50]], [HELLO[:-1]]])
def test_a_bot_ends_quietly_when_the_referee_disconnects(lines: list[bytes]) -> None:
    assert said(bot(FIRST_ACTION), *lines)[1] == ""


def test_a_bot_ends_quietly_when_its_replies_are_not_read() -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(bot(FIRST_ACTION), input=HELLO, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def test_the_program_continues_after_the_match() -> None:
    command = bot(FIRST_ACTION)

    _, err = said([*command[:2], f"{command[2]}; print('learned')"], HELLO, TURN)

    assert err == "learned\n"


@pytest.mark.parametrize(
    ("method", "raised"),
    [
        ("start", "ValueError('no idea')"),
        ("take_turn", "ValueError('no idea')"),
        ("take_turn", "BrokenPipeError('no idea')"),
        ("take_turn", "BadRequest('no idea')"),
    ],
)
def test_an_exception_of_the_player_ends_the_program_with_a_traceback(method: str, raised: str, tmp_path: Path) -> None:
    source = f"""
        from fairplay import BadRequest
        class Player:
            def take_turn(self, view): pass
            def {method}(self, *arguments): raise {raised}
    """
    for command in (in_file(tmp_path, source), bot(source, "Player")):
        out, err = said(command, HELLO, START, TURN, code=1)

        assert out.count(b"\n") == {"start": 1, "take_turn": 2}[method]
        assert err.startswith("Traceback (most recent call last):\n")
        assert err.endswith("no idea\n")
        assert "another exception occurred" not in err


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def take_turn():\n    pass", "take_turn() takes 0 positional arguments but 1 was given"),
        ("async def take_turn(view):\n    pass", "the player's answer is not an action, but of the type coroutine"),
        ("def take_turn(view):\n    yield", "the player's answer is not an action, but of the type generator"),
    ],
)
def test_a_traceback_of_a_bad_signature_or_answer_has_no_frames_of_fairplay(
    source: str, why: str, tmp_path: Path
) -> None:
    _, err = said(in_file(tmp_path, source), HELLO, START, TURN, code=1)

    assert f"TypeError: {why}\n" in err
    assert "serve.py" not in err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"junk\n", "not a message of the protocol: JSON is malformed: invalid character (byte 0)"),
        (b"\n", "not a message of the protocol: "),
        (b"{}\n", "not a message of the protocol: Object missing required field `type`"),
        (b'{"type":"chat"}\n', "not a message of the protocol: Invalid value 'chat'"),
        (b'{"type":"take_turn","nonce":"n"}\n', "not a message of the protocol: Object missing required"),
        (b"\xff\n", "not a message of the protocol: "),
        (
            HELLO.replace(b'"protocol":2', b'"protocol":3'),
            "the host speaks version 3 of the protocol, and this program version 2",
        ),
        (HELLO.replace(b'"fish"', b'"chess"', 1), "there is no game 'chess'"),
        (HELLO.replace(b'"rows":3', b'"rows":"\\u001b[2J"'), "fish cannot be played with rows=�[2J"),
        (TURN.replace(b'"board":[[', b'"board":[[9'), "not a position of Fish: "),
    ],
)
def test_an_invalid_message_gets_one_line_and_exit_code_2(line: bytes, why: str) -> None:
    out, err = said(bot(FIRST_ACTION), HELLO, line, TURN, code=2)

    assert out == GREETED
    assert complaint(err).startswith(why)


def test_a_referee_that_does_not_say_hello_is_refused() -> None:
    out, err = said(bot(FIRST_ACTION), TURN, code=2)

    assert (out, complaint(err)) == (b"", "the host's first message must be hello, not TakeTurn")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "my_bot.py defines no player: neither a class Player nor a function take_turn"),
        ("import sys\nsys.exit(0)", "my_bot.py cannot be loaded: SystemExit: "),
        ("import json\n\njson.loads('{')", "enclosed in double quotes: line 1 column 2 (char 1) (my_bot.py, line 3)"),
        ("class Player:\n    def __init__(self, x): pass\n    def take_turn(self, view): pass", "argument: 'x'"),
        ("raise RuntimeError('one\\ntwo')", "my_bot.py cannot be loaded: RuntimeError: one�two (my_bot.py, line 1)"),
    ],
)
def test_a_file_without_a_player_gets_one_line_and_exit_code_2(source: str, why: str, tmp_path: Path) -> None:
    out, err = said(in_file(tmp_path, source), HELLO, code=2)

    assert out == b""
    assert why in complaint(err)


BAD_ARGUMENTS = [[], ["--help"], ["a", "b"], ["--key", "00" * 32], ["a", "--key", "00"], ["a", "--key", "zz" * 32]]


@pytest.mark.parametrize("arguments", BAD_ARGUMENTS)
def test_an_invalid_address_of_a_player_is_refused_with_the_right_form(arguments: list[str]) -> None:
    out, err = said(fairplay_bot(*arguments), code=2)

    assert out == b""
    assert complaint(err) == "write python -m fairplay.bot PLAYER, or PLAYER --key and 64 hex digits"


# Starting.


def test_a_bot_loads_nothing_that_it_does_not_need() -> None:
    loaded = loaded_by("import fairplay.bot")

    assert "fairplay.players.player_loop" in loaded
    assert {"argparse", "asyncio", "click", "rich", "sqlite3", "subprocess"} & loaded == set()
    assert {module for module in loaded if module.startswith("fairplay.games.")} == set()
