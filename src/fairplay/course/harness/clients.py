"""Be the clients of a course: good ones by a strategy, and those that misbehave as an actor of the course does."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.roles import AnyStrategy, AsyncChannel
from fairplay.course.channel.call_log import CallLog
from fairplay.course.channel.client import PlayerFailed, Seat, call_in, line_over, next_call, send, unsaid
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.dialects.dialect import Dialect
from fairplay.hosting.table import Here
from fairplay.protocol.player_side import Misunderstood
from fairplay.referee.local import Local
from fairplay.transport.dialler import connected_socket
from fairplay.transport.line import Lost

PATIENCE = 600.0  # seconds without a call
DIALLING = 30.0  # seconds until the server is there
APART = 0.02  # seconds between two connections, so that the first comes first


class Deed(msgspec.Struct, frozen=True):
    """What a client does instead of answering, at one of the calls of a method."""

    method: str
    count: int = 1  # the first call that it does not answer
    said: bytes | None = b""  # instead; empty: it hangs up. None: nothing at all, and it stays


class Actor(msgspec.Struct, frozen=True):
    """A client."""

    name: str
    strategy: AnyStrategy
    deed: Deed | None = None


async def act(dialect: Dialect, host: str, port: int, actor: Actor, tell: Callable[[str], None] = unsaid) -> None:
    """Connect, sign up, and answer until the server hangs up, or until it is time for the deed."""
    await answer_calls(dialect, await signed_up(dialect, host, port, actor), actor, tell)


async def signed_up(
    dialect: Dialect, host: str, port: int, actor: Actor, log: CallLog | None = None
) -> CourseConnection:
    """A line to a server that has been told the name of an actor, if the course has names."""
    line = await line_over(await connected_socket(host, port, DIALLING))
    if dialect.name is not None:
        send(line, actor.name, log)
    return line


async def answer_calls(
    dialect: Dialect, line: CourseConnection, actor: Actor, tell: Callable[[str], None], log: CallLog | None = None
) -> None:
    """Answer over a line until the server hangs up, or until it is time for the deed; the line is closed then.

    If it cannot go on, because of the server or of its own strategy, that is told.
    """
    seat = Seat(dialect.caller(actor.name), sitting_down(actor), tell=lambda text: tell(f"{actor.name}: {text}"))
    calls = Counter[str]()
    try:
        while (text := await next_call(line, PATIENCE, log)) is not None:
            call = call_in(text)
            calls[call.method] += 1
            reply, _ = await seat.answer(call)
            deed = actor.deed
            if deed is None or call.method != deed.method or calls[call.method] < deed.count:
                send(line, reply, log)
            elif deed.said is None:
                while await next_call(line, PATIENCE, log) is not None:  # until the server hangs up
                    pass
                return
            elif not deed.said:
                return
            else:
                line.send(deed.said)
    except (Lost, Misunderstood) as error:
        tell(f"{actor.name} left: {error}")
    except PlayerFailed as error:
        tell(f"{actor.name} left: its strategy failed, {error.failed.why}")
    finally:
        try:
            await seat.leave()
        finally:
            await line.hang_up(b"", 0)


def sitting_down(actor: Actor) -> Callable[[Game[Any, Any, Any]], Any]:
    """What seats the strategy of an actor for a match."""

    async def sit_down(game: Game[Any, Any, Any]) -> AsyncChannel:
        return Here(Local(actor.strategy, game))

    return sit_down


async def act_all(
    dialect: Dialect,
    host: str,
    port: int,
    actors: Sequence[Actor],
    *,
    apart: float = APART,
    tell: Callable[[str], None] = unsaid,
    verbose: bool = False,
) -> None:
    """All of them at once. They sign up one after the other: their order is the same whichever side is there first.

    If there is no server for one of them, those before it play to the end; then BadRequest is raised. With `verbose`,
    all calls are told.
    """
    acting: list[asyncio.Task[None]] = []
    missing: BadRequest | None = None
    try:
        for actor in actors:
            log = CallLog(tell, actor.name) if verbose else None
            try:
                line = await signed_up(dialect, host, port, actor, log)
            except BadRequest as error:
                missing = error
                break
            acting.append(asyncio.create_task(answer_calls(dialect, line, actor, tell, log)))
            await asyncio.sleep(apart)
        await asyncio.gather(*acting)
        if missing is not None:
            raise missing
    finally:
        for one in acting:
            one.cancel()
        await asyncio.gather(*acting, return_exceptions=True)
