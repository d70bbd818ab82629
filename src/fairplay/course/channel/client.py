"""Play as a client of a course: receive its calls, and let our player answer them."""

import asyncio
import re
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import End, Failed, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.course.channel.call_log import CallLog
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.values import IllFormed
from fairplay.course.dialects.dialect import VOID, Call, Caller, Dialect
from fairplay.protocol import wire
from fairplay.protocol.player_side import MAX_SHOWN_BYTES, ProtocolError
from fairplay.referee.closing import finish_all, wait_for_task
from fairplay.transport.connection import ClosedMidReply, ConnectionClosed, ConnectionLost, TooMuchData, receive
from fairplay.transport.connector import MAX_HOST_LINE_BYTES

COURSE_IDLE_TIMEOUT_S = 600.0
MAX_COURSE_NAME_CHARS = 12  # letters, allowed by every course with names
DEFAULT_COURSE_NAME = "fairplay"

OpenChannel = Callable[[Game[Any, Any, Any]], Awaitable[AsyncChannel]]  # a player for a match of this game


class PlayerFailed(Exception):
    """Our own player failed to answer."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def ignore(_: object) -> None:
    """Ignore a value."""


async def join_course(
    dialect: Dialect,
    sock: socket.socket,
    seat: "CourseSeat",
    *,
    name: str = "",
    idle_timeout: float = COURSE_IDLE_TIMEOUT_S,
    log: CallLog | None = None,
) -> bool:
    """Sign up and play until the server disconnects. Did it announce the end?

    The connection is closed and the seat is left on every path. Raises ConnectionLost, ProtocolError or PlayerFailed.
    """
    try:
        if dialect.name is not None:
            check_name(dialect, name)
        connection = await open_connection(sock)
    except BaseException:
        sock.close()
        await seat.leave()
        raise
    told_the_end = False
    try:
        if dialect.name is not None:
            send_reply(connection, name, log)
        while (text := await receive_call(connection, idle_timeout, log)) is not None:
            call = parse_call(text)
            reply, ended = await seat.answer(call)
            told_the_end = call.method == dialect.closing if dialect.closing is not None else ended
            send_reply(connection, reply, log)
            seat.prepare_next()
        return told_the_end
    finally:
        try:
            await seat.leave()
        finally:
            await connection.close(b"", 0)


class CourseSeat:
    """The place of our player at a server: it opens a new player for each match, and closes it afterwards.

    Starting a program may take longer than a call allows, so players can be prepared before their matches. Call `leave`
    in the end.
    """

    def __init__(
        self,
        caller: Caller,
        open_channel: OpenChannel,
        on_message: Callable[[Message], None] = ignore,  # is called with each message to the player
        *,
        report: Callable[[str], None] = ignore,  # is called with warnings about the server
        ahead: int = 0,  # so many players are prepared before the first match; 0: each when its match starts
    ) -> None:
        self._caller = caller
        self._open_channel = open_channel
        self._on_message = on_message
        self._report = report
        self._ahead = ahead
        self._channel: AsyncChannel | None = None
        self._prepared: deque[PreparedPlayer] = deque()  # for the most likely game
        self._closing: list[asyncio.Task[Any]] = []

    async def prepare(self) -> None:
        """Prepare players for the first matches. Raises PlayerFailed."""
        self._prepare(self._ahead)
        await asyncio.gather(*(one.opening for one in self._prepared))

    def prepare_next(self) -> None:
        """Prepare a player for the next match during a match, without waiting.

        Only one at a time: starting programs take cores from the one that plays.
        """
        if self._ahead > 1 and self._channel is not None:
            self._prepare(1)

    def _prepare(self, count: int) -> None:
        while len(self._prepared) < count:
            game = self._caller.game
            self._prepared.append(PreparedPlayer(game, asyncio.ensure_future(self._open_channel(game))))

    async def answer(self, call: Call) -> tuple[Any, bool]:
        """The reply to a call, and whether it ended a match."""
        reply, ended = VOID, False
        try:
            messages = self._caller.messages(call)
        except BadRequest as error:
            raise ProtocolError(f"not a call of the course: {error}") from None
        if self._caller.warning:
            self._report(f"the server called {call.method[:MAX_SHOWN_BYTES]}: {self._caller.warning}")
        for message in messages:
            if isinstance(message, Start):
                await self._change_player()
            if self._channel is None:
                raise ProtocolError(f"the server called {call.method[:MAX_SHOWN_BYTES]!r} before a match had started")
            self._on_message(message)
            answer = await self._channel.ask(message)
            if isinstance(answer, Failed):
                raise PlayerFailed(answer)
            if isinstance(message, TakeTurn):
                reply = self._caller.reply(answer.value)
            ended = isinstance(message, End)
        return reply, ended

    async def leave(self) -> None:
        """Close all players."""
        self._close_player()
        self._close_prepared()
        closing, self._closing = self._closing, []
        await finish_all([wait_for_task(task) for task in closing])

    async def _change_player(self) -> None:
        """Switch to the player for a new match, without waiting until the last one is closed."""
        self._close_player()
        if self._prepared and self._prepared[0].game != self._caller.game:
            self._close_prepared()
        self._prepare(1)
        self._channel = await self._prepared[0].opening
        self._prepared.popleft()

    def _close_player(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            self._closing.append(asyncio.create_task(channel.close(None)))

    def _close_prepared(self) -> None:
        for prepared in self._prepared:
            prepared.opening.cancel()
            self._closing.append(asyncio.create_task(close_prepared(prepared)))
        self._prepared.clear()


class PreparedPlayer(NamedTuple):
    """A player that is opened before its match starts."""

    game: Game[Any, Any, Any]
    opening: asyncio.Future[AsyncChannel]


async def close_prepared(prepared: PreparedPlayer) -> None:
    """Close an unused player; its failure does not matter."""
    await asyncio.wait((prepared.opening,))
    if not prepared.opening.cancelled() and prepared.opening.exception() is None:
        await prepared.opening.result().close(None)


async def open_connection(sock: socket.socket) -> CourseConnection:
    """Wrap a connected socket as a connection to a server."""
    sock.setblocking(False)
    connection = CourseConnection(MAX_HOST_LINE_BYTES)
    await asyncio.get_running_loop().create_connection(lambda: connection, sock=sock)
    return connection


async def receive_call(connection: CourseConnection, idle_timeout: float, log: CallLog | None = None) -> bytes | None:
    """The next value from a server; None: it has disconnected."""
    try:
        async with asyncio.timeout(idle_timeout):
            text = await receive(connection)
    except TimeoutError:
        raise ConnectionLost(f"no call came for {idle_timeout:g} s") from None
    except ClosedMidReply:
        raise ConnectionLost("the server disconnected in the middle of a call") from None
    except IllFormed as wrong:
        raise ProtocolError(f"not a call: {wrong}: {wrong.text[:MAX_SHOWN_BYTES]!r}") from None
    except ConnectionClosed:
        if log is not None:
            log.end("the server has disconnected")
        return None
    except TooMuchData:
        raise ConnectionLost(f"a call of more than {MAX_HOST_LINE_BYTES} bytes came") from None
    if log is not None:
        log.log_received(text)
    return text


def send_reply(connection: CourseConnection, value: Any, log: CallLog | None = None) -> None:
    """Send a value. If the server has disconnected, its last calls can still be read."""
    text = wire.encode(value) + b"\n"
    if connection.is_behind:
        raise ConnectionLost("the server does not read its answers")
    connection.send(text)
    if log is not None:
        log.log_sent(text)


def parse_call(received: bytes) -> Call:
    """Parse a call."""
    try:
        return msgspec.json.decode(received, type=Call)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"not a call: {error}: {received[:MAX_SHOWN_BYTES]!r}") from None


def check_name(dialect: Dialect, name: str) -> None:
    """Raise BadRequest unless a player can sign up with this name."""
    if dialect.name is None:
        raise BadRequest(f"the course's {dialect.game} has no names; leave out {name!r}")
    if re.fullmatch(dialect.name, name) is None:
        raise BadRequest(f"{name!r} is not a name in the course's {dialect.game}: use {dialect.name_rule}")


def default_name(dialect: Dialect, address: str) -> str:
    """A default name, made from the player's address; empty if the course has no names."""
    if dialect.name is None:
        return ""
    letters = "".join(re.findall(r"[a-zA-Z]", address.rpartition("/")[2].removesuffix(".py")))
    return next(
        name for name in (letters[:MAX_COURSE_NAME_CHARS], DEFAULT_COURSE_NAME) if re.fullmatch(dialect.name, name)
    )
