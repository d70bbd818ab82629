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
from fairplay.course.channel.client import (
    CourseSeat,
    PlayerFailed,
    ignore,
    open_connection,
    parse_call,
    receive_call,
    send_reply,
)
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.dialects.dialect import Dialect
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.protocol.player_side import ProtocolError
from fairplay.referee.local_channel import LocalChannel
from fairplay.transport.connection import ConnectionLost
from fairplay.transport.connector import connect_socket

ACTOR_IDLE_TIMEOUT_S = 600.0  # seconds without a call
CONNECT_TIMEOUT_S = 30.0  # seconds until the server is there
SIGN_UP_INTERVAL_S = 0.02  # seconds between two connections, so that the first comes first


class Misbehaviour(msgspec.Struct, frozen=True):
    """What a client does instead of answering, at one of the calls of a method."""

    method: str
    count: int = 1  # the first call that it does not answer
    sent: bytes | None = b""  # instead; empty: it hangs up. None: nothing at all, and it stays


class Actor(msgspec.Struct, frozen=True):
    """A client."""

    name: str
    strategy: AnyStrategy
    misbehaviour: Misbehaviour | None = None


async def play_actor(
    dialect: Dialect, host: str, port: int, actor: Actor, tell: Callable[[str], None] = ignore
) -> None:
    """Connect, sign up, and answer until the server hangs up, or until it is time for the deed."""
    await answer_calls(dialect, await sign_up(dialect, host, port, actor), actor, tell)


async def sign_up(dialect: Dialect, host: str, port: int, actor: Actor, log: CallLog | None = None) -> CourseConnection:
    """A line to a server that has been told the name of an actor, if the course has names."""
    line = await open_connection(await connect_socket(host, port, CONNECT_TIMEOUT_S))
    if dialect.name is not None:
        send_reply(line, actor.name, log)
    return line


async def answer_calls(
    dialect: Dialect, line: CourseConnection, actor: Actor, tell: Callable[[str], None], log: CallLog | None = None
) -> None:
    """Answer over a line until the server hangs up, or until it is time for the deed; the line is closed then.

    If it cannot go on, because of the server or of its own strategy, that is told.
    """
    seat = CourseSeat(
        dialect.caller(actor.name), make_open_channel(actor), report=lambda text: tell(f"{actor.name}: {text}")
    )
    calls = Counter[str]()
    try:
        while (text := await receive_call(line, ACTOR_IDLE_TIMEOUT_S, log)) is not None:
            call = parse_call(text)
            calls[call.method] += 1
            reply, _ = await seat.answer(call)
            deed = actor.misbehaviour
            if deed is None or call.method != deed.method or calls[call.method] < deed.count:
                send_reply(line, reply, log)
            elif deed.sent is None:
                while await receive_call(line, ACTOR_IDLE_TIMEOUT_S, log) is not None:  # until the server hangs up
                    pass
                return
            elif not deed.sent:
                return
            else:
                line.send(deed.sent)
    except (ConnectionLost, ProtocolError) as error:
        tell(f"{actor.name} left: {error}")
    except PlayerFailed as error:
        tell(f"{actor.name} left: its strategy failed, {error.failed.why}")
    finally:
        try:
            await seat.leave()
        finally:
            await line.close(b"", 0)


def make_open_channel(actor: Actor) -> Callable[[Game[Any, Any, Any]], Any]:
    """What seats the strategy of an actor for a match."""

    async def sit_down(game: Game[Any, Any, Any]) -> AsyncChannel:
        return AsyncLocalChannel(LocalChannel(actor.strategy, game))

    return sit_down


async def play_actors(
    dialect: Dialect,
    host: str,
    port: int,
    actors: Sequence[Actor],
    *,
    interval_s: float = SIGN_UP_INTERVAL_S,
    tell: Callable[[str], None] = ignore,
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
                line = await sign_up(dialect, host, port, actor, log)
            except BadRequest as error:
                missing = error
                break
            acting.append(asyncio.create_task(answer_calls(dialect, line, actor, tell, log)))
            await asyncio.sleep(interval_s)
        await asyncio.gather(*acting)
        if missing is not None:
            raise missing
    finally:
        for one in acting:
            one.cancel()
        await asyncio.gather(*acting, return_exceptions=True)
