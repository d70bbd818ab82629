"""Buffer received data up to a limit, and split it into lines."""

import asyncio
from collections.abc import Sized

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.connection import (
    Callback,
    ClosedMidReply,
    Connection,
    ConnectionClosed,
    OnReceive,
    Received,
    TooMuchData,
)

MAX_EXCERPT_BYTES = 512  # of too much data
MAX_UNREAD_BYTES = 16 * 1024  # that wait to be sent to a slow reader


class BufferedConnection(Connection):
    """A connection that buffers received data. Its subclasses define the framing of messages."""

    closed_message = "the connection was closed"  # why the connection ended, if nothing else is known

    def __init__(self) -> None:
        self._held: Sized = b""  # received, but not delivered yet
        self._is_reading_paused = False  # the buffer is full
        self._end_reason: ConnectionClosed | TooMuchData | HostFault | None = None  # why nothing more is received
        self._receive_callback: OnReceive | None = None  # for the next message
        self._lost_callbacks: list[Callback] = []  # for the end of the connection
        self._reading: asyncio.ReadTransport  # the transport that is read from

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Send a message, and call back once with the next one, or with what went wrong."""
        self.send(text)
        self._receive_callback = on_receive
        if self._held or self._end_reason is not None:
            self._deliver()

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call back once with the next message, or with what went wrong."""
        self._receive_callback = callback
        if callback is not None and (self._held or self._end_reason is not None):
            self._deliver()

    def on_lost(self, callback: Callback) -> None:
        """Call back once the connection has ended."""
        if self._end_reason is not None:
            callback()
        else:
            self._lost_callbacks.append(callback)

    def _end(self, why: ConnectionClosed | TooMuchData | HostFault | None = None) -> None:
        """Note the end of the connection and tell those who wait."""
        if self._end_reason is None:
            self._end_reason = why or connection_closed(self.closed_message)
        self._deliver()
        callbacks, self._lost_callbacks = self._lost_callbacks, []
        for callback in callbacks:
            asyncio.get_running_loop().call_soon(callback)  # after the task that received an earlier message

    def _deliver(self) -> None:
        """Deliver the next message, if there are both a message and a callback."""
        if self._receive_callback is not None and (message := self._next_message()) is not None:
            callback, self._receive_callback = self._receive_callback, None
            callback(message)

    def _next_message(self) -> Received | None:
        """The next whole message, or what went wrong; None: neither yet."""
        raise NotImplementedError

    def _stop_reading(self) -> None:
        """Stop reading, as the buffer is full."""
        if not self._is_reading_paused:
            self._is_reading_paused = True
            self._reading.pause_reading()

    def _resume_reading(self) -> None:
        """Read again, as the buffer has room."""
        self._is_reading_paused = False
        if not self._reading.is_closing():
            self._reading.resume_reading()


class FramedConnection(BufferedConnection):
    """A connection whose messages end with newlines. If the buffer is full, nothing more is read."""

    _held: bytes

    def __init__(self, max_line_bytes: int = wire.MAX_LINE_BYTES) -> None:
        super().__init__()
        self._max_line_bytes = max_line_bytes
        self._max_held_bytes = 2 * max_line_bytes  # when reading stops

    def _feed(self, new: bytes) -> None:
        """Process received data; a player that sends far too much is not read until it is asked again."""
        callback, end = self._receive_callback, len(new) - 1
        if callback is not None and not self._held and new.find(b"\n") == end <= self._max_line_bytes:
            self._receive_callback = None  # the usual case: exactly one line
            callback(new[:-1])
            return
        self._held = held = self._held + new if self._held else new
        if len(held) > self._max_held_bytes:
            self._stop_reading()
        if b"\n" in new or len(held) > self._max_line_bytes:
            self._deliver()

    def _next_message(self) -> Received | None:
        held = self._held
        end = held.find(b"\n")
        if end < 0:
            if len(held) > self._max_line_bytes:
                return TooMuchData(held[:MAX_EXCERPT_BYTES])
            return ClosedMidReply() if self._end_reason is not None and held else self._end_reason
        if end > self._max_line_bytes:
            return TooMuchData(held[:MAX_EXCERPT_BYTES])
        self._held = held[end + 1 :]
        if self._is_reading_paused and len(self._held) <= self._max_line_bytes:
            self._resume_reading()
        return held[:end]


def connection_closed(why: str = FramedConnection.closed_message, detail: str = "") -> ConnectionClosed:
    """The error for a connection that was closed."""
    return ConnectionClosed(Fault.GONE, why, detail)
