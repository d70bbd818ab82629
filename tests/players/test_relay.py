"""Test the relay between a host and a program: its questions, its changes and its end."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players import session
from fairplay.players.process import ProgramConnection
from fairplay.players.relay import PlayerFailed, Relay
from fairplay.players.session import HostMessage, HostSession
from fairplay.protocol import wire
from fairplay.protocol.player_side import PlayerSide, read_message
from fairplay.protocol.wire import Goodbye
from fairplay.sandbox.policy import SandboxPolicy
from fairplay.sandbox.process_tree import descendants
from fairplay.transport import event_loop
from fairplay.transport.connection import ConnectionLost
from tests.players.fake_server import FISH, TURN, ClientConnection, FakeServer
from tests.players.programs import PLAIN, every_level

ECHO = """
import json, sys
nonces = []
for text in sys.stdin:
    line = json.loads(text)
    if "nonce" in line:
        for nonce in [*nonces[:1] * REPEATS, line["nonce"]]:
            print(json.dumps({"nonce": nonce, "answer": None}), flush=True)
        nonces.append(line["nonce"])
"""
SLEEPS = "import time; time.sleep(3600)"
THINKS = """
import json, sys, time
print(json.dumps({"nonce": json.loads(sys.stdin.readline())["nonce"], "answer": None}), flush=True)
time.sleep(3600)
"""
CRASHES = "import sys; sys.stdin.readline(); sys.exit(3)"


def hello(number: int = 1) -> bytes:
    return wire.encode_hello(FISH, match_id=f"m{number}", nonce=f"h{number}", limit=60.0)


def turn(number: int = 1) -> bytes:
    return wire.encode_question(TURN, FISH, match_id=f"m{number}", turn=1, nonce=f"t{number}", limit=60.0)


def relayed(
    meet: Callable[[ClientConnection], Any],
    code: str,
    sandbox: SandboxPolicy = PLAIN,
    on_start: Callable[[], object] = lambda: None,
    **options: Any,
) -> tuple[Goodbye | None, list[wire.WireMessage], Any]:
    """Let a program play at a host: how it ended, what the program was told, and what the host says of it."""
    told: list[wire.WireMessage] = []

    async def main(address: str) -> Goodbye | None:
        async def start(_: wire.Hello) -> ProgramConnection:
            program = await ProgramConnection.start([sys.executable, "-I", "-S", "-c", code], sandbox=sandbox)
            on_start()
            return program

        async with HostSession(
            address, PlayerSide(name="ann", **options), on_status=lambda text: None, wait=5.0
        ) as session:
            return await Relay(session, start, name="ann", on_message=told.append).play()

    server = FakeServer(meet)
    with server:
        goodbye = event_loop.run(main(server.address))
    return goodbye, told, server.results[0]


@every_level
def test_messages_are_relayed_both_ways(sandbox: SandboxPolicy) -> None:
    def meet(guest: ClientConnection) -> Any:
        return guest.ask(hello()), guest.ask(turn())

    goodbye, told, answers = relayed(meet, ECHO.replace("REPEATS", "0"), sandbox)

    assert goodbye is None
    assert [type(message) for message in told] == [wire.Hello, wire.TakeTurn]
    assert answers == ({"name": "ann"}, None)


def test_replies_to_old_questions_are_counted_for_each_match() -> None:
    def meet(guest: ClientConnection) -> int:
        for number in range(3):
            guest.ask(hello(number))
            guest.ask(turn(number))
        return 3

    goodbye, _, matches = relayed(meet, ECHO.replace("REPEATS", "10"))

    assert goodbye is None
    assert matches == 3


def hang_up(guest: ClientConnection) -> None:
    guest.send(hello())
    guest.send(b"junk\n")


@every_level
@pytest.mark.parametrize(
    ("code", "meet", "error"),
    [(SLEEPS, hang_up, BadRequest), (CRASHES, lambda guest: guest.ask(hello()), PlayerFailed)],
    ids=["the host makes no sense", "the program crashes"],
)
def test_no_program_is_left_if_a_match_ends_badly(
    code: str, meet: Callable[[ClientConnection], Any], error: type[Exception], sandbox: SandboxPolicy
) -> None:
    before = descendants(os.getpid())

    with pytest.raises(error):
        relayed(meet, code, sandbox)

    assert descendants(os.getpid()) <= before


def changed(number: int) -> bytes:
    return wire.encode(wire.Changed(match="m1", view=number)) + b"\n"


def test_a_host_cannot_fill_our_memory_while_the_program_thinks() -> None:
    out = wire.encode_goodbye("m1", Failed(Fault.TIMED_OUT, "no answer within 60 s", 60.0))
    most = 0

    class Counting(HostSession):
        def _put(self, said: HostMessage) -> None:
            nonlocal most
            super()._put(said)
            most = max(most, len(self._pending))

    def meet(guest: ClientConnection) -> None:
        guest.ask(hello())
        guest.send(turn() + b"".join(map(changed, range(1000))) + out)
        assert guest.receive() is None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.players.test_relay.HostSession", Counting)
        goodbye, _, _ = relayed(meet, THINKS)

    assert goodbye is not None
    assert goodbye.why == "no answer within 60 s"
    assert most == session.MAX_PENDING_MESSAGES


async def waiting(*texts: bytes) -> list[bytes]:
    """What a player that has heard nothing yet has still to hear when a host has said all of this."""
    stay = HostSession("nowhere:1", PlayerSide(), on_status=lambda text: None, wait=0.0)
    stay._reading = asyncio.create_task(asyncio.sleep(0))  # it goes on
    for text in texts:
        stay._put(HostMessage(read_message(text.rstrip(b"\n")), text))
    return [said.text for said in stay._pending if isinstance(said, HostMessage)]


def test_the_maximum_of_pending_messages_is_allowed_and_of_more_changes_the_newest_are_kept() -> None:
    most = session.MAX_PENDING_MESSAGES
    turns = [turn(number) for number in range(most)]

    assert asyncio.run(waiting(*turns)) == turns
    heard = asyncio.run(waiting(turn(), *map(changed, range(100))))
    assert heard == [turn(), *map(changed, range(100 - most + 1, 100))]


def test_a_host_that_asks_and_asks_while_the_program_thinks_is_given_up() -> None:
    def meet(guest: ClientConnection) -> Any:
        guest.ask(hello())
        guest.send(b"".join(turn(number) for number in range(1000)))
        return guest.receive()

    with pytest.raises(ConnectionLost, match="the host sends too many messages"):
        relayed(meet, THINKS)


def test_a_host_that_only_tells_of_changes_does_not_keep_a_player_waiting_for_a_program_that_hangs() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.ask(hello())
        guest.send(wire.encode_question(TURN, FISH, match_id="m1", turn=1, nonce="t1", limit=0.1))
        with suppress(OSError):
            while True:
                guest.send(changed(1))
                threading.Event().wait(0.02)

    with pytest.raises(ConnectionLost, match="neither an answer of the player nor a message of the host"):
        relayed(meet, THINKS, idle_timeout_s=0.3)


def test_a_silent_host_is_reported_by_the_session_even_if_the_event_loop_is_late() -> None:
    def skip_time() -> None:  # past the timeout of the session, of 60 s for the answer and 60 s for the host
        loop, late_s = asyncio.get_running_loop(), 180.0
        clock = loop.time
        loop.call_soon(setattr, loop, "time", lambda: clock() + late_s)

    def meet(guest: ClientConnection) -> None:
        guest.send(hello())
        assert guest.receive() is None

    with pytest.raises(ConnectionLost, match="no message came for 120 s"):
        relayed(meet, SLEEPS, on_start=skip_time, idle_timeout_s=60.0)
