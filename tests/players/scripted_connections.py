"""Talk to a RemoteChannel by a script, on an event loop where time passes only while all tasks wait."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.transport.connection import Connection, ConnectionClosed, OnReceive, TooMuchData
from fairplay.transport.event_loop import TimingEventLoop, TimingSelector

T = TypeVar("T")
Question = dict[str, Any]
Reply = Callable[[list[Question]], bytes]  # from all questions up to now to the line that comes back
Step = tuple[float, bytes | Reply | ConnectionClosed | TooMuchData]  # after so many seconds


class InstantSelector(selectors.DefaultSelector):
    """A selector that does not wait, but says how long it would have; and how often it has looked."""

    def __init__(self, waited: Callable[[float], None]) -> None:
        super().__init__()
        self._waited = waited
        self.looks = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        self.looks += 1
        if not ready:
            if timeout is None:
                raise AssertionError("all tasks wait, and nothing will ever happen")
            self._waited(max(0.0, timeout))
        return ready


class InstantTimingSelector(TimingSelector, InstantSelector):
    """The same, which can be observed."""


class VirtualTimeLoop(TimingEventLoop):
    """An event loop with a clock of its own: a day takes no time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.leap = InstantTimingSelector(self.pass_time)
        super().__init__(self.leap)

    def time(self) -> float:
        return self.now

    def pass_time(self, seconds: float) -> None:
        """Called from a callback, stall the event loop for so long."""
        self.now += seconds


class ScriptedConnection(Connection):
    """A line on which everything comes by a script. It remembers what was sent, and how it was hung up."""

    def __init__(self, *steps: Step, known: str = "") -> None:
        self.sent: list[Question] = []
        self.hung_up: list[tuple[bytes, float]] = []
        self.cancelled = 0
        self.steps = list(steps)
        self._listening: asyncio.TimerHandle | None = None
        self._known = known

    def send(self, text: bytes) -> None:
        assert text.endswith(b"\n") and text.count(b"\n") == 1
        self.sent.append(msgspec.json.decode(text))

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call with the next line of the script, after its time; then with nothing, for ever."""
        if self._listening is not None:
            self._listening.cancel()
            self.cancelled += 1
            self._listening = None
        if callback is not None:
            after, what = self.steps.pop(0) if self.steps else (1e9, b"")
            self._listening = asyncio.get_running_loop().call_later(after, self._pass_on, callback, what)

    def _pass_on(self, hear: OnReceive, what: bytes | Reply | ConnectionClosed | TooMuchData) -> None:
        self._listening = None
        hear(what if isinstance(what, bytes | ConnectionClosed | TooMuchData) else what(self.sent))

    async def close(self, last: bytes, within: float) -> None:
        self.on_receive(None)
        self.hung_up.append((last, within))

    def evidence(self) -> Evidence:
        return Evidence(stderr=self._known) if self._known else NO_EVIDENCE


def reply_with(answer: Any, question: int = -1) -> Reply:
    """A good reply with this answer, to the last question or to another."""
    return lambda sent: msgspec.json.encode({"nonce": sent[question]["nonce"], "answer": answer})


def run_in_virtual_time(work: Callable[[VirtualTimeLoop], Coroutine[Any, Any, T]]) -> T:
    """What the work comes to, on a loop with a clock of its own; nothing may be left over."""
    loop = VirtualTimeLoop()
    try:
        found = loop.run_until_complete(work(loop))
        left = asyncio.all_tasks(loop)
        assert not left, f"still at work: {left}"
        return found
    finally:
        loop.close()
