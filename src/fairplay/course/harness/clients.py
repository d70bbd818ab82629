"""Run clients of a course: well-behaved ones, and those that misbehave like the actors of the course."""

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

ACTOR_IDLE_TIMEOUT_S = 600.0
CONNECT_TIMEOUT_S = 30.0
SIGN_UP_INTERVAL_S = 0.02  # between two connections, to keep their order


class Misbehaviour(msgspec.Struct, frozen=True):
    """What a client does instead of answering a call of a method."""

    method: str
    count: int = 1  # the number of the call that it does not answer
    sent: bytes | None = b""  # instead; empty: it disconnects. None: it stays silent


class Actor(msgspec.Struct, frozen=True):
    """A client with its strategy and misbehaviour."""

    name: str
    strategy: AnyStrategy
    misbehaviour: Misbehaviour | None = None


async def play_actor(
    dialect: Dialect, host: str, port: int, actor: Actor, tell: Callable[[str], None] = ignore
) -> None:
    """Connect, sign up, and answer until the server disconnects or the actor misbehaves."""
    await answer_calls(dialect, await sign_up(dialect, host, port, actor), actor, tell)


async def sign_up(dialect: Dialect, host: str, port: int, actor: Actor, log: CallLog | None = None) -> CourseConnection:
    """Connect to a server, and send the name of an actor if the course has names."""
    connection = await open_connection(await connect_socket(host, port, CONNECT_TIMEOUT_S))
    if dialect.name is not None:
        send_reply(connection, actor.name, log)
    return connection


async def answer_calls(
    dialect: Dialect,
    connection: CourseConnection,
    actor: Actor,
    tell: Callable[[str], None],
    log: CallLog | None = None,
) -> None:
    """Answer calls until the server disconnects or the actor misbehaves, then close the connection.

    An error of the server or of the strategy is reported.
    """
    seat = CourseSeat(
        dialect.caller(actor.name), make_open_channel(actor), report=lambda text: tell(f"{actor.name}: {text}")
    )
    calls = Counter[str]()
    try:
        while (text := await receive_call(connection, ACTOR_IDLE_TIMEOUT_S, log)) is not None:
            call = parse_call(text)
            calls[call.method] += 1
            reply, _ = await seat.answer(call)
            deed = actor.misbehaviour
            if deed is None or call.method != deed.method or calls[call.method] < deed.count:
                send_reply(connection, reply, log)
            elif deed.sent is None:
                while await receive_call(connection, ACTOR_IDLE_TIMEOUT_S, log) is not None:
                    pass
                return
            elif not deed.sent:
                return
            else:
                connection.send(deed.sent)
    except (ConnectionLost, ProtocolError) as error:
        tell(f"{actor.name} left: {error}")
    except PlayerFailed as error:
        tell(f"{actor.name} left: its strategy failed, {error.failed.why}")
    finally:
        try:
            await seat.leave()
        finally:
            await connection.close(b"", 0)


def make_open_channel(actor: Actor) -> Callable[[Game[Any, Any, Any]], Any]:
    """Make a function that opens a channel to the actor's strategy."""

    async def open_channel(game: Game[Any, Any, Any]) -> AsyncChannel:
        return AsyncLocalChannel(LocalChannel(actor.strategy, game))

    return open_channel


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
    """Run all actors at once. They sign up one after the other, so their order is fixed.

    If one cannot connect, those before it play to the end; then BadRequest is raised. With `verbose`, all calls are
    reported.
    """
    acting: list[asyncio.Task[None]] = []
    missing: BadRequest | None = None
    try:
        for actor in actors:
            log = CallLog(tell, actor.name) if verbose else None
            try:
                connection = await sign_up(dialect, host, port, actor, log)
            except BadRequest as error:
                missing = error
                break
            acting.append(asyncio.create_task(answer_calls(dialect, connection, actor, tell, log)))
            await asyncio.sleep(interval_s)
        await asyncio.gather(*acting)
        if missing is not None:
            raise missing
    finally:
        for one in acting:
            one.cancel()
        await asyncio.gather(*acting, return_exceptions=True)
