"""Test WebSocket connections with honest clients, and with clients that misuse its frames."""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
from websockets.frames import Frame, Opcode

from fairplay.core.events import Fault
from fairplay.core.game import Moment
from fairplay.players.listener import ConnectedPlayer, Listener, listen_websocket
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.transport.connection import Connection, ConnectionClosed, receive
from fairplay.transport.websocket import MAX_NON_MESSAGE_FRAMES_PER_S, accept_websocket
from tests.players import test_listener as tcp
from tests.players.host_connection import serve_at_host
from tests.players.test_listener import FISH, LIMITS, Client, Played, Question

Behaviour = Callable[["Surfer"], Awaitable[Any]]
Way = Callable[["Surfer", bytes], Awaitable[None]]  # how to send a reply


class Surfer(Client):
    """The other end of a WebSocket, in the hands of a test."""

    async def hear(self) -> Question | None:
        """The next message; None: the host has hung up."""
        while found := await self.next_frame():
            if found.opcode is Opcode.TEXT:
                return self.noted(msgspec.json.decode(found.data))
        return None

    async def next_frame(self) -> Frame | None:
        read = self.reader.readexactly
        try:
            first, length = await read(2)
            if length > 125:
                length = int.from_bytes(await read(2 if length == 126 else 8))
            return Frame(Opcode(first & 0b1111), await read(length))
        except (ConnectionError, asyncio.IncompleteReadError):
            return None

    async def say(self, text: bytes) -> None:
        await self.raw(frame(text.rstrip(b"\n")))

    async def raw(self, data: bytes) -> None:
        await Client.say(self, data)


def frame(data: bytes, opcode: Opcode = Opcode.TEXT, *, fin: bool = True, mask: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=mask)


def part(data: bytes, opcode: Opcode = Opcode.CONT) -> bytes:
    """A fragment after which others follow."""
    return frame(data, opcode, fin=False)


async def surf(listener: Listener, headers: dict[str, str] | None = None, early: bytes = b"") -> tuple[Surfer, str]:
    """A client, and what the host says to its request, with which something may come early."""
    lines = {"Host": listener.address, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    lines |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} | (headers or {})
    surfer = Surfer(*await asyncio.open_connection(listener.host, listener.port))
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    await surfer.raw(f"GET / HTTP/1.1\r\n{text}\r\n".encode() + early)
    return surfer, (await surfer.reader.readuntil(b"\r\n\r\n")).decode()


async def visit(listener: Listener, behave: Behaviour) -> Any:
    surfer, response = await surf(listener)
    assert response.startswith("HTTP/1.1 101 ")
    try:
        return await behave(surfer)
    finally:
        surfer.hang_up()


async def meet(behave: Behaviour, *, limits: Limits = LIMITS) -> tuple[Played, Any]:
    """A match of Fish with a client in seat 1, and what the client makes of it."""
    with listen_websocket("0") as listener:
        coming = asyncio.create_task(visit(listener, behave))
        (guest,) = await listener.accept_players(FISH, limits=limits)
        return await tcp.match_with(guest), await coming


async def played_after(listener: Listener, first: Awaitable[Any]) -> Played:
    """A match with an honest client that comes after another one."""
    coming = asyncio.ensure_future(first)
    seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
    await asyncio.sleep(0.02)
    second = asyncio.create_task(visit(listener, honest()))
    (guest,) = await seating
    played = await tcp.match_with(guest)
    await asyncio.gather(coming, second)
    return played


@asynccontextmanager
async def seated() -> AsyncIterator[tuple[Connection, Surfer, ConnectedPlayer]]:
    """Both ends of the connection of a player that has said hello."""
    lines: list[Connection] = []

    async def line(connection: socket.socket) -> Connection:
        lines.append(await accept_websocket(connection))
        return lines[-1]

    with Listener("127.0.0.1", 0, line) as listener:
        seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
        surfer, _ = await surf(listener)
        question = await surfer.hear()
        assert question is not None
        await surfer.say(tcp.reply(question))
        (guest,) = await seating
        yield lines[0], surfer, guest
        surfer.hang_up()


def honest(way: Way = Surfer.say) -> Behaviour:
    async def behave(surfer: Surfer) -> Question | None:
        return await tcp.play_honestly(surfer, tcp.GREEDY, way)  # type: ignore[arg-type]

    return behave


def bad_from(question: int, bad: Way) -> Behaviour:
    """A client that is honest before the n-th question (0: hello), and then bad once."""
    asked = iter(range(1000))

    async def way(surfer: Surfer, text: bytes) -> None:
        await (bad if next(asked) == question else Surfer.say)(surfer, text)

    return honest(way)


def sends(make: Callable[[bytes], bytes]) -> Way:

    async def way(surfer: Surfer, text: bytes) -> None:
        await surfer.raw(make(text.rstrip(b"\n")))

    return way


# Honest clients.


async def test_a_blocking_client_plays_a_match_over_websocket() -> None:
    with listen_websocket("0") as listener:
        address = f"ws://{listener.address}/path"
        client = asyncio.to_thread(serve_at_host, address, lambda game: tcp.server(game, 1, "greedy"), name="greedy")
        playing = asyncio.create_task(client)
        (guest,) = await listener.accept_players(FISH, limits=LIMITS)
        assert guest.name == "greedy"
        assert await tcp.match_with(guest) == tcp.EXPECTED
        assert await playing is None


PING = frame(b"are you there?", Opcode.PING)
HONEST: dict[str, Callable[[bytes], bytes]] = {
    "in fragments with a ping": lambda text: (
        part(text[:5], Opcode.TEXT) + PING + part(text[5:9]) + frame(text[9:], Opcode.CONT)
    ),
    "with a new line": lambda text: frame(text + b"\r\n"),
    "twice": lambda text: frame(text) * 2,
}


@pytest.mark.parametrize("make", HONEST.values(), ids=HONEST)
async def test_replies_may_come_in_other_forms(make: Callable[[bytes], bytes]) -> None:
    left = [5]  # many copies of replies would be a flood

    def some(text: bytes) -> bytes:
        left[0] -= 1
        return make(text) if left[0] >= 0 else frame(text)

    assert await meet(honest(sends(some))) == (tcp.EXPECTED, None)


@pytest.mark.alone
async def test_replies_may_come_in_many_fragments_turn_after_turn() -> None:
    sent = [0]

    def in_bytes(text: bytes) -> bytes:
        sent[0] += len(text)
        middle = b"".join(part(bytes([byte])) for byte in text[:-1])
        return part(b"", Opcode.TEXT) + middle + frame(text[-1:], Opcode.CONT)

    since = time.monotonic()
    assert await meet(honest(sends(in_bytes))) == (tcp.EXPECTED, None)
    assert sent[0] / (time.monotonic() - since) > MAX_NON_MESSAGE_FRAMES_PER_S, "too slow to show anything"


async def test_a_frame_may_come_with_the_request_for_the_connection() -> None:
    with listen_websocket("0") as listener:
        seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.3))
        surfer, _ = await surf(listener, early=PING)
        frames = [await surfer.next_frame(), await surfer.next_frame()]
        assert Frame(Opcode.PONG, b"are you there?") in frames  # beside hello
        (guest,) = await seating
        surfer.hang_up()
        await guest.channel.close(None)


async def test_a_ping_is_answered_while_others_think() -> None:
    async with seated() as (_, surfer, guest):
        await surfer.raw(PING)
        assert await surfer.next_frame() == Frame(Opcode.PONG, b"are you there?")
        await guest.channel.close(None)
        last = await surfer.next_frame()
        assert last is not None and last.opcode is Opcode.CLOSE


# Bad clients that have a seat.


async def pings_instead(surfer: Surfer, text: bytes) -> None:
    for _ in range(25):
        await surfer.raw(frame(b"", Opcode.PING) + frame(b"", Opcode.PONG))
        await asyncio.sleep(0.015)


async def drips(surfer: Surfer, text: bytes) -> None:
    for byte in frame(text)[:25]:
        await surfer.raw(bytes([byte]))
        await asyncio.sleep(0.015)


async def floods_with_old_answers(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(frame(tcp.asked_before(surfer, text, 0)) * 5_000)


async def hangs_up(surfer: Surfer, text: bytes) -> None:
    surfer.hang_up()


async def resets(surfer: Surfer, text: bytes) -> None:
    surfer.reset()


async def half_closes(surfer: Surfer, text: bytes) -> None:
    surfer.writer.write_eof()


def closes(code: int) -> Way:
    return sends(lambda _: frame(struct.pack("!H", code) + b"so long", Opcode.CLOSE))


def with_bits(bits: int, text: bytes) -> bytes:
    made = frame(text)
    return bytes([made[0] | bits]) + made[1:]


LATE = (Fault.TIMED_OUT, "no answer within 0.3 s")
NO_RULES = (Fault.MALFORMED, "broke the rules of WebSocket")
GONE = (Fault.GONE, "the connection was closed")
TOO_MUCH = (Fault.FLOOD, "sent more than 8192 bytes at once")
TOO_MANY = (Fault.FLOOD, f"sent more than {MAX_NON_MESSAGE_FRAMES_PER_S} frames a second that complete no message")
BAD: dict[str, tuple[Way, tuple[Fault, str]]] = {
    "says_nothing": (sends(lambda text: b""), LATE),
    "pings_instead": (pings_instead, LATE),
    "drips": (drips, LATE),
    "floods_with_pings": (sends(lambda text: frame(b"", Opcode.PING) * 20_000), TOO_MANY),
    "floods_with_empty_fragments": (sends(lambda text: part(b"", Opcode.TEXT) + part(b"") * 20_000), TOO_MANY),
    "floods_with_old_answers": (floods_with_old_answers, (Fault.FLOOD, "answered old questions again and again")),
    "sends_a_binary_frame": (
        sends(lambda text: frame(text, Opcode.BINARY)),
        (Fault.MALFORMED, "sent a binary frame, not a text"),
    ),
    "sends_garbage_in_a_frame": (
        sends(lambda text: frame(b"\xff\xfe")),
        (Fault.MALFORMED, "not a reply: not UTF-8"),
    ),
    "sends_an_empty_frame": (sends(lambda text: frame(b"")), (Fault.MALFORMED, "not a reply: not JSON")),
    "sends_garbage": (sends(lambda text: b"hello, is anybody there?\n" * 10), NO_RULES),
    "does_not_mask": (sends(lambda text: frame(text, mask=False)), NO_RULES),
    "sets_reserved_bits": (sends(lambda text: with_bits(0b0111_0000, text)), NO_RULES),
    "deflates": (sends(lambda text: with_bits(0b0100_0000, text)), NO_RULES),
    "fragments_a_ping": (sends(lambda text: b"\x09\x80\0\0\0\0"), NO_RULES),
    "sends_a_long_ping": (sends(lambda text: b"\x89\xfe\x00\x7e\0\0\0\0" + b"x" * 126), NO_RULES),
    "continues_nothing": (sends(lambda text: frame(text, Opcode.CONT)), NO_RULES),
    "interrupts_itself": (sends(lambda text: part(text[:5], Opcode.TEXT) + frame(text)), NO_RULES),
    "sends_a_huge_frame": (sends(lambda text: frame(b"x" * 1_000_000)), TOO_MUCH),
    "sends_a_frame_that_is_a_little_too_long": (
        sends(lambda text: frame(text.ljust(wire.MAX_LINE_BYTES + 1))),
        TOO_MUCH,
    ),
    "announces_an_endless_frame": (sends(lambda text: b"\x81\xff" + struct.pack("!Q", 2**62) + bytes(4)), TOO_MUCH),
    "sends_many_fragments": (sends(lambda text: part(b"x" * 1000, Opcode.TEXT) + part(b"x" * 1000) * 9), TOO_MUCH),
    "hangs_up": (hangs_up, GONE),
    "resets": (resets, GONE),
    "half_closes": (half_closes, GONE),
    "closes_without_a_code": (sends(lambda text: frame(b"", Opcode.CLOSE)), GONE),
    **{f"closes_with_{code}": (closes(code), GONE) for code in (1000, 1001, 1011, 3000, 4999)},
    **{f"closes_with_{code}": (closes(code), NO_RULES) for code in (0, 999, 1005, 1006, 5000, 65535)},
}


@pytest.mark.parametrize(("bad", "expected"), BAD.values(), ids=BAD)
async def test_a_client_that_misbehaves_on_its_turn_is_ejected_and_the_match_continues(
    bad: Way, expected: tuple[Fault, str]
) -> None:
    played, goodbye = await meet(bad_from(2, bad), limits=tcp.SHORT)

    ejected = tcp.ejection(played)
    assert (ejected.fault, ejected.why) == expected
    assert ejected.moment is Moment.TURN
    if bad is BAD["sends_garbage_in_a_frame"][0]:  # whose connection still works
        assert goodbye["fault"] == ejected.fault.value


@pytest.mark.parametrize("name", [name for name in BAD if name != "floods_with_old_answers"])
async def test_a_client_that_misbehaves_at_hello_gets_no_seat(name: str) -> None:
    with listen_websocket("0") as listener:
        assert await played_after(listener, visit(listener, bad_from(0, BAD[name][0]))) == tcp.EXPECTED


async def test_a_close_frame_is_answered_with_a_close_frame() -> None:
    async with seated() as (_, surfer, guest):
        await closes(1000)(surfer, b"")
        assert await surfer.next_frame() == Frame(Opcode.CLOSE, struct.pack("!H", 1000) + b"so long")
        await guest.channel.close(None)


async def test_a_line_without_an_answer_is_offered_unless_the_client_is_slow_or_gone() -> None:
    async with seated() as (line, surfer, guest):
        assert line.offer(b'{"news":1}\n')
        assert await surfer.hear() == {"news": 1}
        surfer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        offers = 0
        while line.offer(b'{"news":"%b"}\n' % (b"x" * 100_000)):
            offers += 1
            await asyncio.sleep(0)
        assert offers > 1
        surfer.writer.transport.resume_reading()  # type: ignore[attr-defined]
        for _ in range(offers):
            assert await surfer.hear() == {"news": "x" * 100_000}
        assert line.offer(b'{"news":2}\n')
        assert await surfer.hear() == {"news": 2}
        await guest.channel.close(None)
        assert not line.offer(b'{"news":3}\n')


async def test_data_after_a_refused_request_is_dropped() -> None:
    ours, theirs = socket.socketpair()
    line = await accept_websocket(ours)
    with theirs:
        theirs.setblocking(False)
        for _ in range(20):
            data = b"GET / HTTP/1.1\r\n\r\n" + b"x" * wire.MAX_LINE_BYTES
            await asyncio.get_running_loop().sock_sendall(theirs, data)
            await asyncio.sleep(0)
        with pytest.raises(ConnectionClosed, match="did not ask for a WebSocket"):
            await receive(line)
        await line.close(b"", 0)
    assert len(line._rest) + len(line._server.reader.buffer) < 2 * wire.MAX_LINE_BYTES


# Clients that have no seat yet.


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(range(256)),
        b"GET / HTTP/1.1\r\nCookie: " + b"x" * 100_000 + b"\r\n\r\n",
        b"x" * 1_000_000,
    ],
    ids=["half a page", "a page and more", "a long header", "without end"],
)
async def test_a_connection_that_asks_for_something_else_takes_no_seat(asked: bytes) -> None:
    async def ask(client: Client) -> None:
        await client.say(asked)
        with suppress(ConnectionError):
            await client.reader.read()

    with listen_websocket("0") as listener:
        assert await played_after(listener, tcp.connect_non_player(listener, ask)) == tcp.EXPECTED


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Upgrade": "h2c"}, 426),
        ({"Sec-WebSocket-Version": "12"}, 400),
        ({"Sec-WebSocket-Extensions": "permessage-deflate"}, 101),  # without the extension
    ],
    ids=str,
)
async def test_requests_of_browsers_and_other_versions_are_refused_and_extensions_ignored(
    headers: dict[str, str], status: int
) -> None:
    with listen_websocket("0") as listener:
        seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.3))
        surfer, response = await surf(listener, headers)
        surfer.hang_up()
        (guest,) = await seating
        await guest.channel.close(None)
    assert response.startswith(f"HTTP/1.1 {status} ")
    assert "Sec-WebSocket-Extensions" not in response
