"""Test `fairplay course join` with every kind of player, and at servers that are none of a course."""

import asyncio
import re
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.course.channel.client import default_name
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.protocol.limits import Limits
from tests.cli.command import (
    BEST_SANDBOX,
    INSTALLED_COMMAND,
    CommandResult,
    make_in_process_player,
    run_fairplay,
    start_process,
)
from tests.cli.test_join import Script, free_port
from tests.course.channel.course_matches import (
    LIMITS,
    NAMES,
    PLAYERS,
    CourseMatchResult,
    honest_client,
    play_tournament,
)
from tests.players.machine import needs_strict
from tests.players.programs import becomes_true, processes_marked

FIRST = """
from fairplay.games import game_info

def take_turn(view):
    return next(game_info({game!r}).rules().actions(view))
"""
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
TIGHT = Limits(move=0.2)


class Server:
    """A server of a course in a thread of its own, at which two honest clients play with whoever comes."""

    def __init__(self, game: str, limits: Limits = LIMITS, matches: int = 1) -> None:
        self.came: CourseMatchResult
        self.address = ""
        self.name: str | None = None  # of whoever came
        self._open = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(game, limits, matches)))

    async def _serve(self, game: str, limits: Limits, matches: int) -> None:
        async def somebody(desk: CourseSignUp) -> None:
            self.address = desk.address
            self._open.set()
            while not desk.clients:
                await asyncio.sleep(0.001)
            self.name = desk.clients[0].name

        others = [honest_client(game, name) for name in NAMES[1:]]
        self.came = await play_tournament(game, [somebody, *others], limits=limits, matches=matches)

    def __enter__(self) -> Self:
        self._thread.start()
        self._open.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def joined(server: Server, game: str, *player: str) -> CommandResult:
    with server:
        return run_fairplay("course", "join", game, server.address, *player)


@pytest.mark.parametrize("game", DIALECTS)
def test_a_built_in_player_plays_at_the_server_of_a_course(game: str) -> None:
    matches = 3 if game == "fish" else 1
    server = Server(game, matches=matches)
    done = joined(server, game, PLAYERS[game])

    connected, *seated, ended = done.err.splitlines()
    assert (done.code, done.out) == (0, "")
    assert server.came.ejected == server.came.failed == {}
    assert connected == f"fairplay: connected to {server.address}"
    assert [line.rpartition(" ")[0] for line in seated] == [f"fairplay: playing {game} as"] * matches
    assert ended in ("fairplay: won", "fairplay: did not win")
    assert server.name == (None if DIALECTS[game].name is None else PLAYERS[game])


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("./some_where/my_bot.py", "mybot"),
        ("exec:./a_very_long_program", "averylongpro"),
        ("./2024.py", "fairplay"),
        ("lookahead:2", "lookahead"),
    ],
)
def test_a_player_that_was_given_no_name_is_called_after_its_address(address: str, name: str) -> None:
    assert default_name(DIALECTS["fish"], address) == name


@pytest.mark.parametrize("kind", ["a file", "a program", "a module"])
def test_players_of_all_kinds_play_at_the_server_of_a_course(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(FIRST.format(game="fish"))
    if kind == "a module":
        player = make_in_process_player(FIRST.format(game="fish"), tmp_path, monkeypatch)
    else:
        player = str(bot) if kind == "a file" else f"exec:{sys.executable} -P -m fairplay.bot {bot}"
    server = Server("fish", matches=2)
    done = joined(server, "fish", player, *(() if kind == "a module" else BEST_SANDBOX))

    assert done.code == 0, done.err
    assert server.came.ejected == server.came.failed == {}
    assert server.name == ("mybot" if kind == "a file" else server.name)


def test_a_player_that_raises_is_named_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising = "def take_turn(view):\n    raise ValueError('oh no')"
    server = Server("fish")
    done = joined(server, "fish", make_in_process_player(raising, tmp_path, monkeypatch))

    assert done.code == 1
    assert "fairplay: the player failed, crashed: raised ValueError\nfairplay:     ValueError: oh no (" in done.err
    (failed,) = server.came.ejected.values()
    assert isinstance(failed, Failed) and failed.fault is Fault.GONE


def test_a_program_that_hangs_is_given_up_when_patience_ends(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("import time\n\ndef take_turn(view):\n    time.sleep(3600)\n")
    done = joined(Server("fish", Limits(move=30.0)), "fish", str(bot), "--idle-timeout", "3", *BEST_SANDBOX)

    assert done.code == 1
    assert "fairplay: the player failed, timed out: no answer within 3 s\n" in done.err


def test_an_ejected_player_of_a_course_is_told_only_by_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cheat = "def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}"
    server = Server("fish")
    done = joined(server, "fish", make_in_process_player(cheat, tmp_path, monkeypatch))

    assert done.code == 1
    *_, said = done.err.splitlines()
    assert said.startswith(
        "fairplay: the server closed the connection before the end; the player may have been ejected: ask the host"
    )
    assert list(server.came.ejected) == ["ann"] and server.came.returned_values[1:] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("chess", "1", "greedy"), "there is no course 'chess'; there is fish, tsuro, q"),
        (("fish", "1", "greedy", "--name", "x1"), "'x1' is not a name in the course's fish: use 1 to 12 letters\n"),
        (("q", "1", "dag", "--name", "a-b"), "'a-b' is not a name in the course's q: use 1 to 20 letters and digits\n"),
        (("fish", "1", "human"), "a person cannot play at a course's server; use a built-in player, ./file.py, exec:"),
        (("fish", "1", "greedy", "--name", ""), "'' is not a name in the course's fish"),
        (("tsuro", "1", "first", "--name", "ann"), "the course's tsuro has no names; leave out 'ann'"),
        (("fish", "1", "dag"), "fish has no player 'dag'; it has random, greedy, lookahead, sampler, territory, and"),
        (("fish", "1", "tcp:4000"), "'tcp:4000' is not a player of this machine, so it cannot join"),
        (("fish", "1", "exec:./nothing_there", *BEST_SANDBOX), "there is no program './nothing_there'"),
        (("fish", "ws://localhost:1", "greedy"), "'ws://localhost:1' is not the server of a course; expected HOST"),
        (("fish", "nowhere", "greedy"), "'nowhere' is not an endpoint; write PORT or HOST:PORT"),
        (("chess", "1"), "Missing argument 'PLAYER'. Choose from exec:, py:"),
        (("fish", "1", "greedy", "--wait", "0"), "cannot connect to "),
        *(
            (("fish", "1", "greedy", option, number), f"Invalid value for '{option}': ")
            for option in ("--wait", "--idle-timeout")
            for number in ("nan", "inf", "-1", "1e9")
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    done = run_fairplay("course", "join", *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"fairplay: {why}") and done.err.count("\n") == 1


INITIAL = b'["initial",[[[[2,0],"white","E",3,0]],3,4,5]]'
TSURO_MATCH = b'["playing-as",["black"]]["others",["white"]]' + INITIAL
CLOSED = "the server closed the connection before the end"


@pytest.mark.parametrize(
    ("game", "says", "code", "why"),
    [
        ("fish", b"HTTP/1.1 400 Bad Request\r\n\r\n", 2, "not a call: not a JSON string"),
        ("fish", b'{"type":"hello"}', 2, "not a call: Expected `array`, got `object`"),
        ("fish", b'["start"]', 2, "not a call: Expected `array` of at least length 2"),
        ("fish", b'["dance",[]]', 2, "not a call of the course: not a call of Fish: dance"),
        ("fish", b'["setup",[{}]]', 2, "not a call of the course: "),
        ("fish", b'["start",[true]', 1, "the connection was lost: the server disconnected in the middle of a call"),
        ("fish", b'["start",[true]]', 1, CLOSED),
        ("fish", b'["start",[true]]["end",[true]]["start",[true]]', 1, CLOSED),
        ("fish", b"", 1, CLOSED),
        ("fish", b'["' + b"x" * 2_000_000, 1, "the connection was lost: a call of more than 1048576 bytes came"),
        ("fish", b'["start",[true]]["end",[true]]', 0, "the tournament is over; the player had no match"),
        ("tsuro", b'["end-of-tournament",[true]]', 0, "the tournament is over; the player had no match"),
        ("tsuro", TSURO_MATCH + b'["end-of-tournament",[true]]', 0, "won"),
        ("tsuro", TSURO_MATCH + b'["end-of-tournament",[false]]', 0, "did not win"),
    ],
)
def test_the_end_says_who_won_or_why_the_server_was_left(game: str, says: bytes, code: int, why: str) -> None:
    with Script(says) as host:
        done = run_fairplay("course", "join", game, f"tcp://{host.address}", "random")

    first, *_, last = done.err.splitlines()
    assert (done.code, done.out, first) == (code, "", f"fairplay: connected to tcp://{host.address}")
    assert last.startswith(f"fairplay: {why}")


def test_each_call_and_answer_is_logged_with_its_time_if_that_is_asked_for() -> None:
    with Script(b'["start",[true]]["end",[false]]') as host:
        done = run_fairplay("course", "join", "fish", host.address, "greedy", "--name", "ann", "--verbose")

    connected, *logged, _ = done.err.splitlines()
    assert connected == f"fairplay: connected to {host.address}"
    assert all(re.match(r"fairplay: \d\d:\d\d:\d\d\.\d{6} ", line) for line in logged)
    assert [line.split(" ")[2] for line in logged] == [">", "<", ">", "<", ">", "the"]  # server has disconnected


def test_wrong_others_of_a_tsuro_server_are_reported_and_the_player_continues() -> None:
    says = b'["playing-as",["black"]]["others",["black"]]' + INITIAL + b'["end-of-tournament",[true]]'
    with Script(says) as host:
        done = run_fairplay("course", "join", "tsuro", host.address, "first")

    assert done.code == 0
    assert 'fairplay: the server called others: others ["black"] does not fit black\n' in done.err
    assert host.heard[:2] == [b'"void"', b'"void"']
    assert len(host.heard) == 4


def test_a_silent_server_is_given_up() -> None:
    with Script(stay=0.5) as host:
        done = run_fairplay("course", "join", "fish", host.address, "greedy", "--idle-timeout", "0.2")

    assert done.code == 1 and done.err.endswith("fairplay: the connection was lost: no call came for 0.2 s\n")


# Programs, which are started before they sign up, as servers may allow little time.


def slow_program(directory: Path) -> tuple[str, Path]:
    """A program that starts slowly, and the file in which it logs what it is told."""
    log, bot = directory / "log", directory / "bot.py"
    bot.write_text(SLOW_TO_START.format(log=str(log)))
    return f"exec:{sys.executable} -I -S {bot}", log


@pytest.mark.parametrize(("game", "programs"), [("fish", 2), ("q", 1)])
def test_a_program_has_said_hello_before_it_signs_up(game: str, programs: int, tmp_path: Path) -> None:
    told: list[str] = []
    program, log = slow_program(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            told.extend(log.read_text().split())
            connection.close()

        server = threading.Thread(target=serve)
        server.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        done = run_fairplay("course", "join", game, address, program, *OPEN, "--name", "ann")
        server.join()

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
    program, log = slow_program(tmp_path)
    nowhere = f"127.0.0.1:{free_port()}"
    done = run_fairplay("course", "join", "q", nowhere, program, "--wait", "0", "--sandbox", "strict")

    assert (done.code, log.exists()) == (1, False)  # it may not write, and so it cannot say hello


def test_ctrl_c_while_the_server_is_waited_for_ends_the_program_too(tmp_path: Path) -> None:
    program, log = slow_program(tmp_path)
    words = ("course", "join", "q", f"127.0.0.1:{free_port()}", program, *OPEN, "--wait", "100")
    with start_process([INSTALLED_COMMAND, *words]) as joining:
        while not log.exists():
            time.sleep(0.01)
        joining.send_signal(signal.SIGINT)
        joining.wait(50)  # which is less than it would wait for the server

    assert joining.returncode == 130
    assert becomes_true(lambda: not processes_marked(str(tmp_path)))


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

    assert {**server.came.ejected, **server.came.failed} == {}, done.err
    assert done.code == 0
