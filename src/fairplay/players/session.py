"""Stay with a host as a player: at a server from match to match, and from one connection to the next."""

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

MAX_WAITING = 32  # messages: a player that has not answered yet has little to be told
MAX_SHOWN_REASON_CHARS = 600
CLOSE_TIMEOUT_S = 1.0


class HostMessage(NamedTuple):
    """A message of a host, as a value and as the line that it was."""

    message: WireMessage
    text: bytes


class HostSession:
    """What a host says to a player. A task reads it, and reconnects at a server, while the player thinks.

    If too much waits, the oldest change gives way; and if there is none, the host is given up.
    """

    def __init__(
        self,
        host: str,  # HOST:PORT, or with tls://, ws:// or wss:// before it
        side: PlayerSide,
        *,
        on_status: Callable[[str], None],  # is told how the connection goes
        wait: float,  # seconds to try until the host is there
        ca: str | None = None,  # a file with certificates to trust
    ) -> None:
        self.side = side
        self.turn_is_over = asyncio.Event()  # the host does not want to know any more what the player thinks about
        self._host, self._wait, self._ca = host, wait, ca
        self._on_status = on_status
        self._connection: Connection | None = None
        self._waiting: deque[HostMessage | str] = deque()  # a text is to be told when what waits before it was heard
        self._arrived = asyncio.Event()
        self._reading: asyncio.Task[None]
        self._replied: asyncio.Future[None]  # is done once there is a reply to what was heard last
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None

    async def __aenter__(self) -> Self:
        self._waiting.clear()
        self._replied = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Hang up. If others would wait for the player, the server is told that it does not come back."""
        self._reading.cancel()
        await finish_despite_cancellation(asyncio.wait((self._reading,)))
        with suppress(ConnectionLost, BadRequest, asyncio.CancelledError):
            self._reading.result()
        for text in self._waiting:
            if isinstance(text, str):
                self._on_status(text)
        if self.side.leave():
            await self._send_leave()

    async def next(self) -> HostMessage | None:
        """The next message; None: there will be none. Raises Lost or BadRequest."""
        while True:
            while not self._waiting and not self._reading.done():
                self._arrived.clear()
                await self._arrived.wait()
            if not self._waiting:
                return self._reading.result()
            said = self._waiting.popleft()
            self._wake_player()
            if isinstance(said, HostMessage):
                return said
            self._on_status(said)

    def reply(self, nonce: str, line: bytes) -> None:
        """Send a reply to a question."""
        self.side.reply(nonce, line)
        self._send()
        if not self._replied.done():
            self._replied.set_result(None)

    # What reads.

    async def _read(self) -> None:
        """Read until there will be nothing more."""
        try:
            await self._keep_connected()
        finally:
            asyncio.get_running_loop().call_soon(self._wake_player)  # when this task is done

    async def _keep_connected(self) -> None:
        """Hear the host over one connection after the other."""
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
                line, self._connection = self._connection, None
                if line is not None:
                    await finish_despite_cancellation(line.close(b"", CLOSE_TIMEOUT_S))
            if side.has_finished:
                return
            if side.was_accepted:
                self._report(f"the line was lost{lost and f': {printable(lost, MAX_SHOWN_REASON_CHARS)}'}; coming back")
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

    async def _receive(self, line: Connection) -> None:
        """Hear what comes over one connection. Raises Lost, unless the other end has hung up."""
        while not self.side.is_over:
            try:
                text = await self._next_line(line)
            except TooMuchData:
                raise ConnectionLost("a line of the host is too long") from None
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
                    self._report(f"the server hangs up: {printable(message.why, MAX_SHOWN_REASON_CHARS)}")
                    return
                case Welcome():
                    self._report(f"signed in as {printable(message.name, wire.MAX_NAME_CHARS)}")
                case _:
                    self._put(HostMessage(message, text + b"\n"))

    async def _next_line(self, line: Connection) -> bytes:
        """The next line. Raises Lost if none is here in time; each reply to the host gives it that time again."""
        heard = asyncio.ensure_future(receive(line))
        try:
            while not heard.done():
                timeout_s, self._replied = self.side.timeout_s, asyncio.get_running_loop().create_future()
                done, _ = await asyncio.wait(
                    (heard, self._replied), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
                )
                if not done and not heard.done():
                    raise ConnectionLost(f"no message came for {timeout_s:g} s")
            return heard.result()
        finally:
            heard.cancel()

    def _report(self, text: str) -> None:
        """Tell how the connection goes; what the host said before it comes first."""
        if not self._waiting or len(self._waiting) >= MAX_WAITING:
            self._on_status(text)
        else:
            self._waiting.append(text)

    def _put(self, said: HostMessage) -> None:
        if len(self._waiting) >= MAX_WAITING:
            oldest = next(
                (one for one in self._waiting if isinstance(one, HostMessage) and isinstance(one.message, Changed)),
                None,
            )
            if oldest is None:
                self._waiting.clear()
                raise ConnectionLost("the host says too much")
            self._waiting.remove(oldest)
        self._waiting.append(said)
        self._wake_player()

    def _wake_player(self) -> None:
        """Wake the player that waits for a message, or thinks about what nobody wants to know any more."""
        self._arrived.set()
        ends = any(isinstance(one, HostMessage) and isinstance(one.message, Goodbye | Hello) for one in self._waiting)
        if ends or self._reading.done():
            self.turn_is_over.set()
        else:
            self.turn_is_over.clear()

    def _send(self) -> None:
        for line in self.side.lines_to_send():
            if self._debug is not None:
                self._debug("to the host: %s", format_for_log(line))
            if self._connection is not None:
                self._connection.offer(line)  # a host that does not read its replies gets no more of them

    async def _send_leave(self) -> None:
        """Tell the server over a connection of its own that the player does not come back."""
        side = PlayerSide(name=self.side.name, token=self.side.token, purpose="leave")
        with suppress(ConnectionLost, BadRequest, TimeoutError):
            async with asyncio.timeout(RECEIPT_TIMEOUT_S):
                line = await self._connect(RECEIPT_TIMEOUT_S)
                try:
                    await answer_hello(line, side)
                    await receive(line)  # until the server has heard it
                except (ConnectionClosed, TooMuchData):
                    pass
                finally:
                    await finish_despite_cancellation(line.close(b"", 0.0))


async def answer_hello(line: Connection, side: PlayerSide) -> None:
    """Answer the hello of a server. Raises BadRequest if the other end is none."""
    text = await receive(line)
    if side.receive(text) is not None or not side.at_server:
        raise BadRequest("this is no server")
    for reply in side.lines_to_send():
        line.send(reply)
