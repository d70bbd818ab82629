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
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from fairplay.core.events import Ejected, Event, Fault
from fairplay.core.game import Moment
from fairplay.players.listener import Listener, listen_websocket
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.transport.connection import Connection, ConnectionClosed, receive
from fairplay.transport.websocket import MAX_NON_MESSAGE_FRAMES_PER_S, WebSocketConnection, accept_websocket
from tests.players.host_connection import serve_at_host
from tests.players.test_listener import (
    EXPECTED,
    FISH,
    GREEDY,
    LIMITS,
    SHORT,
    TABLES,
    AnyGame,
    Client,
    Played,
    Question,
    asked_before,
    asks_for_a_page,
    asks_for_half_a_page,
    closes_its_half,
    connect_non_player,
    connects_and_is_silent,
    ejection,
    goes_at_once,
    guesses_the_nonce,
    in_process,
    match_with,
    play_honestly,
    reply,
    resets_at_once,
    run,
    sends_without_end,
    server,
    speaks_tls,
    the_match,
)

Behaviour = Callable[["Surfer"], Awaitable[Any]]
Way = Callable[["Surfer", bytes], Awaitable[None]]


class Surfer(Client):
    """The other end of a WebSocket, in the hands of a test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol) -> None:
        super().__init__(reader, writer)
        self.protocol = protocol
        self.frames: list[Frame] = []

    async def hear(self) -> Question | None:
        """The next message; None: the host has hung up."""
        while True:
            frame = await self.next_frame()
            if frame is None:
                return None
            if frame.opcode is Opcode.TEXT:
                question: Question = msgspec.json.decode(frame.data)
                return self.noted(question)

    async def next_frame(self) -> Frame | None:
        """The next frame of any kind."""
        while not self.frames:
            try:
                data = await self.reader.read(65536)
            except ConnectionError:
                return None
            if not data:
                return None
            self.protocol.receive_data(data)
            self.frames += [frame for frame in self.protocol.events_received() if isinstance(frame, Frame)]
        return self.frames.pop(0)

    async def say(self, text: bytes) -> None:
        """Send a reply in one text frame."""
        await self.frame(Opcode.TEXT, text.rstrip(b"\n"))

    async def frame(self, opcode: Opcode, data: bytes, *, fin: bool = True) -> None:
        """Send any frame."""
        await self.raw(Frame(opcode, data, fin).serialize(mask=True))

    async def raw(self, data: bytes) -> None:
        """Send any bytes."""
        await Client.say(self, data)


async def surfing(listener: Listener, **headers: str) -> Surfer:
    """A client whose handshake went well."""
    surfer, response = await shaken(listener, **headers)
    assert response is not None
    assert response.status_code == 101
    return surfer


async def shaken(listener: Listener, **headers: str) -> tuple[Surfer, Response | None]:
    """A client, and what the host says to its request."""
    streams = await asyncio.open_connection(listener.host, listener.port)
    protocol = ClientProtocol(parse_uri(f"ws://{listener.address}/"))
    request = protocol.connect()
    for name, value in headers.items():
        request.headers[name] = value
    protocol.send_request(request)
    surfer = Surfer(*streams, protocol)
    for data in protocol.data_to_send():
        await surfer.raw(data)
    response = None
    while response is None:
        data = await surfer.reader.read(65536)
        if not data:
            break
        protocol.receive_data(data)
        for event in protocol.events_received():
            if isinstance(event, Response):
                response = event
            elif isinstance(event, Frame):
                surfer.frames.append(event)
    return surfer, response


async def meet(behave: Behaviour, *, limits: Limits = LIMITS) -> tuple[Played, Any]:
    """A match of Fish with a client in seat 1, and what the client makes of it."""
    with listen_websocket("0") as listener:
        coming = asyncio.create_task(visit(listener, behave))
        (guest,) = await listener.accept_players(FISH, limits=limits)
        played = await match_with(guest)
        return played, await coming


async def visit(listener: Listener, behave: Behaviour) -> Any:
    surfer = await surfing(listener)
    try:
        return await behave(surfer)
    finally:
        surfer.hang_up()


def honest(way: Way | None = None) -> Behaviour:
    async def behave(surfer: Surfer) -> Question | None:
        return await play_honestly(surfer, GREEDY, way or Surfer.say)  # type: ignore[arg-type]

    return behave


def bad_from(question: int, bad: Way) -> Behaviour:
    """A client that is honest before the n-th question (0: hello), and then bad once."""
    asked = iter(range(1000))

    async def way(surfer: Surfer, text: bytes) -> None:
        await (bad if next(asked) == question else Surfer.say)(surfer, text)

    return honest(way)


def serve(listener: Listener, game: AnyGame, seat: int, name: str) -> None:
    """A player as people write them: blocking, somewhere else."""
    assert serve_at_host(f"ws://{listener.address}/path", lambda known: server(known, seat, name), name=name) is None


# The honest


@pytest.mark.parametrize("name", TABLES)
def test_a_match_over_websocket_is_the_match_in_this_process(name: str) -> None:
    game, players = TABLES[name]

    async def host() -> Played:
        listeners = [listen_websocket("0") for _ in players]
        clients = [
            asyncio.create_task(asyncio.to_thread(serve, listener, game, seat, player))
            for seat, (listener, player) in enumerate(zip(listeners, players, strict=True))
        ]
        guests = [
            guest
            for (guest,) in await asyncio.gather(
                *(listener.accept_players(game, limits=LIMITS) for listener in listeners)
            )
        ]
        assert [guest.name for guest in guests] == list(players)
        facts: list[Event] = []
        table = [guest.channel for guest in guests]
        match = await play_async(the_match(game, players), table, on_event=lambda event, match: facts.append(event))
        await asyncio.gather(*clients)
        return Played(facts, match.result)

    assert run(host()) == in_process(game, players)


def test_a_reply_may_come_in_fragments_with_pings_between_them() -> None:
    async def way(surfer: Surfer, text: bytes) -> None:
        text = text.rstrip(b"\n")
        await surfer.frame(Opcode.TEXT, text[:5], fin=False)
        await surfer.frame(Opcode.PING, b"are you there?")
        await surfer.frame(Opcode.CONT, text[5:9], fin=False)
        await surfer.frame(Opcode.CONT, text[9:])

    assert run(meet(honest(way))) == (EXPECTED, None)


@pytest.mark.alone
def test_replies_may_come_in_many_fragments_turn_after_turn() -> None:
    sent = [0]

    async def way(surfer: Surfer, text: bytes) -> None:
        text = text.rstrip(b"\n")
        await surfer.frame(Opcode.TEXT, b"", fin=False)
        for byte in text[:-1]:
            await surfer.frame(Opcode.CONT, bytes([byte]), fin=False)
        await surfer.frame(Opcode.CONT, text[-1:])
        sent[0] += len(text)

    since = time.monotonic()
    assert run(meet(honest(way))) == (EXPECTED, None)
    assert sent[0] / (time.monotonic() - since) > MAX_NON_MESSAGE_FRAMES_PER_S, "too slow to show anything"


def test_a_websocket_match_byte_by_byte_has_the_same_result() -> None:
    async def way(surfer: Surfer, text: bytes) -> None:
        for byte in Frame(Opcode.TEXT, text.rstrip(b"\n")).serialize(mask=True):
            await surfer.raw(bytes([byte]))
            await asyncio.sleep(0)

    assert run(meet(honest(way))) == (EXPECTED, None)


def test_a_new_line_at_the_end_of_a_frame_changes_nothing() -> None:
    async def way(surfer: Surfer, text: bytes) -> None:
        await surfer.frame(Opcode.TEXT, text.rstrip(b"\n") + b"\r\n")

    assert run(meet(honest(way))) == (EXPECTED, None)


def test_a_few_copies_of_a_reply_in_one_segment_are_ignored() -> None:
    left = [5]

    async def way(surfer: Surfer, text: bytes) -> None:
        left[0] -= 1
        frame = Frame(Opcode.TEXT, text.rstrip(b"\n")).serialize(mask=True)
        await surfer.raw(frame * (2 if left[0] >= 0 else 1))

    assert run(meet(honest(way))) == (EXPECTED, None)


def test_a_frame_may_come_with_the_request_for_the_connection() -> None:
    async def host() -> None:
        with listen_websocket("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.3))
            protocol = ClientProtocol(parse_uri(f"ws://{listener.address}/"))
            protocol.send_request(protocol.connect())
            surfer = Surfer(*await asyncio.open_connection(listener.host, listener.port), protocol)
            ping = Frame(Opcode.PING, b"early").serialize(mask=True)
            await surfer.raw(b"".join(protocol.data_to_send()) + ping)
            data = b""
            while b"early" not in data:
                data += await surfer.reader.read(65536)
            assert data.startswith(b"HTTP/1.1 101 ")
            (guest,) = await seating
            surfer.hang_up()
            await guest.channel.close(None)

    run(host())


def test_a_ping_is_answered_while_others_think() -> None:
    async def host() -> None:
        with listen_websocket("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            surfer = await surfing(listener)
            question = await surfer.hear()
            assert question is not None
            await surfer.say(reply(question))
            (guest,) = await seating
            await surfer.frame(Opcode.PING, b"are you there?")
            answer = await surfer.next_frame()
            assert answer == Frame(Opcode.PONG, b"are you there?")
            await guest.channel.close(None)
            last = await surfer.next_frame()
            assert last is not None
            assert last.opcode is Opcode.CLOSE
            surfer.hang_up()

    run(host())


# The others, once they have a seat


async def says_nothing(surfer: Surfer, text: bytes) -> None:
    pass


async def pings_instead(surfer: Surfer, text: bytes) -> None:
    for _ in range(25):
        await surfer.frame(Opcode.PING, b"")
        await surfer.frame(Opcode.PONG, b"")
        await asyncio.sleep(0.015)


async def drips(surfer: Surfer, text: bytes) -> None:
    for byte in Frame(Opcode.TEXT, text).serialize(mask=True)[:25]:
        await surfer.raw(bytes([byte]))
        await asyncio.sleep(0.015)


async def floods_with_pings(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(Frame(Opcode.PING, b"").serialize(mask=True) * 20_000)


async def floods_with_empty_fragments(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, b"", fin=False)
    await surfer.raw(Frame(Opcode.CONT, b"", fin=False).serialize(mask=True) * 20_000)


async def floods_with_old_answers(surfer: Surfer, text: bytes) -> None:
    old = asked_before(surfer, text, 0)
    await surfer.raw(Frame(Opcode.TEXT, old).serialize(mask=True) * 5_000)


async def sends_a_binary_frame(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.BINARY, text)


async def sends_garbage_in_a_frame(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, b"\xff\xfe")


async def sends_an_empty_frame(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, b"")


async def sends_garbage(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(b"hello, is anybody there?\n" * 10)


async def does_not_mask(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(Frame(Opcode.TEXT, text).serialize(mask=False))


async def sets_reserved_bits(surfer: Surfer, text: bytes) -> None:
    frame = bytearray(Frame(Opcode.TEXT, text).serialize(mask=True))
    frame[0] |= 0b0111_0000
    await surfer.raw(bytes(frame))


async def deflates(surfer: Surfer, text: bytes) -> None:
    frame = bytearray(Frame(Opcode.TEXT, text).serialize(mask=True))
    frame[0] |= 0b0100_0000
    await surfer.raw(bytes(frame))


async def fragments_a_ping(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(b"\x09\x80\0\0\0\0")


async def sends_a_long_ping(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(b"\x89\xfe\x00\x7e\0\0\0\0" + b"x" * 126)


async def continues_nothing(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.CONT, text)


async def interrupts_itself(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, text[:5], fin=False)
    await surfer.frame(Opcode.TEXT, text)


async def sends_a_huge_frame(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, b"x" * 1_000_000)


async def sends_a_frame_that_is_a_little_too_long(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, text + b" " * (wire.MAX_LINE_BYTES + 1 - len(text)))


async def announces_an_endless_frame(surfer: Surfer, text: bytes) -> None:
    await surfer.raw(b"\x81\xff" + struct.pack("!Q", 2**62) + b"\0\0\0\0")


async def sends_many_fragments(surfer: Surfer, text: bytes) -> None:
    await surfer.frame(Opcode.TEXT, b"x" * 1000, fin=False)
    for _ in range(9):
        await surfer.frame(Opcode.CONT, b"x" * 1000, fin=False)


async def hangs_up(surfer: Surfer, text: bytes) -> None:
    surfer.hang_up()


async def resets(surfer: Surfer, text: bytes) -> None:
    surfer.reset()


async def half_closes(surfer: Surfer, text: bytes) -> None:
    surfer.writer.write_eof()


def closes(code: int | None) -> Way:
    async def way(surfer: Surfer, text: bytes) -> None:
        await surfer.frame(Opcode.CLOSE, b"" if code is None else struct.pack("!H", code) + b"so long")

    way.__name__ = f"closes_with_{code}"
    return way


LATE = (Fault.TIMED_OUT, "no answer within 0.3 s")
NO_RULES = (Fault.MALFORMED, "broke the rules of WebSocket")
GONE = (Fault.GONE, "the connection was closed")
TOO_MUCH = (Fault.FLOOD, "sent more than 8192 bytes at once")
TOO_MANY = (Fault.FLOOD, f"sent more than {MAX_NON_MESSAGE_FRAMES_PER_S} frames a second that complete no message")
BAD: list[tuple[Way, tuple[Fault, str]]] = [
    (says_nothing, LATE),
    (pings_instead, LATE),
    (drips, LATE),
    (floods_with_pings, TOO_MANY),
    (floods_with_empty_fragments, TOO_MANY),
    (floods_with_old_answers, (Fault.FLOOD, "answered old questions again and again")),
    (sends_a_binary_frame, (Fault.MALFORMED, "sent a binary frame, not a text")),
    (sends_garbage_in_a_frame, (Fault.MALFORMED, "not a reply: not UTF-8")),
    (sends_an_empty_frame, (Fault.MALFORMED, "not a reply: not JSON")),
    (sends_garbage, NO_RULES),
    (does_not_mask, NO_RULES),
    (sets_reserved_bits, NO_RULES),
    (deflates, NO_RULES),
    (fragments_a_ping, NO_RULES),
    (sends_a_long_ping, NO_RULES),
    (continues_nothing, NO_RULES),
    (interrupts_itself, NO_RULES),
    (sends_a_huge_frame, TOO_MUCH),
    (sends_a_frame_that_is_a_little_too_long, TOO_MUCH),
    (announces_an_endless_frame, TOO_MUCH),
    (sends_many_fragments, TOO_MUCH),
    (hangs_up, GONE),
    (resets, GONE),
    (half_closes, GONE),
    (closes(None), GONE),
    *[(closes(code), GONE) for code in (1000, 1001, 1011, 3000, 4999)],
    *[(closes(code), NO_RULES) for code in (0, 999, 1005, 1006, 5000, 65535)],
]


def called(behaviour: Callable[..., Any]) -> str:
    return behaviour.__name__


@pytest.mark.parametrize(("bad", "expected"), BAD, ids=[way.__name__ for way, _ in BAD])
def test_a_client_that_misbehaves_on_its_turn_is_ejected_and_the_match_continues(
    bad: Way, expected: tuple[Fault, str]
) -> None:
    played, _ = run(meet(bad_from(2, bad), limits=SHORT))

    ejected = ejection(played)
    assert (ejected.fault, ejected.why) == expected
    assert ejected.moment is Moment.TURN


@pytest.mark.parametrize("bad", [way for way, _ in BAD if way is not floods_with_old_answers], ids=called)
def test_a_client_that_misbehaves_at_hello_gets_no_seat(bad: Way) -> None:
    async def host() -> Played:
        with listen_websocket("0") as listener:
            first = asyncio.create_task(visit(listener, bad_from(0, bad)))
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            await asyncio.sleep(0.01)
            second = asyncio.create_task(visit(listener, honest()))
            (guest,) = await seating
            played = await match_with(guest)
            await asyncio.gather(first, second)
            return played

    assert run(host()) == EXPECTED


def test_an_ejected_client_is_told_why_and_disconnected() -> None:
    played, goodbye = run(meet(bad_from(2, sends_garbage_in_a_frame), limits=SHORT))

    assert goodbye is not None
    assert goodbye["fault"] == ejection(played).fault.value


def test_a_close_frame_is_answered_with_a_close_frame() -> None:
    async def behave(surfer: Surfer) -> Frame | None:
        question = await surfer.hear()
        assert question is not None
        await surfer.say(reply(question))
        await surfer.hear()
        await closes(1000)(surfer, b"")
        return await surfer.next_frame()

    _, last = run(meet(behave))

    assert last == Frame(Opcode.CLOSE, struct.pack("!H", 1000) + b"so long")


@pytest.mark.alone
def test_a_client_that_never_reads_is_given_up_in_time() -> None:
    lines: list[Connection] = []

    async def line(connection: socket.socket) -> Connection:
        lines.append(await accept_websocket(connection))
        return lines[-1]

    async def host() -> None:
        with Listener("127.0.0.1", 0, line) as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            surfer = await surfing(listener)
            question = await surfer.hear()
            assert question is not None
            await surfer.say(reply(question))
            (guest,) = await seating
            surfer.writer.transport.pause_reading()  # type: ignore[attr-defined]
            lines[0].send(b"x" * 50_000_000)
            since = time.monotonic()
            await guest.channel.close(Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer"))
            assert time.monotonic() - since < LIMITS.goodbye + 0.5
            surfer.hang_up()

    run(host())


def test_a_line_without_an_answer_is_offered_unless_the_client_is_slow_or_gone() -> None:
    lines: list[Connection] = []

    async def line(connection: socket.socket) -> Connection:
        lines.append(await accept_websocket(connection))
        return lines[-1]

    async def host() -> None:
        with Listener("127.0.0.1", 0, line) as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            surfer = await surfing(listener)
            question = await surfer.hear()
            assert question is not None
            await surfer.say(reply(question))
            (guest,) = await seating
            assert lines[0].offer(b'{"news":1}\n')
            assert await surfer.hear() == {"news": 1}
            surfer.writer.transport.pause_reading()  # type: ignore[attr-defined]
            offers = 0
            while lines[0].offer(b'{"news":"%b"}\n' % (b"x" * 100_000)):
                offers += 1
                await asyncio.sleep(0)
            assert offers > 1
            surfer.writer.transport.resume_reading()  # type: ignore[attr-defined]
            for _ in range(offers):
                assert await surfer.hear() == {"news": "x" * 100_000}
            assert lines[0].offer(b'{"news":2}\n')
            assert await surfer.hear() == {"news": 2}
            await guest.channel.close(None)
            assert not lines[0].offer(b'{"news":3}\n')
            surfer.hang_up()

    run(host())


@asynccontextmanager
async def line_and_surfer() -> AsyncIterator[tuple[WebSocketConnection, Surfer]]:
    """Both ends of a WebSocket over which something was said."""
    with Listener("127.0.0.1", 0) as listener:
        coming = asyncio.create_task(surfing(listener))
        loop = asyncio.get_running_loop()
        line = await accept_websocket((await loop.sock_accept(listener._socket))[0])
        line.send(b'{"news":1}\n')
        surfer = await coming
        try:
            yield line, surfer
        finally:
            surfer.hang_up()
            await line.close(b"", 0)


@pytest.mark.parametrize("leave", [Surfer.hang_up, Surfer.reset, lambda surfer: surfer.writer.write_eof()])
def test_a_lost_connection_is_reported_once_without_a_question(leave: Callable[[Surfer], None]) -> None:
    async def host() -> list[str]:
        told: list[str] = []
        lost = asyncio.Event()
        async with line_and_surfer() as (line, surfer):
            line.on_lost(lambda: told.append("in time"))
            line.on_lost(lost.set)
            assert told == []
            leave(surfer)
            await lost.wait()
            line.on_lost(lambda: told.append("late"))
        return told

    assert run(host()) == ["in time", "late"]


def test_data_after_a_refused_request_is_dropped() -> None:
    async def host() -> int:
        ours, theirs = socket.socketpair()
        line = await accept_websocket(ours)
        with theirs:
            theirs.setblocking(False)
            for _ in range(20):
                await asyncio.get_running_loop().sock_sendall(
                    theirs, b"GET / HTTP/1.1\r\n\r\n" + b"x" * wire.MAX_LINE_BYTES
                )
                await asyncio.sleep(0)
            with pytest.raises(ConnectionClosed, match="did not ask for a WebSocket"):
                await receive(line)
            await line.close(b"", 0)
        return len(line._rest) + len(line._server.reader.buffer)

    assert run(host()) < 2 * wire.MAX_LINE_BYTES


def test_a_pending_callback_is_told_that_the_connection_was_closed() -> None:
    async def host() -> None:
        async with line_and_surfer() as (line, _):
            waiting = asyncio.create_task(receive(line))
            await asyncio.sleep(0)
            await line.close(b"", 0)
            with pytest.raises(ConnectionClosed):
                await waiting

    run(host())


@pytest.mark.parametrize("matches", [20, pytest.param(200, marks=[pytest.mark.nightly, pytest.mark.time_limit(300)])])
def test_many_websocket_matches_with_bad_clients_leave_nothing_open(matches: int) -> None:
    quick = Limits(move=0.05, start_up=5.0, goodbye=0.05)

    async def host() -> int:
        ejected = 0
        for number in range(matches):
            played, _ = await meet(bad_from(1 + number % 3, BAD[number % len(BAD)][0]), limits=quick)
            ejected += len(played.result.ejected)
            assert 0 not in {one.seat for one in played.result.ejected}
        return ejected

    assert run(host()) >= 0.95 * matches  # `run` looks for what is left


# The others, before they have a seat


async def asks_with_a_long_header(client: Client) -> None:
    await client.say(b"GET / HTTP/1.1\r\nCookie: " + b"x" * 100_000 + b"\r\n\r\n")
    with suppress(ConnectionError):
        await client.reader.read()


async def asks_for_a_page_and_goes_on_talking(client: Client) -> None:
    await client.say(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(range(256)))
    with suppress(ConnectionError):
        await client.reader.read()


@pytest.mark.parametrize(
    "behave",
    [
        connects_and_is_silent,
        asks_for_a_page,
        asks_for_half_a_page,
        asks_for_a_page_and_goes_on_talking,
        asks_with_a_long_header,
        speaks_tls,
        goes_at_once,
        resets_at_once,
        closes_its_half,
        sends_without_end,
        guesses_the_nonce,
    ],
    ids=called,
)
def test_a_connection_that_never_signs_in_takes_no_seat(behave: Callable[[Client], Awaitable[None]]) -> None:
    async def host() -> Played:
        with listen_websocket("0") as listener:
            first = asyncio.create_task(connect_non_player(listener, behave))
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS))
            await asyncio.sleep(0.02)
            second = asyncio.create_task(visit(listener, honest()))
            (guest,) = await seating
            played = await match_with(guest)
            await asyncio.gather(first, second)
            return played

    assert run(host()) == EXPECTED


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Upgrade": "h2c"}, 426),
        ({"Sec-WebSocket-Version": "12"}, 400),
    ],
    ids=str,
)
def test_a_request_that_is_not_for_a_player_is_refused(headers: dict[str, str], status: int) -> None:
    async def host() -> int | None:
        with listen_websocket("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.3))
            surfer, response = await shaken_with(listener, headers)
            surfer.hang_up()
            (guest,) = await seating
            await guest.channel.close(None)
            return response

    assert run(host()) == status


async def shaken_with(listener: Listener, headers: dict[str, str]) -> tuple[Client, int | None]:
    """A client with some headers of its own, and the status that it gets."""
    lines = {
        "Host": listener.address,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    client = Client(*await asyncio.open_connection(listener.host, listener.port))
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    await client.say(f"GET / HTTP/1.1\r\n{text}\r\n".encode())
    answer = await client.reader.readline()
    return client, int(answer.split()[1]) if answer else None


def test_compression_is_not_negotiated() -> None:
    async def host() -> str | None:
        with listen_websocket("0") as listener:
            seating = asyncio.create_task(listener.accept_players(FISH, limits=LIMITS, timeout_s=0.3))
            surfer, response = await shaken(listener, **{"Sec-WebSocket-Extensions": "permessage-deflate"})
            surfer.hang_up()
            (guest,) = await seating
            await guest.channel.close(None)
            assert response is not None
            return response.headers.get("Sec-WebSocket-Extensions")

    assert run(host()) is None
