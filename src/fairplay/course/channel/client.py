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
from fairplay.protocol.player_side import MAX_SHOWN_BYTES, Misunderstood
from fairplay.referee.closing import all_surely, finished
from fairplay.transport.dialler import MAX_HOST_LINE_BYTES
from fairplay.transport.line import Closed, Cut, Lost, TooMuch, received

PATIENCE = 600.0  # seconds without a call after which a server is given up
LONGEST_NAME = 12  # letters, that every course with names takes
USUAL_NAME = "fairplay"

SitDown = Callable[[Game[Any, Any, Any]], Awaitable[AsyncChannel]]  # a player for a match of this game


class PlayerFailed(Exception):
    """Our own player gave no answer; how it failed is the argument."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def unsaid(_: object) -> None:
    """Nobody wants to know."""


async def join_course(
    dialect: Dialect,
    connection: socket.socket,
    seat: "Seat",
    *,
    name: str = "",
    patience: float = PATIENCE,
    log: CallLog | None = None,
) -> bool:
    """Sign up over a connection and play until the server hangs up: were we told the end by then?

    The connection is closed and the seat is left on every path. Raises Lost, Misunderstood (the server does not speak
    so) or PlayerFailed.
    """
    try:
        if dialect.name is not None:
            check_name(dialect, name)
        line = await line_over(connection)
    except BaseException:
        connection.close()
        await seat.leave()
        raise
    told_the_end = False
    try:
        if dialect.name is not None:
            send(line, name, log)
        while (text := await next_call(line, patience, log)) is not None:
            call = call_in(text)
            reply, ended = await seat.answer(call)
            told_the_end = call.method == dialect.closing if dialect.closing is not None else ended
            send(line, reply, log)
            seat.prepare_next()
        return told_the_end
    finally:
        try:
            await seat.leave()
        finally:
            await line.hang_up(b"", 0)


class Seat:
    """Where our player sits, one match after the other: for every match a player sits down, and is closed after it.

    To start a program may take longer than a call, so players can sit down before their matches begin. Whoever has a
    seat has to leave it.
    """

    def __init__(
        self,
        caller: Caller,
        sit_down: SitDown,
        hear: Callable[[Message], None] = unsaid,  # is told what the player is told
        *,
        tell: Callable[[str], None] = unsaid,  # is told what is wrong with the server, and does not matter
        ahead: int = 0,  # for so many matches players sit down before the first; 0: for each when it begins
    ) -> None:
        self._caller = caller
        self._sit_down = sit_down
        self._hear = hear
        self._tell = tell
        self._ahead = ahead
        self._channel: AsyncChannel | None = None
        self._prepared: deque[Prepared] = deque()  # in what is likely to be their game
        self._closing: list[asyncio.Task[Any]] = []

    async def prepare(self) -> None:
        """Let players sit down for the first matches. Raises PlayerFailed."""
        self._prepare(self._ahead)
        await asyncio.gather(*(one.sitting_down for one in self._prepared))

    def prepare_next(self) -> None:
        """If nobody is prepared for the next match, let one sit down while a match is played, without waiting.

        Never more than one: programs that start take cores from the one that plays.
        """
        if self._ahead > 1 and self._channel is not None:
            self._prepare(1)

    def _prepare(self, count: int) -> None:
        while len(self._prepared) < count:
            game = self._caller.game
            self._prepared.append(Prepared(game, asyncio.ensure_future(self._sit_down(game))))

    async def answer(self, call: Call) -> tuple[Any, bool]:
        """The reply to a call, and whether it was the end of a match."""
        reply, ended = VOID, False
        try:
            messages = self._caller.messages(call)
        except BadRequest as error:
            raise Misunderstood(f"what came is no call of the course: {error}") from None
        if self._caller.remark:
            self._tell(f"the server called {call.method[:MAX_SHOWN_BYTES]}: {self._caller.remark}")
        for message in messages:
            if isinstance(message, Start):
                await self._change_player()
            if self._channel is None:
                raise Misunderstood(f"they called {call.method[:MAX_SHOWN_BYTES]!r} before a match had begun")
            self._hear(message)
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
        await all_surely([finished(task) for task in closing])

    async def _change_player(self) -> None:
        """Let the player for a new match sit down; the server does not wait until the one before has gone."""
        self._close_player()
        if self._prepared and self._prepared[0].game != self._caller.game:
            self._close_prepared()
        self._prepare(1)
        self._channel = await self._prepared[0].sitting_down
        self._prepared.popleft()

    def _close_player(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            self._closing.append(asyncio.create_task(channel.close(None)))

    def _close_prepared(self) -> None:
        for prepared in self._prepared:
            prepared.sitting_down.cancel()
            self._closing.append(asyncio.create_task(close_prepared(prepared)))
        self._prepared.clear()


class Prepared(NamedTuple):
    """A player that sits down before its match begins."""

    game: Game[Any, Any, Any]
    sitting_down: asyncio.Future[AsyncChannel]


async def close_prepared(prepared: Prepared) -> None:
    """Close a player that nobody needs, if it sat down; if it failed, that is nobody's business."""
    await asyncio.wait((prepared.sitting_down,))
    if not prepared.sitting_down.cancelled() and prepared.sitting_down.exception() is None:
        await prepared.sitting_down.result().close(None)


async def line_over(connection: socket.socket) -> CourseConnection:
    """A line to a server, over a connection that was made."""
    connection.setblocking(False)
    line = CourseConnection(MAX_HOST_LINE_BYTES)
    await asyncio.get_running_loop().create_connection(lambda: line, sock=connection)
    return line


async def next_call(line: CourseConnection, patience: float, log: CallLog | None = None) -> bytes | None:
    """The next value from a server; None: it has hung up."""
    try:
        async with asyncio.timeout(patience):
            text = await received(line)
    except TimeoutError:
        raise Lost(f"no call came for {patience:g} s") from None
    except Cut:
        raise Lost("the server hung up in the middle of a call") from None
    except IllFormed as wrong:
        raise Misunderstood(f"what came is no call: {wrong}: {wrong.text[:MAX_SHOWN_BYTES]!r}") from None
    except Closed:
        if log is not None:
            log.end("the server has hung up")
        return None
    except TooMuch:
        raise Lost(f"a call of more than {MAX_HOST_LINE_BYTES} bytes came") from None
    if log is not None:
        log.hear(text)
    return text


def send(line: CourseConnection, value: Any, log: CallLog | None = None) -> None:
    """Send a value. If the server has hung up, what it said last is still to be read."""
    text = wire.encode(value) + b"\n"
    if line.is_behind:
        raise Lost("the server does not read what it is answered")
    line.send(text)
    if log is not None:
        log.say(text)


def call_in(received: bytes) -> Call:
    """The call that a value is."""
    try:
        return msgspec.json.decode(received, type=Call)
    except msgspec.ValidationError as error:
        raise Misunderstood(f"what came is no call: {error}: {received[:MAX_SHOWN_BYTES]!r}") from None


def check_name(dialect: Dialect, name: str) -> None:
    """Raise BadRequest if nobody can sign up by that name."""
    if dialect.name is None:
        raise BadRequest(f"the course's {dialect.game} has no names, so {name!r} makes no sense")
    if re.fullmatch(dialect.name, name) is None:
        raise BadRequest(f"{name!r} is no name in the course's {dialect.game}: it has to be {dialect.name_in_words}")


def name_for(dialect: Dialect, address: str) -> str:
    """A name for a player that was given none: as much of its address as can be one; empty if there are no names."""
    if dialect.name is None:
        return ""
    letters = "".join(re.findall(r"[a-zA-Z]", address.rpartition("/")[2].removesuffix(".py")))
    return next(name for name in (letters[:LONGEST_NAME], USUAL_NAME) if re.fullmatch(dialect.name, name))
