"""Be a client of a course: hear its calls over a connection, let a player of ours answer them."""

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

COURSE_IDLE_TIMEOUT_S = 600.0  # seconds without a call after which a server is given up
MAX_COURSE_NAME_CHARS = 12  # letters, that every course with names takes
DEFAULT_COURSE_NAME = "fairplay"

OpenChannel = Callable[[Game[Any, Any, Any]], Awaitable[AsyncChannel]]  # a player for a match of this game


class PlayerFailed(Exception):
    """Our own player gave no answer; how it failed is the argument."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def ignore(_: object) -> None:
    """Nobody wants to know."""


async def join_course(
    dialect: Dialect,
    connection: socket.socket,
    seat: "CourseSeat",
    *,
    name: str = "",
    idle_timeout: float = COURSE_IDLE_TIMEOUT_S,
    log: CallLog | None = None,
) -> bool:
    """Sign up over a connection and play until the server hangs up: were we told the end by then?

    The connection is closed and the seat is left on every path. Raises Lost, Misunderstood (the server does not speak
    so) or PlayerFailed.
    """
    try:
        if dialect.name is not None:
            check_name(dialect, name)
        line = await open_connection(connection)
    except BaseException:
        connection.close()
        await seat.leave()
        raise
    told_the_end = False
    try:
        if dialect.name is not None:
            send_reply(line, name, log)
        while (text := await receive_call(line, idle_timeout, log)) is not None:
            call = parse_call(text)
            reply, ended = await seat.answer(call)
            told_the_end = call.method == dialect.closing if dialect.closing is not None else ended
            send_reply(line, reply, log)
            seat.prepare_next()
        return told_the_end
    finally:
        try:
            await seat.leave()
        finally:
            await line.close(b"", 0)


class CourseSeat:
    """Where our player sits, one match after the other: for every match a player sits down, and is closed after it.

    To start a program may take longer than a call, so players can sit down before their matches begin. Whoever has a
    seat has to leave it.
    """

    def __init__(
        self,
        caller: Caller,
        sit_down: OpenChannel,
        on_message: Callable[[Message], None] = ignore,  # is told what the player is told
        *,
        report: Callable[[str], None] = ignore,  # is told what is wrong with the server, and does not matter
        ahead: int = 0,  # for so many matches players sit down before the first; 0: for each when it begins
    ) -> None:
        self._caller = caller
        self._open_channel = sit_down
        self._on_message = on_message
        self._report = report
        self._ahead = ahead
        self._channel: AsyncChannel | None = None
        self._prepared: deque[PreparedPlayer] = deque()  # in what is likely to be their game
        self._closing: list[asyncio.Task[Any]] = []

    async def prepare(self) -> None:
        """Let players sit down for the first matches. Raises PlayerFailed."""
        self._prepare(self._ahead)
        await asyncio.gather(*(one.opening for one in self._prepared))

    def prepare_next(self) -> None:
        """If nobody is prepared for the next match, let one sit down while a match is played, without waiting.

        Never more than one: programs that start take cores from the one that plays.
        """
        if self._ahead > 1 and self._channel is not None:
            self._prepare(1)

    def _prepare(self, count: int) -> None:
        while len(self._prepared) < count:
            game = self._caller.game
            self._prepared.append(PreparedPlayer(game, asyncio.ensure_future(self._open_channel(game))))

    async def answer(self, call: Call) -> tuple[Any, bool]:
        """The reply to a call, and whether it was the end of a match."""
        reply, ended = VOID, False
        try:
            messages = self._caller.messages(call)
        except BadRequest as error:
            raise ProtocolError(f"what came is no call of the course: {error}") from None
        if self._caller.remark:
            self._report(f"the server called {call.method[:MAX_SHOWN_BYTES]}: {self._caller.remark}")
        for message in messages:
            if isinstance(message, Start):
                await self._change_player()
            if self._channel is None:
                raise ProtocolError(f"they called {call.method[:MAX_SHOWN_BYTES]!r} before a match had begun")
            self._on_message(message)
            answer = await self._channel.ask(message)
            if isinstance(answer, Failed):
                raise PlayerFailed(answer)
            if isinstance(message, TakeTurn):
                reply = self._caller.reply(answer.value)
            ended = isinstance(message, End)
        return reply, ended

    async def leave(self) -> None:
        """Nobody sits there any more."""
        self._close_player()
        self._close_prepared()
        closing, self._closing = self._closing, []
        await finish_all([wait_for_task(task) for task in closing])

    async def _change_player(self) -> None:
        """Let the player for a new match sit down; the server does not wait until the one before has gone."""
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
    """A player that sits down before its match begins."""

    game: Game[Any, Any, Any]
    opening: asyncio.Future[AsyncChannel]


async def close_prepared(prepared: PreparedPlayer) -> None:
    """Close a player that nobody needs, if it sat down; if it failed, that is nobody's business."""
    await asyncio.wait((prepared.opening,))
    if not prepared.opening.cancelled() and prepared.opening.exception() is None:
        await prepared.opening.result().close(None)


async def open_connection(connection: socket.socket) -> CourseConnection:
    """A line to a server, over a connection that was made."""
    connection.setblocking(False)
    line = CourseConnection(MAX_HOST_LINE_BYTES)
    await asyncio.get_running_loop().create_connection(lambda: line, sock=connection)
    return line


async def receive_call(line: CourseConnection, patience: float, log: CallLog | None = None) -> bytes | None:
    """The next value from a server; None: it has hung up."""
    try:
        async with asyncio.timeout(patience):
            text = await receive(line)
    except TimeoutError:
        raise ConnectionLost(f"no call came for {patience:g} s") from None
    except ClosedMidReply:
        raise ConnectionLost("the server hung up in the middle of a call") from None
    except IllFormed as wrong:
        raise ProtocolError(f"what came is no call: {wrong}: {wrong.text[:MAX_SHOWN_BYTES]!r}") from None
    except ConnectionClosed:
        if log is not None:
            log.end("the server has hung up")
        return None
    except TooMuchData:
        raise ConnectionLost(f"a call of more than {MAX_HOST_LINE_BYTES} bytes came") from None
    if log is not None:
        log.log_received(text)
    return text


def send_reply(line: CourseConnection, value: Any, log: CallLog | None = None) -> None:
    """Send a value. If the server has hung up, what it said last is still to be read."""
    text = wire.encode(value) + b"\n"
    if line.is_behind:
        raise ConnectionLost("the server does not read what it is answered")
    line.send(text)
    if log is not None:
        log.log_sent(text)


def parse_call(received: bytes) -> Call:
    """The call that a value is."""
    try:
        return msgspec.json.decode(received, type=Call)
    except msgspec.ValidationError as error:
        raise ProtocolError(f"what came is no call: {error}: {received[:MAX_SHOWN_BYTES]!r}") from None


def check_name(dialect: Dialect, name: str) -> None:
    """Raise BadRequest if nobody can sign up by that name."""
    if dialect.name is None:
        raise BadRequest(f"the course's {dialect.game} has no names, so {name!r} makes no sense")
    if re.fullmatch(dialect.name, name) is None:
        raise BadRequest(f"{name!r} is no name in the course's {dialect.game}: it has to be {dialect.name_in_words}")


def default_name(dialect: Dialect, address: str) -> str:
    """A name for a player that was given none: as much of its address as can be one; empty if there are no names."""
    if dialect.name is None:
        return ""
    letters = "".join(re.findall(r"[a-zA-Z]", address.rpartition("/")[2].removesuffix(".py")))
    return next(
        name for name in (letters[:MAX_COURSE_NAME_CHARS], DEFAULT_COURSE_NAME) if re.fullmatch(dialect.name, name)
    )
