"""Test that spectators that leave or send messages are disconnected, and that their number is limited."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.protocol import wire
from fairplay.server.lobby import Lobby
from fairplay.server.pending_closes import PendingCloses
from fairplay.server.server import GameServer
from fairplay.server.settings import ConnectionLimits, ServerSettings, make_offer
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.server.spectating.follower import IDLE_LINE
from fairplay.server.spectating.spectators import SPECTATOR_SPOKE, Spectators
from fairplay.transport.sockets import accept_tcp
from tests.players.test_listener import run

TIMEOUT_S = 60.0
MAX_HELD_BYTES = 2 * wire.MAX_LINE_BYTES
ONE_SPECTATOR = ConnectionLimits(spectators=1)
MESSAGES = {
    "a line": b"hello\n",
    "many lines": b"hello\n" * MAX_HELD_BYTES,
    "a line without an end": b"x" * 4 * MAX_HELD_BYTES,
}


@asynccontextmanager
async def server_for_one(directory: Path, limits: ConnectionLimits = ONE_SPECTATOR) -> AsyncIterator[list[str]]:
    """A server for a single spectator; its addresses, over TCP and over WebSocket."""
    settings = ServerSettings(
        offers=(make_offer("fish", {}),), directory=str(directory), connection_limits=limits, port=0, websocket=0
    )
    server = GameServer(settings)
    server.lobby = Lobby(settings.offers, server.open_room, server.attendance)
    async with SignIn(server, settings) as sign_in, asyncio.timeout(TIMEOUT_S):
        yield sign_in.addresses
        await server.stop("all is over", 0.0)


async def connect_spectator(
    endpoint: str, address: str = "127.0.0.1"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect a roaming spectator from this address."""
    host, _, port = endpoint.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(address, 0))
    hello = wire.decode_line((await reader.readline()).rstrip())
    assert isinstance(hello, wire.Hello)
    writer.write(wire.encode({"nonce": hello.nonce, "answer": {"purpose": "watch"}}) + b"\n")
    return reader, writer


def test_a_spectator_that_closes_its_end_at_once_is_disconnected(tmp_path: Path) -> None:
    async def visits() -> list[bytes]:
        heard = []
        async with server_for_one(tmp_path) as addresses:
            for _ in range(3):
                reader, writer = await connect_spectator(addresses[0])
                writer.write_eof()
                heard.append(await reader.read())
                writer.close()
        return heard

    assert run(visits()) == [IDLE_LINE + b"\n"] * 3  # and no connection stays open or counted


@pytest.mark.parametrize("said", MESSAGES.values(), ids=MESSAGES)
def test_a_spectator_that_sends_something_is_disconnected_and_its_place_is_free(said: bytes, tmp_path: Path) -> None:
    async def visits() -> list[bytes]:
        heard = []
        async with server_for_one(tmp_path) as addresses:
            for _ in range(3):
                reader, writer = await connect_spectator(addresses[0])
                heard.append(await reader.readline())
                writer.write(said)
                with suppress(ConnectionError):  # its message may still be on its way
                    await reader.read()
                writer.close()
        return heard

    assert run(visits()) == [IDLE_LINE + b"\n"] * 3


def test_a_spectator_that_sends_something_is_told_why_it_is_disconnected(tmp_path: Path) -> None:
    async def visit() -> bytes:
        async with server_for_one(tmp_path) as addresses:
            reader, writer = await connect_spectator(addresses[0])
            assert await reader.readline() == IDLE_LINE + b"\n"
            writer.write(b"hello\n")
            heard = await reader.read()
            writer.close()
        return heard

    assert run(visit()) == wire.encode_goodbye("", SPECTATOR_SPOKE)


def test_a_ping_of_a_websocket_spectator_is_answered_and_a_message_ends_its_connection(tmp_path: Path) -> None:
    async def visits() -> list[str]:
        heard = []
        async with server_for_one(tmp_path) as addresses:
            for _ in range(3):
                async with connect(f"ws://{addresses[1]}") as websocket:
                    hello = msgspec.json.decode(await websocket.recv())
                    watch = wire.encode({"nonce": hello["nonce"], "answer": {"purpose": "watch"}})
                    await websocket.send(watch.decode())
                    heard.append(str(await websocket.recv()))
                    await (await websocket.ping())
                    await websocket.send("hello")
                    heard.append(str(await websocket.recv()))
                    await websocket.wait_closed()
        return heard

    assert run(visits()) == [IDLE_LINE.decode(), wire.encode_goodbye("", SPECTATOR_SPOKE).decode().strip()] * 3


def test_spectators_from_one_address_are_limited(tmp_path: Path) -> None:
    limits = ConnectionLimits(spectators_per_address=2)

    async def visits() -> list[bytes]:
        async with server_for_one(tmp_path, limits) as addresses:
            watching = [await connect_spectator(addresses[0]) for _ in range(2)]
            heard = [await reader.readline() for reader, _ in watching]
            for address in ("127.0.0.1", "127.0.0.2"):
                watching.append(await connect_spectator(addresses[0], address))
                heard.append(await watching[-1][0].readline())
            watching[0][1].write_eof()
            assert await watching[0][0].read() == b""  # it is disconnected
            watching.append(await connect_spectator(addresses[0]))
            heard.append(await watching[-1][0].readline())
            for _, writer in watching:
                writer.close()
        return heard

    refused = wire.encode_goodbye("", Failed(Fault.FLOOD, "too many spectators from your address: 2 are allowed"))
    idle = IDLE_LINE + b"\n"
    assert run(visits()) == [idle, idle, refused, idle, idle]


def test_a_spectator_that_left_while_it_connected_takes_no_place(tmp_path: Path) -> None:
    async def visit() -> int:
        pending_closes = PendingCloses()
        spectators = Spectators({}, ConnectionLimits(), pending_closes)
        ours, theirs = socket.socketpair()
        connection, lost = await accept_tcp(ours), asyncio.Event()
        theirs.close()
        connection.on_lost(lost.set)
        async with asyncio.timeout(TIMEOUT_S):
            await lost.wait()
            spectators.add(connection, "", "127.0.0.1")
            await pending_closes.wait()
        return len(spectators.connections)

    assert asyncio.run(visit()) == 0
