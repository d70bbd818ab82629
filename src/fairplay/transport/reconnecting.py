"""Keep a connection alive over reconnects: a client that comes back is sent the open question again.

Its users do not notice. The client's clock runs on while it is disconnected, so disconnecting gains no time.
"""

import asyncio
from collections.abc import Callable

from fairplay.core.events import Fault
from fairplay.core.messages import NO_EVIDENCE, Evidence
from fairplay.protocol import wire
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import ClosedMidReply, Connection, ConnectionClosed, OnReceive, Received

REPLACED_MESSAGE = "you reconnected on another connection"
REPLACED_CLOSE_TIMEOUT_S = 0.05  # for that message on a connection that may be dead


class ReconnectingConnection(Connection):
    """A connection that survives the loss of its network connection. The newest one counts; the one before is closed.

    After a loss the client has `reconnect_window` seconds to come back; then it is gone.
    """

    def __init__(self, reconnect_window: float, *, on_lost: Callable[[], None], on_gone: Callable[[], None]) -> None:
        self._reconnect_window = reconnect_window
        self._on_lost = on_lost
        self._on_gone = on_gone
        self._connection: Connection | None = None  # kept after a loss, as it may still carry the last message
        self._replacement: Connection | None = None  # takes its place once that is closed
        self._is_connected = False
        self._gone: ConnectionClosed | None = None
        self._disconnected_since = asyncio.get_running_loop().time()
        self._alarm: asyncio.TimerHandle | None = None  # for the end of the reconnect window
        self._question = b""  # the last question
        self._receive_callback: OnReceive | None = None  # for the next line; None: no question is open

    @property
    def is_connected(self) -> bool:
        """Is the client connected now?"""
        return self._is_connected

    @property
    def is_gone(self) -> bool:
        """Is it too late to reconnect?"""
        return self._gone is not None

    async def attach(self, connection: Connection, greeting: bytes) -> bool:
        """Continue over this connection, which is sent the greeting first. False: too late, or a newer one came.

        Then, or if this raises, the caller has to close the connection.
        """
        if self._gone is not None:
            return False
        before = [each for each in (self._connection, self._replacement) if each is not None]
        self._connection, self._replacement = None, connection
        self._wait_for_reconnect()
        try:
            for each in before:
                await finish_despite_cancellation(
                    each.close(wire.encode_suspended(REPLACED_MESSAGE, 0.0), REPLACED_CLOSE_TIMEOUT_S)
                )
            if self._replacement is not connection:
                return False
            connection.send(greeting)
            self._connection, self._replacement = connection, None
            self._set_alarm(None)
            self._is_connected = True
        finally:
            if self._replacement is connection:  # it was not used
                self._replacement = None
                self._on_lost()
        connection.on_lost(lambda: self._disconnect(connection))
        if self._is_connected and self._receive_callback is not None:
            connection.ask(self._question, self._deliver)
        return True

    def send(self, text: bytes) -> None:
        """Send a line if the client is connected."""
        if self._is_connected and self._connection is not None:
            self._connection.send(text)

    def ask(self, text: bytes, on_receive: OnReceive) -> None:
        """Ask a question; a disconnected client is sent it when it comes back."""
        self._question = text
        if self._is_connected and self._connection is not None:
            self._receive_callback = on_receive
            self._connection.ask(text, self._deliver)
        else:
            self.on_receive(on_receive)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call back once with the next line, which may come after a reconnect."""
        self._receive_callback = callback
        if self._gone is not None:
            self._deliver(self._gone)
        elif self._is_connected and self._connection is not None:
            self._connection.on_receive(self._deliver if callback is not None else None)

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer. False: the client is disconnected or too slow."""
        return self._is_connected and self._connection is not None and self._connection.offer(text)

    async def close(self, last: bytes, within: float) -> None:
        """Send a last message within a time limit; the client cannot come back afterwards."""
        connection, self._connection = self._connection, None
        self.give_up("the connection was closed by the host")
        if connection is not None:
            await connection.close(last, within)

    def give_up(self, why: str) -> None:
        """Stop waiting for a reconnect. An open connection still has to be closed."""
        if self._gone is None:
            self._gone = ConnectionClosed(Fault.GONE, why)
            self._replacement = None
            self._is_connected = False
            self._set_alarm(None)
            if self._receive_callback is not None:
                asyncio.get_running_loop().call_soon(self._deliver, self._gone)
            self._on_gone()

    def evidence(self) -> Evidence:
        """For how long the client has been disconnected, if it is."""
        return (
            NO_EVIDENCE
            if self._is_connected
            else Evidence(disconnected=asyncio.get_running_loop().time() - self._disconnected_since)
        )

    def _deliver(self, received: Received) -> None:
        """Deliver what was received, but not a lost connection, as the client may come back."""
        callback, is_loss = self._receive_callback, is_connection_loss(received)
        if callback is not None and (not is_loss or self._gone is not None):
            self._receive_callback = None
            callback(received)

    def _disconnect(self, connection: Connection) -> None:
        """Start the reconnect window, unless this connection was replaced before."""
        if connection is self._connection and self._is_connected:
            self._wait_for_reconnect()
            self._on_lost()

    def _wait_for_reconnect(self) -> None:
        """Wait for a reconnect until the window is over."""
        self._is_connected = False
        loop = asyncio.get_running_loop()
        self._disconnected_since = loop.time()
        self._set_alarm(
            loop.call_later(
                self._reconnect_window, self.give_up, f"did not reconnect within {self._reconnect_window:g} s"
            )
        )

    def _set_alarm(self, alarm: asyncio.TimerHandle | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = alarm


def is_connection_loss(received: Received) -> bool:
    """Was the connection lost without a fault of the player?"""
    if isinstance(received, ConnectionClosed):
        return isinstance(received, ClosedMidReply) or received.fault is Fault.GONE
    return False
