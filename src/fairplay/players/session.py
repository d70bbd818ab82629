"""Keep a player's session with a host: at a server through many matches and reconnections."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from random import uniform
from typing import NamedTuple, Self

from fairplay.core.errors import BadRequest
from fairplay.players.remote import LOG, format_for_log
from fairplay.protocol import wire
from fairplay.protocol.player_side import RECEIPT_TIMEOUT_S, PlayerSide
from fairplay.protocol.wire import Changed, Goodbye, Hello, Suspended, Welcome, WireMessage
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.render.text import printable
from fairplay.transport.connection import Connection, ConnectionClosed, ConnectionLost, TooMuchData, receive
from fairplay.transport.connector import connect
from fairplay.transport.reconnecting import is_connection_loss

MAX_PENDING_MESSAGES = 32  # a host has little to say to a player that has not answered yet
MAX_SHOWN_REASON_CHARS = 600
CLOSE_TIMEOUT_S = 1.0


class HostMessage(NamedTuple):
    """A message of a host, as a value and as its line."""

    message: WireMessage
    text: bytes


class HostSession:
    """The messages of a host to a player. A task reads them, and reconnects to a server, while the player thinks.

    If too many are pending, the oldest change is dropped; if there is none, the connection is given up.
    """

    def __init__(
        self,
        host: str,  # HOST:PORT, or with tls://, ws:// or wss:// before it
        side: PlayerSide,
        *,
        on_status: Callable[[str], None],  # gets texts about the connection
        wait: float,  # seconds to keep trying until the host accepts
        ca: str | None = None,  # a file with certificates to trust
    ) -> None:
        self.side = side
        self.turn_is_over = asyncio.Event()  # an answer to the open question is no longer wanted
        self._host, self._wait, self._ca = host, wait, ca
        self._on_status = on_status
        self._connection: Connection | None = None
        self._pending: deque[HostMessage | str] = deque()  # a text is reported after the messages before it
        self._arrived = asyncio.Event()
        self._reading: asyncio.Task[None]
        self._replied: asyncio.Future[None]  # is done once the last message has a reply
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None

    async def __aenter__(self) -> Self:
        self._pending.clear()
        self._replied = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection. If others would wait for the player, tell the server that it does not come back."""
        self._reading.cancel()
        await finish_despite_cancellation(asyncio.wait((self._reading,)))
        with suppress(ConnectionLost, BadRequest, asyncio.CancelledError):
            self._reading.result()
        for text in self._pending:
            if isinstance(text, str):
                self._on_status(text)
        if self.side.leave():
            await self._send_leave()

    async def next(self) -> HostMessage | None:
        """The next message; None: there will be none. Raises ConnectionLost or BadRequest."""
        while True:
            while not self._pending and not self._reading.done():
                self._arrived.clear()
                await self._arrived.wait()
            if not self._pending:
                return self._reading.result()
            item = self._pending.popleft()
            self._wake_player()
            if isinstance(item, HostMessage):
                return item
            self._on_status(item)

    def reply(self, nonce: str, line: bytes) -> None:
        """Send a reply to a question."""
        self.side.reply(nonce, line)
        self._send()
        if not self._replied.done():
            self._replied.set_result(None)

    # The reading task.

    async def _read(self) -> None:
        """Read until no more messages will come."""
        try:
            await self._keep_connected()
        finally:
            asyncio.get_running_loop().call_soon(self._wake_player)  # once this task is done

    async def _keep_connected(self) -> None:
        """Receive messages over one connection after the other."""
        side, loop = self.side, asyncio.get_running_loop()
        was_there, left = False, self._wait
        while True:
            side.connected(loop.time())
            lost = ""
            try:
                self._connection = await self._connect(left)
                self._report(f"connected to {self._host}")
                await self._receive(self._connection)
            except (ConnectionLost, BadRequest) as error:
                if isinstance(error, BadRequest) and (not was_there or self._connection is not None):
                    raise
                lost = str(error)
            finally:
                connection, self._connection = self._connection, None
                if connection is not None:
                    await finish_despite_cancellation(connection.close(b"", CLOSE_TIMEOUT_S))
            if side.has_finished:
                return
            if side.was_accepted:
                self._report(f"connection lost{lost and f': {printable(lost, MAX_SHOWN_REASON_CHARS)}'}; reconnecting")
            pause = side.retry_after(loop.time(), uniform(0.5, 1.0))
            if pause is None:
                if lost:
                    raise ConnectionLost(lost)
                return
            was_there = True
            await asyncio.sleep(pause)
            left = side.time_left(loop.time())

    async def _connect(self, wait: float) -> Connection:
        return await connect(self._host, wait=wait, ca=self._ca)

    async def _receive(self, connection: Connection) -> None:
        """Receive messages over one connection. Raises ConnectionLost, unless the other end closes it."""
        while not self.side.is_over:
            try:
                text = await self._next_line(connection)
            except TooMuchData:
                raise ConnectionLost("the host sent a line that is too long") from None
            except ConnectionClosed as closed:
                if closed.detail or not is_connection_loss(closed):
                    raise ConnectionLost(closed.detail or str(closed)) from None
                return
            if self._debug is not None:
                self._debug("from the host: %s", format_for_log(text))
            message = self.side.receive(text)
            self._send()
            match message:
                case None:
                    continue
                case Suspended():
                    self._report(f"the server closes the connection: {printable(message.why, MAX_SHOWN_REASON_CHARS)}")
                    return
                case Welcome():
                    self._report(f"signed in as {printable(message.name, wire.MAX_NAME_CHARS)}")
                case _:
                    self._put(HostMessage(message, text + b"\n"))

    async def _next_line(self, connection: Connection) -> bytes:
        """The next line. Raises ConnectionLost if none comes in time; each reply to the host restarts that time."""
        receiving = asyncio.ensure_future(receive(connection))
        try:
            while not receiving.done():
                timeout_s, self._replied = self.side.timeout_s, asyncio.get_running_loop().create_future()
                done, _ = await asyncio.wait(
                    (receiving, self._replied), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
                )
                if not done and not receiving.done():
                    raise ConnectionLost(f"no message came for {timeout_s:g} s")
            return receiving.result()
        finally:
            receiving.cancel()

    def _report(self, text: str) -> None:
        """Report a status of the connection, after the messages that came before it."""
        if not self._pending or len(self._pending) >= MAX_PENDING_MESSAGES:
            self._on_status(text)
        else:
            self._pending.append(text)

    def _put(self, message: HostMessage) -> None:
        if len(self._pending) >= MAX_PENDING_MESSAGES:
            changes = (it for it in self._pending if isinstance(it, HostMessage) and isinstance(it.message, Changed))
            oldest = next(changes, None)
            if oldest is None:
                self._pending.clear()
                raise ConnectionLost("the host sends too many messages")
            self._pending.remove(oldest)
        self._pending.append(message)
        self._wake_player()

    def _wake_player(self) -> None:
        """Wake a player that waits for a message, or thinks about a question that is no longer open."""
        self._arrived.set()
        ends = any(isinstance(it, HostMessage) and isinstance(it.message, Goodbye | Hello) for it in self._pending)
        if ends or self._reading.done():
            self.turn_is_over.set()
        else:
            self.turn_is_over.clear()

    def _send(self) -> None:
        for line in self.side.lines_to_send():
            if self._debug is not None:
                self._debug("to the host: %s", format_for_log(line))
            if self._connection is not None:
                self._connection.offer(line)  # unless the host does not read its replies

    async def _send_leave(self) -> None:
        """Tell the server over another connection that the player does not come back."""
        side = PlayerSide(name=self.side.name, token=self.side.token, purpose="leave")
        with suppress(ConnectionLost, BadRequest, TimeoutError):
            async with asyncio.timeout(RECEIPT_TIMEOUT_S):
                connection = await self._connect(RECEIPT_TIMEOUT_S)
                try:
                    await answer_hello(connection, side)
                    await receive(connection)  # until the server has read it
                except (ConnectionClosed, TooMuchData):
                    pass
                finally:
                    await finish_despite_cancellation(connection.close(b"", 0.0))


async def answer_hello(connection: Connection, side: PlayerSide) -> None:
    """Answer the hello of a server. Raises BadRequest if the other end is none."""
    text = await receive(connection)
    if side.receive(text) is not None or not side.at_server:
        raise BadRequest("not a fairplay server: no hello")
    for reply in side.lines_to_send():
        connection.send(reply)
