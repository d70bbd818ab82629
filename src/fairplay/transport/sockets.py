"""Keep a line to somebody over a connection: what the event loop reads is looked at on the spot, without streams."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast
from weakref import WeakKeyDictionary

from fairplay.protocol import wire
from fairplay.transport.endpoint import describe_os_error
from fairplay.transport.framed import MAX_UNREAD_BYTES, BufferedConnection, FramedConnection, connection_closed

READ_BUFFER_BYTES = wire.MAX_LINE_BYTES  # bytes that are read at once
KEEPALIVE_OPTIONS = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
}  # seconds of silence, between knocks; how often
USER_TIMEOUT_OPTION = {
    "TCP_USER_TIMEOUT": 60_000
}  # milliseconds in which the other machine has to have taken what we said


class SharedBuffers:
    """What all lines on an event loop share: where what is read comes first, and what is sent together.

    What is read is taken from there at once; a buffer for each read, as asyncio makes them, takes longer than all else
    about a line. The first question in a turn of the loop goes out at once, and all others when the turn is over, one
    right behind the other: to wake somebody for each of them takes longer than to send it.
    """

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(READ_BUFFER_BYTES))
        self.is_flush_scheduled = False  # for the end of this turn
        self.unsent_connections: list[SocketConnection] = []  # with something to send then

    def flush(self) -> None:
        """Send what all of them have to say."""
        self.is_flush_scheduled = False
        lines, self.unsent_connections = self.unsent_connections, []
        for line in lines:
            line.flush()


SHARED_BUFFERS: "WeakKeyDictionary[asyncio.AbstractEventLoop, SharedBuffers]" = WeakKeyDictionary()


def get_shared_buffers(loop: asyncio.AbstractEventLoop) -> SharedBuffers:
    """What all lines on this loop share."""
    return SHARED_BUFFERS.get(loop) or SHARED_BUFFERS.setdefault(loop, SharedBuffers())


class SocketConnection(asyncio.BufferedProtocol, BufferedConnection):
    """A connection over a socket, encrypted or not, for any number of matches. One at a time listens."""

    def __init__(self) -> None:
        super().__init__()
        self._unsent = b""  # what waits for the end of a turn of the loop
        self._open = False  # something can be said
        self._is_writing_paused = False  # is the other end behind with reading?
        self._loop: asyncio.AbstractEventLoop
        self._transport: asyncio.Transport
        self._write: Callable[[bytes], None]  # of the transport
        self._shared: SharedBuffers
        self._lost: asyncio.Future[None]

    def send(self, text: bytes) -> None:
        """Send these bytes."""
        if not self._open:
            return
        shared = self._shared
        if not shared.is_flush_scheduled:
            shared.is_flush_scheduled = True
            self._loop.call_soon(shared.flush)
            self._write(text)
        elif self._unsent:
            self._unsent += text
        else:
            self._unsent = text
            shared.unsent_connections.append(self)

    def flush(self) -> None:
        """Send what has waited."""
        text, self._unsent = self._unsent, b""
        if text and self._open:
            self._write(text)

    def offer(self, text: bytes) -> bool:
        """Send a message that needs no answer, unless the other end is behind with reading."""
        if self._is_writing_paused or not self._open:
            return False
        self.flush()
        self._write(self._encode_frame(text))
        return True

    async def close(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds, and cut the line."""
        try:
            if self._send_last_and_close(last):
                await asyncio.wait((self._lost,), timeout=within)
        finally:
            if not self._lost.done():
                self._transport.abort()
                await asyncio.sleep(0)  # in which it is really closed

    # How messages travel.

    def _encode_frame(self, text: bytes) -> bytes:
        """A line as it is sent."""
        return text

    def _feed(self, new: bytes) -> None:
        """Something came."""
        raise NotImplementedError

    def _send_last_and_close(self, last: bytes) -> bool:
        """Send some last words, and close the connection once all of it is on its way. False: nothing is to be said."""
        if not (last and self._open):
            return False
        self.send(last)
        self.flush()
        self._transport.close()
        return True

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a connection."""
        self._loop = asyncio.get_running_loop()
        self._lost = self._loop.create_future()
        self._reading = self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MAX_UNREAD_BYTES)
        self._write = self._transport.write
        self._shared = get_shared_buffers(self._loop)
        self._open = True

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes."""
        return self._shared.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Something came."""
        self._feed(self._shared.buffer[:nbytes].tobytes())

    def eof_received(self) -> bool:
        """Nothing more will come; but for TLS, what we say may still be read."""
        self._end()
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: Exception | None) -> None:
        """There is no connection any more."""
        self._open = False
        self._end(None if exc is None else connection_closed(self.closed_message, describe_os_error(exc)))
        if not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        """The other end does not read."""
        self._is_writing_paused = True

    def resume_writing(self) -> None:
        """It reads again."""
        self._is_writing_paused = False


class TcpConnection(FramedConnection, SocketConnection):
    """A connection over TCP, on which each line ends with a newline."""


async def accept_tcp(connection: socket.socket, tls: ssl.SSLContext | None = None) -> TcpConnection:
    """The line over a connection that was let in, encrypted if need be."""
    line = TcpConnection()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: line, connection, ssl=tls)
    return line


def enable_keepalive(connection: socket.socket) -> None:
    """Have the machine find out when the other one is not there any more, as far as it can."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
    for name, value in (KEEPALIVE_OPTIONS | USER_TIMEOUT_OPTION).items():
        if option := getattr(socket, name, None):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
