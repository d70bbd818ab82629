"""Stay with a host as a player: at a server from match to match, and from one connection to the next."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from random import uniform
from typing import NamedTuple, Self

from fairplay.core.errors import BadRequest
from fairplay.players.remote import LOG, loggable
from fairplay.protocol import wire
from fairplay.protocol.player_side import RECEIPT_TIMEOUT_S, PlayerSide
from fairplay.protocol.wire import Changed, Goodbye, Hello, Suspended, Welcome, WireMessage
from fairplay.referee.closing import surely
from fairplay.render.text import printable
from fairplay.transport.dialler import dial
from fairplay.transport.lasting import is_loss
from fairplay.transport.line import Closed, Line, Lost, TooMuch, received

MAX_WAITING = 32  # messages: a player that has not answered yet has little to be told
MAX_REASON_CHARS = 600
CLOSE_TIMEOUT_S = 1.0


class Said(NamedTuple):
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
        tell: Callable[[str], None],  # is told how the connection goes
        wait: float,  # seconds to try until the host is there
        ca: str | None = None,  # a file with certificates to trust
    ) -> None:
        self.side = side
        self.turn_is_over = asyncio.Event()  # the host does not want to know any more what the player thinks about
        self._host, self._wait, self._ca = host, wait, ca
        self._tell = tell
        self._line: Line | None = None
        self._waiting: deque[Said | str] = deque()  # a text is to be told when what waits before it was heard
        self._came = asyncio.Event()
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
        await surely(asyncio.wait((self._reading,)))
        with suppress(Lost, BadRequest, asyncio.CancelledError):
            self._reading.result()
        for text in self._waiting:
            if isinstance(text, str):
                self._tell(text)
        if self.side.leave():
            await self._say_that_it_leaves()

    async def next(self) -> Said | None:
        """The next message; None: there will be none. Raises Lost or BadRequest."""
        while True:
            while not self._waiting and not self._reading.done():
                self._came.clear()
                await self._came.wait()
            if not self._waiting:
                return self._reading.result()
            said = self._waiting.popleft()
            self._look()
            if isinstance(said, Said):
                return said
            self._tell(said)

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
            await self._stay()
        finally:
            asyncio.get_running_loop().call_soon(self._look)  # when this task is done

    async def _stay(self) -> None:
        """Hear the host over one connection after the other."""
        side, loop = self.side, asyncio.get_running_loop()
        was_there, left = False, self._wait
        while True:
            side.connected(loop.time())
            lost = ""
            try:
                self._line = await self._connect(left)
                self._note(f"connected to {self._host}")
                await self._hear(self._line)
            except (Lost, BadRequest) as error:
                if isinstance(error, BadRequest) and (not was_there or self._line is not None):
                    raise
                lost = str(error)
            finally:
                line, self._line = self._line, None
                if line is not None:
                    await surely(line.hang_up(b"", CLOSE_TIMEOUT_S))
            if side.has_finished:
                return
            if side.was_let_in:
                self._note(f"the line was lost{lost and f': {printable(lost, MAX_REASON_CHARS)}'}; coming back")
            pause = side.retry_after(loop.time(), uniform(0.5, 1.0))
            if pause is None:
                if lost:
                    raise Lost(lost)
                return
            was_there = True
            await asyncio.sleep(pause)
            left = side.time_left(loop.time())

    async def _connect(self, wait: float) -> Line:
        return await dial(self._host, wait=wait, ca=self._ca)

    async def _hear(self, line: Line) -> None:
        """Hear what comes over one connection. Raises Lost, unless the other end has hung up."""
        while not self.side.is_over:
            try:
                text = await self._next_line(line)
            except TooMuch:
                raise Lost("a line of the host is too long") from None
            except Closed as closed:
                if closed.detail or not is_loss(closed):
                    raise Lost(closed.detail or str(closed)) from None
                return
            if self._debug is not None:
                self._debug("from the host: %s", loggable(text))
            message = self.side.receive(text)
            self._send()
            match message:
                case None:
                    continue
                case Suspended():
                    self._note(f"the house hangs up: {printable(message.why, MAX_REASON_CHARS)}")
                    return
                case Welcome():
                    self._note(f"signed up as {printable(message.name, wire.LONGEST_NAME)}")
                case _:
                    self._put(Said(message, text + b"\n"))

    async def _next_line(self, line: Line) -> bytes:
        """The next line. Raises Lost if none is here in time; each reply to the host gives it that time again."""
        heard = asyncio.ensure_future(received(line))
        try:
            while not heard.done():
                timeout_s, self._replied = self.side.timeout_s, asyncio.get_running_loop().create_future()
                done, _ = await asyncio.wait(
                    (heard, self._replied), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
                )
                if not done and not heard.done():
                    raise Lost(f"no message came for {timeout_s:g} s")
            return heard.result()
        finally:
            heard.cancel()

    def _note(self, text: str) -> None:
        """Tell how the connection goes; what the host said before it comes first."""
        if not self._waiting or len(self._waiting) >= MAX_WAITING:
            self._tell(text)
        else:
            self._waiting.append(text)

    def _put(self, said: Said) -> None:
        if len(self._waiting) >= MAX_WAITING:
            oldest = next(
                (one for one in self._waiting if isinstance(one, Said) and isinstance(one.message, Changed)), None
            )
            if oldest is None:
                self._waiting.clear()
                raise Lost("the host says too much")
            self._waiting.remove(oldest)
        self._waiting.append(said)
        self._look()

    def _look(self) -> None:
        """Wake the player that waits for a message, or thinks about what nobody wants to know any more."""
        self._came.set()
        ends = any(isinstance(one, Said) and isinstance(one.message, Goodbye | Hello) for one in self._waiting)
        if ends or self._reading.done():
            self.turn_is_over.set()
        else:
            self.turn_is_over.clear()

    def _send(self) -> None:
        for line in self.side.lines_to_send():
            if self._debug is not None:
                self._debug("to the host: %s", loggable(line))
            if self._line is not None:
                self._line.offer(line)  # a host that does not read its replies gets no more of them

    async def _say_that_it_leaves(self) -> None:
        """Tell the server over a connection of its own that the player does not come back."""
        side = PlayerSide(name=self.side.name, token=self.side.token, purpose="leave")
        with suppress(Lost, BadRequest, TimeoutError):
            async with asyncio.timeout(RECEIPT_TIMEOUT_S):
                line = await self._connect(RECEIPT_TIMEOUT_S)
                try:
                    await introduce(line, side)
                    await received(line)  # until the server has heard it
                except (Closed, TooMuch):
                    pass
                finally:
                    await surely(line.hang_up(b"", 0.0))


async def introduce(line: Line, side: PlayerSide) -> None:
    """Answer the hello of a server. Raises BadRequest if the other end is none."""
    text = await received(line)
    if side.receive(text) is not None or not side.at_server:
        raise BadRequest("this is no server")
    for reply in side.lines_to_send():
        line.send(reply)
