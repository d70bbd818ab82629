"""Implement connections over sockets: data is processed as soon as the event loop reads it, without streams."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast
from weakref import WeakKeyDictionary

from fairplay.protocol import wire
from fairplay.transport.endpoint import describe_os_error
from fairplay.transport.framed import MAX_UNREAD_BYTES, BufferedConnection, FramedConnection, connection_closed

READ_BUFFER_BYTES = wire.MAX_LINE_BYTES
KEEPALIVE_OPTIONS = {
    "TCP_KEEPIDLE": 30,
    "TCP_KEEPINTVL": 10,
    "TCP_KEEPCNT": 3,
}  # seconds of silence, seconds between probes, number of probes
USER_TIMEOUT_OPTION = {"TCP_USER_TIMEOUT": 60_000}  # milliseconds until sent data has to be acknowledged


class SharedBuffers:
    """A read buffer and a list of unsent connections, shared by all connections of an event loop.

    Data is taken out of the read buffer at once; a new buffer for each read, as asyncio makes them, would take longer
    than everything else. The first question in a turn of the loop is sent at once, all others together at the end of
    the turn: waking a player for each of them takes longer than sending it.
    """

    def __init__(self) -> None:
        self.buffer = memoryview(bytearray(READ_BUFFER_BYTES))
        self.is_flush_scheduled = False  # at the end of this turn of the loop
        self.unsent_connections: list[SocketConnection] = []  # that have something to send then

    def flush(self) -> None:
        """Send the unsent data of all connections."""
        self.is_flush_scheduled = False
        connections, self.unsent_connections = self.unsent_connections, []
        for connection in connections:
            connection.flush()


SHARED_BUFFERS: "WeakKeyDictionary[asyncio.AbstractEventLoop, SharedBuffers]" = WeakKeyDictionary()


def get_shared_buffers(loop: asyncio.AbstractEventLoop) -> SharedBuffers:
    """The shared buffers of this loop."""
    return SHARED_BUFFERS.get(loop) or SHARED_BUFFERS.setdefault(loop, SharedBuffers())


class SocketConnection(asyncio.BufferedProtocol, BufferedConnection):
    """A connection over a socket, encrypted or not, for any number of matches."""

    def __init__(self) -> None:
        super().__init__()
        self._unsent = b""  # until the end of this turn of the loop
        self._open = False  # can data be sent?
        self._is_writing_paused = False  # is the other end too slow to read?
        self._loop: asyncio.AbstractEventLoop
        self._transport: asyncio.Transport
        self._write: Callable[[bytes], None]  # the write method of the transport
        self._shared: SharedBuffers
        self._lost: asyncio.Future[None]

    def send(self, text: bytes) -> None:
        """Send data, now or at the end of this turn of the loop."""
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
        """Send the data that has waited."""
        text, self._unsent = self._unsent, b""
        if text and self._open:
            self._write(text)

    def offer(self, text: bytes) -> bool:
        """Send a message that needs no answer. False: the other end is too slow to read it."""
        if self._is_writing_paused or not self._open:
            return False
        self.flush()
        self._write(self._encode_frame(text))
        return True

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message within a time limit, and close the connection."""
        try:
            if self._send_last_and_close(last):
                await asyncio.wait((self._lost,), timeout=within)
        finally:
            if not self._lost.done():
                self._transport.abort()
                await asyncio.sleep(0)  # lets the transport close the socket

    # How messages travel.

    def _encode_frame(self, text: bytes) -> bytes:
        """A line in the framing of this connection."""
        return text

    def _feed(self, new: bytes) -> None:
        """Process received data."""
        raise NotImplementedError

    def _send_last_and_close(self, last: bytes) -> bool:
        """Send a last message, and close the connection after it. False: there is nothing to send."""
        if not (last and self._open):
            return False
        self.send(last)
        self.flush()
        self._transport.close()
        return True

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set up the connection."""
        self._loop = asyncio.get_running_loop()
        self._lost = self._loop.create_future()
        self._reading = self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=MAX_UNREAD_BYTES)
        self._write = self._transport.write
        self._shared = get_shared_buffers(self._loop)
        self._open = True

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for received data."""
        return self._shared.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Process received data."""
        self._feed(self._shared.buffer[:nbytes].tobytes())

    def eof_received(self) -> bool:
        """The other end has stopped sending; without TLS it may still read."""
        self._end()
        return self._transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is closed."""
        self._open = False
        self._end(None if exc is None else connection_closed(self.closed_message, describe_os_error(exc)))
        if not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        """The other end is too slow to read."""
        self._is_writing_paused = True

    def resume_writing(self) -> None:
        """The other end reads again."""
        self._is_writing_paused = False


class TcpConnection(FramedConnection, SocketConnection):
    """A connection over TCP, on which each line ends with a newline."""


async def accept_tcp(connection: socket.socket, tls: ssl.SSLContext | None = None) -> TcpConnection:
    """Make a connection from an accepted socket, with TLS if there is a context."""
    accepted = TcpConnection()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: accepted, connection, ssl=tls)
    return accepted


def enable_keepalive(connection: socket.socket) -> None:
    """Have the operating system detect dead connections, as far as it can."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, True)
    for name, value in (KEEPALIVE_OPTIONS | USER_TIMEOUT_OPTION).items():
        if option := getattr(socket, name, None):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
