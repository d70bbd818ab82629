"""Test calls over a connection of JSON values: which answers count, time limits, when it is closed, and the log."""

import asyncio
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault, Receipt
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import CloseReason
from fairplay.course.channel.call_log import MAX_SHOWN_CHARACTERS, CallLog
from fairplay.course.channel.client import receive_call, send_reply
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.remote import NOT_VOID, TOO_EARLY, TOO_MANY, CourseChannel, CourseClient
from fairplay.course.channel.values import MAX_BLANK_BYTES
from fairplay.course.dialects.dialect import Call
from fairplay.protocol.limits import Limits
from fairplay.referee.local_channel import NO_ACTION
from fairplay.transport.connection import ConnectionLost, receive
from tests.course.channel.course_matches import run_by, run_loop_turns, run_test
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.toy import Play, Toy

CALL = Call("hear", (True,))
SOON = 20.0
Socket = socket.socket


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


def with_client(act: Callable[[CourseClient, Socket], Awaitable[Any]]) -> None:
    async def do() -> None:
        async with pair() as (line, theirs):
            await act(CourseClient(line), theirs)

    run_test(do())


def on_line(act: Callable[[CourseConnection, Socket], Awaitable[Any]]) -> None:
    async def do() -> None:
        async with pair(4096) as (line, theirs):
            await act(line, theirs)

    run_test(do())


def in_no_time(act: Callable[[CourseClient, Socket, VirtualTimeLoop], Awaitable[Any]]) -> Any:
    async def do(loop: VirtualTimeLoop) -> Any:
        async with pair(4096) as (line, theirs):
            return await act(CourseClient(line), theirs, loop)

    return run_in_virtual_time(do)


async def heard(theirs: Socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(theirs, 65536)


async def replying(client: CourseClient, theirs: Socket, *pieces: bytes, limit: float = SOON) -> Answered | Failed:
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


@run_by(with_client)
async def test_a_newline_may_come_after_the_next_call(client: CourseClient, theirs: Socket) -> None:
    for _ in range(3):
        assert isinstance(await replying(client, theirs, b"\n" + b" " * 5000, b'"vo', b'id"'), Answered)


@run_by(with_client)
async def test_a_value_sent_before_the_call_is_no_answer(client: CourseClient, theirs: Socket) -> None:
    theirs.send(b'"void"')  # and nobody has looked yet
    assert why(await client.call(CALL, SOON)) == (Fault.MALFORMED, TOO_EARLY)


@pytest.mark.parametrize("more", [b'"void"', b"[", b"x", b'\n "void"'], ids=repr)
@pytest.mark.parametrize("at_once", [True, False])
@run_by(with_client)
async def test_more_than_one_value_is_found_out_now_or_at_the_next_call(
    client: CourseClient, theirs: Socket, more: bytes, at_once: bool
) -> None:
    if at_once:
        assert why(await replying(client, theirs, b'"void"' + more)) == (Fault.MALFORMED, TOO_MANY)
    else:
        assert isinstance(await replying(client, theirs, b'"void"', more), Answered)
        assert why(await client.call(CALL, SOON)) == (Fault.MALFORMED, TOO_EARLY)


@run_by(with_client)
async def test_a_client_that_failed_is_not_called_again(client: CourseClient, theirs: Socket) -> None:
    failed = await replying(client, theirs, b"void")
    assert why(failed)[0] is Fault.MALFORMED and client.failed is failed
    assert await client.call(CALL, SOON) is failed
    with pytest.raises(BlockingIOError):
        theirs.recv(1)


@pytest.mark.parametrize(
    ("reply", "fault", "reason"),
    [
        (b"void", Fault.MALFORMED, "not a reply: not a JSON string, list or object"),
        (b"[1.5", Fault.MALFORMED, "not a reply: a number that is not an integer"),
        (b'"Void"', Fault.MALFORMED, NOT_VOID),
        (b'["void"]', Fault.MALFORMED, NOT_VOID),
        (b'{"a":1,"a":1}', Fault.MALFORMED, "not a reply: a key occurs twice"),
        (b'"' + b"x" * 9000, Fault.FLOOD, "sent more than 8192 bytes in a value, or 65536 of white space"),
    ],
)
@run_by(with_client)
async def test_a_wrong_answer_fails_at_once_and_is_kept_as_evidence(
    client: CourseClient, theirs: Socket, reply: bytes, fault: Fault, reason: str
) -> None:
    answer = await replying(client, theirs, reply)
    assert isinstance(answer, Failed) and why(answer) == (fault, reason)
    assert answer.evidence.received.startswith(f"{reply[:100]!r}"[:90])
    assert answer.evidence.limit == 20.0


async def send_much(theirs: Socket, block: bytes) -> int:
    """Send without end; how much was taken, which may be what the buffers of the kernel hold."""
    sent = 0
    for _ in range(1000):
        with suppress(BlockingIOError):
            sent += theirs.send(block)
        await asyncio.sleep(0)
    assert sent < 1000 * len(block)
    return sent


@run_by(with_client)
async def test_white_space_without_end_is_too_much_and_is_not_even_read(client: CourseClient, theirs: Socket) -> None:
    asking = asyncio.create_task(client.call(CALL, SOON))
    await heard(theirs)
    assert await send_much(theirs, b" " * 4096) > MAX_BLANK_BYTES
    assert why(await asking)[0] is Fault.FLOOD


@run_by(with_client)
async def test_unrequested_values_are_not_read_without_end(client: CourseClient, theirs: Socket) -> None:
    await send_much(theirs, b'"void" ' * 600)
    assert why(await client.call(CALL, SOON)) == (Fault.MALFORMED, TOO_EARLY)


@pytest.mark.parametrize(
    ("before", "fault"), [(b"", Fault.GONE), (b" \n", Fault.GONE), (b'["vo', Fault.MALFORMED)], ids=repr
)
@run_by(with_client)
async def test_the_end_of_the_line_is_noticed_at_once(
    client: CourseClient, theirs: Socket, before: bytes, fault: Fault
) -> None:
    asking = asyncio.create_task(client.call(CALL, SOON))
    await heard(theirs)
    theirs.send(before)
    await run_loop_turns()
    theirs.shutdown(socket.SHUT_WR)
    assert why(await asking)[0] is fault


@run_by(with_client)
async def test_an_answer_counts_although_the_line_ends_behind_it(client: CourseClient, theirs: Socket) -> None:
    asking = asyncio.create_task(client.call(CALL, SOON))
    await heard(theirs)
    theirs.send(b'"void"')
    theirs.close()
    assert isinstance(await asking, Answered)
    assert why(await client.call(CALL, SOON)) == (Fault.GONE, "the connection was closed")


@run_by(with_client)
async def test_too_much_unrequested_data_is_noticed_before_the_call(client: CourseClient, theirs: Socket) -> None:
    theirs.send(b" " * (MAX_BLANK_BYTES + 1))
    await run_loop_turns()
    assert why(await client.call(CALL, SOON))[0] is Fault.FLOOD
    with pytest.raises(BlockingIOError):
        theirs.recv(1)


# The line itself.


@run_by(on_line)
async def test_a_line_is_read_again_when_what_was_too_much_has_been_taken(
    line: CourseConnection, theirs: Socket
) -> None:
    theirs.send(b"[1] [2] [3]")
    await run_loop_turns()
    theirs.send(b"[4]")
    async with asyncio.timeout(SOON):
        assert [await receive(line) for _ in range(4)] == [b"[1]", b"[2]", b"[3]", b"[4]"]


@run_by(on_line)
async def test_a_line_is_not_read_again_before_all_that_was_too_much_has_been_taken(
    line: CourseConnection, theirs: Socket
) -> None:
    with pytest.raises(BlockingIOError):  # as soon as nothing is read any more
        for _ in range(1000):
            theirs.send(b"[1] " * 1000)
            await run_loop_turns(1)
    for _ in range(3):
        await receive(line)
        await run_loop_turns()
        with pytest.raises(BlockingIOError):
            theirs.send(b"[1] ")


@run_by(on_line)
async def test_a_client_with_a_closed_write_side_still_receives(line: CourseConnection, theirs: Socket) -> None:
    theirs.shutdown(socket.SHUT_WR)
    await run_loop_turns()
    line.send(b"[1]")
    assert await heard(theirs) == b"[1]"


@run_by(on_line)
async def test_all_calls_of_a_disconnected_server_are_read(line: CourseConnection, theirs: Socket) -> None:
    theirs.send(b'["end",[true]]')
    await run_loop_turns()
    theirs.close()
    await run_loop_turns()
    send_reply(line, "void")
    await run_loop_turns()
    send_reply(line, "void")  # by now it is known that nobody hears it
    assert [await receive_call(line, SOON) for _ in range(2)] == [b'["end",[true]]', None]


@run_by(on_line)
async def test_a_server_that_does_not_listen_is_given_up(line: CourseConnection, theirs: Socket) -> None:
    send_reply(line, "x" * 1_000_000)
    with pytest.raises(ConnectionLost, match="the server does not read its answers"):
        send_reply(line, "void")


# How long it may take.


@run_by(in_no_time, 3)
async def test_every_call_has_its_own_limit_and_half_an_answer_does_not_stop_the_clock(
    client: CourseClient, theirs: Socket, loop: VirtualTimeLoop
) -> None:
    for seconds in (1.9, 1.9, 4.9):
        loop.call_later(seconds, theirs.send, b'"void"')
        answer = await client.call(CALL, 2.0 if seconds < 2 else 5.0)
        assert isinstance(answer, Answered) and answer.took == pytest.approx(seconds, abs=0.01)
    for at in range(1, 100):
        loop.call_later(at / 10, theirs.send, b" " if at < 10 else b"[")
    answer = await client.call(CALL, 2.0)
    assert isinstance(answer, Failed) and why(answer) == (Fault.TIMED_OUT, "no answer within 2 s")
    assert answer.took == pytest.approx(2.0, abs=0.01) and answer.evidence.received.startswith("b'[[[")


@run_by(in_no_time, 3)
async def test_a_client_that_never_reads_times_out(client: CourseClient, theirs: Socket, loop: VirtualTimeLoop) -> None:
    answer = await client.call(Call("long", ("x" * 1_000_000,)), 2.0)
    assert why(answer) == (Fault.TIMED_OUT, "no answer within 2 s")


@run_by(with_client)
async def test_a_slow_reader_is_waited_for(client: CourseClient, theirs: Socket) -> None:
    asking = asyncio.create_task(client.call(Call("long", ("x" * 3_000_000,)), SOON))
    left = len(b'["long",[""]]\n') + 3_000_000
    while left:
        left -= len(await heard(theirs))
    theirs.send(b'"void"')
    assert isinstance(await asking, Answered)


# Messages of the referee, the time that they cost, and the end.

GAME = Toy(cards=6, hand=2)
VIEW = GAME.view(GAME.deal(2, bytes(32)), 0)
START, TURN, TELL = Start(0, ("ann", "bob"), VIEW), TakeTurn(VIEW), Tell(5)


class Plain:
    """The toy as a course might say it: a greeting in two calls, a card as the reply, nothing for news."""

    def calls(self, message: Message) -> list[Call]:
        match message:
            case Start():
                return [Call("as", (0,)), Call("with", (["bob"],))]
            case TakeTurn():
                return [Call("turn", ())]
        return []

    def action(self, reply: Any) -> Any:
        if not isinstance(reply, list):
            raise BadRequest("a card in a list was due")
        return {"type": "play", "card": reply[0]}


def asked(message: Message, *replies: bytes, limits: Limits | None = None) -> tuple[Answer, list[bytes]]:
    """The answer to a message, when each of its calls is replied to after a second, and the calls."""

    async def act(client: CourseClient, theirs: Socket, loop: VirtualTimeLoop) -> tuple[Answer, list[bytes]]:
        channel = CourseChannel(client, Plain(), GAME, limits=limits or Limits())
        asking, calls = asyncio.create_task(channel.ask(message)), list[bytes]()
        for reply in replies:
            calls.append(await heard(theirs))
            await asyncio.sleep(1.0)
            theirs.send(reply)
        return await asking, calls

    found: tuple[Answer, list[bytes]] = in_no_time(act)
    return found


def test_a_message_is_as_many_calls_as_the_dialect_makes_of_it() -> None:
    answer, calls = asked(START, b'"void"', b'"void"', limits=Limits(move=1.5))

    assert calls == [b'["as",[0]]\n', b'["with",[["bob"]]]\n']
    assert isinstance(answer, Answered) and answer.value is None and answer.took == pytest.approx(2.0, abs=0.01)
    assert asked(TELL) == (Answered(None), [])


def test_the_first_call_that_fails_is_the_last() -> None:
    answer, calls = asked(START, b'"no"')

    assert why(answer) == (Fault.MALFORMED, NOT_VOID) and calls == [b'["as",[0]]\n']
    assert answer.took == pytest.approx(1.0, abs=0.01)


def test_a_reply_to_a_turn_becomes_an_action() -> None:
    answer, calls = asked(TURN, b" [ 3 ] ")

    assert isinstance(answer, Answered) and answer.value == Play(3) and calls == [b'["turn",[]]\n']
    assert answer.evidence is not None and answer.evidence().received == "b'[ 3 ]'"


@pytest.mark.parametrize("reply", [b'"void"', b'["x"]', b"[[3]]", b"[true]"], ids=repr)
def test_a_reply_that_is_no_action_is_malformed(reply: bytes) -> None:
    assert why(asked(TURN, reply)[0]) == (Fault.MALFORMED, NO_ACTION)


class InTwoCalls(Plain):
    """The toy as a course might say it, with a turn in two calls."""

    def calls(self, message: Message) -> list[Call]:
        return [Call("look", ()), *super().calls(message)] if message is TURN else super().calls(message)


@run_by(in_no_time, 3)
async def test_all_calls_of_a_turn_are_paid_from_the_bank(
    client: CourseClient, theirs: Socket, loop: VirtualTimeLoop
) -> None:
    channel = CourseChannel(client, InTwoCalls(), GAME, limits=Limits(move=5.0, bank=6.0))
    loop.call_later(3.0, theirs.send, b'"void"')
    loop.call_later(4.0, theirs.send, b"[3]")
    answer = await channel.ask(TURN)
    assert isinstance(answer, Answered) and answer.took == pytest.approx(4.0, abs=0.01)
    assert why(await channel.ask(TURN)) == (Fault.TIMED_OUT, "no answer within 2 s")


@pytest.mark.parametrize(
    ("reason", "reply", "cut"),
    [
        (None, b'"void"', False),
        (Receipt(7, "ab"), b'"void"', False),
        (Ejected(0, Fault.ILLEGAL, Moment.TURN, "against the rules"), b'"void"', True),
        (None, b"void", True),
    ],
)
@run_by(with_client)
async def test_the_line_outlives_a_match_unless_the_player_is_out(
    client: CourseClient, theirs: Socket, reason: CloseReason, reply: bytes, cut: bool
) -> None:
    channel = CourseChannel(client, Plain(), GAME)
    await replying(client, theirs, reply)
    await channel.close(reason)
    if cut:
        assert await heard(theirs) == b""
    else:
        assert isinstance(await replying(client, theirs, b'"void"'), Answered)


# The log.


def test_an_answer_is_logged_with_the_time_since_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = iter([10.0, 10.25, 20.0, 20.5]), list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    log = CallLog(told.append, "ann")

    log.log_sent(b'"ann"\n')
    log.log_received(b'["start",[true]]')
    log.log_sent(b'"void"\n')
    log.log_received(b'["end",[true]]')
    log.log_sent(b'"void"\n')

    assert all(re.match(r"ann \d\d:\d\d:\d\d\.\d{6} ", line) for line in told)
    assert [line.split(" ", 2)[2] for line in told] == [
        '> "ann"',
        '< ["start",[true]]',
        '> "void" after 0.250 s',
        '< ["end",[true]]',
        '> "void" after 0.500 s',
    ]


def test_received_bytes_are_logged_on_one_short_line_without_control_codes() -> None:
    told = list[str]()

    CallLog(told.append).log_received(b'["\x1b[2J\r\n\xff' + b"x" * 5000)

    [line] = told
    assert line.isprintable()
    assert len(line) < MAX_SHOWN_CHARACTERS + 30
