"""Test that servers, clients and seats of a course close what they opened, also when cancelled at any await."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Failed, Message, Start
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.course.channel.client import CourseSeat, PlayerFailed, join_course
from fairplay.course.channel.remote import CourseChannel
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
    run_test,
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
    """Let clients sign up, play a match with them, and tell them the end."""
    async with desk:
        clients = await desk.wait(TIMEOUT_S)
        await desk.stop_accepting()
        await asyncio.gather(*(client.call(Call("start", (True,)), TIMEOUT_S) for client in clients))
        names = [client.name or "" for client in clients]
        callees = [(client, FISH.callee(GAME, name)) for client, name in zip(clients, names, strict=True)]
        channels = [CourseChannel(client, callee, GAME, limits=LIMITS) for client, callee in callees]
        await play_async(deal_match(GAME, names, SEED, match_id="m"), channels)
        for client in clients:
            if client.failed is None:
                await client.call(Call("end", (True,)), TIMEOUT_S)


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


@pytest.mark.parametrize(("when", "ahead"), list(zip(CancelTime, (2, 0, 2), strict=True)))
def test_a_cancel_at_any_await_of_a_client_leaves_nothing(when: CancelTime, ahead: int) -> None:
    assert asyncio.run(every_await(lambda at: joined(at, when, ahead))) > 30


def test_a_connection_is_closed_also_after_an_invalid_name() -> None:
    ours, theirs = socket.socketpair()

    async def sit_down(game: AnyGame) -> AsyncChannel:
        raise AssertionError("nobody plays")

    with theirs, pytest.raises(BadRequest, match="'x y' is not a name"):
        asyncio.run(join_course(FISH, ours, CourseSeat(FISH.caller("x y"), sit_down), name="x y"))

    assert ours.fileno() == -1


# Seats: a player is ready before its match, and is replaced for each match.

USUAL = [[2] * 5] * 5
OTHER = [[2] * 6] * 3


class Player:
    """A player that tells what happens to it."""

    def __init__(self, game: AnyGame, number: int, told: list[str]) -> None:
        self._local = LocalChannel(built_in_strategy("fish"), game)
        self._name, self._told = f"{number}", told
        told.append(f"{number} sits down")

    async def ask(self, message: Message) -> Answer:
        if isinstance(message, Start):
            self._told.append(f"{self._name} plays")
        return self._local.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._told.append(f"{self._name} goes")


class Clinging(Player):
    """A player that goes only when the seat is left."""

    async def close(self, reason: CloseReason) -> None:
        while "leave" not in self._told:
            await asyncio.sleep(0)
        await super().close(reason)


async def play_matches(ahead: int, boards: list[list[list[int]]], player: type[Player] = Player) -> list[str]:
    """What happens when matches on these boards begin, one after the other."""
    told, numbers = list[str](), iter(range(1, 10))

    async def sit_down(game: AnyGame) -> AsyncChannel:
        return player(game, next(numbers), told)

    seat = CourseSeat(DIALECTS["fish"].caller("ann"), sit_down, ahead=ahead)
    await seat.prepare()
    for board in boards:
        told.append("called")
        await seat.answer(Call("playing-as", ("white",)))
        await seat.answer(Call("playing-with", (["red"],)))
        players: list[dict[str, Any]] = [{"color": colour, "score": 0, "places": []} for colour in ("white", "red")]
        await seat.answer(Call("setup", ({"players": players, "board": board},)))
        seat.prepare_next()
        await run_loop_turns()
    told.append("leave")
    await seat.leave()
    return told


def test_players_sit_down_before_their_match_and_go_after_it() -> None:
    told = run_test(play_matches(2, [USUAL, USUAL, USUAL]))

    first, second, third = "1 sits down|2 sits down|called|1 plays|called|2 plays", "3 sits down", "called|3 plays"
    assert [line for line in told if "goes" not in line] == [
        *first.split("|"),
        second,  # while the second match is played
        *third.split("|"),
        "4 sits down",
        "leave",
    ]
    assert sorted(line for line in told if "goes" in line) == [f"{number} goes" for number in (1, 2, 3, 4)]


def test_a_player_prepared_for_another_board_is_closed_and_replaced() -> None:
    told = run_test(play_matches(1, [OTHER]))

    assert [line for line in told if "goes" not in line] == ["1 sits down", "called", "2 sits down", "2 plays", "leave"]
    assert sorted(line for line in told if "goes" in line) == ["1 goes", "2 goes"]


def test_a_player_that_is_slow_to_go_does_not_hold_up_the_next_match() -> None:
    told = run_test(play_matches(0, [USUAL, USUAL], Clinging))

    assert told[: told.index("leave")] == ["called", "1 sits down", "1 plays", "called", "2 sits down", "2 plays"]
    assert sorted(told[told.index("leave") + 1 :]) == ["1 goes", "2 goes"]


def test_a_seat_at_which_no_player_could_sit_down_is_left_without_another_failure() -> None:
    async def sit_down(game: AnyGame) -> AsyncChannel:
        raise PlayerFailed(Failed(Fault.CRASHED, "it ended"))

    async def main() -> None:
        seat = CourseSeat(DIALECTS["fish"].caller("ann"), sit_down, ahead=2)
        with pytest.raises(PlayerFailed):
            await seat.prepare()
        await seat.leave()

    run_test(main())
