"""Test that each hostile client of a server harms only itself, and honest matches end right."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.match import Match
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.protocol import player_side
from fairplay.testing.hostile import MISBEHAVIOURS, Distance
from fairplay.testing.hostile_connections import HANDSHAKE, misbehave_at
from fairplay.testing.hostile_programs import ANY, CONNECT, GOOD_REPLY, HELLO, TURN, Behaviour, Question
from tests.misbehaviour.remote_players import MisbehaviourCase, cases, expected_ejection
from tests.server.guest_threads import (
    LOOPBACK,
    TIMEOUT_S,
    GuestThread,
    ServerProcess,
    TurnGate,
    check_undisturbed,
    run_server,
    wait_for_value,
)

CONFIG = """
websocket = 0
reconnect_window = 10
connection_limits = {{ matches_per_client = 1, hello_timeout = 5 }}
[[games]]
game = "q"
max = 2
limits = {{ move = {limit}, first = {limit}, start = {limit} }}
[[games]]
game = "fish"
max = 2
parameters = {{ rows = 5, columns = 5 }}
limits = {{ move = 60, first = 60, start = 60 }}
"""
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
    """Every misbehaviour, at a turn where that makes sense."""
    found: dict[tuple[str, Distance], MisbehaviourCase] = {}
    for case in REMOTE:
        if case.message != CONNECT and (
            case.message in (TURN, ANY) or TURN not in MISBEHAVIOURS[case.misbehaviour].messages
        ):
            found.setdefault((case.misbehaviour, case.distance), case)
    return list(found.values())


AT_TABLES = at_a_table()


def inside(do: Behaviour) -> Behaviour:
    """Misbehave in a match only, after a correct sign-in."""

    def once_seated(turn: Question) -> None:
        at_the_listener = b'"type": "hello"' in turn.question and b'"game"' not in turn.question
        turn.send(GOOD_REPLY) if at_the_listener else do(turn)

    return once_seated


class Bad(threading.Thread):
    """A client that misbehaves at a server."""

    def __init__(self, server: ServerProcess, case: MisbehaviourCase, *, seated: bool) -> None:
        super().__init__(daemon=True, name=str(case))
        do = MISBEHAVIOURS[case.misbehaviour].behaviour
        port = server.port if case.distance is Distance.TCP else server.websockets[0]
        self._talk = (LOOPBACK, port, case.distance.value, inside(do) if seated else do, case.message)
        self.start()

    def run(self) -> None:
        misbehave_at(*self._talk)


@cache
def matches(directory: Path, *, slow: bool) -> dict[MisbehaviourCase, Match[Any, Any, Any]]:
    """Every bad player against an honest one, all in one server, beside a match of two honest ones on a bad line."""
    found, config = {}, directory / "server.toml"
    config.write_text(CONFIG.format(limit=4 if slow else 60))
    with run_server(directory / "server", "--config", str(config)) as server:
        gate = TurnGate(2)
        beside = [GuestThread(server.address, name, lambda: gate, breaks=3, game="fish") for name in ("ann", "bob")]
        gate.wait_until(lambda gate: gate.waiting == 1)
        pairs = {}
        for number, case in zip(count(), AT_TABLES):
            if (MISBEHAVIOURS[case.misbehaviour].fault == "timed_out") is slow:
                bad = Bad(server, case, seated=True)
                wait_for_value(lambda: server.status().waiting)
                pairs[case] = bad, GuestThread(server.address, f"honest-{number}", game="q")
                wait_for_value(lambda: not server.status().waiting)
        for case, (bad, honest) in pairs.items():
            assert honest.wait_until_done().lost == "", case
            assert len(honest.results) == 1, case
            bad.join(TIMEOUT_S)
            assert not bad.is_alive(), f"still connected: {case}"
        gate.open()
        for guest in beside:
            assert guest.wait_until_done().lost == ""
        server.stop_when_idle()
    records = {name: path for path in server.journals() for name in read_journal(path).names}
    check_undisturbed(records["ann"])
    for case, (_, honest) in pairs.items():
        found[case] = verify(read_journal(records[honest.name]))
    assert len(server.journals()) == len(pairs) + 1
    return found


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Path]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)
        yield {slow: tmp_path_factory.mktemp("slow" if slow else "quick") for slow in (True, False)}


@pytest.mark.parametrize("case", AT_TABLES, ids=str)
def test_hostile_players_are_ejected_and_honest_ones_play_on(
    case: MisbehaviourCase, directories: dict[bool, Path]
) -> None:
    slow = MISBEHAVIOURS[case.misbehaviour].fault == "timed_out"

    final = matches(directories[slow], slow=slow)[case]

    bad = next(seat for seat, name in enumerate(final.names) if not name.startswith("honest"))
    expected = [
        (bad, BY_THE_SERVER.get(case.misbehaviour, fault), moment) for _, fault, moment in expected_ejection(case)
    ]
    assert [(one.seat, one.fault.value, one.moment.value) for one in final.ejected] == expected
    assert {seat for group in final.result.ranking for seat in group} >= {1 - bad}


def test_hostile_connections_are_refused_and_delay_no_client(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text(CONFIG.format(limit=60))
    with run_server(tmp_path / "server", "--config", str(config)) as server:
        gate = TurnGate(2)
        beside = [GuestThread(server.address, name, lambda: gate, breaks=3, game="fish") for name in ("ann", "bob")]
        gate.wait_until(lambda gate: gate.waiting == 1)

        bad = [Bad(server, case, seated=False) for case in AT_THE_LISTENER]
        callers = []
        for said in OTHERS.values():
            callers.append(socket.create_connection((LOOPBACK, server.port), TIMEOUT_S))
            callers[-1].sendall(said)
        wait_for_value(lambda: len(server.events("refused")) >= len(AT_THE_LISTENER) + len(OTHERS))
        for one in bad:
            one.join(TIMEOUT_S)
            assert not one.is_alive(), one.name
        for caller in callers:
            with caller:
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert set(server.status().players) == {"ann", "bob"}
        gate.open()
        for guest in beside:
            assert guest.wait_until_done().lost == ""
        server.stop_when_idle()

    expected = Counter(REASONS[MISBEHAVIOURS[case.misbehaviour].fault] for case in AT_THE_LISTENER)
    expected += Counter({"hello_timeout": 2, "malformed": 5, "flood": 1})
    assert Counter(one["reason"] for one in server.events("refused")) == expected
    [journal] = server.journals()
    check_undisturbed(journal)
