"""Receive JSON values over a connection: in the courses they follow each other without separators."""

import asyncio
import select
from collections import deque

from fairplay.core.errors import HostFault
from fairplay.course.channel.values import IllFormed, Scanner
from fairplay.protocol import wire
from fairplay.transport.connection import Callback, ClosedMidReply, ConnectionClosed, Received, TooMuchData
from fairplay.transport.sockets import SocketConnection

MAX_POLLS = 8  # turns of the event loop to read what lies in a socket


class CourseConnection(SocketConnection):
    """A connection that receives JSON values, also while no one is expected.

    Errors can also be `IllFormed`.
    """

    _held: deque[bytes]  # values that were not taken yet

    def __init__(self, max_value_bytes: int = wire.MAX_LINE_BYTES) -> None:
        super().__init__()
        self._held = deque()
        self._scanner = Scanner(max_value_bytes)
        self._then: Callback | None = None  # is called when there is nothing more to read
        self._poll = select.poll()

    def acquire(self, then: Callback) -> None:
        """Call `then` once everything is read that came before the question, as it is no answer."""
        if self._poll.poll(0):
            self._then = then
            self._poll_until_read(MAX_POLLS)
        else:
            then()

    def release(self) -> None:
        """Cancel `acquire`."""
        self._then = None

    @property
    def unfinished(self) -> bytes:
        """The received part of a value."""
        return self._scanner.unfinished

    @property
    def is_behind(self) -> bool:
        """Is the other end slow to read?"""
        return self._is_writing_paused and self._open

    def surplus(self) -> bytes | TooMuchData:
        """What was received already, without white space."""
        wrong = self._scanner.wrong
        if wrong is None and not self._held:
            return self._scanner.unfinished
        if isinstance(wrong, TooMuchData):
            return wrong
        return self._held[0] if self._held or wrong is None else wrong.text

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def _poll_until_read(self, times: int) -> None:
        then = self._then
        if (
            then is not None
            and times
            and self._end_reason is None
            and not self._is_reading_paused
            and self._poll.poll(0)
        ):
            self._loop.call_soon(self._poll_until_read, times - 1)
        elif then is not None:
            self._then = None
            then()

    def _feed(self, new: bytes) -> None:
        """Handle new bytes. After more than one value, reading stops until the next question."""
        values, hear, wrong = self._scanner.feed(new), self._receive_callback, self._scanner.wrong
        if hear is not None and len(values) == 1 and wrong is None:  # exactly one answer
            self._receive_callback = None
            hear(values[0])
            return
        self._held += values
        if len(self._held) > 1 or wrong is not None:
            self._stop_reading()
        if wrong is not None:
            self._end(wrong)
        else:
            self._deliver()

    def _end(self, why: ConnectionClosed | TooMuchData | HostFault | None = None) -> None:
        is_cut = self.unfinished and not isinstance(why, IllFormed | TooMuchData)
        super()._end(ClosedMidReply() if is_cut else why)

    def _next_message(self) -> Received | None:
        if not self._held:
            return self._end_reason
        value = self._held.popleft()
        if self._is_reading_paused and not self._held and self._scanner.wrong is None:
            self._resume_reading()
        return value
