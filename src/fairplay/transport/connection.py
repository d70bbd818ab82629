"""Define connections to players, and what can go wrong on them."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.core.messages import NO_EVIDENCE, Evidence


class ConnectionClosed(Exception):
    """The connection was closed; `fault` is CRASHED for a program and GONE for a network connection.

    `detail` is the error of the operating system, if the connection broke.
    """

    def __init__(self, fault: Fault, why: str, detail: str = "") -> None:
        super().__init__(why)
        self.fault = fault
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fault, *self.args), self.__dict__


class ClosedMidReply(ConnectionClosed):
    """The connection was closed in the middle of a reply."""

    def __init__(self) -> None:
        super().__init__(Fault.MALFORMED, "the connection was closed in the middle of a reply")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self.__dict__


class ConnectionLost(Exception):
    """The connection to a host was lost; the text says how."""


class TooMuchData(Exception):
    """The player sent too much data; `text` is its beginning."""

    def __init__(self, text: bytes) -> None:
        super().__init__("too much data")
        self.text = text


Received = bytes | ConnectionClosed | TooMuchData | HostFault  # a whole line without its newline, or what went wrong
OnReceive = Callable[[Received], None]
Callback = Callable[[], None]


class Connection(Protocol):
    """A connection to a player, which carries lines of text both ways. It works by callbacks and never raises.

    The defaults are those of a connection that needs no core and has no evidence.
    """

    late_answer_timeout_s: float = 1.0  # to wait for an answer after its deadline

    def acquire(self, then: Callback) -> None:
        """Call `then` once the player can be asked: while a program waits for a core, its clock does not run."""
        then()

    def release(self) -> None:
        """Undo `acquire`, even before it has called back."""
        return

    def send(self, text: bytes) -> None:
        """Send a whole line; if that fails, the callback of `on_receive` is told."""
        return

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Send a line, and call back with the next line."""
        self.send(text)
        self.on_receive(on_receive)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call back once with the next line, which may be here already; None: do not call back any more."""

    def stop_receiving(self, then: Callback) -> None:
        """Stop receiving, as the answer is too late, and call `then` once the player has freed its core."""
        self.on_receive(None)
        then()

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer. False: the player is frozen or too slow to read it."""
        return False

    def on_lost(self, callback: Callback) -> None:
        """Call back once the connection is lost, at once if it is lost already."""
        return

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message, if that is possible within this time; then free everything, even on errors.

        A pending callback is told that the connection is closed.
        """

    def evidence(self) -> Evidence:
        """What is known about the player when it failed, such as an exit code and stderr."""
        return NO_EVIDENCE


async def acquire(connection: Connection) -> None:
    """Wait until the player can be asked."""
    ready = asyncio.get_running_loop().create_future()
    connection.acquire(lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    except BaseException:
        connection.release()
        raise


async def receive(connection: Connection) -> bytes:
    """Receive the next line, without its newline. Raises what went wrong instead."""
    received: asyncio.Future[Received] = asyncio.get_running_loop().create_future()
    connection.on_receive(lambda what: None if received.done() else received.set_result(what))
    try:
        what = await received
    except BaseException:
        connection.on_receive(None)
        raise
    if not isinstance(what, bytes):
        raise what
    return what
