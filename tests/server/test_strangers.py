"""Let every bad player and caller loose on one house: each does harm to itself alone, and honest matches end right."""

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
from fairplay.journal.replay import read
from fairplay.journal.verify import verify
from fairplay.protocol import player_side
from fairplay.testing.hostile import DEEDS, Distance
from fairplay.testing.hostile_connections import HANDSHAKE, misbehave_at
from fairplay.testing.hostile_programs import ANY, CONNECT, GOOD, HELLO, TURN, Do, Turn
from tests.misbehaviour.far import Case, cases, declared
from tests.server.guests import AMPLE, LOOPBACK, Gate, Guest, Served, check_undisturbed, eventually, served

CONFIG = """
websocket = 0
window = 10
strangers = {{ matches = 1, hello = 5 }}
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
FAR = cases(Distance.TCP, Distance.WEBSOCKET)
LATER = ("answers before it is asked", "guesses what comes next", "answers twenty times")  # they are let in
AT_THE_DOOR = [
    case for case in FAR if case.at in (HELLO, CONNECT) and DEEDS[case.deed].fault and case.deed not in LATER
]
REASONS = {"malformed": "malformed", "flood": "flood", "timed_out": "silent", "crashed": "gone"}
BY_THE_HOUSE = {"breaks off in a line": "gone"}  # which might have come back
OTHERS = {  # who wants something else of a door for players
    "says nothing": b"",
    "a browser": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "half of a browser": b"GET / HT",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32) + b"\n",
    "WebSocket": HANDSHAKE,
    "a course": b'"my name"\n',
    "too much at once": b"x" * 10_000,
    "a replay": b'{"nonce":"1-0123456789abcdef","answer":{"name":"ann"}}\n',
}


def at_a_table() -> list[Case]:
    """Every deed, at a turn where that makes sense."""
    found: dict[tuple[str, Distance], Case] = {}
    for case in FAR:
        if case.at != CONNECT and (case.at in (TURN, ANY) or TURN not in DEEDS[case.deed].at):
            found.setdefault((case.deed, case.distance), case)
    return list(found.values())


AT_TABLES = at_a_table()


def inside(do: Do) -> Do:
    """Do it in a match only: the house is told well who one is."""

    def once_seated(turn: Turn) -> None:
        at_the_door = b'"type": "hello"' in turn.question and b'"game"' not in turn.question
        turn.say(GOOD) if at_the_door else do(turn)

    return once_seated


class Bad(threading.Thread):
    """Somebody who misbehaves at a house."""

    def __init__(self, house: Served, case: Case, *, seated: bool) -> None:
        super().__init__(daemon=True, name=str(case))
        do = DEEDS[case.deed].do
        port = house.port if case.distance is Distance.TCP else house.websockets[0]
        self._talk = (LOOPBACK, port, case.distance.value, inside(do) if seated else do, case.at)
        self.start()

    def run(self) -> None:
        misbehave_at(*self._talk)


@cache
def matches(folder: Path, *, slow: bool) -> dict[Case, Match[Any, Any, Any]]:
    """Every bad player against an honest one, all in one house, beside a match of two honest ones on a bad line."""
    found, config = {}, folder / "house.toml"
    config.write_text(CONFIG.format(limit=4 if slow else 60))
    with served(folder / "house", "--config", str(config)) as house:
        gate = Gate(2)
        beside = [Guest(house.address, name, lambda: gate, breaks=3, game="fish") for name in ("ann", "bob")]
        gate.until(lambda gate: gate.waiting == 1)
        pairs = {}
        for number, case in zip(count(), AT_TABLES):
            if (DEEDS[case.deed].fault == "timed_out") is slow:
                bad = Bad(house, case, seated=True)
                eventually(lambda: house.status().waiting)
                pairs[case] = bad, Guest(house.address, f"honest-{number}", game="q")
                eventually(lambda: not house.status().waiting)
        for case, (bad, honest) in pairs.items():
            assert honest.done().lost == "", case
            assert len(honest.results) == 1, case
            bad.join(AMPLE)
            assert not bad.is_alive(), f"nobody hung up: {case}"
        gate.open()
        for guest in beside:
            assert guest.done().lost == ""
        house.stop_when_all_is_over()
    records = {name: path for path in house.journals() for name in read(path).names}
    check_undisturbed(records["ann"])
    for case, (_, honest) in pairs.items():
        found[case] = verify(read(records[honest.name]))
    assert len(house.journals()) == len(pairs) + 1
    return found


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Path]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player_side, "MAX_PAUSE_S", 0.5)
        yield {slow: tmp_path_factory.mktemp("slow" if slow else "quick") for slow in (True, False)}


@pytest.mark.parametrize("case", AT_TABLES, ids=str)
def test_who_is_bad_in_a_match_is_out_of_it_and_the_honest_play_on(case: Case, folders: dict[bool, Path]) -> None:
    slow = DEEDS[case.deed].fault == "timed_out"

    final = matches(folders[slow], slow=slow)[case]

    bad = next(seat for seat, name in enumerate(final.names) if not name.startswith("honest"))
    expected = [(bad, BY_THE_HOUSE.get(case.deed, fault), moment) for _, fault, moment in declared(case)]
    assert [(one.seat, one.fault.value, one.moment.value) for one in final.ejected] == expected
    assert {seat for group in final.result.ranking for seat in group} >= {1 - bad}


def test_who_is_bad_at_the_door_is_turned_away_and_nobody_has_to_wait(tmp_path: Path) -> None:
    config = tmp_path / "house.toml"
    config.write_text(CONFIG.format(limit=60))
    with served(tmp_path / "house", "--config", str(config)) as house:
        gate = Gate(2)
        beside = [Guest(house.address, name, lambda: gate, breaks=3, game="fish") for name in ("ann", "bob")]
        gate.until(lambda gate: gate.waiting == 1)

        bad = [Bad(house, case, seated=False) for case in AT_THE_DOOR]
        callers = []
        for said in OTHERS.values():
            callers.append(socket.create_connection((LOOPBACK, house.port), AMPLE))
            callers[-1].sendall(said)
        eventually(lambda: len(house.events("refused")) >= len(AT_THE_DOOR) + len(OTHERS))
        for one in bad:
            one.join(AMPLE)
            assert not one.is_alive(), one.name
        for caller in callers:
            with caller:
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert set(house.status().players) == {"ann", "bob"}
        gate.open()
        for guest in beside:
            assert guest.done().lost == ""
        house.stop_when_all_is_over()

    expected = Counter(REASONS[DEEDS[case.deed].fault] for case in AT_THE_DOOR)
    expected += Counter({"silent": 2, "malformed": 5, "flood": 1})
    assert Counter(one["reason"] for one in house.events("refused")) == expected
    [journal] = house.journals()
    check_undisturbed(journal)
