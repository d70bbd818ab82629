"""Test connections that are lost and restored at every moment: nothing is lost or doubled, and no time is gained."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from random import Random

import msgspec
import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed, Tell
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.transport.connection import ConnectionClosed, Received, TooMuchData, receive
from fairplay.transport.reconnecting import ReconnectingConnection
from fairplay.transport.sockets import TcpConnection, accept_tcp
from tests.nonempty import nonempty
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.scripted_connections import VirtualTimeLoop
from tests.running.coroutines import some_turns
from tests.toy import Toy

WINDOW = 30.0
GREETING = b'{"type":"welcome"}\n'
LOOKS = 40  # turns of the loop: more than anything here takes


class Visit:
    """A connection that survives others, what is reported of it, and the other ends, in the hands of a test."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.line = ReconnectingConnection(
            WINDOW, on_lost=lambda: self.told.append("lost"), on_gone=lambda: self.told.append("gone")
        )
        self.ours: list[TcpConnection] = []
        self.theirs: list[socket.socket] = []

    async def connected(self) -> tuple[TcpConnection, socket.socket]:
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        self.theirs.append(theirs)
        self.ours.append(await accept_tcp(ours))
        return self.ours[-1], theirs

    async def come(self) -> socket.socket:
        """Come, or come back, over a new connection."""
        ours, theirs = await self.connected()
        assert await self.line.attach(ours, GREETING)
        assert await hear(theirs) == GREETING
        return theirs

    def ask(self, question: bytes) -> "asyncio.Task[bytes]":
        return asyncio.create_task(next_reply(self.line, question))


@asynccontextmanager
async def visiting() -> AsyncIterator[Visit]:
    visit = Visit()
    try:
        yield visit
    finally:
        await visit.line.close(b"", 0)
        for line in visit.ours:
            await line.close(b"", 0)
        for each in visit.theirs:
            each.close()


async def hear(theirs: socket.socket) -> bytes:
    """The next line; empty: they hung up."""
    loop, found = asyncio.get_running_loop(), b""
    with suppress(ConnectionResetError):
        while not found.endswith(b"\n"):
            new = await loop.sock_recv(theirs, 1)
            if not new:
                return b""
            found += new
        return found
    return b""


def lying(theirs: socket.socket) -> bytes | None:
    """What lies in a socket; None: it was closed."""
    try:
        return theirs.recv(65536, socket.MSG_PEEK) or None
    except BlockingIOError:
        return b""
    except ConnectionResetError:
        return None


def cut(theirs: socket.socket) -> None:
    """Hang up in the rude way; what was said before may be lost."""
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    theirs.close()


async def next_reply(line: ReconnectingConnection, question: bytes) -> bytes:
    came: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
    line.ask(question, lambda heard: None if came.done() else came.set_result(heard))
    try:
        heard = await came
    finally:
        line.on_receive(None)
    if not isinstance(heard, bytes):
        raise heard
    return heard


# Coming back.


@pytest.mark.parametrize("leave", [socket.socket.close, cut, lambda theirs: theirs.shutdown(socket.SHUT_WR)])
async def test_a_client_that_reconnects_is_sent_the_open_question_again(leave: Callable[[socket.socket], None]) -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        asking = visit.ask(b"1?\n")
        assert await hear(theirs) == b"1?\n"
        leave(theirs)
        await some_turns()
        assert (visit.line.is_connected, visit.told) == (False, ["lost"])
        back = await visit.come()
        assert visit.line.is_connected
        assert await hear(back) == b"1?\n"
        back.send(b"1!\n")
        assert await asking == b"1!"
        assert lying(back) == b""
        assert visit.told == ["lost"]


async def test_a_question_waits_for_a_disconnected_client_and_is_not_sent_again_once_answered() -> None:
    async with visiting() as visit:
        (await visit.come()).close()
        await some_turns()
        asking = visit.ask(b"1?\n")
        await some_turns()
        back = await visit.come()
        assert await hear(back) == b"1?\n"
        back.send(b"1!\n")
        assert await asking == b"1!"
        again = await visit.come()
        await some_turns()
        assert lying(again) == b""


async def test_a_new_connection_replaces_the_old_one_which_is_closed_first() -> None:
    async with visiting() as visit:
        half_open = await visit.come()  # the other end has not said that it is gone
        asking = visit.ask(b"1?\n")
        assert await hear(half_open) == b"1?\n"
        ours, back = await visit.connected()
        coming = asyncio.create_task(visit.line.attach(ours, GREETING))
        heard = b""
        while not lying(back):
            heard += half_open.recv(65536) if lying(half_open) else b""
            old_is_closed = lying(half_open) is None
            await asyncio.sleep(0)
        assert old_is_closed
        assert heard == wire.encode_suspended("you reconnected on another connection", 0.0)
        assert await coming
        assert await hear(back) == GREETING
        assert await hear(back) == b"1?\n"
        back.send(b"1!\n")
        assert await asking == b"1!"
        assert visit.told == []


@pytest.mark.parametrize("leave", [socket.socket.close, lambda theirs: None], ids=["closed", "half-open"])
async def test_a_reply_may_break_off_at_every_byte(leave: Callable[[socket.socket], None]) -> None:
    reply = b'{"nonce":"1-a","answer":null}\n'
    for at in range(len(reply) + 1):
        async with visiting() as visit:
            theirs = await visit.come()
            asking = visit.ask(b"1?\n")
            theirs.send(reply[:at])
            await some_turns()
            leave(theirs)
            back = await visit.come()
            if at < len(reply):
                assert await hear(back) == b"1?\n"
                back.send(reply)
            assert await asking == reply[:-1]
            await some_turns()
            assert lying(back) == b""


@pytest.mark.parametrize(
    ("early", "expected"), [(True, {"taken"}), (False, {"taken", "again"})], ids=["before it comes back", "meanwhile"]
)
async def test_an_answer_on_the_old_connection_is_used_or_asked_for_again_but_never_both(
    early: bool, expected: set[str]
) -> None:
    found = set()
    for at in range(LOOKS):
        async with visiting() as visit:
            theirs = await visit.come()
            asking = visit.ask(b"1?\n")
            assert await hear(theirs) == b"1?\n"
            ours, back = await visit.connected()
            attach = visit.line.attach(ours, GREETING)
            coming = None if early else asyncio.create_task(attach)
            if early:
                theirs.send(b"1!\n")
            for _ in range(at):
                await asyncio.sleep(0)
            if not early:
                with suppress(OSError):
                    theirs.send(b"1!\n")
            assert await (coming or asyncio.create_task(attach))
            assert await hear(back) == GREETING
            await some_turns()
            asked_again = lying(back) == b"1?\n"
            assert asked_again is not asking.done()
            if asked_again:
                back.send(b"1!\n")
            assert await asking == b"1!"
            asking = visit.ask(b"2?\n")
            await some_turns()
            assert not asking.done()
            back.send(b"2!\n")
            assert await asking == b"2!"
            found.add("again" if asked_again else "taken")
    assert found == expected


async def test_a_thousand_races_lose_nothing_and_double_nothing() -> None:
    random, heard = Random(7), list[bytes]()
    async with visiting() as visit:

        async def ask() -> None:
            for number in count():
                heard.append(await next_reply(visit.line, b"%d?\n" % number))

        async def come(answers: int, stays: bool) -> None:
            """Come, answer so many questions, and then fall silent or leave."""
            ours, theirs = await visit.connected()
            with theirs, suppress(ConnectionClosed, BrokenPipeError):  # a newer connection came
                if not await visit.line.attach(ours, GREETING):
                    return
                assert await hear(theirs) in (GREETING, b"")
                while answers and (question := await hear(theirs)):
                    theirs.send(question.replace(b"?", b"!"))
                    answers -= 1
                while stays and await hear(theirs):
                    pass

        asking = asyncio.create_task(ask())
        coming: list[asyncio.Task[None]] = []
        for _ in range(1000):
            coming.append(asyncio.create_task(come(random.randrange(5), random.random() < 0.5)))
            for _ in range(random.randrange(30)):
                await asyncio.sleep(0)
        await asyncio.gather(*coming, come(100, False))
        asking.cancel()
        await asyncio.wait({asking})
        told = visit.told.copy()
    assert heard == [b"%d!" % number for number in range(len(heard))]
    assert len(heard) > 500
    assert told.count("lost") > 100
    assert "gone" not in told


# Not coming back.


@pytest.mark.parametrize("asked", [False, True])
async def test_a_client_that_misses_the_reconnect_window_is_gone_with_or_without_a_question(
    asked: bool, loop: VirtualTimeLoop
) -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        asking = visit.ask(b"1?\n") if asked else None
        since = loop.time()
        theirs.close()
        await some_turns()
        await asyncio.sleep(29.9 - (loop.time() - since))
        assert (visit.told, visit.line.is_gone) == (["lost"], False)
        await asyncio.sleep(0.2)
        assert (visit.told, visit.line.is_gone) == (["lost", "gone"], True)
        with pytest.raises(ConnectionClosed, match="did not reconnect within 30 s") as gone:
            await (asking or next_reply(visit.line, b"1?\n"))
        assert gone.value.fault is Fault.GONE
        ours, back = await visit.connected()
        assert not await visit.line.attach(ours, GREETING)
        assert lying(back) == b""


async def test_a_client_that_reconnects_has_the_whole_window_again(loop: VirtualTimeLoop) -> None:
    async with visiting() as visit:
        for _ in range(3):
            (await visit.come()).close()
            await asyncio.sleep(20)
        assert visit.told == ["lost"] * 3
        await visit.come()
        await asyncio.sleep(100)
        assert visit.told == ["lost"] * 3
        assert visit.line.is_connected


def ask_remote(visit: Visit) -> "asyncio.Task[Answer]":
    """A question from a real Remote, with 5 seconds for the answer."""
    return asyncio.create_task(RemoteChannel(visit.line, Toy(), limits=Limits(move=5.0)).ask(Tell("news")))


@pytest.mark.parametrize(("left", "back"), [(1.0, 4.9), (0.0, 4.0), (4.999, 4.999), (2.0, 60.0)])
async def test_a_disconnection_gains_no_time(left: float, back: float, loop: VirtualTimeLoop) -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        since, asking = loop.time(), ask_remote(visit)
        await asyncio.sleep(left)
        theirs.close()
        await asyncio.sleep(back - left)
        if back < 5:
            assert (await hear(await visit.come())).startswith(b'{"type":"tell"')
        answer, took = await asking, loop.time() - since
    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.TIMED_OUT, "no answer within 5 s")
    assert took == pytest.approx(max(5.0, back))
    assert answer.took == pytest.approx(5.0)
    assert (answer.evidence.disconnected is not None) is (back > 5)


async def test_the_time_of_a_reconnected_client_counts_from_the_first_question(loop: VirtualTimeLoop) -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        asking = ask_remote(visit)
        await asyncio.sleep(1)
        theirs.close()
        await asyncio.sleep(2)
        back = await visit.come()
        question = msgspec.json.decode(await hear(back))
        await asyncio.sleep(1)
        back.send(wire.encode({"nonce": question["nonce"], "answer": None}) + b"\n")
        answer = await asking
    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(4.0)


async def test_malformed_data_is_not_a_lost_connection() -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        theirs.send(b"x" * (wire.MAX_LINE_BYTES + 1))
        with pytest.raises(TooMuchData):
            await next_reply(visit.line, b"1?\n")
        assert visit.told == []


# Hanging up.


async def test_a_client_that_was_sent_goodbye_cannot_reconnect() -> None:
    for at in nonempty(range(1, LOOKS)):
        async with visiting() as visit:
            theirs = await visit.come()
            ours, back = await visit.connected()
            leaving = asyncio.create_task(visit.line.close(b"goodbye\n", 1))
            for _ in range(at):
                await asyncio.sleep(0)
            assert not await visit.line.attach(ours, GREETING)
            await leaving
            assert visit.told == ["gone"]
            assert await hear(theirs) == b"goodbye\n"
            assert lying(back) == b""  # it is told by others


async def test_a_goodbye_during_a_reconnect_leaves_the_new_connection_to_the_caller() -> None:
    for at in nonempty(range(LOOKS)):
        async with visiting() as visit:
            await visit.come()
            ours, back = await visit.connected()
            coming = asyncio.create_task(visit.line.attach(ours, GREETING))
            for _ in range(at):
                await asyncio.sleep(0)
            await visit.line.close(b"goodbye\n", 1)
            assert visit.line.is_gone
            if await coming:
                assert await hear(back) == GREETING
                assert await hear(back) == b"goodbye\n"
            else:
                assert not (lying(back) or b"").endswith(b"goodbye\n")
            await some_turns()
            assert visit.told == ["gone"]


async def test_a_client_that_has_stopped_sending_still_receives_goodbye() -> None:
    async with visiting() as visit:
        theirs = await visit.come()
        theirs.shutdown(socket.SHUT_WR)
        await some_turns()
        assert not visit.line.is_connected
        assert not visit.line.offer(b"news\n")
        await visit.line.close(b"goodbye\n", 1)
        assert await hear(theirs) == b"goodbye\n"
        assert await hear(theirs) == b""


async def test_lines_are_offered_only_to_a_connected_client() -> None:
    async with visiting() as visit:
        assert not visit.line.offer(b"news\n")
        theirs = await visit.come()
        assert visit.line.offer(b"news\n")
        assert await hear(theirs) == b"news\n"
        await visit.line.close(b"", 0)
        assert not visit.line.offer(b"news\n")
        with pytest.raises(ConnectionClosed):
            await next_reply(visit.line, b"1?\n")


# Cancellation.


async def cancel_reconnect(visit: Visit, at: int, when: CancelTime) -> bool:
    ours, _ = await visit.connected()
    was_cancelled = await cancel_at(at, when, visit.line.attach(ours, GREETING))
    assert visit.line.is_connected is (visit.told == [])
    back = await visit.come()
    back.send(b"1!\n")
    assert await next_reply(visit.line, b"1?\n") == b"1!"
    assert "gone" not in visit.told
    return was_cancelled


async def cancel_close(visit: Visit, at: int, when: CancelTime) -> bool:
    was_cancelled = await cancel_at(at, when, visit.line.close(b"goodbye\n", 1))
    assert visit.told == ["gone"]
    assert (await hear(visit.theirs[0]), await hear(visit.theirs[0]))[1] == b""
    return was_cancelled


@pytest.mark.parametrize("when", CancelTime)
@pytest.mark.parametrize(("cancel", "awaits"), [(cancel_reconnect, 2), (cancel_close, 1)])
async def test_reconnecting_and_closing_can_be_cancelled_at_every_await(
    cancel: Callable[[Visit, int, CancelTime], Awaitable[bool]], awaits: int, when: CancelTime
) -> None:
    at, was_cancelled = 0, True
    while was_cancelled:
        at += 1
        async with visiting() as visit:
            await visit.come()
            was_cancelled = await cancel(visit, at, when)
    assert awaits < at < LOOKS


@pytest.mark.parametrize("after_seconds", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])
async def test_a_question_can_be_cancelled_at_any_time_and_the_next_one_asked(
    after_seconds: float, loop: VirtualTimeLoop
) -> None:
    async with visiting() as visit:
        loop.call_later(1, (await visit.come()).close)
        ours, back = await visit.connected()

        async def reconnect() -> bool:
            await asyncio.sleep(2)
            return await visit.line.attach(ours, GREETING)

        coming = asyncio.create_task(reconnect())
        loop.call_later(3, back.send, b"1!\n")
        asking = visit.ask(b"1?\n")
        loop.call_later(after_seconds, asking.cancel)
        await asyncio.wait((asking,))
        assert asking.cancelled() is (after_seconds <= 3)
        assert await coming
        await asyncio.sleep(3)
        assert (b"1?\n" in (lying(back) or b"")) is (after_seconds > 2)
        back.send(b"2!\n")
        answer = await next_reply(visit.line, b"2?\n")
        if answer == b"1!":  # which is not asked for any more
            answer = await receive(visit.line)
        assert answer == b"2!"
