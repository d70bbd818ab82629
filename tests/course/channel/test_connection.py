"""Test calls over a connection of JSON values: which answers count, their time limits, and when it is closed."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed
from fairplay.course.channel.client import receive_call, send_reply
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.remote import NOT_VOID, TOO_EARLY, TOO_MANY, CourseClient
from fairplay.course.channel.values import MAX_BLANK_BYTES
from fairplay.course.dialects.dialect import Call
from fairplay.transport.connection import ConnectionLost, receive
from tests.course.channel.course_matches import run_loop_turns, run_test
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time

CALL = Call("hear", (True,))
SOON = 20.0


@asynccontextmanager
async def pair(buffer: int | None = None) -> AsyncIterator[tuple[CourseConnection, socket.socket]]:
    """A line, and its other end in the hands of a test."""
    ours, theirs = socket.socketpair()
    if buffer is not None:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    theirs.setblocking(False)
    _, line = await asyncio.get_running_loop().create_connection(CourseConnection, sock=ours)
    with theirs:
        try:
            yield line, theirs
        finally:
            await line.close(b"", 0)


Act = Callable[[CourseClient, socket.socket], Awaitable[Any]]


def with_client(act: Act) -> Any:
    async def do() -> Any:
        async with pair() as (line, theirs):
            return await act(CourseClient(line), theirs)

    return run_test(do())


async def heard(theirs: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(theirs, 65536)


async def replying(
    client: CourseClient, theirs: socket.socket, *pieces: bytes, limit: float = SOON
) -> Answered | Failed:
    """The answer to a call, when these pieces come as a reply."""
    asking = asyncio.create_task(client.call(CALL, limit))
    with suppress(ConnectionError):
        assert await heard(theirs) == b'["hear",[true]]\n'
    for piece in pieces:
        with suppress(ConnectionError):
            theirs.send(piece)
        await run_loop_turns()
    return await asking


def why(answer: Answer) -> tuple[Fault, str]:
    assert isinstance(answer, Failed), answer
    return answer.fault, answer.why


# What counts as the answer.


def test_a_newline_may_come_after_the_next_call() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        for _ in range(3):
            assert isinstance(await replying(client, theirs, b"\n" + b" " * 5000, b'"vo', b'id"'), Answered)

    with_client(act)


def test_a_value_sent_before_the_call_is_no_answer() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> Answered | Failed:
        theirs.send(b'"void"')  # and nobody has looked yet
        return await client.call(CALL, SOON)

    assert why(with_client(act)) == (Fault.MALFORMED, TOO_EARLY)


@pytest.mark.parametrize("more", [b'"void"', b"[", b"x", b'\n "void"'], ids=repr)
@pytest.mark.parametrize("at_once", [True, False])
def test_more_than_one_value_is_found_out_now_or_at_the_next_call(more: bytes, at_once: bool) -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        if at_once:
            assert why(await replying(client, theirs, b'"void"' + more)) == (Fault.MALFORMED, TOO_MANY)
        else:
            assert isinstance(await replying(client, theirs, b'"void"', more), Answered)
            assert why(await client.call(CALL, SOON)) == (Fault.MALFORMED, TOO_EARLY)

    with_client(act)


def test_a_client_that_failed_is_not_called_again() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        failed = await replying(client, theirs, b"void")
        assert why(failed)[0] is Fault.MALFORMED and client.failed is failed
        assert await client.call(CALL, SOON) is failed
        with pytest.raises(BlockingIOError):
            theirs.recv(1)

    with_client(act)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (b"void", (Fault.MALFORMED, "not a reply: not a JSON string, list or object")),
        (b"[1.5", (Fault.MALFORMED, "not a reply: a number that is not an integer")),
        (b'"Void"', (Fault.MALFORMED, NOT_VOID)),
        (b'["void"]', (Fault.MALFORMED, NOT_VOID)),
        (b'{"a":1,"a":1}', (Fault.MALFORMED, "not a reply: a key occurs twice")),
        (b'"' + b"x" * 9000, (Fault.FLOOD, "sent more than 8192 bytes in a value, or 65536 of white space")),
    ],
)
def test_a_wrong_answer_fails_at_once_and_is_kept_as_evidence(reply: bytes, expected: tuple[Fault, str]) -> None:
    answer = with_client(lambda client, theirs: replying(client, theirs, reply))

    assert why(answer) == expected
    assert answer.evidence.received.startswith(f"{reply[:100]!r}"[:90])
    assert answer.evidence.limit == 20.0


def test_white_space_without_end_is_too_much_and_is_not_even_read() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> Answered | Failed:
        asking = asyncio.create_task(client.call(CALL, SOON))
        sent = 0
        while not asking.done():
            with suppress(BlockingIOError):
                sent += theirs.send(b" " * 4096)
            await asyncio.sleep(0)
        for _ in range(1000):  # whatever the buffers of the kernel hold
            with suppress(BlockingIOError):
                sent += theirs.send(b" " * 4096)
            await asyncio.sleep(0)
        assert MAX_BLANK_BYTES < sent < 1000 * 4096
        return await asking

    assert why(with_client(act))[0] is Fault.FLOOD


def test_unrequested_values_are_not_read_without_end() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        sent = 0
        for _ in range(1000):
            with suppress(BlockingIOError):
                sent += theirs.send(b'"void" ' * 600)
            await asyncio.sleep(0)
        assert sent < 1000 * 4200
        assert why(await client.call(CALL, SOON)) == (Fault.MALFORMED, TOO_EARLY)

    with_client(act)


@pytest.mark.parametrize(
    ("before", "fault"), [(b"", Fault.GONE), (b" \n", Fault.GONE), (b'["vo', Fault.MALFORMED)], ids=repr
)
def test_the_end_of_the_line_is_noticed_at_once(before: bytes, fault: Fault) -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> Answered | Failed:
        asking = asyncio.create_task(client.call(CALL, SOON))
        await heard(theirs)
        theirs.send(before)
        await run_loop_turns()
        theirs.shutdown(socket.SHUT_WR)
        return await asking

    assert why(with_client(act))[0] is fault


def test_an_answer_counts_although_the_line_ends_behind_it() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        asking = asyncio.create_task(client.call(CALL, SOON))
        await heard(theirs)
        theirs.send(b'"void"')
        theirs.close()
        assert isinstance(await asking, Answered)
        assert why(await client.call(CALL, SOON)) == (Fault.GONE, "the connection was closed")

    with_client(act)


def test_too_much_unrequested_data_is_noticed_before_the_call() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> None:
        theirs.send(b" " * (MAX_BLANK_BYTES + 1))
        await run_loop_turns()
        assert why(await client.call(CALL, SOON))[0] is Fault.FLOOD
        with pytest.raises(BlockingIOError):
            theirs.recv(1)

    with_client(act)


# The line itself.


def on_line(act: Callable[[CourseConnection, socket.socket], Awaitable[Any]]) -> Any:
    async def do() -> Any:
        async with pair(4096) as (line, theirs):
            return await act(line, theirs)

    return run_test(do())


def test_a_line_is_read_again_when_what_was_too_much_has_been_taken() -> None:
    async def act(line: CourseConnection, theirs: socket.socket) -> list[bytes]:
        theirs.send(b"[1] [2] [3]")
        await run_loop_turns()
        theirs.send(b"[4]")
        async with asyncio.timeout(SOON):
            return [await receive(line) for _ in range(4)]

    assert on_line(act) == [b"[1]", b"[2]", b"[3]", b"[4]"]


def test_a_line_is_not_read_again_before_all_that_was_too_much_has_been_taken() -> None:
    async def act(line: CourseConnection, theirs: socket.socket) -> None:
        async def flood() -> None:
            """Send until nothing is read any more."""
            with pytest.raises(BlockingIOError):
                for _ in range(1000):
                    theirs.send(b"[1] " * 1000)
                    await run_loop_turns(1)

        await flood()
        for _ in range(3):
            await receive(line)
            await run_loop_turns()
            with pytest.raises(BlockingIOError):
                theirs.send(b"[1] ")

    on_line(act)


def test_a_client_with_a_closed_write_side_still_receives() -> None:
    async def act(line: CourseConnection, theirs: socket.socket) -> bytes:
        theirs.shutdown(socket.SHUT_WR)
        await run_loop_turns()
        line.send(b"[1]")
        return await heard(theirs)

    assert on_line(act) == b"[1]"


def test_all_calls_of_a_disconnected_server_are_read() -> None:
    async def act(line: CourseConnection, theirs: socket.socket) -> list[bytes | None]:
        theirs.send(b'["end",[true]]')
        await run_loop_turns()
        theirs.close()
        await run_loop_turns()
        send_reply(line, "void")
        await run_loop_turns()
        send_reply(line, "void")  # by now it is known that nobody hears it
        return [await receive_call(line, SOON), await receive_call(line, SOON)]

    assert on_line(act) == [b'["end",[true]]', None]


def test_a_server_that_does_not_listen_is_given_up() -> None:
    async def act(line: CourseConnection, theirs: socket.socket) -> None:
        send_reply(line, "x" * 1_000_000)
        send_reply(line, "void")

    with pytest.raises(ConnectionLost, match="the server does not read its answers"):
        on_line(act)


# How long it may take.


def in_no_time(
    act: Callable[[CourseClient, socket.socket, VirtualTimeLoop], Awaitable[Any]], buffer: int | None = None
) -> Any:
    async def do(loop: VirtualTimeLoop) -> Any:
        async with pair(buffer) as (line, theirs):
            return await act(CourseClient(line), theirs, loop)

    return run_in_virtual_time(do)


def test_every_call_has_its_own_limit_and_half_an_answer_does_not_stop_the_clock() -> None:
    async def act(client: CourseClient, theirs: socket.socket, loop: VirtualTimeLoop) -> Answered | Failed:
        for seconds in (1.9, 1.9, 4.9):
            loop.call_later(seconds, theirs.send, b'"void"')
            answer = await client.call(CALL, 2.0 if seconds < 2 else 5.0)
            assert isinstance(answer, Answered) and answer.took == pytest.approx(seconds, abs=0.01)
        for at in range(1, 100):
            loop.call_later(at / 10, theirs.send, b" " if at < 10 else b"[")
        return await client.call(CALL, 2.0)

    answer = in_no_time(act)
    assert why(answer) == (Fault.TIMED_OUT, "no answer within 2 s")
    assert answer.took == pytest.approx(2.0, abs=0.01) and answer.evidence.received.startswith("b'[[[")


def test_a_client_that_never_reads_times_out() -> None:
    async def act(client: CourseClient, theirs: socket.socket, loop: VirtualTimeLoop) -> Answered | Failed:
        return await client.call(Call("long", ("x" * 1_000_000,)), 2.0)

    assert why(in_no_time(act, 4096)) == (Fault.TIMED_OUT, "no answer within 2 s")


def test_a_slow_reader_is_waited_for() -> None:
    async def act(client: CourseClient, theirs: socket.socket) -> Answered | Failed:
        asking = asyncio.create_task(client.call(Call("long", ("x" * 3_000_000,)), SOON))
        left = len(b'["long",[""]]\n') + 3_000_000
        while left:
            left -= len(await heard(theirs))
        theirs.send(b'"void"')
        return await asking

    assert isinstance(with_client(act), Answered)
