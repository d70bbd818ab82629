"""Be a client of a course: hear its calls over a connection, let a player of ours answer them."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import End, Failed, Message, Start, TakeTurn
from fairplay.core.roles import AsyncChannel
from fairplay.course.dialect import VOID, Call, Caller, Dialect
from fairplay.players import wire
from fairplay.players.course_line import CourseLine
from fairplay.players.dial import MOST_LINE, Lost
from fairplay.players.line import Closed, TooMuch
from fairplay.players.serve import MOST_SHOWN, Misunderstood
from fairplay.players.values import IllFormed
from fairplay.referee.closing import surely

PATIENCE = 600.0  # seconds without a call after which a server is given up
LONGEST_NAME = 12  # letters, that every course with names takes
USUAL_NAME = "fairplay"

SitDown = Callable[[Game[Any, Any, Any]], Awaitable[AsyncChannel]]  # a player for a match of this game


class PlayerFailed(Exception):
    """Our own player gave no answer; how it failed is the argument."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def nothing(message: Message) -> None:
    """Nobody else wants to hear it."""


async def join_course(
    dialect: Dialect,
    connection: socket.socket,
    sit_down: SitDown,
    *,
    name: str = "",
    patience: float = PATIENCE,
    hear: Callable[[Message], None] = nothing,
) -> bool:
    """Sign up over a connection and play until the server hangs up: were we told the end by then?

    For every match a player sits down, and is closed after it; `hear` is told what it is told. The connection is closed
    on every path. Raises Lost, Misunderstood (the server does not speak so) or PlayerFailed.
    """
    try:
        if dialect.name is not None:
            check_name(dialect, name)
        connection.setblocking(False)
        _, line = await asyncio.get_running_loop().create_connection(lambda: CourseLine(MOST_LINE), sock=connection)
    except BaseException:
        connection.close()
        raise
    seat = Seat(dialect.caller(name), sit_down, hear)
    told_the_end = False
    try:
        if dialect.name is not None:
            await send(line, name, patience)
        while (received := await next_call(line, patience)) is not None:
            call = call_in(received)
            reply, ended = await seat.answer(call)
            told_the_end = call.method == dialect.closing if dialect.closing is not None else ended
            await send(line, reply, patience)
        return told_the_end
    finally:
        try:
            await seat.leave()
        finally:
            await line.hang_up(b"", 0)


class Seat:
    """Where our player sits, one match after the other."""

    def __init__(self, caller: Caller, sit_down: SitDown, hear: Callable[[Message], None]) -> None:
        self._caller = caller
        self._sit_down = sit_down
        self._hear = hear
        self._channel: AsyncChannel | None = None

    async def answer(self, call: Call) -> tuple[Any, bool]:
        """The reply to a call, and whether it was the end of a match."""
        reply, ended = VOID, False
        try:
            messages = self._caller.messages(call)
        except BadRequest as error:
            raise Misunderstood(f"what came is no call of the course: {error}") from None
        for message in messages:
            if isinstance(message, Start):
                await self.leave()
                self._channel = await self._sit_down(self._caller.game)
            if self._channel is None:
                raise Misunderstood(f"they called {call.method[:MOST_SHOWN]!r} before a match had begun")
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
        channel, self._channel = self._channel, None
        if channel is not None:
            await surely(channel.close(None))


async def next_call(line: CourseLine, patience: float) -> bytes | None:
    """The next value from a server; None: it has hung up."""
    try:
        async with asyncio.timeout(patience):
            return await line.receive()
    except TimeoutError:
        raise Lost(f"no call came for {patience:g} s") from None
    except Closed:
        if line.unfinished:
            raise Lost("the server hung up in the middle of a call") from None
        return None
    except TooMuch:
        raise Lost(f"a call of more than {MOST_LINE} bytes came") from None
    except IllFormed as wrong:
        raise Misunderstood(f"what came is no call: {wrong}: {wrong.text[:MOST_SHOWN]!r}") from None


async def send(line: CourseLine, value: Any, patience: float) -> None:
    """Send a value. If the server has hung up, what it said last is still to be read."""
    try:
        async with asyncio.timeout(patience):
            await line.send(wire.encode(value) + b"\n")
    except TimeoutError:
        raise Lost(f"the server did not listen for {patience:g} s") from None
    except Closed:
        pass


def call_in(received: bytes) -> Call:
    """The call that a value is."""
    try:
        return msgspec.json.decode(received, type=Call)
    except msgspec.ValidationError as error:
        raise Misunderstood(f"what came is no call: {error}: {received[:MOST_SHOWN]!r}") from None


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
