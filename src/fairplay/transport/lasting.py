"""Keep a line to somebody that survives its connection: whoever comes back hears the open question again.

Whoever asks over it knows nothing of that. Its clock goes on while nobody is there, so to be away never buys time.
"""

import asyncio
from collections.abc import Callable

from fairplay.core.events import Fault
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.protocol import wire
from fairplay.referee.closing import surely
from fairplay.transport.line import Closed, Cut, Hear, Heard, Line

REPLACED = "you came back on another line"
A_MOMENT = 0.05  # seconds for telling that to a line that may be dead


class LastingLine(Line):
    """A line over one connection after the other. The newest counts, and the one before is closed first.

    Whose connection is lost has so many seconds to come back; then it is gone. Others are told of both.
    """

    def __init__(self, window: float, *, on_lost: Callable[[], None], on_gone: Callable[[], None]) -> None:
        self._window = window
        self._on_lost = on_lost
        self._on_gone = on_gone
        self._line: Line | None = None  # if it is lost it is kept, as it may still carry some last words
        self._coming: Line | None = None  # what takes its place, as soon as it is closed
        self._there = False  # is there a connection?
        self._gone: Closed | None = None
        self._away_since = asyncio.get_running_loop().time()
        self._alarm: asyncio.TimerHandle | None = None  # for when it is gone
        self._question = b""  # what was asked last
        self._hear: Hear | None = None  # who is called with what comes next; None: nothing was asked

    @property
    def is_there(self) -> bool:
        """Is there a connection now?"""
        return self._there

    @property
    def is_gone(self) -> bool:
        """Is it too late to come back?"""
        return self._gone is not None

    async def attach(self, line: Line, greeting: bytes) -> bool:
        """Go on over this line, on which the greeting comes first. False: it is too late, or somebody newer came.

        Then, or if this raises, the line is still the caller's, who has to close it.
        """
        if self._gone is not None:
            return False
        before = [each for each in (self._line, self._coming) if each is not None]
        self._line, self._coming = None, line
        self._wait_for_it()
        try:
            for each in before:
                await surely(each.hang_up(wire.suspended(REPLACED, 0.0), A_MOMENT))
            if self._coming is not line:
                return False
            line.send(greeting)
            self._line, self._coming = line, None
            self._set_alarm(None)
            self._there = True
        finally:
            if self._coming is line:  # nothing came of it
                self._coming = None
                self._on_lost()
        line.when_lost(lambda: self._lose(line))
        if self._there and self._hear is not None:
            line.ask(self._question, self._heard)
        return True

    def send(self, text: bytes) -> None:
        """Say something to whoever is there."""
        if self._there and self._line is not None:
            self._line.send(text)

    def ask(self, text: bytes, hear: Hear) -> None:
        """Ask a question. Who is away hears it when it is back."""
        self._question = text
        if self._there and self._line is not None:
            self._hear = hear
            self._line.ask(text, self._heard)
        else:
            self.listen(hear)

    def listen(self, hear: Hear | None) -> None:
        """Have this called once with the next line from whoever is there, or comes back meanwhile."""
        self._hear = hear
        if self._gone is not None:
            self._heard(self._gone)
        elif self._there and self._line is not None:
            self._line.listen(self._heard if hear is not None else None)

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, if somebody is there to take it at once."""
        return self._there and self._line is not None and self._line.offer(text)

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds; nobody can come back afterwards."""
        line, self._line = self._line, None
        self.give_up("the line was cut")
        if line is not None:
            await line.hang_up(last, within)

    def give_up(self, why: str) -> None:
        """Wait no longer for anybody to come back. What is still open has to be hung up."""
        if self._gone is None:
            self._gone = Closed(Fault.GONE, why)
            self._coming = None
            self._there = False
            self._set_alarm(None)
            if self._hear is not None:
                asyncio.get_running_loop().call_soon(self._heard, self._gone)
            self._on_gone()

    def evidence(self) -> Evidence:
        """For how long there is no connection, if there is none."""
        return NO_EVIDENCE if self._there else Evidence(away=asyncio.get_running_loop().time() - self._away_since)

    def _heard(self, heard: Heard) -> None:
        """Pass on what came; but not that a line was lost, as somebody may come back."""
        hear = self._hear
        if hear is not None and (isinstance(heard, bytes) or self._gone is not None or not is_loss(heard)):
            self._hear = None
            hear(heard)

    def _lose(self, line: Line) -> None:
        """The connection is lost, unless it was given up before."""
        if line is self._line and self._there:
            self._wait_for_it()
            self._on_lost()

    def _wait_for_it(self) -> None:
        """Nobody is there from now on, until somebody comes back or the time is up."""
        self._there = False
        loop = asyncio.get_running_loop()
        self._away_since = loop.time()
        self._set_alarm(loop.call_later(self._window, self.give_up, f"did not come back within {self._window:g} s"))

    def _set_alarm(self, alarm: asyncio.TimerHandle | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = alarm


def is_loss(heard: Heard) -> bool:
    """Was a line lost, without anybody doing wrong?"""
    return isinstance(heard, Cut) or (isinstance(heard, Closed) and heard.fault is Fault.GONE)
