"""Pass on what a host and a program say to each other, without a line: what the program is asked, and its end."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.backlog import MOST_WAITING
from fairplay.players.relay import ProgramFailed, Relay
from fairplay.protocol import wire
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.process_tree import descendants
from fairplay.transport.dial import Lost
from tests.players.a_house import FISH, TURN
from tests.players.programs import every_level

ECHO = """
import json, sys
for text in sys.stdin:
    line = json.loads(text)
    if "nonce" in line:
        print(json.dumps({"nonce": line["nonce"], "answer": None}), flush=True)
"""
REPEATS = """
import json, sys
first = None
for text in sys.stdin:
    line = json.loads(text)
    if "nonce" in line:
        if first is None:
            first = line["nonce"]
        else:
            for _ in range(10):
                print(json.dumps({"nonce": first, "answer": None}), flush=True)
        print(json.dumps({"nonce": line["nonce"], "answer": None}), flush=True)
"""
SLEEPS = "import time; time.sleep(3600)"
THINKS = """
import json, sys, time
print(json.dumps({"nonce": json.loads(sys.stdin.readline())["nonce"], "answer": None}), flush=True)
time.sleep(3600)
"""
CRASHES = "import sys; sys.stdin.readline(); sys.exit(3)"


class Host:
    """A host that asks some questions, each when the one before was answered, and then does what a test wants.

    Or it does not wait for the last answer, but says something else at once.
    """

    def __init__(self, *asks: bytes, at_once: Iterable[bytes] = (), then: Callable[[], object] | None = None) -> None:
        self.heard: list[bytes] = []
        self._asks, self._at_once, self._then = asks, at_once, then or self._wait
        self._replied = threading.Semaphore(1)

    def lines(self) -> Iterator[bytes]:
        for text in self._asks:
            self._wait()
            yield text.rstrip(b"\n")
        yield from self._at_once
        self._then()

    def _wait(self) -> None:
        assert self._replied.acquire(timeout=60)

    def send(self, reply: bytes) -> None:
        self.heard.append(reply)
        self._replied.release()


def hello() -> bytes:
    return wire.hello(FISH, match_id="m", nonce="1", limit=60.0)


def turn() -> bytes:
    return wire.question(TURN, FISH, match_id="m", turn=1, nonce="2", limit=60.0)


def relayed(host: Host, code: str, sandbox: Any, patience: float = 60.0) -> tuple[Any, list[wire.WireMessage]]:
    told: list[wire.WireMessage] = []
    relay = Relay(
        [sys.executable, "-I", "-S", "-c", code],
        sandbox,
        host.send,
        patience=lambda: patience,
        name="ann",
        hear=told.append,
        show=None,
        log=lambda match_id: None,
    )
    return asyncio.run(relay.play(host.lines())), told


@every_level
def test_words_are_passed_on_both_ways(sandbox: Any) -> None:
    host = Host(hello(), turn())

    goodbye, told = relayed(host, ECHO, sandbox)

    assert goodbye is None
    assert [type(message) for message in told] == [wire.Hello, wire.TakeTurn]
    assert host.heard == [b'{"nonce":"1","answer":{"name":"ann"}}\n', b'{"nonce": "2", "answer": null}\n']


def test_replies_to_old_questions_are_counted_for_each_match() -> None:
    host = Host(*[hello(), turn()] * 3)

    goodbye, _ = relayed(host, REPEATS, Sandbox(Level.NONE))

    assert goodbye is None
    assert len(host.heard) == 6


def lost() -> None:
    raise Lost("the cable was cut")


@every_level
@pytest.mark.parametrize(
    ("code", "then", "error"),
    [(SLEEPS, lost, Lost), (CRASHES, lambda: threading.Event().wait(60), ProgramFailed)],
    ids=["the line is lost", "the program crashes"],
)
def test_whatever_goes_wrong_no_program_is_left(code: str, then: Any, error: type[Exception], sandbox: Any) -> None:
    before = descendants(os.getpid())

    with pytest.raises(error):
        relayed(Host(hello(), then=then), code, sandbox)

    assert descendants(os.getpid()) <= before


def hang_up() -> None:
    pass


class Change(bytes):
    """A line of which it is known how many are in memory, and were at most."""

    alive = most = 0

    def __init__(self, *_: object) -> None:
        Change.alive += 1
        Change.most = max(Change.most, Change.alive)

    def __del__(self) -> None:
        Change.alive -= 1


def changes(count: int) -> Iterator[bytes]:
    Change.most = Change.alive
    for number in range(count):
        yield Change(wire.encode(wire.Changed(match="m", view=number)))


def test_a_host_cannot_fill_our_memory_while_the_program_thinks() -> None:
    out = wire.goodbye("m", Failed(Fault.TIMED_OUT, "no answer within 60 s", 60.0))
    host = Host(hello(), turn(), at_once=chain(changes(1000), [out]), then=hang_up)

    goodbye, _ = relayed(host, THINKS, Sandbox(Level.NONE))

    assert goodbye.why == "no answer within 60 s"
    assert Change.most < 2 * MOST_WAITING


def test_a_host_that_asks_and_asks_while_the_program_thinks_is_given_up() -> None:
    host = Host(hello(), at_once=repeat(turn(), 1000), then=hang_up)

    with pytest.raises(Lost, match="the host says too much"):
        relayed(host, THINKS, Sandbox(Level.NONE))
