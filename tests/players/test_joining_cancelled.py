"""Test that nothing is left when a player is cancelled while it connects to a host or plays there."""

import asyncio
import gc
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import pytest

from fairplay.players.listener import listening_socket
from fairplay.players.process import ProgramConnection
from fairplay.players.relay import Relay
from fairplay.players.session import HostSession
from fairplay.protocol import player_side, wire
from fairplay.protocol.player_side import PlayerSide
from fairplay.protocol.wire import Hello
from fairplay.server.sign_in.tls import tls_context
from fairplay.transport import connector
from fairplay.transport.connection import ConnectionClosed, receive
from fairplay.transport.connector import connect, connect_once
from fairplay.transport.pending import PendingConnections
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.websocket import accept_websocket
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.fake_server import END, FISH, RECEIPT, TURN
from tests.players.programs import PLAIN, current_holdings
from tests.server.sign_in import test_sign_in

certificate = test_sign_in.certificate
MOST = 2000  # awaits, which nothing here comes near
AMPLE = 60.0  # seconds
BOT = r"""
while read -r line; do
    nonce=${line#*'"nonce":"'}
    case $line in '{"type":"take_turn"'*) answer='{"type":"place","at":[0,0]}';; *) answer=null;; esac
    echo '{"nonce":"'"${nonce%%'"'*}"'","answer":'"$answer}"
done
"""


async def at_every_await(round_at: Callable[[int], Awaitable[bool]], *, step: int = 1) -> int:
    """Do it again and again, cancelled at the first await, the second and so on; how many there are."""
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    at, goes_on = 0, True
    await asyncio.to_thread(int)  # one thread stays, for names to be looked up
    while goes_on:
        at += step
        assert at < MOST
        before = current_holdings()
        goes_on = await round_at(at)
        await some_turns()
        assert asyncio.all_tasks() == {asyncio.current_task()}, at
        now = current_holdings()
        assert (now.files, now.children) == (before.files, before.children), at
    gc.collect()
    assert complaints == []
    return at


async def some_turns() -> None:
    """Let what was cut be really closed."""
    for _ in range(3):
        await asyncio.sleep(0)


# To connect


@asynccontextmanager
async def host(scheme: str, files: tuple[str, str]) -> AsyncIterator[str]:
    """The endpoint of a host that accepts all connections and sends nothing."""
    tls = tls_context(*files) if scheme in ("tls", "wss") else None
    over = accept_websocket if scheme in ("ws", "wss") else accept_tcp

    async def greet(connection: socket.socket, place: str) -> None:
        line = await over(connection, tls)
        try:
            with suppress(ConnectionClosed):
                await receive(line)
        finally:
            await line.close(b"", 0.0)

    with listening_socket("127.0.0.1", 0) as listener:
        async with PendingConnections(listener, greet):
            yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("when", CancelTime)
@pytest.mark.parametrize("scheme", ["tcp", "tls", "ws", "wss"])
def test_a_cancel_at_any_await_of_connecting_leaves_nothing(
    scheme: str, when: CancelTime, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[socket.socket] = []

    async def noted(*place: Any) -> socket.socket:
        connected.append(await connect_once(*place))
        return connected[-1]

    monkeypatch.setattr(connector, "connect_once", noted)

    async def visit(address: str, ca: str | None) -> None:
        line = await connect(address, wait=AMPLE, ca=ca)
        try:
            line.send(b"hello\n")
        finally:
            await line.close(b"so long\n", AMPLE)

    async def each(at: int) -> bool:
        async with host(scheme, certificate) as address:
            ca = certificate[0] if scheme in ("tls", "wss") else None
            was_cancelled = await cancel_at(at, when, visit(address, ca))
            await some_turns()
            assert [each.fileno() for each in connected] == [-1] * len(connected), at  # the host has not hung up
            return was_cancelled

    assert asyncio.run(at_every_await(each)) > 2


# To play


def visit_of(number: int) -> list[bytes]:
    """What a server says over a connection: over the first one, only the beginning of a match."""
    nonces = (f"{number}-{question}" for question in count())

    def asked(message: Any, match: str) -> bytes:
        return wire.encode_question(message, FISH, match_id=match, turn=1, nonce=next(nonces), limit=AMPLE)

    def begun(match: str) -> list[bytes]:
        return [wire.encode_hello(FISH, match_id=match, nonce=next(nonces), limit=AMPLE), asked(TURN, match)]

    hello = wire.Hello(match="", turn=0, nonce=next(nonces), limit=AMPLE, protocol=wire.PROTOCOL_VERSION)
    said = [
        wire.encode(hello) + b"\n",
        wire.encode(wire.Welcome(name="ann", reconnect_window=AMPLE, reconnect_token="pass")) + b"\n",
    ]
    if number == 1:
        return said + begun("m1")
    said += [*begun("m1"), asked(END, "m1")]
    said.append(wire.encode_closing(RECEIPT, match_id="m1", turn=1, nonce=next(nonces), limit=AMPLE))
    return [*said, wire.encode_suspended("it is late", 0.0)]


@asynccontextmanager
async def server() -> AsyncIterator[str]:
    """A server that cuts the first connection in the middle of a match."""
    numbers = count(1)

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            for line in visit_of(next(numbers)):
                writer.write(line)
                is_question = b'"nonce"' in line and b'"closing"' not in line
                if is_question and not await reader.readline():
                    break
        writer.transport.abort()

    listener = await asyncio.start_server(meet, "127.0.0.1", 0)
    others = asyncio.all_tasks()
    try:
        yield f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()
        await asyncio.sleep(0)
        if meetings := asyncio.all_tasks() - others:
            await asyncio.wait(meetings)


@pytest.mark.parametrize("when", [CancelTime.WHEN_READY, CancelTime.REPEATEDLY])
def test_a_cancel_at_any_await_of_playing_leaves_nothing(when: CancelTime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_side, "FIRST_RECONNECT_INTERVAL_S", 0.001)
    played: list[int] = []

    async def start(hello: Hello) -> ProgramConnection:
        return await ProgramConnection.start(["sh", "-c", BOT], sandbox=PLAIN)

    async def play(address: str) -> None:
        side = PlayerSide(name="ann")
        async with HostSession(address, side, on_status=lambda text: None, wait=AMPLE) as session:
            await Relay(session, start).play()
        played.append(side.played)

    async def each(at: int) -> bool:
        async with server() as address:
            return await cancel_at(at, when, play(address))

    step = 3 if when is CancelTime.REPEATEDLY else 1  # at the awaits between them it is cancelled again
    assert asyncio.run(at_every_await(each, step=step)) > 20
    assert played == [1]  # when there was no await left
