"""Test that spectators that leave or send messages are disconnected, and that their number is limited."""

import asyncio
import socket
from contextlib import suppress

import msgspec
import pytest
from websockets.asyncio.client import connect

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.protocol import wire
from fairplay.server.pending_closes import PendingCloses
from fairplay.server.settings import ConnectionLimits
from fairplay.server.spectating.follower import IDLE_LINE
from fairplay.server.spectating.spectators import SPECTATOR_SPOKE, Spectators
from fairplay.transport.sockets import accept_tcp
from tests.players.scripted_connections import ScriptedConnection
from tests.server.sign_in.test_sign_in import with_settings
from tests.server.test_server import OpenServer

MAX_HELD_BYTES = 2 * wire.MAX_LINE_BYTES
IDLE, GOODBYE = IDLE_LINE + b"\n", wire.encode_goodbye("", SPECTATOR_SPOKE)
MESSAGES = {
    "a line": b"hello\n",
    "many lines": b"hello\n" * MAX_HELD_BYTES,
    "a line without an end": b"x" * 4 * MAX_HELD_BYTES,
}
for_one_spectator = with_settings(websocket=0, connection_limits=ConnectionLimits(spectators=1))


@for_one_spectator
async def test_a_spectator_that_closes_its_end_at_once_is_disconnected(server: OpenServer) -> None:
    for _ in range(3):
        caller = await server.watch()
        caller.writer.write_eof()
        assert await caller.reader.read() == IDLE  # and no connection stays open or counted
        caller.writer.close()


@for_one_spectator
@pytest.mark.parametrize("said", MESSAGES.values(), ids=MESSAGES)
async def test_a_spectator_that_sends_something_is_disconnected_and_its_place_is_free(
    said: bytes, server: OpenServer
) -> None:
    for _ in range(3):
        caller = await server.watch()
        assert await caller.reader.readline() == IDLE
        caller.say(said)
        if said == MESSAGES["a line"]:
            assert await caller.reader.read() == GOODBYE
        else:
            with suppress(ConnectionError):  # its message may still be on its way
                await caller.reader.read()
        caller.writer.close()


@for_one_spectator
async def test_a_ping_of_a_websocket_spectator_is_answered_and_a_message_ends_its_connection(
    server: OpenServer,
) -> None:
    for _ in range(3):
        async with connect(f"ws://{server.addresses[1]}") as websocket:
            hello = msgspec.json.decode(await websocket.recv())
            await websocket.send(wire.encode({"nonce": hello["nonce"], "answer": {"purpose": "watch"}}).decode())
            assert await websocket.recv() == IDLE_LINE.decode()
            await (await websocket.ping())
            await websocket.send("hello")
            assert await websocket.recv() == GOODBYE.decode().strip()
            await websocket.wait_closed()


@with_settings(connection_limits=ConnectionLimits(spectators_per_address=2))
async def test_spectators_from_one_address_are_limited(server: OpenServer) -> None:
    refused = wire.encode_goodbye("", Failed(Fault.FLOOD, "too many spectators from your address: 2 are allowed"))
    for address, line in (("127.0.0.1", IDLE), ("127.0.0.1", IDLE), ("127.0.0.1", refused), ("127.0.0.2", IDLE)):
        caller = await server.call({"purpose": "watch"}, address)
        assert await caller.reader.readline() == line
    first = server.callers[0]
    first.writer.write_eof()
    assert await first.reader.read() == b""  # it is disconnected
    assert await (await server.watch()).reader.readline() == IDLE


async def test_a_spectator_that_left_while_it_connected_takes_no_place() -> None:
    pending_closes = PendingCloses()
    spectators = Spectators({}, ConnectionLimits(), pending_closes)
    ours, theirs = socket.socketpair()
    connection, lost = await accept_tcp(ours), asyncio.Event()
    theirs.close()
    connection.on_lost(lost.set)
    await lost.wait()
    spectators.add(connection, "", "127.0.0.1")
    await pending_closes.wait()

    assert len(spectators.connections) == 0


class SlowConnection(ScriptedConnection):
    """A connection that takes a second to close; then it closes another one."""

    def __init__(self, pending_closes: PendingCloses, follower: ScriptedConnection | None = None) -> None:
        super().__init__()
        self._pending_closes = pending_closes
        self._follower = follower

    async def close(self, last: bytes, within: float) -> None:
        await asyncio.sleep(1)
        await super().close(last, within)
        if self._follower is not None:
            self._pending_closes.close(self._follower, last)


@pytest.mark.virtual_time
async def test_connections_that_close_because_another_was_closed_are_waited_for_too() -> None:
    pending_closes = PendingCloses()
    follower = SlowConnection(pending_closes)
    pending_closes.close(SlowConnection(pending_closes, follower), b"bye")
    await pending_closes.wait()

    assert [last for last, _ in follower.hung_up] == [b"bye"]
