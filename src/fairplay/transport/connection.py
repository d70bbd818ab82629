"""Say what a line to somebody is, and what can go wrong on it."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.core.messages import NO_EVIDENCE, Evidence


class ConnectionClosed(Exception):
    """The other end has gone; `fault` is CRASHED for a program and GONE for a connection.

    `detail` is what the machine says of a connection that broke, and did not just end.
    """

    def __init__(self, fault: Fault, why: str, detail: str = "") -> None:
        super().__init__(why)
        self.fault = fault
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fault, *self.args), self.__dict__


class ClosedMidReply(ConnectionClosed):
    """The other end has gone in the middle of a reply."""

    def __init__(self) -> None:
        super().__init__(Fault.MALFORMED, "the line was closed in the middle of a reply")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self.__dict__


class ConnectionLost(Exception):
    """The connection to a host was lost, and how."""


class TooMuchData(Exception):
    """More came than anybody asked for; what came first is its text."""

    def __init__(self, text: bytes) -> None:
        super().__init__("too much")
        self.text = text


Received = bytes | ConnectionClosed | TooMuchData | HostFault  # a whole line without its end, or what went wrong
OnReceive = Callable[[Received], None]
Callback = Callable[[], None]


class Connection(Protocol):
    """A line to a player: lines of text there and back, all by callback. Nothing here waits, and nothing raises.

    Who derives from it has nothing to acquire, and knows nothing of the other end.
    """

    late_answer_timeout_s: float = 1.0  # for an answer that comes too late

    def acquire(self, then: Callback) -> None:
        """Call this once the other end can be asked: as long as a program waits for a core, no clock runs."""
        then()

    def release(self) -> None:
        """Undo `acquire`, also before it has called: the other end is not asked until it is acquired again."""
        return

    def send(self, text: bytes) -> None:
        """Put a whole line on its way; if that cannot be done, the one who listens hears of it."""
        return

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Send a line, and listen."""
        self.send(text)
        self.on_receive(on_receive)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Have this called once with what comes next, which may be here already; None: nobody listens any more."""

    def stop_receiving(self, then: Callback) -> None:
        """Listen no more, as an answer is too late, and call this once the other end has let go of what others need."""
        self.on_receive(None)
        then()

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, unless the other end is behind with reading, or stopped: False then."""
        return False

    def on_lost(self, callback: Callback) -> None:
        """Have this called once nothing more can come, also while nobody asks; at once, if it is so already."""
        return

    async def close(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds; then let go of everything, on every path.

        Whoever listens meanwhile hears that the line is closed.
        """

    def evidence(self) -> Evidence:
        """What is known of the other end when it failed: an exit code, its last words."""
        return NO_EVIDENCE


async def acquire(line: Connection) -> None:
    """Come back when the other end can be asked."""
    ready = asyncio.get_running_loop().create_future()
    line.acquire(lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    except BaseException:
        line.release()
        raise


async def receive(line: Connection) -> bytes:
    """The next whole line, without its end. Raises what went wrong instead."""
    heard: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
    line.on_receive(lambda what: None if heard.done() else heard.set_result(what))
    try:
        what = await heard
    except BaseException:
        line.on_receive(None)
        raise
    if not isinstance(what, bytes):
        raise what
    return what
