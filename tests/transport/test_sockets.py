"""Test connections over sockets, with any split of the bytes and any behaviour of the other end."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import ClosedMidReply, ConnectionClosed, TooMuchData, receive
from fairplay.transport.event_loop import new_event_loop
from fairplay.transport.framed import MAX_EXCERPT_BYTES, MAX_UNREAD_BYTES
from fairplay.transport.pending import PendingConnections
from fairplay.transport.sockets import READ_BUFFER_BYTES, TcpConnection, accept_tcp, enable_keepalive
from tests.players.cancelling import CancelTime, cancel_at

T = TypeVar("T")
LOOPS = {"ours": new_event_loop, "of a caller": asyncio.new_event_loop}
MUCH = b"x" * 10_000_000  # more bytes than any machine buffers for a client that never reads
Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Run:
    """Run a test on each kind of event loop; afterwards nothing of it is left."""

    def run(work: Coroutine[Any, Any, T]) -> T:
        async def watched() -> T:
            before = sockets()
            async with asyncio.timeout(30):
                found = await work
            await some_turns()
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert sockets() == before
            return found

        with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
            return runner.run(watched())

    return run


def sockets() -> int:
    """How many are open."""
    links = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return sum(str(link).startswith("socket:") for link in links)


async def some_turns() -> None:
    """Let the loop read what lies in its sockets: here that is there as soon as it was sent."""
    for _ in range(6):
        await asyncio.sleep(0)


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[TcpConnection, socket.socket]]:
    """A line, and its other end in the hands of a test."""
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


def said(theirs: socket.socket, most: int) -> int:
    """Send as many bytes as the other end takes, and return how many."""
    sent = 0
    with suppress(BlockingIOError):
        while sent < most:
            sent += theirs.send(b"y" * min(4096, most - sent))
    return sent


# What comes


def test_lines_are_the_same_wherever_the_bytes_are_split(run: Run) -> None:
    text = b'{"nonce":"1"}\n\n{"nonce":"2"}\r\n'

    async def split(at: int) -> list[bytes]:
        async with pair() as (line, theirs):
            found = asyncio.create_task(three(line))
            theirs.send(text[:at])
            await some_turns()
            theirs.send(text[at:])
            return await found

    async def three(line: TcpConnection) -> list[bytes]:
        return [await receive(line) for _ in range(3)]

    async def host() -> list[list[bytes]]:
        return [await split(at) for at in range(1, len(text))]

    assert run(host()) == [[b'{"nonce":"1"}', b"", b'{"nonce":"2"}\r']] * (len(text) - 1)


def test_a_line_can_come_byte_by_byte(run: Run) -> None:
    async def host() -> bytes:
        async with pair() as (line, theirs):
            found = asyncio.create_task(receive(line))
            for byte in b"a line of bytes":
                theirs.send(bytes([byte]))
                await some_turns()
                assert not found.done()
            theirs.send(b"\n")
            return await found

    assert run(host()) == b"a line of bytes"


def test_many_lines_can_arrive_at_once_before_they_are_asked_for(run: Run) -> None:
    async def host() -> list[bytes]:
        async with pair() as (line, theirs):
            theirs.send(b"".join(b"%d\n" % number for number in range(1000)))
            await some_turns()
            return [await receive(line) for _ in range(1000)]

    assert run(host()) == [b"%d" % number for number in range(1000)]


def test_the_longest_line_is_received_and_a_longer_one_is_too_much(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            theirs.send(b"x" * wire.MAX_LINE_BYTES + b"\n")
            assert await receive(line) == b"x" * wire.MAX_LINE_BYTES
            theirs.send(b"x" * (wire.MAX_LINE_BYTES + 1) + b"\n")
            with pytest.raises(TooMuchData) as much:
                await receive(line)
            assert much.value.text == b"x" * MAX_EXCERPT_BYTES

    run(host())


@pytest.mark.parametrize("early", [True, False])
def test_a_line_without_an_end_is_too_much(run: Run, early: bool) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            asked = None if early else asyncio.create_task(receive(line))
            await some_turns()
            said(theirs, wire.MAX_LINE_BYTES + 1)
            with pytest.raises(TooMuchData) as much:
                await (asked or asyncio.create_task(receive(line)))
            assert much.value.text == b"y" * MAX_EXCERPT_BYTES
            with pytest.raises(TooMuchData):
                await receive(line)

    run(host())


def test_the_buffer_for_lines_not_asked_for_is_bounded(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            sent, text = 0, b"".join(b"%6d\n" % number for number in range(100_000))
            for _ in range(100):  # more than enough for all that is ever taken
                with suppress(BlockingIOError):
                    sent += theirs.send(text[sent : sent + 4096])
                await some_turns()
            assert sent < len(text)
            assert len(line._held) <= line._max_held_bytes + READ_BUFFER_BYTES
            for number in range(100_000):
                if sent < len(text) and not number % 100:
                    with suppress(BlockingIOError):
                        sent += theirs.send(text[sent : sent + 4096])
                assert await receive(line) == b"%6d" % number

    run(host())


# What goes


def test_a_slow_client_is_offered_nothing(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            assert line.offer(b"first\n")
            line.send(MUCH)
            await some_turns()
            assert not line.offer(b"too late\n")
            assert await heard(theirs, 6 + len(MUCH)) == b"first\n" + MUCH
            await some_turns()
            assert line.offer(b"in time\n")
            assert await heard(theirs, 8) == b"in time\n"

    run(host())


def test_offers_alone_pile_up_to_a_bound(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            offers = 0
            while line.offer(b"z" * 999 + b"\n"):
                offers += 1
                await some_turns()
            assert line._transport.get_write_buffer_size() <= MAX_UNREAD_BYTES + 1000
            assert await heard(theirs, 1000 * offers) == (b"z" * 999 + b"\n") * offers
            await some_turns()
            assert line.offer(b"again\n")

    run(host())


def test_lines_sent_in_one_turn_of_the_loop_keep_their_order(run: Run) -> None:
    async def host() -> None:
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

    run(host())


def test_a_question_can_be_given_up_and_another_asked(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            line.send(MUCH)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await receive(line)
            theirs.send(b"late\n")
            assert await receive(line) == b"late"
            line.send(b"next\n")
            assert (await heard(theirs, len(MUCH) + 5)).endswith(b"xnext\n")

    run(host())


# The end


def test_a_half_closed_connection_is_read_to_the_end_and_can_be_written_to(run: Run) -> None:
    async def host() -> None:
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

    run(host())


def test_an_end_in_the_middle_of_a_line_is_closed_mid_reply(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            receiving = asyncio.create_task(receive(line))
            await some_turns()
            theirs.send(b'{"nonce"')
            await some_turns()
            theirs.close()
            with pytest.raises(ClosedMidReply):
                await receiving

    run(host())


def test_a_question_to_a_client_that_has_gone_is_answered_by_closed(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            line.send(MUCH)
            await some_turns()
            theirs.close()
            with pytest.raises(ConnectionClosed):
                await receive(line)
            assert not line.offer(b"x\n")
            line.send(b"x\n")
            with pytest.raises(ConnectionClosed):
                await receive(line)

    run(host())


def test_a_line_before_a_reset_is_still_received(run: Run) -> None:
    async def host() -> None:
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

    run(host())


@pytest.mark.parametrize("half", [True, False])
def test_a_lost_connection_is_reported_once_without_a_question(run: Run, half: bool) -> None:
    async def host() -> list[str]:
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
        return told

    assert run(host()) == ["in time", "late"]


def test_a_last_message_reaches_a_slow_client(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, theirs):
            backlog = 0
            while line.offer(b"z" * 999 + b"\n"):
                backlog += 1000
                await some_turns()
            leaving = asyncio.create_task(line.close(b"so long\n", 60.0))
            assert await heard(theirs, backlog + 100) == (b"z" * 999 + b"\n") * (backlog // 1000) + b"so long\n"
            await leaving

    run(host())


def test_a_last_message_takes_no_longer_than_its_limit(run: Run) -> None:
    async def host() -> None:
        async with pair() as (line, _):
            line.send(MUCH)
            receiving = asyncio.create_task(receive(line))
            await some_turns()
            await line.close(b"so long\n", 0.01)
            with pytest.raises(ConnectionClosed):
                await receiving

    run(host())


@pytest.mark.parametrize("when", CancelTime)
def test_a_conversation_is_cancelled_at_every_await_and_leaves_nothing_open(run: Run, when: CancelTime) -> None:
    async def talk(line: TcpConnection) -> None:
        try:
            line.send(b"question\n")
            await receive(line)
            line.send(MUCH)
            await receive(line)
        finally:
            await line.close(b"so long\n", 1.0)

    async def other_end(theirs: socket.socket) -> None:
        with suppress(OSError):
            await heard(theirs, 9)
            await asyncio.get_running_loop().sock_sendall(theirs, b"an")
            await asyncio.get_running_loop().sock_sendall(theirs, b"swer\n")
            await heard(theirs, len(MUCH))
            await asyncio.get_running_loop().sock_sendall(theirs, b"answer\n")
            await heard(theirs, 100)

    async def host(at: int) -> bool:
        async with pair() as (line, theirs):
            other = asyncio.create_task(other_end(theirs))
            was = await cancel_at(at, when, talk(line))
            await other
            with pytest.raises(ConnectionClosed):
                await receive(line)
            return was

    awaits = 1
    while run(host(awaits)):
        awaits += 1
    assert awaits > 3


# What the machine finds out


def test_keepalive_detects_a_dead_machine() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as connection,
    ):
        enable_keepalive(connection)
        options = socket.SO_KEEPALIVE, socket.TCP_KEEPIDLE, socket.TCP_USER_TIMEOUT
        levels = socket.SOL_SOCKET, socket.IPPROTO_TCP, socket.IPPROTO_TCP
        found = [connection.getsockopt(*option) for option in zip(levels, options, strict=True)]

    assert found == [1, 30, 60_000]


def test_accepted_connections_have_keepalive() -> None:
    found = []

    async def greet(connection: socket.socket, place: str) -> None:
        found.append(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
        connection.close()

    async def host() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            async with PendingConnections(listener, greet):
                with socket.create_connection(listener.getsockname()):
                    while not found:
                        await asyncio.sleep(0)

    asyncio.run(host())

    assert found == [1]
