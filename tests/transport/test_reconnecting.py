"""Test connections that are lost and restored at every moment: nothing is lost or doubled, and no time is gained."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from random import Random
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, Failed, Tell
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.transport.connection import ConnectionClosed, OnReceive, Received, TooMuchData
from fairplay.transport.reconnecting import ReconnectingConnection
from fairplay.transport.sockets import TcpConnection, accept_tcp
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.players.test_listener import run
from tests.toy import Toy
from tests.transport.test_sockets import some_turns

WINDOW = 30.0
GREETING = b'{"type":"welcome"}\n'
LOOKS = 40  # turns of the loop: more than anything here takes


class Visit:
    """A lasting line, what others are told of it, and the connections over which it went, in the hands of a test."""

    def __init__(self, window: float = WINDOW) -> None:
        self.told: list[str] = []
        self.line = ReconnectingConnection(window, on_lost=lambda: self.told.append("lost"), on_gone=self.gone)
        self.ours: list[TcpConnection] = []
        self.theirs: list[socket.socket] = []

    def gone(self) -> None:
        self.told.append("gone")

    async def connected(self) -> tuple[TcpConnection, socket.socket]:
        """Both ends of a new connection."""
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


@asynccontextmanager
async def visiting(window: float = WINDOW) -> AsyncIterator[Visit]:
    """Afterwards everything is closed."""
    visit = Visit(window)
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
    while not found.endswith(b"\n"):
        try:
            new = await loop.sock_recv(theirs, 1)
        except ConnectionResetError:
            return b""
        if not new:
            return b""
        found += new
    return found


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
    """Ask as a Remote does."""
    return await heard_on(line, lambda hear: line.ask(question, hear))


async def heard_on(line: ReconnectingConnection, listen: Callable[[OnReceive], None] | None = None) -> bytes:
    """What comes next."""
    came: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
    (listen or line.on_receive)(lambda heard: None if came.done() else came.set_result(heard))
    try:
        heard = await came
    finally:
        line.on_receive(None)
    if not isinstance(heard, bytes):
        raise heard
    return heard


# Coming back


@pytest.mark.parametrize("leave", [socket.socket.close, cut, lambda theirs: theirs.shutdown(socket.SHUT_WR)])
def test_a_client_that_reconnects_is_sent_the_open_question_again(leave: Callable[[socket.socket], None]) -> None:
    async def host() -> None:
        async with visiting() as visit:
            theirs = await visit.come()
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
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

    run(host())


def test_a_question_waits_for_a_disconnected_client() -> None:
    async def host() -> None:
        async with visiting() as visit:
            (await visit.come()).close()
            await some_turns()
            assert (visit.line.is_connected, visit.told) == (False, ["lost"])
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
            await some_turns()
            back = await visit.come()
            assert await hear(back) == b"1?\n"
            back.send(b"1!\n")
            assert await asking == b"1!"

    run(host())


def test_an_answered_question_is_not_sent_again() -> None:
    async def host() -> None:
        async with visiting() as visit:
            theirs = await visit.come()
            theirs.send(b"1!\n")
            assert await next_reply(visit.line, b"1?\n") == b"1!"
            back = await visit.come()
            await some_turns()
            assert lying(back) == b""

    run(host())


def test_a_new_connection_replaces_the_old_one_which_is_closed_first() -> None:
    async def host() -> None:
        async with visiting() as visit:
            half_open = await visit.come()  # the other end has not said that it is gone
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
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

    run(host())


@pytest.mark.parametrize("leave", [socket.socket.close, lambda theirs: None], ids=["closed", "half-open"])
def test_a_reply_may_break_off_at_every_byte(leave: Callable[[socket.socket], None]) -> None:
    reply = b'{"nonce":"1-a","answer":null}\n'

    async def broken_off(at: int) -> bytes:
        async with visiting() as visit:
            theirs = await visit.come()
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
            theirs.send(reply[:at])
            await some_turns()
            leave(theirs)
            back = await visit.come()
            if at < len(reply):
                assert await hear(back) == b"1?\n"
                back.send(reply)
            found = await asking
            await some_turns()
            assert lying(back) == b""
            return found

    async def host() -> list[bytes]:
        return [await broken_off(at) for at in range(len(reply) + 1)]

    assert run(host()) == [reply[:-1]] * (len(reply) + 1)


@pytest.mark.parametrize(
    ("answers", "expected"), [("before it comes back", {"taken"}), ("while it comes back", {"taken", "again"})]
)
def test_an_answer_on_the_old_connection_is_used_or_asked_for_again_but_never_both(
    answers: str, expected: set[str]
) -> None:
    async def turn(at: int) -> str:
        async with visiting() as visit:
            theirs = await visit.come()
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
            assert await hear(theirs) == b"1?\n"
            ours, back = await visit.connected()
            if answers == "before it comes back":
                theirs.send(b"1!\n")
            for _ in range(at):
                await asyncio.sleep(0)
            coming = asyncio.create_task(visit.line.attach(ours, GREETING))
            if answers != "before it comes back":
                for _ in range(at):
                    await asyncio.sleep(0)
                with suppress(OSError):
                    theirs.send(b"1!\n")
            assert await coming
            assert await hear(back) == GREETING
            await some_turns()
            asked_again = lying(back) == b"1?\n"
            assert asked_again is not asking.done()
            if asked_again:
                back.send(b"1!\n")
            assert await asking == b"1!"
            asking = asyncio.create_task(next_reply(visit.line, b"2?\n"))
            await some_turns()
            assert not asking.done()
            back.send(b"2!\n")
            assert await asking == b"2!"
            return "again" if asked_again else "taken"

    async def host() -> set[str]:
        return {await turn(at) for at in range(LOOKS)}

    assert run(host()) == expected


def test_a_thousand_races_lose_nothing_and_double_nothing() -> None:
    random = Random(7)

    async def host() -> tuple[list[bytes], list[str]]:
        heard: list[bytes] = []
        async with visiting() as visit:

            async def ask() -> None:
                for number in count():
                    heard.append(await next_reply(visit.line, b"%d?\n" % number))

            async def come(answers: int, leave: str) -> None:
                """Come, answer so many questions, and then fall silent or leave."""
                ours, theirs = await visit.connected()
                try:
                    if not await visit.line.attach(ours, GREETING):
                        return
                    first = await hear(theirs)
                    assert first in (GREETING, b"")
                    while answers and (question := await hear(theirs)):
                        theirs.send(question.replace(b"?", b"!"))
                        answers -= 1
                    while leave == "falls silent" and await hear(theirs):
                        pass
                except (ConnectionClosed, BrokenPipeError):  # a newer connection came
                    pass
                finally:
                    theirs.close()

            asking = asyncio.create_task(ask())
            coming: list[asyncio.Task[None]] = []
            for _ in range(1000):
                client = come(random.randrange(5), random.choice(["falls silent", "leaves"]))
                coming.append(asyncio.create_task(client))
                for _ in range(random.randrange(30)):
                    await asyncio.sleep(0)
            last = asyncio.create_task(come(100, "leaves"))
            await asyncio.wait({last, *coming})
            for each in (last, *coming):
                each.result()
            asking.cancel()
            await asyncio.wait({asking})
            return heard, visit.told.copy()

    heard, told = run(host())
    assert heard == [b"%d!" % number for number in range(len(heard))]
    assert len(heard) > 500
    assert told.count("lost") > 100
    assert "gone" not in told


# Not coming back


def test_a_client_that_misses_the_reconnect_window_is_gone_with_or_without_a_question() -> None:
    async def host(clock: VirtualTimeLoop) -> None:
        for asked in (False, True):
            async with visiting(window=30) as visit:
                theirs = await visit.come()
                asking = asyncio.create_task(next_reply(visit.line, b"1?\n")) if asked else None
                since = clock.time()
                theirs.close()
                await some_turns()
                await asyncio.sleep(29.9 - (clock.time() - since))
                assert (visit.told, visit.line.is_gone) == (["lost"], False)
                await asyncio.sleep(0.2)
                assert (visit.told, visit.line.is_gone) == (["lost", "gone"], True)
                with pytest.raises(ConnectionClosed, match="did not reconnect within 30 s") as gone:
                    await (asking or next_reply(visit.line, b"1?\n"))
                assert gone.value.fault is Fault.GONE
                ours, back = await visit.connected()
                assert not await visit.line.attach(ours, GREETING)
                assert lying(back) == b""

    run_in_virtual_time(host)


def test_a_client_that_reconnects_has_the_whole_window_again() -> None:
    async def host(clock: VirtualTimeLoop) -> None:
        async with visiting(window=30) as visit:
            for _ in range(3):
                (await visit.come()).close()
                await asyncio.sleep(20)
            assert visit.told == ["lost"] * 3
            await visit.come()
            await asyncio.sleep(100)
            assert visit.told == ["lost"] * 3
            assert visit.line.is_connected

    run_in_virtual_time(host)


def asked(visit: Visit, clock: VirtualTimeLoop, limit: float) -> "asyncio.Task[Answer]":
    """A question from a real Remote."""
    remote = RemoteChannel(visit.line, Toy(), limits=Limits(move=limit))
    return asyncio.create_task(remote.ask(Tell("news")))


@pytest.mark.parametrize("away", [(1.0, 4.9), (0.0, 4.0), (4.999, 4.999), (2.0, 60.0)])
def test_a_disconnection_gains_no_time(away: tuple[float, float]) -> None:
    left, back = away

    async def host(clock: VirtualTimeLoop) -> tuple[Answer, float]:
        async with visiting() as visit:
            theirs = await visit.come()
            since, answer = clock.time(), asked(visit, clock, 5.0)
            await asyncio.sleep(left)
            theirs.close()
            await asyncio.sleep(back - left)
            if back < 5:
                again = await visit.come()
                assert (await hear(again)).startswith(b'{"type":"tell"')
            return await answer, clock.time() - since

    answer, took = run_in_virtual_time(host)
    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.TIMED_OUT, "no answer within 5 s")
    assert took == pytest.approx(max(5.0, back))
    assert answer.took == pytest.approx(5.0)
    assert (answer.evidence.disconnected is not None) is (back > 5)


def test_the_time_of_a_reconnected_client_counts_from_the_first_question() -> None:
    async def host(clock: VirtualTimeLoop) -> Answer:
        async with visiting() as visit:
            theirs = await visit.come()
            answer = asked(visit, clock, 5.0)
            await asyncio.sleep(1)
            theirs.close()
            await asyncio.sleep(2)
            back = await visit.come()
            question = msgspec.json.decode(await hear(back))
            await asyncio.sleep(1)
            back.send(wire.encode({"nonce": question["nonce"], "answer": None}) + b"\n")
            return await answer

    answer = run_in_virtual_time(host)
    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(4.0)


def test_malformed_data_is_not_a_lost_connection() -> None:
    async def host() -> None:
        async with visiting() as visit:
            theirs = await visit.come()
            theirs.send(b"x" * (wire.MAX_LINE_BYTES + 1))
            with pytest.raises(TooMuchData):
                await next_reply(visit.line, b"1?\n")
            assert visit.told == []

    run(host())


# Hanging up


def test_a_client_that_was_sent_goodbye_cannot_reconnect() -> None:
    async def host(at: int) -> None:
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

    for at in range(1, LOOKS):
        run(host(at))


def test_a_goodbye_during_a_reconnect_leaves_the_new_connection_to_the_caller() -> None:
    async def host(at: int) -> None:
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

    for at in range(LOOKS):
        run(host(at))


def test_a_client_that_has_stopped_sending_still_receives_goodbye() -> None:
    async def host() -> None:
        async with visiting() as visit:
            theirs = await visit.come()
            theirs.shutdown(socket.SHUT_WR)
            await some_turns()
            assert not visit.line.is_connected
            assert not visit.line.offer(b"news\n")
            await visit.line.close(b"goodbye\n", 1)
            assert await hear(theirs) == b"goodbye\n"
            assert await hear(theirs) == b""

    run(host())


def test_lines_are_offered_only_to_a_connected_client() -> None:
    async def host() -> None:
        async with visiting() as visit:
            assert not visit.line.offer(b"news\n")
            theirs = await visit.come()
            assert visit.line.offer(b"news\n")
            assert await hear(theirs) == b"news\n"
            await visit.line.close(b"", 0)
            assert not visit.line.offer(b"news\n")
            with pytest.raises(ConnectionClosed):
                await next_reply(visit.line, b"1?\n")

    run(host())


def test_an_ejected_player_is_told_why_on_its_newest_connection() -> None:
    async def host() -> None:
        async with visiting() as visit:
            (await visit.come()).close()
            await some_turns()
            back = await visit.come()
            ejected = Ejected(0, Fault.MALFORMED, Moment.TURN, "no action")
            await RemoteChannel(visit.line, Toy()).close(ejected)
            assert msgspec.json.decode(await hear(back))["why"] == "no action"
            assert await hear(back) == b""

    run(host())


# Being called off


@pytest.mark.parametrize("when", CancelTime)
def test_reconnecting_can_be_cancelled_at_every_await(when: CancelTime) -> None:
    async def host(at: int) -> bool:
        async with visiting() as visit:
            await visit.come()
            ours, _ = await visit.connected()
            was_cancelled = await cancel_at(at, when, visit.line.attach(ours, GREETING))
            assert visit.line.is_connected is (visit.told == [])
            back = await visit.come()
            back.send(b"1!\n")
            assert await next_reply(visit.line, b"1?\n") == b"1!"
            assert "gone" not in visit.told
            return was_cancelled

    assert sum(reached(lambda at: run(host(at)))) > 1


@pytest.mark.parametrize("when", CancelTime)
def test_closing_can_be_cancelled_at_every_await(when: CancelTime) -> None:
    async def host(at: int) -> bool:
        async with visiting() as visit:
            theirs = await visit.come()
            was_cancelled = await cancel_at(at, when, visit.line.close(b"goodbye\n", 1))
            assert visit.told == ["gone"]
            assert (await hear(theirs), await hear(theirs))[1] == b""
            return was_cancelled

    assert sum(reached(lambda at: run(host(at)))) >= 1


@pytest.mark.parametrize("after_seconds", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5])
def test_a_question_can_be_cancelled_at_any_time_and_the_next_one_asked(after_seconds: float) -> None:
    async def host() -> bool:
        async with visiting() as visit:
            loop = asyncio.get_running_loop()
            loop.call_later(1, (await visit.come()).close)
            ours, back = await visit.connected()
            coming = asyncio.create_task(after(2, visit.line.attach(ours, GREETING)))
            loop.call_later(3, back.send, b"1!\n")
            asking = asyncio.create_task(next_reply(visit.line, b"1?\n"))
            loop.call_later(after_seconds, asking.cancel)
            await asyncio.wait((asking,))
            assert await coming
            await asyncio.sleep(3)
            assert (b"1?\n" in (lying(back) or b"")) is (after_seconds > 2)
            back.send(b"2!\n")
            answer = await next_reply(visit.line, b"2?\n")
            if answer == b"1!":  # which is not asked for any more
                answer = await heard_on(visit.line)
            assert answer == b"2!"
            return asking.cancelled()

    assert run_in_virtual_time(lambda _: host()) is (after_seconds <= 3)


async def after(seconds: float, work: Coroutine[Any, Any, bool]) -> bool:
    await asyncio.sleep(seconds)
    return await work


def reached(host: Callable[[int], bool]) -> Iterator[bool]:
    """Cancel the work at its first await, at its second one, and so on; was there such an await?"""
    for at in range(1, LOOKS):
        yield (was_cancelled := host(at))
        if not was_cancelled:
            return
    raise AssertionError("there is no end to it")
