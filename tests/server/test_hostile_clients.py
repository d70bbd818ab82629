"""Test that each hostile client of a server harms only itself, over TLS too, and honest matches end right."""

import signal
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.match import Match
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.testing.hostile import MISBEHAVIOURS, Distance
from fairplay.testing.hostile_connections import HANDSHAKE, misbehave_at
from fairplay.testing.hostile_programs import ANY, CONNECT, GOOD_REPLY, HELLO, TURN, Behaviour, Question
from tests.misbehaviour.test_remote import MisbehaviourCase, cases, expected_ejection
from tests.server.guest_threads import (
    LOOPBACK,
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    connect_raw,
    offer,
    playing_beside,
    run_server,
    wait_for_guests,
    wait_for_value,
)
from tests.server.sign_in import test_sign_in

REMOTE = cases(Distance.TCP, Distance.WEBSOCKET)
LATER = ("answers before it is asked", "guesses what comes next", "answers twenty times")  # they are signed in
AT_THE_LISTENER = [
    case
    for case in REMOTE
    if case.message in (HELLO, CONNECT) and MISBEHAVIOURS[case.misbehaviour].fault and case.misbehaviour not in LATER
]
REASONS = {"malformed": "malformed", "flood": "flood", "timed_out": "hello_timeout", "crashed": "gone"}
BY_THE_SERVER = {"breaks off in a line": "gone"}  # it might have come back
OTHERS = {  # first messages of other programs
    "says nothing": b"",
    "a browser": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "half of a browser": b"GET / HT",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32) + b"\n",
    "WebSocket": HANDSHAKE,
    "a course": b'"my name"\n',
    "too much at once": b"x" * 10_000,
    "a replay": b'{"nonce":"1-0123456789abcdef","answer":{"name":"ann"}}\n',
}


def at_a_table() -> list[MisbehaviourCase]:
    """Every misbehaviour, at a turn where that makes sense, over TCP and over WebSocket by turns."""
    found: dict[str, dict[Distance, MisbehaviourCase]] = {}
    for case in REMOTE:
        at_any_time = TURN not in MISBEHAVIOURS[case.misbehaviour].messages
        if case.message in (TURN, ANY) or (at_any_time and case.message != CONNECT):
            found.setdefault(case.misbehaviour, {}).setdefault(case.distance, case)
    return [list(ways.values())[-(number % 2)] for number, ways in enumerate(found.values())]


AT_TABLES = at_a_table()


def inside(do: Behaviour) -> Behaviour:
    """Misbehave in a match only, after a correct sign-in."""

    def once_seated(turn: Question) -> None:
        at_the_listener = b'"type": "hello"' in turn.question and b'"game"' not in turn.question
        turn.send(GOOD_REPLY) if at_the_listener else do(turn)

    return once_seated


class Bad(threading.Thread):
    def __init__(self, server: ServerProcess, case: MisbehaviourCase, *, seated: bool) -> None:
        super().__init__(daemon=True, name=str(case))
        do = MISBEHAVIOURS[case.misbehaviour].behaviour
        port = server.port if case.distance is Distance.TCP else server.websockets[0]
        self._talk = (LOOPBACK, port, case.distance.value, inside(do) if seated else do, case.message)
        self.start()

    def run(self) -> None:
        misbehave_at(*self._talk)


@cache
def play_matches(directory: Path, *, slow: bool) -> dict[MisbehaviourCase, Match[Any, Any, Any]]:
    """Every bad player against an honest one, all in one server, beside a match of two honest ones on a bad line."""
    directory = directory / ("slow" if slow else "quick")
    offers = [offer("q", limit=4 if slow else 60), offer()]
    with run_server(directory, offers=offers, hello_timeout=5, websocket=0, reconnect_window=10) as server:
        with playing_beside(server, game="fish"):
            pairs = {}
            for number, case in enumerate(AT_TABLES):
                if (MISBEHAVIOURS[case.misbehaviour].fault == "timed_out") is slow:
                    bad = Bad(server, case, seated=True)
                    wait_for_value(lambda: server.status().waiting)
                    pairs[case] = bad, GuestThread(server.address, f"honest-{number}", game="q")
                    wait_for_value(lambda: not server.status().waiting)
            wait_for_guests(honest for _, honest in pairs.values())
            for case, (bad, honest) in pairs.items():
                assert len(honest.results) == 1, case
                bad.join(TIMEOUT_S)
                assert not bad.is_alive(), f"still connected: {case}"
        server.stop_when_idle()
    records = {name: path for path in server.journals() for name in read_journal(path).names}
    check_undisturbed(records["ann"])
    assert len(server.journals()) == len(pairs) + 1
    return {case: verify(read_journal(records[honest.name])) for case, (_, honest) in pairs.items()}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


@pytest.mark.parametrize("case", AT_TABLES, ids=str)
def test_hostile_players_are_ejected_and_honest_ones_play_on(case: MisbehaviourCase, directory: Path) -> None:
    final = play_matches(directory, slow=MISBEHAVIOURS[case.misbehaviour].fault == "timed_out")[case]

    bad = next(seat for seat, name in enumerate(final.names) if not name.startswith("honest"))
    expected = [
        (bad, BY_THE_SERVER.get(case.misbehaviour, fault), moment) for _, fault, moment in expected_ejection(case)
    ]
    assert [(one.seat, one.fault.value, one.moment.value) for one in final.ejected] == expected
    assert {seat for group in final.result.ranking for seat in group} >= {1 - bad}


def test_hostile_connections_are_refused_and_delay_no_client(tmp_path: Path) -> None:
    offers, directory = [offer("q"), offer()], tmp_path / "server"
    with run_server(directory, offers=offers, hello_timeout=5, websocket=0, reconnect_window=10) as server:
        with playing_beside(server, game="fish"):
            bad = [Bad(server, case, seated=False) for case in AT_THE_LISTENER]
            callers = [connect_raw(server.port, said) for said in OTHERS.values()]
            wait_for_value(lambda: len(server.events("refused")) >= len(AT_THE_LISTENER) + len(OTHERS))
            for one in bad:
                one.join(TIMEOUT_S)
                assert not one.is_alive(), one.name
            for caller in callers:
                with caller:
                    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            assert set(server.status().players) == {"ann", "bob"}
        server.stop_when_idle()

    expected = Counter(REASONS[MISBEHAVIOURS[case.misbehaviour].fault] for case in AT_THE_LISTENER)
    expected += Counter({"hello_timeout": 2, "malformed": 5, "flood": 1})
    assert Counter(one["reason"] for one in server.events("refused")) == expected
    [journal] = server.journals()
    check_undisturbed(journal)


# TLS


certificate = test_sign_in.certificate
Call = Callable[[int, ssl.SSLContext], socket.socket]  # connects to a port


def connect_secured(port: int, trusting: ssl.SSLContext, said: bytes = b"") -> socket.socket:
    encrypted = trusting.wrap_socket(connect_raw(port), server_hostname=LOOPBACK)
    encrypted.sendall(said)
    return encrypted


def break_tls(port: int, trusting: ssl.SSLContext) -> socket.socket:
    with socket.socket(fileno=connect_secured(port, trusting).detach()) as plain:
        plain.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))  # an invalid TLS record
        return plain.dup()


CALLS: list[tuple[Call, str, str]] = [  # and why each is refused, over TLS and over WebSocket in TLS
    (lambda port, trusting: connect_raw(port), "hello_timeout", "hello_timeout"),
    (lambda port, trusting: connect_raw(port, b'{"nonce":"1-0123456789abcdef","answer":null}\n'), "gone", "gone"),
    (lambda port, trusting: connect_raw(port, HANDSHAKE), "gone", "gone"),
    (lambda port, trusting: connect_raw(port, b"\x16\x03\x01\2\0\1\0\1\xfc\3\3"), "hello_timeout", "hello_timeout"),
    (connect_secured, "hello_timeout", "hello_timeout"),
    (lambda port, trusting: connect_secured(port, trusting, b"what?\n\r\n\r\n"), "malformed", "gone"),
    (break_tls, "gone", "gone"),
]


def test_matches_are_played_over_tls_and_websocket_beside_bad_handshakes(
    tmp_path: Path, certificate: tuple[str, str]
) -> None:
    trusting = ssl.create_default_context(cafile=certificate[0])
    gate = TurnGate(2)
    with run_server(
        tmp_path / "server", "--tls", *certificate, offers=[offer()], websocket=0, hello_timeout=3
    ) as server:
        ports = server.port, server.websockets[0]
        guests = [
            GuestThread(f"{scheme}://{LOOPBACK}:{port}", f"{name}-{number}", lambda: gate, breaks=3, ca=certificate[0])
            for number in range(2)
            for name, scheme, port in zip(("ann", "bob"), ("tls", "wss"), ports, strict=True)
        ]
        gate.wait_until(lambda gate: gate.waiting == 2)

        callers = [call(port, trusting) for call, *_ in CALLS for port in ports]
        wait_for_value(lambda: len(server.events("refused")) >= len(callers))
        refused = Counter(one["reason"] for one in server.events("refused"))
        for caller in callers:
            caller.close()
        gate.open()
        wait_for_guests(guests)
        wait_for_value(lambda: len(server.events("match ended")) == 2)
        assert server.end(signal.SIGTERM) == 0

    assert refused == Counter(reason for _, *reasons in CALLS for reason in reasons)
    assert len([check_undisturbed(path) for path in server.journals()]) == 2
