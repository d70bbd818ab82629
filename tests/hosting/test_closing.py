"""Test that nothing stays open when a match is cancelled while players are seated or dismissed."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.uri import parse_uri

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.hosting.table import Table
from fairplay.players.listener import Listener
from fairplay.players.location import Command, ListenAddress, LocalAddress, Location
from fairplay.players.process import ProgramConnection
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import close_all_async
from fairplay.referee.referee import deal_match
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.transport.connection import Connection
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.websocket import WebSocketConnection, accept_websocket
from tests.hosting.soak import play_at_table
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.programs import current_holdings, first_card, write_program
from tests.toy import Toy

GAME = Toy(cards=3, hand=1)
LIMITS = Limits(move=20.0, start_up=20.0, arrival=20.0, goodbye=0.02)
PLAIN = SandboxPolicy(SandboxLevel.NONE)
LINGERS = ("sleep", "600")
OUT = Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer")
MOST = 1000  # awaits; never reached here

every_time = pytest.mark.parametrize("when", CancelTime)


def open_now() -> tuple[int, int]:
    """Files and sockets, and children."""
    found = current_holdings()
    return found.files, found.children


@asynccontextmanager
async def pair(size: int | None = None) -> AsyncIterator[tuple[socket.socket, socket.socket]]:
    """The two ends of a connection."""
    ours, theirs = socket.socketpair()
    with theirs:
        if size is not None:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        theirs.setblocking(False)
        yield ours, theirs


async def never_read(sock: socket.socket) -> Connection:
    """A line whose other end does not read, so that nothing more can be sent."""
    line = await accept_tcp(sock)
    line.send(b"x" * 1_000_000)
    return line


async def surfed(sock: socket.socket, theirs: socket.socket) -> WebSocketConnection:
    """A line over WebSocket that was greeted."""
    protocol = ClientProtocol(parse_uri("ws://127.0.0.1:1/"))
    protocol.send_request(protocol.connect())
    theirs.sendall(b"".join(protocol.data_to_send()))
    line = await accept_websocket(sock)
    line.send(b"hello\n")
    theirs.setblocking(True)
    await asyncio.to_thread(theirs.recv, 4096)
    return line


async def closing(at: int, when: CancelTime, ejected: Ejected | None) -> bool:
    """Is there an n-th await while a program, two connections and a WebSocket are closed? Cancel there, and look."""
    before = open_now()
    async with pair() as (plain, _), pair(4096) as (full, _), pair() as (web, surfer):
        lines: list[Connection] = [await accept_tcp(plain), await never_read(full), await surfed(web, surfer)]
        program = await ProgramConnection.start(LINGERS, sandbox=PLAIN)
        remotes = [RemoteChannel(line, GAME, limits=LIMITS) for line in (*lines, program)]
        work = remotes[at % 4].close(ejected) if ejected else close_all_async(remotes)
        cancelled = await cancel_at(at if ejected is None else 1 + at // 4, when, work)
        if ejected is None:
            assert [each.fileno() for each in (plain, full, web)] == [-1] * 3
        else:
            await close_all_async(remotes[: at % 4] + remotes[at % 4 + 1 :])
    assert open_now() == before, at
    return cancelled


@every_time
@pytest.mark.parametrize("ejected", [None, OUT], ids=["all of them", "one of them"])
def test_a_cancellation_at_any_await_of_closing_leaves_nothing_open(when: CancelTime, ejected: Ejected | None) -> None:
    async def each() -> int:
        at, after_the_last = 0, 0
        while after_the_last < 4:
            at += 1
            after_the_last = 0 if await closing(at, when, ejected) else after_the_last + 1
            assert at < MOST
        return at

    assert asyncio.run(each()) > 8


async def guest(listener: Listener) -> None:
    """A client that connects and answers null to everything, even to turns."""
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    try:
        with suppress(ConnectionError):
            while line := await reader.readline():
                question = msgspec.json.decode(line)
                writer.write(wire.encode({"nonce": question.get("nonce", ""), "answer": None}) + b"\n")
    finally:
        writer.transport.abort()


async def surfing_guest(listener: Listener) -> None:
    """The same over WebSocket."""
    protocol = ClientProtocol(parse_uri(f"ws://{listener.address}/"))
    protocol.send_request(protocol.connect())
    reader, writer = await asyncio.open_connection(listener.host, listener.port)
    try:
        with suppress(ConnectionError):
            while True:
                for data in protocol.data_to_send():
                    writer.write(data)
                data = await reader.read(65536)
                if not data:
                    break
                protocol.receive_data(data)
                for event in protocol.events_received():
                    if isinstance(event, Frame) and event.opcode.name == "TEXT":
                        nonce = msgspec.json.decode(event.data).get("nonce", "")
                        protocol.send_text(wire.encode({"nonce": nonce, "answer": None}))
    finally:
        writer.transport.abort()


def seated(bot: list[str]) -> dict[int, Location]:
    """A table of every kind: only the program and the player in this process know how to play."""
    return {
        0: Command(tuple(bot)),
        1: ListenAddress("tcp", "0"),
        2: LocalAddress(first_card),
        3: ListenAddress("ws", "0"),
        4: Command(("sh", "-c", "read line; echo junk; exec sleep 600")),
    }


async def played(at: int, when: CancelTime, bot: list[str]) -> bool:
    """Is there an n-th await in a whole match at such a table? Cancel there, and look."""
    before = open_now()
    with Table(seated(bot), limits=LIMITS, tell=lambda text: None) as table:
        match = deal_match(Toy(cards=5, hand=1), list("abcde"), bytes(32))
        coming = [
            asyncio.create_task(come(listener))
            for listener, come in zip(table.listeners.values(), (guest, surfing_guest), strict=True)
        ]
        cancelled = await cancel_at(at, when, play_at_table(table, match))
        for one in coming:
            one.cancel()
        await asyncio.wait(coming)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert open_now() == before, at
    return cancelled


@pytest.mark.parametrize("when", [CancelTime.WHEN_READY, CancelTime.REPEATEDLY])
def test_a_cancellation_at_any_await_of_a_match_leaves_nothing_open(when: CancelTime, tmp_path: Path) -> None:
    async def each() -> int:
        at = 1
        while await played(at, when, write_program(tmp_path)):
            at += 1
            assert at < MOST
        return at

    assert asyncio.run(each()) > 20


def test_a_peer_that_never_reads_is_really_closed() -> None:
    async def hang_up() -> int:
        async with pair(4096) as (ours, _):
            line = await never_read(ours)
            await line.close(b"goodbye\n", 0.01)
            return ours.fileno()

    assert asyncio.run(hang_up()) == -1
