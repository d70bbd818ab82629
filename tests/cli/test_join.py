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
NO_HOST = (
    "'http://host:1' is not the address of a host; write HOST:PORT, or "
    "tcp://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT"
)
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
    line = {
        "type": "hello",
        "match": "m",
        "turn": 0,
        "nonce": "1",
        "limit": 5.0,
        "protocol": wire.PROTOCOL_VERSION,
        "game": "fish",
    }
    return wire.encode({**line, "parameters": {"rows": 3, "columns": 4}, **changes}) + b"\n"


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


@pytest.mark.parametrize("scheme", ["", "ws://"])
def test_a_player_with_a_refused_name_hears_why(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "check_name", lambda text: None)  # as if it spoke another version of the protocol
    with LISTEN[scheme]("0") as listener:
        limits = Limits(start_up=20.0)
        thread = threading.Thread(
            target=lambda: asyncio.run(listener.accept_players(FISH, limits=limits, timeout_s=1.0))
        )
        thread.start()
        done = run_fairplay("join", f"{scheme}{listener.address}", "greedy", "--name", "ann b")
        thread.join()

    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        "fairplay: ejected, malformed: the answer to hello is neither null nor an introduction: "
        "a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"
    )


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
def test_an_ejected_player_hears_why(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cheat = make_in_process_player(
        "def take_turn(view):\n    return {'type': 'place', 'at': [99, 99]}", tmp_path, monkeypatch
    )

    done, result = against_greedy(scheme, cheat)

    assert done.code == 1
    assert done.err.endswith("fairplay: ejected, illegal: rule 3.2: there is no tile at [99, 99]\n")
    assert [ejected.fault for ejected in result.ejected] == [Fault.ILLEGAL]


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
@pytest.mark.parametrize("method", ["start", "take_turn", "end"])
def test_a_player_that_raises_shows_where_and_is_gone(
    scheme: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = f"{FIRST}\n    def {method}(self, *_):\n        raise ValueError('oh no')"

    done, result = against_greedy(scheme, make_in_process_player(bad, tmp_path, monkeypatch))

    [file] = tmp_path.glob("*.py")
    assert done.code == 1
    assert f'{file}", line 9, in {method}\n' in done.err
    assert "ValueError: oh no\n" in done.err
    assert done.err.endswith("fairplay: the player raised ValueError\n")
    assert [ejected.fault for ejected in result.ejected] == [Fault.GONE]


def test_methods_of_a_player_may_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = make_in_process_player(f"{FIRST}\n    start = tell = end = closing = None\n", tmp_path, monkeypatch)

    done, result = against_greedy("", player)

    assert (done.code, result.ejected) == (0, ())


def test_an_answer_that_is_no_data_is_the_fault_of_the_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = make_in_process_player("def take_turn(view):\n    return object()", tmp_path, monkeypatch)

    done, _ = against_greedy("", odd)

    assert done.code == 1
    assert done.err.endswith("fairplay: the player raised TypeError\n")


def test_prints_of_a_joining_player_do_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chatty = make_in_process_player(f"{FIRST}\n    def start(self, *_):\n        print('hm')", tmp_path, monkeypatch)

    done, result = against_greedy("", chatty)

    assert (done.code, done.out, result.ejected) == (0, "hm\n", ())


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


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("nowhere", "'nowhere' is not an endpoint; write PORT or HOST:PORT"),
        ("host:port", "'host:port' is not an endpoint; write PORT or HOST:PORT"),
        ("http://host:1", NO_HOST),
        ("ws://host", "'host' is not an endpoint; write PORT or HOST:PORT"),
        ("ws://[::1:4", "'[::1:4' is not an endpoint; write PORT or HOST:PORT"),
    ],
)
def test_an_invalid_address_is_refused(address: str, why: str) -> None:
    assert refusal_line(run_fairplay("join", address, "greedy")) == why


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


@pytest.mark.parametrize("name", ["", "x" * 21, "ann b", "ann\n", "Zoë", "\x1b[2J"])
def test_a_name_that_no_host_takes_is_refused_at_once(name: str) -> None:
    said = f"{name!r} is not a valid name: a name is 1 to 20 of A-Z, a-z, 0-9, _ and -"
    assert refusal_line(run_fairplay("join", "127.0.0.1:1", "greedy", "--name", name)) == said


def test_a_player_of_another_game_is_refused_once_the_game_is_known() -> None:
    done = told_by(hello(), player="dag")

    assert done.code == 2
    assert "fairplay: fish has no player 'dag'" in done.err


@pytest.mark.parametrize(("options", "of"), [((), "any game"), (("--game", "fish"), "fish")])
def test_a_player_that_there_is_nowhere_is_refused_at_once(options: tuple[str, ...], of: str) -> None:
    why = refusal_line(run_fairplay("join", "127.0.0.1:1", "survivors" if of == "any game" else "survivor", *options))

    assert why.endswith(f" of {of}; use a built-in player, human, ./file.py, exec:COMMAND and py:module:Name")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not a message of the protocol"),
        (b"\xff\xff\n", "not a message of the protocol"),
        (b"[" * 100_000 + b"\n", "not a message of the protocol"),
        (start(), "the host's first message must be hello, not Start"),
        (hello(protocol=99), "the host speaks version 99 of the protocol, and this program version 2"),
        (hello(game="chess"), "there is no game 'chess'"),
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


def test_a_host_that_hangs_up_too_early_is_reported() -> None:
    done = told_by(hello() + start())

    assert done.code == 1
    assert done.err.endswith("fairplay: the host closed the connection before the end of the match\n")


def test_a_silent_host_is_given_up_after_the_idle_timeout() -> None:
    done = told_by(hello(), stay=1.0, options=("--idle-timeout", "0.2"))

    assert done.code == 1
    assert done.err.endswith(
        "fairplay: the connection was lost: no message came for 0.2 s before the end of the match\n"
    )


def test_a_match_has_ended_even_if_the_host_does_not_hang_up() -> None:
    done = told_by(hello() + start() + end([1], [0]), stay=1.0, options=("--idle-timeout", "0.2"))

    assert done.code == 0
    assert done.err.endswith("fairplay: ranked 2 of 2\n")


def test_a_goodbye_after_the_end_counts() -> None:
    done = told_by(hello() + start() + end([0]) + goodbye(Fault.MALFORMED, "no acknowledgement"))

    assert done.code == 1
    assert done.err.endswith("fairplay: ranked 1 of 2\nfairplay: ejected, malformed: no acknowledgement\n")


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


@pytest.mark.parametrize(
    ("ranking", "said"),
    [
        (([0], [1]), "ranked 1 of 2"),
        (([0, 1],), "ranked 1 of 2, tied"),
        (([1],), "the match is over; the player is not ranked"),
        ((), "the match is over; the player is not ranked"),
    ],
)
def test_the_rank_is_said(ranking: tuple[list[int], ...], said: str) -> None:
    assert told_by(hello() + start() + end(*ranking)).err.endswith(f"fairplay: {said}\n")


def test_control_codes_of_a_host_do_not_reach_the_terminal() -> None:
    names = ["\x1b[2Jann", "b"]

    done = told_by(hello() + start(names=names) + goodbye(Fault.ILLEGAL, "\x1b[31m" + "x" * 5000))

    assert all(line.isprintable() for line in done.err.splitlines())
    assert len(done.err) < 1000


@pytest.mark.parametrize("seat", [-1, 7])
def test_a_host_that_gives_an_impossible_seat_does_no_harm(seat: int) -> None:
    done = told_by(hello() + start(seat=seat) + end([0]))

    assert done.code == 0
    assert f"playing fish as unknown in seat {seat}\n" in done.err
    assert "Traceback" not in done.err
