"""Keep what came over a connection and was not asked for yet, up to a bound; take lines of text out of bytes."""

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

MAX_EXCERPT_BYTES = 512  # bytes of what was too much
MAX_UNREAD_BYTES = 16 * 1024  # bytes that lie here for the other end to read


class BufferedConnection(Connection):
    """A connection that holds what comes until it is asked for. How messages are framed, its subclasses know."""

    closed_message = "the connection was closed"  # what is said of the end, if nothing else is known

    def __init__(self) -> None:
        self._held: Sized = b""  # what came and was not asked for yet
        self._is_reading_paused = False  # that is too much: nothing is read
        self._end_reason: ConnectionClosed | TooMuchData | HostFault | None = None  # nothing more comes
        self._receive_callback: OnReceive | None = None  # is called with the next message
        self._lost_callbacks: list[Callback] = []  # for when nothing more comes
        self._reading: asyncio.ReadTransport  # from where it comes

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Send a whole message, and have this called once with the next one that comes, or with what goes wrong."""
        self.send(text)
        self._receive_callback = on_receive
        if self._held or self._end_reason is not None:
            self._deliver()

    def on_receive(self, callback: OnReceive | None) -> None:
        """Have this called once with the next whole message, or with what goes wrong."""
        self._receive_callback = callback
        if callback is not None and (self._held or self._end_reason is not None):
            self._deliver()

    def on_lost(self, callback: Callback) -> None:
        """Have this called once nothing more can come."""
        if self._end_reason is not None:
            callback()
        else:
            self._lost_callbacks.append(callback)

    def _end(self, why: ConnectionClosed | TooMuchData | HostFault | None = None) -> None:
        """Nothing more comes."""
        if self._end_reason is None:
            self._end_reason = why or connection_closed(self.closed_message)
        self._deliver()
        calls, self._lost_callbacks = self._lost_callbacks, []
        for call in calls:
            asyncio.get_running_loop().call_soon(call)  # the task that was handed an earlier message goes on first

    def _deliver(self) -> None:
        """Let whoever listens have what is next."""
        if self._receive_callback is not None and (heard := self._next_message()) is not None:
            hear, self._receive_callback = self._receive_callback, None
            hear(heard)

    def _next_message(self) -> Received | None:
        """The next whole message, or what went wrong; None: neither is here yet."""
        raise NotImplementedError

    def _stop_reading(self) -> None:
        """So much lies here that nothing more is read."""
        if not self._is_reading_paused:
            self._is_reading_paused = True
            self._reading.pause_reading()

    def _resume_reading(self) -> None:
        """Some of it was taken."""
        self._is_reading_paused = False
        if not self._reading.is_closing():
            self._reading.resume_reading()


class FramedConnection(BufferedConnection):
    """A line whose ends are marked by newlines. Behind what is too much, the other end has to wait."""

    _held: bytes

    def __init__(self, max_line_bytes: int = wire.MAX_LINE_BYTES) -> None:
        super().__init__()
        self._max_line_bytes = max_line_bytes
        self._max_held_bytes = 2 * max_line_bytes  # behind which nothing more is read

    def _feed(self, new: bytes) -> None:
        """Something came. Who says far more than anybody asks for is not listened to until somebody asks again."""
        hear, end = self._receive_callback, len(new) - 1
        if hear is not None and not self._held and new.find(b"\n") == end <= self._max_line_bytes:
            self._receive_callback = None  # it is just what was asked for
            hear(new[:-1])
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
    """What it means that nothing can be said or heard any more."""
    return ConnectionClosed(Fault.GONE, why, detail)
