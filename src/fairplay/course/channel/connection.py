"""Find JSON values in what comes over a connection: in the courses they come back to back, and nothing ends a line."""

import asyncio
import select
from collections import deque

from fairplay.core.errors import HostFault
from fairplay.course.channel.values import IllFormed, Scanner
from fairplay.protocol import wire
from fairplay.transport.connection import SocketConnection
from fairplay.transport.line import Call, Closed, Cut, Heard, TooMuch

LOOKS = 8  # turns of the event loop in which whatever lies in a socket is read


class CourseConnection(SocketConnection):
    """A connection over which values come. They are looked at when they come, also if nobody waits for one.

    What goes wrong can be `IllFormed`, too.
    """

    _held: deque[bytes]  # values that nobody took yet

    def __init__(self, max_value_bytes: int = wire.MOST_BYTES) -> None:
        super().__init__()
        self._held = deque()
        self._scanner = Scanner(max_value_bytes)
        self._then: Call | None = None  # is called when there is nothing to read
        self._poll = select.poll()

    def acquire(self, then: Call) -> None:
        """Call this when all is read that came before the question: it is no answer to it."""
        if self._poll.poll(0):
            self._then = then
            self._look(LOOKS)
        else:
            then()

    def release(self) -> None:
        """Call nobody."""
        self._then = None

    @property
    def unfinished(self) -> bytes:
        """The part of a value that is there."""
        return self._scanner.unfinished

    @property
    def is_behind(self) -> bool:
        """Has the other end much to read?"""
        return self._behind and self._open

    def surplus(self) -> bytes | TooMuch:
        """What is there already and is not white space."""
        wrong = self._scanner.wrong
        if wrong is None and not self._held:
            return self._scanner.unfinished
        if isinstance(wrong, TooMuch):
            return wrong
        return self._held[0] if self._held or wrong is None else wrong.text

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def _look(self, times: int) -> None:
        then = self._then
        if then is not None and times and self._over is None and not self._deaf and self._poll.poll(0):
            self._loop.call_soon(self._look, times - 1)
        elif then is not None:
            self._then = None
            then()

    def _feed(self, new: bytes) -> None:
        """Something came. Who says more than anybody asked for is not listened to until somebody asks again."""
        values, hear, wrong = self._scanner.feed(new), self._hear, self._scanner.wrong
        if hear is not None and len(values) == 1 and wrong is None:  # just what was asked for
            self._hear = None
            hear(values[0])
            return
        self._held += values
        if len(self._held) > 1 or wrong is not None:
            self._stop_reading()
        if wrong is not None:
            self._end(wrong)
        else:
            self._pass_on()

    def _end(self, why: Closed | TooMuch | HostFault | None = None) -> None:
        is_cut = self.unfinished and not isinstance(why, IllFormed | TooMuch)
        super()._end(Cut() if is_cut else why)

    def _next(self) -> Heard | None:
        if not self._held:
            return self._over
        value = self._held.popleft()
        if self._deaf and not self._held and self._scanner.wrong is None:
            self._read_on()
        return value
