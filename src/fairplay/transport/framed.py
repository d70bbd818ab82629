"""Keep what came over a connection and was not asked for yet, up to a bound; take lines of text out of bytes."""

import asyncio
from collections.abc import Sized

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.protocol import wire
from fairplay.transport.line import Call, Closed, Cut, Hear, Heard, Line, TooMuch

MOST_SHOWN = 512  # bytes of what was too much
MOST_UNREAD = 16 * 1024  # bytes that lie here for the other end to read


class BufferedConnection(Line):
    """A connection that holds what comes until it is asked for. How messages are framed, its subclasses know."""

    gone = "the connection was closed"  # what is said of the end, if nothing else is known

    def __init__(self) -> None:
        self._held: Sized = b""  # what came and was not asked for yet
        self._deaf = False  # that is too much: nothing is read
        self._over: Closed | TooMuch | HostFault | None = None  # nothing more comes
        self._hear: Hear | None = None  # is called with the next message
        self._calls: list[Call] = []  # for when nothing more comes
        self._reading: asyncio.ReadTransport  # from where it comes

    def ask(self, text: bytes, hear: Hear) -> None:
        """Send a whole message, and have this called once with the next one that comes, or with what goes wrong."""
        self.send(text)
        self._hear = hear
        if self._held or self._over is not None:
            self._pass_on()

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with the next whole message, or with what goes wrong."""
        self._hear = hear
        if hear is not None and (self._held or self._over is not None):
            self._pass_on()

    def when_lost(self, call: Call) -> None:
        """Have this called once nothing more can come."""
        if self._over is not None:
            call()
        else:
            self._calls.append(call)

    def _end(self, why: Closed | TooMuch | HostFault | None = None) -> None:
        """Nothing more comes."""
        if self._over is None:
            self._over = why or closed(self.gone)
        self._pass_on()
        calls, self._calls = self._calls, []
        for call in calls:
            asyncio.get_running_loop().call_soon(call)  # the task that was handed an earlier message goes on first

    def _pass_on(self) -> None:
        """Let whoever listens have what is next."""
        if self._hear is not None and (heard := self._next()) is not None:
            hear, self._hear = self._hear, None
            hear(heard)

    def _next(self) -> Heard | None:
        """The next whole message, or what went wrong; None: neither is here yet."""
        raise NotImplementedError

    def _stop_reading(self) -> None:
        """So much lies here that nothing more is read."""
        if not self._deaf:
            self._deaf = True
            self._reading.pause_reading()

    def _read_on(self) -> None:
        """Some of it was taken."""
        self._deaf = False
        if not self._reading.is_closing():
            self._reading.resume_reading()


class FramedLine(BufferedConnection):
    """A line whose ends are marked by newlines. Behind what is too much, the other end has to wait."""

    _held: bytes

    def __init__(self, max_line_bytes: int = wire.MOST_BYTES) -> None:
        super().__init__()
        self._max_line_bytes = max_line_bytes
        self._max_held_bytes = 2 * max_line_bytes  # behind which nothing more is read

    def _feed(self, new: bytes) -> None:
        """Something came. Who says far more than anybody asks for is not listened to until somebody asks again."""
        hear, end = self._hear, len(new) - 1
        if hear is not None and not self._held and new.find(b"\n") == end <= self._max_line_bytes:
            self._hear = None  # it is just what was asked for
            hear(new[:-1])
            return
        self._held = held = self._held + new if self._held else new
        if len(held) > self._max_held_bytes:
            self._stop_reading()
        if b"\n" in new or len(held) > self._max_line_bytes:
            self._pass_on()

    def _next(self) -> Heard | None:
        held = self._held
        end = held.find(b"\n")
        if end < 0:
            if len(held) > self._max_line_bytes:
                return TooMuch(held[:MOST_SHOWN])
            return Cut() if self._over is not None and held else self._over
        if end > self._max_line_bytes:
            return TooMuch(held[:MOST_SHOWN])
        self._held = held[end + 1 :]
        if self._deaf and len(self._held) <= self._max_line_bytes:
            self._read_on()
        return held[:end]


def closed(why: str = FramedLine.gone, detail: str = "") -> Closed:
    """What it means that nothing can be said or heard any more."""
    return Closed(Fault.GONE, why, detail)
