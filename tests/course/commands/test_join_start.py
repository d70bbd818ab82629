"""Test that `fairplay course join` starts a program before it signs up, as servers may allow little time."""

import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from fairplay.protocol.limits import Limits
from tests.cli.command import BEST_SANDBOX, INSTALLED_COMMAND, CommandResult, run_fairplay, start_process
from tests.cli.test_join import free_port
from tests.course.commands.test_join import Server
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, processes_marked

OPEN = ("--sandbox", "none")  # so that the program may write a file
SLOW_TO_START = """
import json, sys, time
time.sleep(0.3)
for line in sys.stdin:
    message = json.loads(line)
    with open({log!r}, "a") as log:
        log.write(message["type"] + "\\n")
    print(json.dumps({{"nonce": message["nonce"], "answer": None}}), flush=True)
"""
STAYING = """
import json, sys, time
message = json.loads(sys.stdin.readline())
print(json.dumps({hello}), flush=True)
time.sleep(100)
"""
FIRST = """
from fairplay.games import game_info

def take_turn(view):
    return next(game_info({game!r}).rules().actions(view))
"""
TIGHT = Limits(move=0.2)


def joined_once(game: str, bot: str, log: Path) -> tuple[CommandResult, list[str]]:
    """What the command says, and what the program had been told when its client connected to a server that hangs up."""
    told: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            told.extend(log.read_text().split())
            connection.close()

        server = threading.Thread(target=serve)
        server.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        done = run_fairplay("course", "join", game, address, bot, *OPEN, "--name", "ann")
        server.join()
    return done, told


@pytest.mark.parametrize(("game", "programs"), [("fish", 2), ("q", 1)])
def test_a_program_has_said_hello_before_it_signs_up(game: str, programs: int, tmp_path: Path) -> None:
    log, bot = tmp_path / "log", tmp_path / "bot.py"
    bot.write_text(SLOW_TO_START.format(log=str(log)))
    done, told = joined_once(game, f"exec:{sys.executable} -I -S {bot}", log)

    assert told == ["hello"] * programs  # in a tournament also for the next match
    assert done.err.splitlines()[-1].startswith("fairplay: the server closed the connection before the end")


def test_a_program_that_fails_at_hello_is_named_before_any_connection(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        done = run_fairplay("course", "join", "q", address, f"exec:{sys.executable} -c exit(3)", *OPEN)
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("fairplay: the player failed, crashed: the program ended with exit code 3\n")


def test_the_end_of_the_stderr_of_a_failing_program_is_shown(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import sys\nfor line in range(30): print('line', line, file=sys.stderr)\nexit(3)\n"
    )

    done = run_fairplay("course", "join", "q", "127.0.0.1:1", f"exec:{sys.executable} {tmp_path / 'bot.py'}", *OPEN)

    told = done.err.splitlines()
    assert told[0] == "fairplay: the player failed, crashed: the program ended with exit code 3"
    assert told[1:] == [f"fairplay:     line {line}" for line in range(18, 30)]


@pytest.mark.parametrize(
    ("hello", "code"), [("7", 1), ('{"nonce": message["nonce"], "answer": None}', 2)], ids=["wrong", "right"]
)
def test_a_program_is_ended_if_it_never_comes_to_play(hello: str, code: int, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(STAYING.format(hello=hello))
    nowhere = f"127.0.0.1:{free_port()}"
    done = run_fairplay("course", "join", "q", nowhere, f"exec:{sys.executable} -I -S {bot}", *OPEN, "--wait", "0")

    assert done.code == code
    assert becomes_true(lambda: not processes_marked(str(bot)))


@needs_strict
def test_a_program_is_shut_in_as_it_is_asked_for(tmp_path: Path) -> None:
    log, bot = tmp_path / "log", tmp_path / "bot.py"
    bot.write_text(SLOW_TO_START.format(log=str(log)))
    words = ("course", "join", "q", f"127.0.0.1:{free_port()}", f"exec:{sys.executable} -I -S {bot}", "--wait", "0")
    done = run_fairplay(*words, "--sandbox", "strict")

    assert (done.code, log.exists()) == (1, False)  # it may not write, and so it cannot say hello


def test_ctrl_c_while_the_server_is_waited_for_ends_the_program_too(tmp_path: Path) -> None:
    log, bot = tmp_path / "log", tmp_path / "bot.py"
    bot.write_text(SLOW_TO_START.format(log=str(log)))
    nowhere = f"127.0.0.1:{free_port()}"
    words = ("course", "join", "q", nowhere, f"exec:{sys.executable} -I -S {bot}", *OPEN, "--wait", "100")
    with start_process([INSTALLED_COMMAND, *words]) as joining:
        while not log.exists():
            time.sleep(0.01)
        joining.send_signal(signal.SIGINT)
        joining.wait(50)  # which is less than it would wait for the server

    assert joining.returncode == 130
    assert becomes_true(lambda: not processes_marked(str(bot)))


@pytest.mark.alone
@pytest.mark.parametrize(("game", "matches"), [("tsuro", 1), ("tsuro", 2), ("q", 1)])
def test_a_python_program_survives_a_server_that_allows_a_fifth_of_a_second_for_a_call(
    game: str, matches: int, tmp_path: Path
) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(FIRST.format(game=game))
    server = Server(game, TIGHT, matches)
    with server:
        done = run_fairplay("course", "join", game, server.address, str(bot), *BEST_SANDBOX, "--verbose")

    out = {**server.came.ejected, **server.came.failed}
    assert out == {}, done.err
    assert done.code == 0
