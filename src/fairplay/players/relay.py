"""Let a player of this machine play at a host elsewhere: pass on what either of them says to the other."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.remote import add_received
from fairplay.players.session import HostMessage, HostSession
from fairplay.protocol import wire
from fairplay.protocol.player_side import RECEIPT_TIMEOUT_S, ProtocolError, encode_reply, introduction
from fairplay.protocol.replies import BadReply, ReplyReader
from fairplay.protocol.wire import Changed, Closing, Goodbye, Hello, Question, WireMessage
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import Connection, ConnectionClosed, ConnectionLost, TooMuchData, acquire, receive

GOODBYE_TIMEOUT_S = 1.0  # for a program to end by itself, once its match is over
HOST_WAIT_FACTOR = 2  # times the session's own timeout, so that a silent host is always reported by the session

OpenPlayer = Callable[
    [Hello], Awaitable[Connection]
]  # the connection to a player, for the match that a host has announced


class PlayerFailed(Exception):
    """The player gave no reply that could be passed on: how it failed, and was that at hello?"""

    def __init__(self, failed: Failed, at_hello: bool) -> None:
        super().__init__(failed, at_hello)
        self.failed = failed
        self.at_hello = at_hello


class CurrentPlayer(NamedTuple):
    """The player of the match that is played, and what it was asked."""

    connection: Connection
    nonces: set[str]
    replies: ReplyReader


class Relay:
    """Plays match after match of a session, each by a player that is opened for it and let go with it.

    The player hears what the host says, word by word: its nonces, its limits. Its replies are passed on if they are
    replies to what was asked; whether an answer is legal, and in time, the host says. Every wait has a deadline.
    """

    def __init__(
        self,
        session: HostSession,
        open_player: OpenPlayer,
        *,
        name: str | None = None,  # that the player wants to have; None: the one that a program says
        on_message: Callable[[WireMessage], None] = lambda message: None,  # is told what the player is told
    ) -> None:
        self._session = session
        self._open_player = open_player
        self._name = name
        self._on_message = on_message
        self._current: CurrentPlayer | None = None
        self._undelivered_change = b""  # the newest change, if the player could not take it at once

    async def play(self) -> Goodbye | None:
        """Play until the host hangs up; a goodbye says why, if the player was ejected.

        Raises Lost, BadRequest or PlayerFailed. Whatever happens, no program is left behind.
        """
        try:
            while (said := await self._next()) is not None:
                message, text = said
                self._on_message(message)
                match message:
                    case Goodbye():
                        await self._close_player(text)
                        return message
                    case Closing():
                        await self._close_player(text)
                    case Changed():
                        self._offer(text)
                    case Question():
                        if isinstance(message, Hello):
                            await self._begin(message)
                        await self._forward(message, text)
            return None
        finally:
            await finish_despite_cancellation(self._close_player(b""))

    async def _next(self) -> HostMessage | None:
        """What the host says next. If no receipt comes soon behind a result, the program need not wait for one."""
        if self._session.side.match_has_ended and self._current is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECEIPT_TIMEOUT_S):
                    return await self._session.next()
            await self._close_player(b"")
        return await self._session.next()

    async def _begin(self, hello: Hello) -> None:
        """Open a player for a match; the one of the match before is let go now, if it was not."""
        await self._close_player(b"")
        line = await self._open_player(hello)
        asked: set[str] = set()
        self._current = CurrentPlayer(line, asked, ReplyReader(asked.__contains__))

    async def _close_player(self, last: bytes) -> None:
        """Say some last words to the player, and let it go."""
        seated, self._current, self._undelivered_change = self._current, None, b""
        if seated is not None:
            await seated.connection.close(last, GOODBYE_TIMEOUT_S)

    def _offer(self, text: bytes) -> None:
        """Let the player know of a change; if it cannot take it now, it has the newest before the next question."""
        if self._current is not None:
            self._undelivered_change = b"" if self._current.connection.offer(text) else text

    async def _forward(self, message: Question, text: bytes) -> None:
        """Have a question answered, unless the host does not want to know any more."""
        if self._current is None:
            raise ProtocolError(f"the host sent {type(message).__name__} after the end of a match")
        session = self._session
        asking = asyncio.create_task(self._reply(message, text, self._current))
        over = asyncio.create_task(session.turn_is_over.wait())
        try:
            timeout_s = HOST_WAIT_FACTOR * session.side.timeout_s
            done, _ = await asyncio.wait((asking, over), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise ConnectionLost(f"the player gave no answer, and the host no end, for {timeout_s:g} s")
            if asking.done():
                session.reply(message.nonce, asking.result())
        finally:
            for task in (asking, over):
                task.cancel()
            await finish_despite_cancellation(asyncio.wait((asking, over)))

    async def _reply(self, message: Question, text: bytes, seated: CurrentPlayer) -> bytes:
        """The reply of the player to a question, as it is sent to the host."""
        line, at_hello = seated.connection, isinstance(message, Hello)
        seated.nonces.add(message.nonce)

        def failed(fault: Fault, why: str, heard: bytes = b"") -> PlayerFailed:
            return PlayerFailed(Failed(fault, why, 0.0, add_received(line.evidence(), heard)), at_hello)

        await acquire(line)
        try:
            if self._undelivered_change:
                line.send(self._undelivered_change)
                self._undelivered_change = b""
            line.send(text)
            while True:
                heard = await receive(line)
                reply = seated.replies.read(heard, message.nonce)
                if isinstance(reply, BadReply):
                    raise failed(reply.fault, reply.why, heard)
                if reply is not None:
                    return self._set_name(reply) if at_hello else heard + b"\n"
        except ConnectionClosed as closed:
            raise failed(closed.fault, str(closed)) from None
        except TooMuchData as much:
            raise failed(Fault.FLOOD, f"sent more than {wire.MAX_LINE_BYTES} bytes at once", much.text) from None
        finally:
            line.release()

    def _set_name(self, reply: wire.Reply) -> bytes:
        """The answer to hello, with the name that we want to have; what is no introduction, the host refuses."""
        answer: object = reply.answer
        with suppress(*wire.DECODE_ERRORS):
            said = wire.hello_decoder(reply.answer)
            name, changes = (None, False) if said is None else (said.name or None, said.changes)
            answer = introduction(name=self._name or name, changes=changes)
        return encode_reply(reply.nonce, answer)
