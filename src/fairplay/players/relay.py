"""Relay messages between a remote host and a player on this machine."""

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

OpenPlayer = Callable[[Hello], Awaitable[Connection]]  # starts a player for the match that a host announces


class PlayerFailed(Exception):
    """The player gave no reply that could be passed on: how it failed, and whether that was at hello."""

    def __init__(self, failed: Failed, at_hello: bool) -> None:
        super().__init__(failed, at_hello)
        self.failed = failed
        self.at_hello = at_hello


class CurrentPlayer(NamedTuple):
    """The player of the current match, and the nonces of its questions."""

    connection: Connection
    nonces: set[str]
    replies: ReplyReader


class Relay:
    """Plays match after match of a session, each with a player that is opened for it and closed after it.

    The player gets the messages of the host unchanged, with their nonces and limits. Its replies are passed on if they
    answer the question; whether an answer is legal, and in time, the host decides. Every wait has a deadline.
    """

    def __init__(
        self,
        session: HostSession,
        open_player: OpenPlayer,
        *,
        name: str | None = None,  # that the player wants to have; None: the program's own
        on_message: Callable[[WireMessage], None] = lambda message: None,  # gets every message to the player
    ) -> None:
        self._session = session
        self._open_player = open_player
        self._name = name
        self._on_message = on_message
        self._current: CurrentPlayer | None = None
        self._undelivered_change = b""  # the newest change, if the player was too slow to take it

    async def play(self) -> Goodbye | None:
        """Play until the host closes the connection; returns the goodbye if the player was ejected.

        Raises ConnectionLost, BadRequest or PlayerFailed. On every path the program is stopped.
        """
        try:
            while (received := await self._next()) is not None:
                message, text = received
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
        """The next message of the host. The program is stopped if no receipt comes soon after a result."""
        if self._session.side.match_has_ended and self._current is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(RECEIPT_TIMEOUT_S):
                    return await self._session.next()
            await self._close_player(b"")
        return await self._session.next()

    async def _begin(self, hello: Hello) -> None:
        """Open a player for a match; close the one of the match before, if it is still open."""
        await self._close_player(b"")
        connection = await self._open_player(hello)
        nonces: set[str] = set()
        self._current = CurrentPlayer(connection, nonces, ReplyReader(nonces.__contains__))

    async def _close_player(self, last: bytes) -> None:
        """Send a last message to the player, and close its connection."""
        player, self._current, self._undelivered_change = self._current, None, b""
        if player is not None:
            await player.connection.close(last, GOODBYE_TIMEOUT_S)

    def _offer(self, text: bytes) -> None:
        """Send a change to the player; if it is too slow to take it, it gets the newest before the next question."""
        if self._current is not None:
            self._undelivered_change = b"" if self._current.connection.offer(text) else text

    async def _forward(self, message: Question, text: bytes) -> None:
        """Get a question answered, unless the host ends the turn before."""
        if self._current is None:
            raise ProtocolError(f"the host sent {type(message).__name__} after the end of a match")
        session = self._session
        asking = asyncio.create_task(self._reply(message, text, self._current))
        over = asyncio.create_task(session.turn_is_over.wait())
        try:
            timeout_s = HOST_WAIT_FACTOR * session.side.timeout_s
            done, _ = await asyncio.wait((asking, over), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise ConnectionLost(
                    f"neither an answer of the player nor a message of the host came for {timeout_s:g} s"
                )
            if asking.done():
                session.reply(message.nonce, asking.result())
        finally:
            for task in (asking, over):
                task.cancel()
            await finish_despite_cancellation(asyncio.wait((asking, over)))

    async def _reply(self, message: Question, text: bytes, player: CurrentPlayer) -> bytes:
        """The reply of the player to a question, as it is sent to the host."""
        connection, at_hello = player.connection, isinstance(message, Hello)
        player.nonces.add(message.nonce)

        def failed(fault: Fault, why: str, received: bytes = b"") -> PlayerFailed:
            return PlayerFailed(Failed(fault, why, 0.0, add_received(connection.evidence(), received)), at_hello)

        await acquire(connection)
        try:
            if self._undelivered_change:
                connection.send(self._undelivered_change)
                self._undelivered_change = b""
            connection.send(text)
            while True:
                received = await receive(connection)
                reply = player.replies.read(received, message.nonce)
                if isinstance(reply, BadReply):
                    raise failed(reply.fault, reply.why, received)
                if reply is not None:
                    return self._set_name(reply) if at_hello else received + b"\n"
        except ConnectionClosed as closed:
            raise failed(closed.fault, str(closed)) from None
        except TooMuchData as flood:
            raise failed(Fault.FLOOD, f"sent more than {wire.MAX_LINE_BYTES} bytes at once", flood.text) from None
        finally:
            connection.release()

    def _set_name(self, reply: wire.Reply) -> bytes:
        """The answer to hello, with the name that we want; the host refuses one that is no introduction."""
        answer: object = reply.answer
        with suppress(*wire.DECODE_ERRORS):
            own = wire.hello_decoder(reply.answer)
            name, changes = (None, False) if own is None else (own.name or None, own.changes)
            answer = introduction(name=self._name or name, changes=changes)
        return encode_reply(reply.nonce, answer)
