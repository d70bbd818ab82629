"""Test `fairplay course join` with every kind of player, and at servers that are none of a course."""

import asyncio
import re
import sys
import threading
from pathlib import Path
from typing import Self

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.course.channel.client import default_name
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.protocol.limits import Limits
from tests.cli.command import BEST_SANDBOX, CommandResult, make_in_process_player, run_fairplay
from tests.cli.test_join import Script, free_port
from tests.course.channel.course_matches import (
    LIMITS,
    NAMES,
    PLAYERS,
    CourseMatchResult,
    honest_client,
    play_tournament,
)

FIRST = """
from fairplay.games import game_info

def take_turn(view):
    return next(game_info("fish").rules(rows=3, columns=4).actions(view))
"""


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
    server = Server(game)
    done = joined(server, game, PLAYERS[game])

    connected, seated, ended = done.err.splitlines()
    assert (done.code, done.out) == (0, "")
    assert server.came.ejected == server.came.failed == {}
    assert connected == f"fairplay: connected to {server.address}"
    assert seated.startswith(f"fairplay: playing {game} as ")
    assert ended in ("fairplay: won", "fairplay: did not win")
    assert server.name == (None if DIALECTS[game].name is None else PLAYERS[game])


def test_the_player_sits_down_for_every_match_of_a_tournament() -> None:
    server = Server("fish", matches=3)
    done = joined(server, "fish", "greedy", "--name", "Zed")

    assert (done.code, server.name) == (0, "Zed")
    assert [line for line in done.err.splitlines() if "playing fish" in line] == ["fairplay: playing fish as red"] * 3


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
    bot.write_text(FIRST)
    if kind == "a module":
        player = make_in_process_player(FIRST, tmp_path, monkeypatch)
    else:
        player = str(bot) if kind == "a file" else f"exec:{sys.executable} -P -m fairplay.bot {bot}"
    server = Server("fish", matches=2)
    done = joined(server, "fish", player, *(() if kind == "a module" else BEST_SANDBOX))

    assert done.code == 0, done.err
    assert server.came.ejected == server.came.failed == {}
    assert server.name == ("mybot" if kind == "a file" else server.name)


def test_a_player_that_raises_is_named_and_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server("fish")
    done = joined(
        server,
        "fish",
        make_in_process_player("def take_turn(view):\n    raise ValueError('oh no')", tmp_path, monkeypatch),
    )

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
        (
            ("fish", "1", "greedy", "--name", "x1"),
            "'x1' is not a name in the course's fish: use 1 to 12 letters\n",
        ),
        (
            ("q", "1", "dag", "--name", "a-b"),
            "'a-b' is not a name in the course's q: use 1 to 20 letters and digits\n",
        ),
        (("fish", "1", "human"), "a person cannot play at a course's server; use a built-in player, ./file.py, exec:"),
        (("fish", "1", "greedy", "--name", ""), "'' is not a name in the course's fish"),
        (
            ("tsuro", "1", "first", "--name", "ann"),
            "the course's tsuro has no names; leave out 'ann'",
        ),
        (
            ("fish", "1", "dag"),
            "fish has no player 'dag'; it has random, greedy, lookahead, sampler, territory, "
            "and takes ./file.py, exec:COMMAND and py:module:Name\n",
        ),
        (("fish", "1", "tcp:4000"), "'tcp:4000' is not a player of this machine, so it cannot join"),
        (("fish", "1", "exec:./nothing_there", *BEST_SANDBOX), "there is no program './nothing_there'"),
        (
            ("fish", "ws://localhost:1", "greedy"),
            "'ws://localhost:1' is not the server of a course; expected HOST:PORT",
        ),
        (("fish", "nowhere", "greedy"), "'nowhere' is not an endpoint; write PORT or HOST:PORT"),
        (("chess", "1"), "Missing argument 'PLAYER'. Choose from exec:, py:"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    done = run_fairplay("course", "join", *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"fairplay: {why}") and done.err.count("\n") == 1


def test_a_port_without_a_server_is_reported_in_one_line() -> None:
    done = run_fairplay("course", "join", "fish", f"127.0.0.1:{free_port()}", "greedy", "--wait", "0")

    assert done.code == 2 and done.err.startswith("fairplay: cannot connect to 127.0.0.1:")


@pytest.mark.parametrize(
    ("says", "code", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", 2, "not a call: not a JSON string"),
        (b'{"type":"hello"}', 2, "not a call: Expected `array`, got `object`"),
        (b'["start"]', 2, "not a call: Expected `array` of at least length 2"),
        (b'["dance",[]]', 2, "not a call of the course: not a call of Fish: dance"),
        (b'["setup",[{}]]', 2, "not a call of the course: "),
        (b'["start",[true]', 1, "the connection was lost: the server disconnected in the middle of a call"),
        (b'["start",[true]]', 1, "the server closed the connection before the end"),
        (b'["start",[true]]["end",[true]]["start",[true]]', 1, "the server closed the connection before the end"),
        (b"", 1, "the server closed the connection before the end"),
        (b'["' + b"x" * 2_000_000, 1, "the connection was lost: a call of more than 1048576 bytes came"),
    ],
)
def test_a_server_that_speaks_otherwise_is_left(says: bytes, code: int, why: str) -> None:
    with Script(says) as host:
        done = run_fairplay("course", "join", "fish", host.address, "greedy")

    _, said = done.err.splitlines()
    assert (done.code, done.out) == (code, "")
    assert said.startswith(f"fairplay: {why}")


@pytest.mark.parametrize(
    ("game", "player", "says"),
    [("fish", "greedy", b'["start",[true]]["end",[true]]'), ("tsuro", "first", b'["end-of-tournament",[true]]')],
)
def test_a_tournament_without_a_match_for_the_player_is_over_too(game: str, player: str, says: bytes) -> None:
    with Script(says) as host:
        done = run_fairplay("course", "join", game, host.address, player)

    assert done.code == 0
    assert done.err.endswith("fairplay: the tournament is over; the player had no match\n")


def test_the_scheme_of_the_server_of_a_course_may_be_written() -> None:
    with Script(b'["start",[true]]["end",[true]]') as host:
        done = run_fairplay("course", "join", "fish", f"tcp://{host.address}", "greedy")

    assert done.code == 0
    assert done.err.startswith(f"fairplay: connected to tcp://{host.address}\n")


@pytest.mark.parametrize(("won", "said"), [(b"true", "won"), (b"false", "did not win")])
def test_whether_the_player_has_won_is_said_in_whatever_seat_it_was(won: bytes, said: str) -> None:
    turn = b'["initial",[[[[2,0],"white","E",3,0]],3,4,5]]'
    says = b'["playing-as",["black"]]["others",["white"]]' + turn + b'["end-of-tournament",[' + won + b"]]"
    with Script(says) as host:
        done = run_fairplay("course", "join", "tsuro", host.address, "first")

    assert (done.code, done.err.splitlines()[-1]) == (0, f"fairplay: {said}")


def test_each_call_and_answer_is_logged_with_its_time_if_that_is_asked_for() -> None:
    with Script(b'["start",[true]]["end",[false]]') as host:
        done = run_fairplay("course", "join", "fish", host.address, "greedy", "--name", "ann", "--verbose")
        quiet = len(done.err.splitlines()) - 6

    logged = [line.removeprefix("fairplay: ") for line in done.err.splitlines() if re.match(r"fairplay: \d\d:", line)]
    assert [re.sub(r"^\d\d:\d\d:\d\d\.\d{6} ", "", line) for line in map(without_seconds, logged)] == [
        '> "ann"',
        '< ["start",[true]]',
        '> "void" after S s',
        '< ["end",[false]]',
        '> "void" after S s',
        "the server has disconnected",
    ]
    assert quiet == 2  # what is said anyway: connected, and that there was no match


def without_seconds(line: str) -> str:
    return re.sub(r"after \d+\.\d{3} s$", "after S s", line)


def test_wrong_others_of_a_tsuro_server_are_reported_and_the_player_continues() -> None:
    turn = b'["initial",[[[[2,0],"white","E",3,0]],3,4,5]]'
    says = b'["playing-as",["black"]]["others",["black"]]' + turn + b'["end-of-tournament",[true]]'
    with Script(says) as host:
        done = run_fairplay("course", "join", "tsuro", host.address, "first")

    assert done.code == 0
    assert 'fairplay: the server called others: others ["black"] does not fit black\n' in done.err
    assert host.heard[:2] == [b'"void"', b'"void"']
    assert len(host.heard) == 4


@pytest.mark.parametrize("option", ["--wait", "--idle-timeout"])
@pytest.mark.parametrize("number", ["nan", "inf", "-1", "1e9"])
def test_a_time_that_is_none_is_refused(option: str, number: str) -> None:
    done = run_fairplay("course", "join", "fish", "1", "greedy", option, number)

    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"fairplay: Invalid value for '{option}': ")


def test_a_silent_server_is_given_up() -> None:
    with Script(stay=0.5) as host:
        done = run_fairplay("course", "join", "fish", host.address, "greedy", "--idle-timeout", "0.2")

    assert done.code == 1 and done.err.endswith("fairplay: the connection was lost: no call came for 0.2 s\n")
