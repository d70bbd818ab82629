"""Keep a line to somebody that survives its connection: whoever comes back hears the open question again.

Whoever asks over it knows nothing of that. Its clock goes on while nobody is there, so to be away never buys time.
"""

import asyncio
from collections.abc import Callable

from fairplay.core.events import Fault
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.protocol import wire
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import ClosedMidReply, Connection, ConnectionClosed, OnReceive, Received

REPLACED_MESSAGE = "you came back on another line"
REPLACED_CLOSE_TIMEOUT_S = 0.05  # seconds for telling that to a line that may be dead


class ReconnectingConnection(Connection):
    """A line over one connection after the other. The newest counts, and the one before is closed first.

    Whose connection is lost has so many seconds to come back; then it is gone. Others are told of both.
    """

    def __init__(self, reconnect_window: float, *, on_lost: Callable[[], None], on_gone: Callable[[], None]) -> None:
        self._reconnect_window = reconnect_window
        self._on_lost = on_lost
        self._on_gone = on_gone
        self._connection: Connection | None = None  # if it is lost it is kept, as it may still carry some last words
        self._replacement: Connection | None = None  # what takes its place, as soon as it is closed
        self._is_connected = False  # is there a connection?
        self._gone: ConnectionClosed | None = None
        self._disconnected_since = asyncio.get_running_loop().time()
        self._alarm: asyncio.TimerHandle | None = None  # for when it is gone
        self._question = b""  # what was asked last
        self._receive_callback: OnReceive | None = None  # who is called with what comes next; None: nothing was asked

    @property
    def is_connected(self) -> bool:
        """Is there a connection now?"""
        return self._is_connected

    @property
    def is_gone(self) -> bool:
        """Is it too late to come back?"""
        return self._gone is not None

    async def attach(self, line: Connection, greeting: bytes) -> bool:
        """Go on over this line, on which the greeting comes first. False: it is too late, or somebody newer came.

        Then, or if this raises, the line is still the caller's, who has to close it.
        """
        if self._gone is not None:
            return False
        before = [each for each in (self._connection, self._replacement) if each is not None]
        self._connection, self._replacement = None, line
        self._wait_for_reconnect()
        try:
            for each in before:
                await finish_despite_cancellation(
                    each.close(wire.encode_suspended(REPLACED_MESSAGE, 0.0), REPLACED_CLOSE_TIMEOUT_S)
                )
            if self._replacement is not line:
                return False
            line.send(greeting)
            self._connection, self._replacement = line, None
            self._set_alarm(None)
            self._is_connected = True
        finally:
            if self._replacement is line:  # nothing came of it
                self._replacement = None
                self._on_lost()
        line.on_lost(lambda: self._disconnect(line))
        if self._is_connected and self._receive_callback is not None:
            line.ask(self._question, self._deliver)
        return True

    def send(self, text: bytes) -> None:
        """Say something to whoever is there."""
        if self._is_connected and self._connection is not None:
            self._connection.send(text)

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Ask a question. Who is away hears it when it is back."""
        self._question = text
        if self._is_connected and self._connection is not None:
            self._receive_callback = on_receive
            self._connection.ask(text, self._deliver)
        else:
            self.on_receive(on_receive)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Have this called once with the next line from whoever is there, or comes back meanwhile."""
        self._receive_callback = callback
        if self._gone is not None:
            self._deliver(self._gone)
        elif self._is_connected and self._connection is not None:
            self._connection.on_receive(self._deliver if callback is not None else None)

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, if somebody is there to take it at once."""
        return self._is_connected and self._connection is not None and self._connection.offer(text)

    async def close(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds; nobody can come back afterwards."""
        line, self._connection = self._connection, None
        self.give_up("the line was cut")
        if line is not None:
            await line.close(last, within)

    def give_up(self, why: str) -> None:
        """Wait no longer for anybody to come back. What is still open has to be hung up."""
        if self._gone is None:
            self._gone = ConnectionClosed(Fault.GONE, why)
            self._replacement = None
            self._is_connected = False
            self._set_alarm(None)
            if self._receive_callback is not None:
                asyncio.get_running_loop().call_soon(self._deliver, self._gone)
            self._on_gone()

    def evidence(self) -> Evidence:
        """For how long there is no connection, if there is none."""
        return (
            NO_EVIDENCE
            if self._is_connected
            else Evidence(disconnected=asyncio.get_running_loop().time() - self._disconnected_since)
        )

    def _deliver(self, heard: Received) -> None:
        """Pass on what came; but not that a line was lost, as somebody may come back."""
        hear = self._receive_callback
        if hear is not None and (isinstance(heard, bytes) or self._gone is not None or not is_connection_loss(heard)):
            self._receive_callback = None
            hear(heard)

    def _disconnect(self, line: Connection) -> None:
        """The connection is lost, unless it was given up before."""
        if line is self._connection and self._is_connected:
            self._wait_for_reconnect()
            self._on_lost()

    def _wait_for_reconnect(self) -> None:
        """Nobody is there from now on, until somebody comes back or the time is up."""
        self._is_connected = False
        loop = asyncio.get_running_loop()
        self._disconnected_since = loop.time()
        self._set_alarm(
            loop.call_later(
                self._reconnect_window, self.give_up, f"did not come back within {self._reconnect_window:g} s"
            )
        )

    def _set_alarm(self, alarm: asyncio.TimerHandle | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = alarm


def is_connection_loss(heard: Received) -> bool:
    """Was a line lost, without anybody doing wrong?"""
    return isinstance(heard, ClosedMidReply) or (isinstance(heard, ConnectionClosed) and heard.fault is Fault.GONE)
