"""Keep a line to somebody who speaks as the courses do: JSON values back to back over a connection."""

import asyncio
import select
from collections import deque
from typing import cast

from fairplay.core.events import Fault
from fairplay.players.values import IllFormed, Scanner
from fairplay.protocol import wire
from fairplay.transport.line import Closed, TooMuch

LOOKS = 8  # turns of the event loop in which whatever lies in a socket is read


class CourseLine(asyncio.Protocol):
    """A line on which values come; whatever comes is looked at when it comes, also if nobody waits for it.

    Besides `Closed` and `TooMuch`, what goes wrong can be `IllFormed`.
    """

    def __init__(self, most: int = wire.MOST_BYTES) -> None:
        self._scanner = Scanner(most)
        self._values: deque[bytes] = deque()  # that nobody took yet
        self._over: Closed | None = None  # nothing more comes
        self._lost = False  # and nothing can be said
        self._paused = False
        self._heard: asyncio.Future[None] | None = None  # for whoever waits for a value
        self._clear: asyncio.Future[None] | None = None  # until more can be sent
        self._transport: asyncio.Transport
        self._poll = select.poll()

    async def wake(self) -> None:
        """Take in what came before the question: it is no answer to it."""
        for _ in range(LOOKS):
            if self._over is not None or self._paused or not self._poll.poll(0):
                return
            await asyncio.sleep(0)

    async def send(self, text: bytes) -> None:
        """Send it; whoever never reads makes this wait."""
        if not self._lost:
            self._transport.write(text)
        if self._clear is not None:
            await self._clear
        if self._lost:
            raise closed()

    async def receive(self) -> bytes:
        """The next whole value, and nothing around it."""
        while not self._values:
            if self._scanner.wrong is not None:
                raise self._scanner.wrong
            if self._over is not None:
                raise self._over
            self._heard = asyncio.get_running_loop().create_future()
            await self._heard
        value = self._values.popleft()
        if self._paused and not self._values and self._scanner.wrong is None:
            self._paused = False
            self._transport.resume_reading()
        return value

    @property
    def unfinished(self) -> bytes:
        """The part of a value that is there."""
        return self._scanner.unfinished

    def surplus(self) -> bytes:
        """What is there already and is not white space; TooMuch: it is far too much."""
        wrong = self._scanner.wrong
        if isinstance(wrong, TooMuch):
            raise wrong
        if self._values:
            return self._values[0]
        return wrong.text if isinstance(wrong, IllFormed) else self.unfinished

    async def hang_up(self, last: bytes, within: float) -> None:
        """Cut the line; in this protocol there are no last words."""
        self._transport.abort()
        await asyncio.sleep(0)  # in which it is really closed

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """There is a line."""
        self._transport = cast(asyncio.Transport, transport)
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Something came. Who says more than anybody asked for is not listened to until somebody asks again."""
        self._values += self._scanner.feed(data)
        if not self._paused and (len(self._values) > 1 or self._scanner.wrong is not None):
            self._paused = True
            self._transport.pause_reading()
        if self._values or self._scanner.wrong is not None:
            done(self._heard)

    def eof_received(self) -> bool:
        """Nothing more will come; what we say may still be read."""
        self._end()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """There is no line any more."""
        self._lost = True
        self._end()
        done(self._clear)

    def pause_writing(self) -> None:
        """The other end does not read."""
        self._clear = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """It reads again."""
        done(self._clear)

    def _end(self) -> None:
        if self._over is None and self.unfinished:
            self._over = Closed(Fault.MALFORMED, "the line was closed in the middle of a value")
        elif self._over is None:
            self._over = closed()
        done(self._heard)


def closed() -> Closed:
    """What it means that nothing can be said or heard any more."""
    return Closed(Fault.GONE, "the connection was closed")


def done(future: asyncio.Future[None] | None) -> None:
    """Whoever waits for this goes on."""
    if future is not None and not future.done():
        future.set_result(None)
