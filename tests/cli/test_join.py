"""Test `fairplay join` at hosts of matches, and at servers that are no hosts."""

import asyncio
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.roles import AsyncChannel
from fairplay.games import game_info, make_game
from fairplay.players.listener import ConnectedPlayer, Listener, listen_tcp, listen_websocket
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.referee import deal_match
from fairplay.testing.scripted import AsyncScriptedChannel, strategy_script
from tests.cli.command import CommandResult, make_in_process_player, refusal_line, run_fairplay, run_script

FISH = make_game("fish", {"rows": 3, "columns": 4})
GREEDY = game_info("fish").built_in["greedy"].make("", bytes(32))
FIRST = """
from fairplay.games.fish import Fish

class Player:
    def take_turn(self, view):
        return next(Fish(rows=3, columns=4).actions(view))
"""
LISTEN = {"": listen_tcp, "tcp://": listen_tcp, "ws://": listen_websocket}


class Host:
    """A host in a thread of its own: whoever comes plays against greedy."""

    def __init__(self, listener: Listener, *, limits: Limits | None = None, out: Path | None = None) -> None:
        self.listener = listener
        self.result: Result
        self._out = out  # a file that is there once the match is over, and everybody was told
        self._limits = limits or Limits(move=5.0, start_up=20.0)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._host()))
        self._seating: asyncio.Task[list[ConnectedPlayer]]

    def give_up(self) -> None:
        """Wait no longer for somebody to come; there is no result then."""
        self._seating.get_loop().call_soon_threadsafe(self._seating.cancel)

    async def _host(self) -> None:
        self._seating = asyncio.create_task(self.listener.accept_players(FISH, match_id="m", limits=self._limits))
        try:
            (guest,) = await self._seating
        except asyncio.CancelledError:
            return
        table: list[AsyncChannel] = [guest.channel, AsyncScriptedChannel(strategy_script(GREEDY))]
        match = deal_match(FISH, [guest.name or "guest", "greedy"], bytes(32))
        self.result = (await play_async(match, table)).result
        if self._out is not None:
            self._out.touch()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()


class Script:
    """A host that says what the test wants, and then hangs up."""

    def __init__(self, *says: bytes, pause: float = 0.0, stay: float = 0.0) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.heard: list[bytes] = []  # lines
        self._says, self._pause, self._stay = says, pause, stay
        self._thread = threading.Thread(target=self._host)

    def _host(self) -> None:
        connection, _ = self._socket.accept()
        with connection, suppress(OSError):  # when nobody listens any more
            for text in self._says:
                connection.sendall(text)
                time.sleep(self._pause)
            time.sleep(self._stay)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(5.0)
            with connection.makefile("rb") as lines:
                self.heard = [line.rstrip(b"\n") for line in lines]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._socket.close()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def against_greedy(
    scheme: str, *player: str, limits: Limits | None = None, out: Path | None = None
) -> tuple[CommandResult, Result]:
    """What the command says of a match, and the result."""
    with Host(LISTEN[scheme]("0"), limits=limits, out=out) as host:
        done = run_fairplay("join", f"{scheme}{host.listener.address}", *player)
    return done, host.result


def hello(**changes: Any) -> bytes:
    line = {"type": "hello", "match": "m", "turn": 0, "nonce": "1", "limit": 5.0, "protocol": wire.PROTOCOL_VERSION}
    return wire.encode({**line, "game": "fish", "parameters": {"rows": 3, "columns": 4}, **changes}) + b"\n"


def start(**changes: Any) -> bytes:
    view = FISH.pack(FISH.view(FISH.deal(2, bytes(32)), 0))
    line = {"type": "start", "match": "m", "turn": 0, "nonce": "2", "limit": 5.0, "seat": 0, "names": ["a", "b"]}
    return wire.encode({**line, "view": view, **changes}) + b"\n"


def end(*ranking: list[int]) -> bytes:
    result = {"ranking": ranking, "ejected": []}
    return wire.encode({"type": "end", "match": "m", "turn": 0, "nonce": "3", "limit": 5.0, "result": result}) + b"\n"


def goodbye(fault: Fault, why: str) -> bytes:
    return wire.encode_goodbye("m", Ejected(0, fault, Moment.TURN, why))


def told_by(*says: bytes, player: str = "greedy", options: tuple[str, ...] = (), **how: float) -> CommandResult:
    with Script(*says, **how) as host:
        return run_fairplay("join", host.address, player, *options)


# Matches


@pytest.mark.parametrize("scheme", LISTEN)
def test_a_player_joins_a_match_and_says_how_it_went(scheme: str) -> None:
    done, result = against_greedy(scheme, "random", "--name", "ann")

    connected, seated, ranked = done.err.splitlines()
    place, tied = next((place, len(group) > 1) for place, group in enumerate(result.ranking) if 0 in group)
    assert (done.code, done.out, result.ejected) == (0, "", ())
    assert connected.startswith(f"fairplay: connected to {scheme}127.0.0.1:")
    assert seated == "fairplay: playing fish as ann in seat 0"
    assert ranked == f"fairplay: ranked {place + 1} of 2{', tied' if tied else ''}"


@pytest.mark.parametrize("scheme", ["", "ws://"])
def test_a_player_that_times_out_hears_why(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    waits = f"while not Path({str(out)!r}).exists(): time.sleep(0.001)"  # then its goodbye may lie there unread
    source = f"import time\nfrom pathlib import Path\n\ndef take_turn(view):\n    {waits}"
    slow = make_in_process_player(source, tmp_path, monkeypatch)

    done, result = against_greedy(scheme, slow, limits=Limits(move=0.3, start_up=20.0, goodbye=20.0), out=out)

    assert done.code == 1
    assert done.err.endswith("fairplay: ejected, timed out: no answer within 0.3 s\n")
    assert [ejected.fault for ejected in result.ejected] == [Fault.TIMED_OUT]


@pytest.mark.parametrize("scheme", ["", "ws://"])
@pytest.mark.parametrize(
    ("method", "does", "fault", "why"),
    [
        ("start", "raise ValueError('oh no')", Fault.GONE, "the player raised ValueError"),
        ("take_turn", "raise ValueError('oh no')", Fault.GONE, "the player raised ValueError"),
        ("end", "raise ValueError('oh no')", Fault.GONE, "the player raised ValueError"),
        ("take_turn", "return object()", Fault.GONE, "the player raised TypeError"),
        ("take_turn", "return NOWHERE", Fault.ILLEGAL, "ejected, illegal: rule 3.2: there is no tile at [99, 99]"),
    ],
)
def test_a_bad_player_is_out_and_hears_why(
    scheme: str, method: str, does: str, fault: Fault, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = f"{FIRST}\n    def {method}(self, *_):\n        {does}\n\nNOWHERE = {{'type': 'place', 'at': [99, 99]}}"

    done, result = against_greedy(scheme, make_in_process_player(bad, tmp_path, monkeypatch))

    assert done.code == 1
    if "ValueError" in why:
        assert f'.py", line 9, in {method}\n' in done.err
        assert "ValueError: oh no\n" in done.err
    assert done.err.endswith(f"fairplay: {why}\n")
    assert [ejected.fault for ejected in result.ejected] == [fault]


def test_prints_of_a_joining_player_do_no_harm_and_methods_may_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        f"{FIRST.replace('return', 'print(1)' + chr(10) + '        return')}\n    start = tell = end = closing = None"
    )

    done, result = against_greedy("", make_in_process_player(source, tmp_path, monkeypatch))

    assert (done.code, {*done.out.split()}, result.ejected) == (0, {"1"}, ())


def test_a_player_may_be_there_before_the_host() -> None:
    port = free_port()
    done: list[CommandResult] = []
    thread = threading.Thread(target=lambda: done.append(run_script("join", f"127.0.0.1:{port}", "greedy")))
    thread.start()
    time.sleep(0.5)

    with Host(listen_tcp(str(port))) as host:
        thread.join()

    assert host.result.ejected == ()
    assert done[0].code == 0


# Hosts that are no hosts


@pytest.mark.parametrize("scheme", ["", "ws://"])
def test_a_host_that_never_comes_is_given_up(scheme: str) -> None:
    address = f"127.0.0.1:{free_port()}"

    done = run_fairplay("join", f"{scheme}{address}", "greedy", "--wait", "0.2")

    assert refusal_line(done) == f"cannot connect to {address}: Connection refused"


def test_without_the_package_for_it_there_is_no_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fairplay.transport.websocket", raising=False)
    monkeypatch.setitem(sys.modules, "websockets.client", None)

    done = run_fairplay("join", "ws://127.0.0.1:1", "greedy")

    assert refusal_line(done) == "WebSockets need the package websockets: pip install 'fairplay[web]'"


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not a message of the protocol"),
        (b"[" * 100_000 + b"\n", "not a message of the protocol"),
        (start(), "the host's first message must be hello, not Start"),
        (hello(protocol=99), "the host speaks version 99 of the protocol, and this program version 2"),
        (hello(game="chess"), "there is no game 'chess'"),
        (hello(game="q", parameters={}), "q has no player 'greedy'"),
        (hello(parameters={"rows": -1}), ""),
        (hello() + start(view={"no": "view"}), ""),
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_host_that_makes_no_sense_is_refused(says: bytes, why: str) -> None:
    done = told_by(says)

    assert done.code == 2
    connected, *_, last = done.err.splitlines()
    assert connected.startswith("fairplay: connected to ")
    assert last.startswith(f"fairplay: {why}")
    assert last.isprintable()
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("says", "code", "last"),
    [
        (hello() + start(), 1, "the host closed the connection before the end of the match"),
        (hello(), 1, "the connection was lost: no message came for 0.2 s before the end of the match"),
        (hello() + start() + end([1], [0]), 0, "ranked 2 of 2"),
        (hello() + start() + end([1]), 0, "the match is over; the player is not ranked"),
        (hello() + start() + end([0]) + goodbye(Fault.MALFORMED, "too late"), 1, "ejected, malformed: too late"),
    ],
    ids=["hangs up", "is silent", "does not hang up", "does not rank", "says goodbye after the end"],
)
def test_the_end_of_a_connection_is_reported(says: bytes, code: int, last: str) -> None:
    stay = 0.0 if last.startswith("the host closed") else 1.0

    done = told_by(says, stay=stay, options=("--idle-timeout", "0.2"))

    assert done.code == code
    assert done.err.endswith(f"fairplay: {last}\n")


@pytest.mark.parametrize("does", ["print(fault.value, why)", "raise ValueError(f'{fault.value} {why}')"])
def test_player_and_user_hear_the_reason_of_an_ejection(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = f"class Player:\n    def take_turn(self, view): ...\n    def ejected(self, fault, why): {does}"

    player = make_in_process_player(bot, tmp_path, monkeypatch)
    done = told_by(hello() + start() + goodbye(Fault.TIMED_OUT, "no answer within 5 s"), player=player)

    assert done.code == 1
    assert "timed_out no answer within 5 s\n" in done.out + done.err
    assert done.err.endswith("fairplay: ejected, timed out: no answer within 5 s\n")


def test_a_player_that_raises_after_the_end_has_played_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = "class Player:\n    def take_turn(self, view): ...\n    def closing(self, receipt): raise ValueError('late')"
    receipt = Receipt(7, "ab" * 32)
    closing = wire.encode(wire.Closing(match="m", turn=0, nonce="4", limit=5.0, receipt=receipt)) + b"\n"

    done = told_by(hello() + start() + end([0]) + closing, player=make_in_process_player(bot, tmp_path, monkeypatch))

    assert done.code == 0
    assert f"fairplay: receipt: {receipt} (covers the result)\n" in done.err
    assert "ValueError: late\n" in done.err


@pytest.mark.parametrize("seat", [-1, 7])
def test_a_host_that_gives_an_impossible_seat_does_no_harm(seat: int) -> None:
    done = told_by(hello() + start(seat=seat) + end([0]))

    assert done.code == 0
    assert f"playing fish as unknown in seat {seat}\n" in done.err
    assert "Traceback" not in done.err


def test_control_codes_of_a_host_do_not_reach_the_terminal() -> None:
    done = told_by(hello() + start(names=["\x1b[2Jann", "b"]) + goodbye(Fault.ILLEGAL, "\x1b[31m" + "x" * 5000))

    assert all(line.isprintable() for line in done.err.splitlines())
    assert len(done.err) < 1000
