"""Cancel at every single await, as the server of a course and as its client: nothing may be left of either."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import AsyncChannel, Parting
from fairplay.course.channel.client import Seat, join_course
from fairplay.course.channel.remote import Client, CourseRemote
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call
from fairplay.course.server.sign_up import SignUp
from fairplay.referee.drivers import play_async
from fairplay.referee.host import dealt
from fairplay.referee.local import Local
from tests.course.channel.courses import GAMES, HERE, LIMITS, SEED, SOON, AnyGame, Talker, strategy, tournament, turns
from tests.players.cancelling import When, cancelled_at
from tests.players.programs import holdings

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


async def serve(desk: SignUp) -> None:
    """Let people sign up, play a match with them, and tell them the end."""
    async with desk:
        clients = await desk.signed_up(SOON)
        await desk.shut()
        await asyncio.gather(*(client.call(Call("start", (True,)), SOON) for client in clients))
        names = [client.name or "" for client in clients]
        match = dealt(GAME, names, SEED, match_id="m")
        await play_async(match, [channel_to(client) for client in clients])
        for client in clients:
            if client.failed is None:
                await client.call(Call("end", (True,)), SOON)


def channel_to(client: Client) -> AsyncChannel:
    return CourseRemote(client, FISH.callee(GAME, client.name or ""), GAME, limits=LIMITS)


async def served(at: int, when: When) -> bool:
    """Is there an n-th await at the server? Cancel there, and look."""
    before = holdings()
    desk = SignUp(FISH, HERE, 0, most=2)
    ways = (silently, at_once, badly)
    coming = [asyncio.create_task(Talker("fish", "ann", way)(desk)) for way in ways]
    cancelled = await cancelled_at(at, when, serve(desk))
    await ended(coming, before)
    return cancelled


async def ended(tasks: list[Any], before: Any) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await turns()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert holdings() == before


@pytest.mark.parametrize("when", When)
def test_a_cancel_at_any_await_of_a_server_leaves_nothing(when: When) -> None:
    assert asyncio.run(every_await(lambda at: served(at, when))) > 15


class Sat:
    """A player that sat down, and has to be closed."""

    def __init__(self, game: AnyGame, sitting: list["Sat"]) -> None:
        self._local = Local(strategy("fish"), game)
        self._sitting = sitting
        sitting.append(self)

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._local.ask(message)

    async def close(self, parting: Parting) -> None:
        await asyncio.sleep(0)
        self._sitting.remove(self)


async def joined(at: int, when: When, ahead: int) -> bool:
    """Is there an n-th await at a client? Cancel there, and look."""
    before, sitting = holdings(), list[Sat]()
    place: asyncio.Future[tuple[str, int]] = asyncio.Future()

    async def somebody(desk: SignUp) -> None:
        place.set_result((desk.host, desk.port))

    async def sit_down(game: AnyGame) -> AsyncChannel:
        await asyncio.sleep(0)
        return Sat(game, sitting)

    serving = asyncio.create_task(tournament("fish", [somebody, Talker("fish", "bob", at_once)], matches=2))
    connection = socket.create_connection(await place)
    seat = Seat(FISH.caller("ann"), sit_down, ahead=ahead)
    cancelled = await cancelled_at(at, when, join_course(FISH, connection, seat, name="ann", patience=SOON))
    assert sitting == []
    assert connection.fileno() == -1
    await ended([serving], before)
    return cancelled


@pytest.mark.parametrize("ahead", [0, 2])
@pytest.mark.parametrize("when", When)
def test_a_cancel_at_any_await_of_a_client_leaves_nothing(when: When, ahead: int) -> None:
    assert asyncio.run(every_await(lambda at: joined(at, when, ahead))) > 30


def test_a_connection_is_closed_also_if_nobody_can_sign_up_by_that_name() -> None:
    ours, theirs = socket.socketpair()

    async def sit_down(game: AnyGame) -> AsyncChannel:
        raise AssertionError("nobody plays")

    with theirs, pytest.raises(BadRequest, match="'x y' is no name"):
        asyncio.run(join_course(FISH, ours, Seat(FISH.caller("x y"), sit_down), name="x y"))

    assert ours.fileno() == -1
