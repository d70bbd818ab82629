"""Test that servers and clients of a course leave nothing open when they are cancelled at any await."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.course.channel.client import CourseSeat, join_course
from fairplay.course.channel.remote import CourseChannel, CourseClient
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.course.server.sign_up import CourseSignUp
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from tests.course.channel.course_matches import (
    GAMES,
    LIMITS,
    LOOPBACK,
    SEED,
    TIMEOUT_S,
    AnyGame,
    ScriptedClient,
    built_in_strategy,
    play_tournament,
    run_loop_turns,
)
from tests.players.cancelling import CancelTime, cancel_at
from tests.players.programs import current_holdings

FISH, GAME = DIALECTS["fish"], GAMES["fish"]
MOST = 3000  # awaits, which nothing here comes near


async def every_await(work: Callable[[int], Awaitable[bool]]) -> int:
    """Do it again and again, cancelled at the first await, the second and so on; how many there are."""
    at = 1
    while await work(at):
        at += 1
        assert at < MOST
    return at


async def at_once(writer: asyncio.StreamWriter, text: bytes) -> None:
    writer.write(text + b"\n")


async def badly(writer: asyncio.StreamWriter, text: bytes) -> None:
    """Well, until a position is due."""
    writer.write(b"junk" if text.startswith(b"[") else text)


async def silently(writer: asyncio.StreamWriter, text: bytes) -> None:
    """Not at all."""


async def serve(desk: CourseSignUp) -> None:
    """Let people sign up, play a match with them, and tell them the end."""
    async with desk:
        clients = await desk.wait(TIMEOUT_S)
        await desk.stop_accepting()
        await asyncio.gather(*(client.call(Call("start", (True,)), TIMEOUT_S) for client in clients))
        names = [client.name or "" for client in clients]
        match = deal_match(GAME, names, SEED, match_id="m")
        await play_async(match, [channel_to(client) for client in clients])
        for client in clients:
            if client.failed is None:
                await client.call(Call("end", (True,)), TIMEOUT_S)


def channel_to(client: CourseClient) -> AsyncChannel:
    return CourseChannel(client, FISH.callee(GAME, client.name or ""), GAME, limits=LIMITS)


async def served(at: int, when: CancelTime) -> bool:
    """Is there an n-th await at the server? Cancel there, and look."""
    before = current_holdings()
    desk = CourseSignUp(FISH, LOOPBACK, 0, most=2)
    ways = (silently, at_once, badly)
    coming = [asyncio.create_task(ScriptedClient("fish", "ann", way)(desk)) for way in ways]
    cancelled = await cancel_at(at, when, serve(desk))
    await ended(coming, before)
    return cancelled


async def ended(tasks: list[Any], before: Any) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await run_loop_turns()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert current_holdings() == before


@pytest.mark.parametrize("when", CancelTime)
def test_a_cancel_at_any_await_of_a_server_leaves_nothing(when: CancelTime) -> None:
    assert asyncio.run(every_await(lambda at: served(at, when))) > 15


class Sat:
    """A player that sat down, and has to be closed."""

    def __init__(self, game: AnyGame, prepared: list["Sat"]) -> None:
        self._local = LocalChannel(built_in_strategy("fish"), game)
        self._prepared = prepared
        prepared.append(self)

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._local.ask(message)

    async def close(self, reason: CloseReason) -> None:
        await asyncio.sleep(0)
        self._prepared.remove(self)


async def joined(at: int, when: CancelTime, ahead: int) -> bool:
    """Is there an n-th await at a client? Cancel there, and look."""
    before, prepared = current_holdings(), list[Sat]()
    place: asyncio.Future[tuple[str, int]] = asyncio.Future()

    async def somebody(desk: CourseSignUp) -> None:
        place.set_result((desk.host, desk.port))

    async def sit_down(game: AnyGame) -> AsyncChannel:
        await asyncio.sleep(0)
        return Sat(game, prepared)

    serving = asyncio.create_task(
        play_tournament("fish", [somebody, ScriptedClient("fish", "bob", at_once)], matches=2)
    )
    connection = socket.create_connection(await place)
    seat = CourseSeat(FISH.caller("ann"), sit_down, ahead=ahead)
    cancelled = await cancel_at(at, when, join_course(FISH, connection, seat, name="ann", idle_timeout=TIMEOUT_S))
    assert prepared == []
    assert connection.fileno() == -1
    await ended([serving], before)
    return cancelled


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("when", CancelTime)
def test_a_cancel_at_any_await_of_a_client_leaves_nothing(when: CancelTime, ahead: int) -> None:
    assert asyncio.run(every_await(lambda at: joined(at, when, ahead))) > 30


def test_a_connection_is_closed_also_after_an_invalid_name() -> None:
    ours, theirs = socket.socketpair()

    async def sit_down(game: AnyGame) -> AsyncChannel:
        raise AssertionError("nobody plays")

    with theirs, pytest.raises(BadRequest, match="'x y' is not a name"):
        asyncio.run(join_course(FISH, ours, CourseSeat(FISH.caller("x y"), sit_down), name="x y"))

    assert ours.fileno() == -1
