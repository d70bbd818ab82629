"""Keep a line to somebody over a connection: what the event loop reads is looked at on the spot, without streams."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import cast
from weakref import WeakKeyDictionary

from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.line import Closed, Cut, Hear, Heard, Line, TooMuch

CHUNK = wire.MOST_BYTES  # bytes that are read at once
MOST_HELD = 2 * wire.MOST_BYTES  # bytes that lie here, behind which nothing more is read
MOST_UNREAD = 16 * 1024  # bytes that lie here for the other end to read
MOST_SHOWN = 512  # bytes of what was too much
KNOCKING = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}  # seconds of silence, between knocks; how often
UNHEARD = {"TCP_USER_TIMEOUT": 60_000}  # milliseconds in which the other machine has to have taken what we said


class Shared:
    """What all lines on an event loop share: where what is read comes first, and what is sent together.

    What is read is taken from there at once; a buffer for each read, as asyncio makes them, takes longer than all else
    about a line. The first question in a turn of the loop goes out at once, and all others when the turn is over, one
    right behind the other: to wake somebody for each of them takes longer than to send it.
    """

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(CHUNK))
        self.waits = False  # for the end of this turn
        self.lines: list[Connection] = []  # with something to send then

    def send(self) -> None:
        """Send what all of them have to say."""
        self.waits = False
        lines, self.lines = self.lines, []
        for line in lines:
            line.send_unsent()


SHARED: "WeakKeyDictionary[asyncio.AbstractEventLoop, Shared]" = WeakKeyDictionary()


class Connection(asyncio.BufferedProtocol, Line):
    """A line whose ends are marked by newlines, for any number of matches. One at a time receives.

    Whatever comes is kept until somebody asks for it, up to a bound; behind that the other end has to wait.
    """

    at_once = True

    def __init__(self) -> None:
        self._unsent = b""  # what waits for the end of a turn of the loop
        self._held = b""  # what came and was not asked for yet
        self._deaf = False  # that is too much
        self._over = False  # nothing more comes
        self._open = False  # something can be said
        self._heard: asyncio.Future[None] | None = None  # for whoever waits for a line
        self._hear: Hear | None = None  # who is called with it
        self._clear: asyncio.Future[None] | None = None  # for whoever waits until the other end has read
        self._calls: list[Callable[[], None]] = []  # for when nothing more comes
        self._loop: asyncio.AbstractEventLoop
        self._transport: asyncio.Transport
        self._write: Callable[[bytes], None]  # of the transport
        self._shared: Shared
        self._lost: asyncio.Future[None]

    def say(self, text: bytes) -> None:
        """Send a whole line."""
        if not self._open:
            return
        shared = self._shared
        if not shared.waits:
            shared.waits = True
            self._loop.call_soon(shared.send)
            self._write(text)
        elif self._unsent:
            self._unsent += text
        else:
            self._unsent = text
            shared.lines.append(self)

    def ask(self, text: bytes, hear: Hear) -> None:
        """Send a whole line, and have this called once with the next one that comes, or with what goes wrong."""
        self.say(text)
        self._hear = hear
        if self._held or self._over:
            self._pass_on()

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with the next whole line, or with what goes wrong."""
        self._hear = hear
        if hear is not None and (self._held or self._over):
            self._pass_on()

    async def send(self, text: bytes) -> None:
        """Send a whole line; whoever never reads makes this wait."""
        self.say(text)
        if self._clear is not None:
            await asyncio.wait((self._clear,))
        if not self._open:
            raise closed()

    def send_unsent(self) -> None:
        """Send what has waited."""
        text, self._unsent = self._unsent, b""
        if text and self._open:
            self._write(text)

    async def receive(self) -> bytes:
        """The next whole line, without its end."""
        while (heard := self._next()) is None:
            self._heard = self._loop.create_future()
            await self._heard
        if not isinstance(heard, bytes):
            raise heard
        return heard

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, unless the other end is behind with reading."""
        if self._clear is not None or not self._open:
            return False
        self.send_unsent()
        self._write(text)
        return True

    def when_lost(self, call: Callable[[], None]) -> None:
        """Have this called once nothing more can come."""
        if self._over:
            call()
        else:
            self._calls.append(call)

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds, and cut the line."""
        try:
            if last:
                with suppress(Closed, TimeoutError):
                    async with asyncio.timeout(within):
                        await self.send(last)
                        self.send_unsent()
                        self._transport.close()  # once all of it is on its way
                        await asyncio.wait((self._lost,))
        finally:
            self._transport.abort()
            await asyncio.sleep(0)  # in which it is really closed

    def evidence(self) -> str:
        """Nothing is known of the other end of a connection."""
        return ""

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a line."""
        self._loop = asyncio.get_running_loop()
        self._lost = self._loop.create_future()
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MOST_UNREAD)
        self._write = self._transport.write
        self._shared = SHARED.get(self._loop) or SHARED.setdefault(self._loop, Shared())
        self._open = True

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes."""
        return self._shared.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Something came. Who says far more than anybody asks for is not listened to until somebody asks again."""
        new = self._shared.buffer[:nbytes].tobytes()
        hear = self._hear
        if hear is not None and not self._held and new.find(b"\n") == nbytes - 1:  # just what was asked for
            self._hear = None
            hear(new[:-1])
            return
        self._held = held = self._held + new if self._held else new
        if len(held) > MOST_HELD and not self._deaf:
            self._deaf = True
            self._transport.pause_reading()
        if b"\n" in new or len(held) > wire.MOST_BYTES:
            self._pass_on()

    def eof_received(self) -> bool:
        """Nothing more will come; but for TLS, what we say may still be read."""
        self._end()
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: Exception | None) -> None:
        """There is no line any more."""
        self._open = False
        self._end()
        self.resume_writing()
        done(self._lost)

    def pause_writing(self) -> None:
        """The other end does not read."""
        self._clear = self._loop.create_future()

    def resume_writing(self) -> None:
        """It reads again."""
        done(self._clear)
        self._clear = None

    def _pass_on(self) -> None:
        """Let whoever listens have what is next; or whoever waits go on."""
        done(self._heard)
        if self._hear is not None and (heard := self._next()) is not None:
            hear, self._hear = self._hear, None
            hear(heard)

    def _next(self) -> Heard | None:
        """The next whole line, or what went wrong; None: neither is here yet."""
        held = self._held
        end = held.find(b"\n")
        if end < 0:
            if len(held) > wire.MOST_BYTES:
                return TooMuch(held[:MOST_SHOWN])
            if self._over:
                return Cut() if held else closed()
            return None
        if end > wire.MOST_BYTES:
            return TooMuch(held[:MOST_SHOWN])
        self._held = held[end + 1 :]
        if self._deaf and len(self._held) <= wire.MOST_BYTES and not self._transport.is_closing():
            self._deaf = False
            self._transport.resume_reading()
        return held[:end]

    def _end(self) -> None:
        self._over = True
        self._pass_on()
        calls, self._calls = self._calls, []
        for call in calls:
            call()


async def over_tcp(connection: socket.socket, tls: ssl.SSLContext | None = None) -> Connection:
    """The line over a connection that was let in, encrypted if need be."""
    line = Connection()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: line, connection, ssl=tls)
    return line


def closed() -> Closed:
    """What it means that nothing can be said or heard any more."""
    return Closed(Fault.GONE, "the connection was closed")


def done(future: asyncio.Future[None] | None) -> None:
    """Whoever waits for this goes on."""
    if future is not None and not future.done():
        future.set_result(None)


def notice_loss(connection: socket.socket) -> None:
    """Have the machine find out when the other one is not there any more, as far as it can."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
    for name, value in (KNOCKING | UNHEARD).items():
        if option := getattr(socket, name, None):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
