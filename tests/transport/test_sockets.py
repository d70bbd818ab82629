"""Test connections over sockets, with any split of the bytes and any behaviour of the other end."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import ClosedMidReply, ConnectionClosed, TooMuchData, receive
from fairplay.transport.event_loop import new_event_loop
from fairplay.transport.framed import MAX_EXCERPT_BYTES, MAX_UNREAD_BYTES
from fairplay.transport.pending import PendingConnections
from fairplay.transport.sockets import READ_BUFFER_BYTES, TcpConnection, accept_tcp, enable_keepalive
from tests.nonempty import nonempty
from tests.players.cancelling import CancelTime, cancel_at
from tests.running.coroutines import some_turns

MUCH = b"x" * 10_000_000  # more bytes than any machine buffers for a client that never reads
LINE = b"z" * 999 + b"\n"


@pytest.fixture(params=[new_event_loop, asyncio.new_event_loop], ids=["ours", "of a caller"], autouse=True)
def loop(request: pytest.FixtureRequest) -> asyncio.AbstractEventLoop:
    new_loop: asyncio.AbstractEventLoop = request.param()
    return new_loop


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[TcpConnection, socket.socket]]:
    """A connection, and its other end in the hands of a test."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with theirs:
        line = await accept_tcp(ours)
        try:
            yield line, theirs
        finally:
            await line.close(b"", 0)


async def heard(theirs: socket.socket, size: int) -> bytes:
    """So many bytes from our end, or all there are until we hang up."""
    found = b""
    while len(found) < size and (new := await asyncio.get_running_loop().sock_recv(theirs, 65536)):
        found += new
    return found


def say(theirs: socket.socket, text: bytes) -> int:
    """Send as many of these bytes as the other end takes now, and return how many."""
    sent = 0
    with suppress(BlockingIOError):
        while sent < len(text):
            sent += theirs.send(text[sent : sent + 4096])
    return sent


async def offer_until_full(line: TcpConnection) -> bytes:
    """Offer lines until the client counts as slow, and return what was taken."""
    taken = b""
    while line.offer(LINE):
        taken += LINE
        await some_turns()
    return taken


# Incoming bytes.


async def test_lines_are_the_same_wherever_the_bytes_are_split() -> None:
    text = b'{"nonce":"1"}\n\n{"nonce":"2"}\r\n'
    for at in nonempty(range(1, len(text))):
        async with pair() as (line, theirs):
            theirs.send(text[:at])
            receiving = asyncio.create_task(receive(line))
            await some_turns()
            theirs.send(text[at:])
            found = [await receiving, await receive(line), await receive(line)]
            assert found == [b'{"nonce":"1"}', b"", b'{"nonce":"2"}\r'], at


async def test_the_longest_line_is_received_and_a_longer_one_is_too_much() -> None:
    async with pair() as (line, theirs):
        theirs.send(b"x" * wire.MAX_LINE_BYTES + b"\n")
        assert await receive(line) == b"x" * wire.MAX_LINE_BYTES
        theirs.send(b"x" * (wire.MAX_LINE_BYTES + 1) + b"\n")
        with pytest.raises(TooMuchData) as much:
            await receive(line)
        assert much.value.text == b"x" * MAX_EXCERPT_BYTES


@pytest.mark.parametrize("early", [True, False])
async def test_a_line_without_an_end_is_too_much(early: bool) -> None:
    async with pair() as (line, theirs):
        asked = None if early else asyncio.create_task(receive(line))
        await some_turns()
        say(theirs, b"y" * (wire.MAX_LINE_BYTES + 1))
        with pytest.raises(TooMuchData) as much:
            await (asked or asyncio.create_task(receive(line)))
        assert much.value.text == b"y" * MAX_EXCERPT_BYTES
        with pytest.raises(TooMuchData):
            await receive(line)


async def test_lines_that_arrive_before_they_are_asked_for_are_kept_up_to_a_bound() -> None:
    async with pair() as (line, theirs):
        sent, text = 0, b"".join(b"%6d\n" % number for number in range(100_000))
        for _ in range(100):  # more than enough for all that is ever taken
            sent += say(theirs, text[sent : sent + 4096])
            await some_turns()
        assert sent < len(text)
        assert len(line._held) <= line._max_held_bytes + READ_BUFFER_BYTES
        for number in range(100_000):
            if not number % 100:
                sent += say(theirs, text[sent : sent + 4096])
            assert await receive(line) == b"%6d" % number


# Outgoing bytes.


async def test_offers_alone_pile_up_to_a_bound() -> None:
    async with pair() as (line, theirs):
        taken = await offer_until_full(line)
        assert line._transport.get_write_buffer_size() <= MAX_UNREAD_BYTES + len(LINE)
        assert await heard(theirs, len(taken)) == taken
        await some_turns()
        assert line.offer(b"again\n")


async def test_lines_sent_in_one_turn_of_the_loop_keep_their_order() -> None:
    async with pair() as (first, ear), pair() as (second, other_ear):
        first.send(b"1\n")
        second.send(b"1\n")
        second.send(b"2\n")
        assert second.offer(b"3\n")
        second.send(b"4\n")
        first.send(b"2\n")
        await second.close(b"5\n", 1.0)
        assert await heard(ear, 4) == b"1\n2\n"
        assert await heard(other_ear, 100) == b"1\n2\n3\n4\n5\n"


async def test_a_question_can_be_given_up_and_another_asked() -> None:
    async with pair() as (line, theirs):
        line.send(MUCH)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await receive(line)
        theirs.send(b"late\n")
        assert await receive(line) == b"late"
        line.send(b"next\n")
        assert (await heard(theirs, len(MUCH) + 5)).endswith(b"xnext\n")


# The end.


async def test_a_half_closed_connection_is_read_to_the_end_and_can_be_written_to() -> None:
    async with pair() as (line, theirs):
        theirs.send(b"1\n2\n")
        theirs.shutdown(socket.SHUT_WR)
        assert [await receive(line), await receive(line)] == [b"1", b"2"]
        for _ in range(2):
            with pytest.raises(ConnectionClosed) as closed:
                await receive(line)
            assert closed.value.fault is Fault.GONE
        line.send(b"still there?\n")
        assert await heard(theirs, 13) == b"still there?\n"


async def test_an_end_in_the_middle_of_a_line_is_closed_mid_reply() -> None:
    async with pair() as (line, theirs):
        receiving = asyncio.create_task(receive(line))
        await some_turns()
        theirs.send(b'{"nonce"')
        await some_turns()
        theirs.close()
        with pytest.raises(ClosedMidReply):
            await receiving


async def test_a_line_before_a_reset_is_still_received() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        line = await accept_tcp(listener.accept()[0])
        theirs.send(b"whole\n")
        await asyncio.sleep(0.01)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        theirs.close()
        await asyncio.sleep(0.01)
        assert await receive(line) == b"whole"
        with pytest.raises(ConnectionClosed):
            await receive(line)
        await line.close(b"", 0)


@pytest.mark.parametrize("half", [True, False])
async def test_a_lost_connection_is_reported_once_without_a_question(half: bool) -> None:
    told: list[str] = []
    async with pair() as (line, theirs):
        line.on_lost(lambda: told.append("in time"))
        await some_turns()
        assert told == []
        if half:
            theirs.shutdown(socket.SHUT_WR)
        else:
            theirs.close()
        await some_turns()
        line.on_lost(lambda: told.append("late"))
    assert told == ["in time", "late"]


async def test_a_last_message_reaches_a_slow_client() -> None:
    async with pair() as (line, theirs):
        taken = await offer_until_full(line)
        leaving = asyncio.create_task(line.close(b"so long\n", 60.0))
        assert await heard(theirs, len(taken) + 100) == taken + b"so long\n"
        await leaving


async def test_a_last_message_takes_no_longer_than_its_limit() -> None:
    async with pair() as (line, _):
        line.send(MUCH)
        receiving = asyncio.create_task(receive(line))
        await some_turns()
        await line.close(b"so long\n", 0.01)
        with pytest.raises(ConnectionClosed):
            await receiving


@pytest.mark.parametrize("when", CancelTime)
async def test_a_conversation_is_cancelled_at_every_await_and_leaves_nothing_open(when: CancelTime) -> None:
    async def talk(line: TcpConnection) -> None:
        try:
            line.send(b"question\n")
            await receive(line)
            line.send(MUCH)
            await receive(line)
        finally:
            await line.close(b"so long\n", 1.0)

    async def other_end(theirs: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            await heard(theirs, 9)
            await loop.sock_sendall(theirs, b"an")
            await loop.sock_sendall(theirs, b"swer\n")
            await heard(theirs, len(MUCH))
            await loop.sock_sendall(theirs, b"answer\n")
            await heard(theirs, 100)

    awaits, was_cancelled = 0, True
    while was_cancelled:
        awaits += 1
        async with pair() as (line, theirs):
            other = asyncio.create_task(other_end(theirs))
            was_cancelled = await cancel_at(awaits, when, talk(line))
            await other
            with pytest.raises(ConnectionClosed):
                await receive(line)
    assert awaits > 3


# What the machine finds out.


async def test_keepalive_detects_a_dead_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sent:
        enable_keepalive(sent)
        assert sent.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sent.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
        assert sent.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000


async def test_accepted_connections_have_keepalive() -> None:
    found = []

    async def greet(connection: socket.socket, place: str) -> None:
        found.append(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        async with PendingConnections(listener, greet):
            with socket.create_connection(listener.getsockname()):
                while not found:
                    await asyncio.sleep(0)
    assert found == [1]
