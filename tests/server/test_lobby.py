"""Test when the queues of a lobby open rooms."""

import asyncio

import pytest

from fairplay.protocol.nonces import Nonces
from fairplay.server.attendance import Attendance
from fairplay.server.client import Client
from fairplay.server.lobby import Lobby
from fairplay.server.matchmaking import PENALTY_S, ROOMS_PER_PENALTY
from fairplay.server.settings import make_offer
from fairplay.transport.reconnecting import ReconnectingConnection
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time


def client(name: str, game: str = "") -> Client:
    connection = ReconnectingConnection(1.0, on_lost=lambda: None, on_gone=lambda: None)
    made = Client(name, name, 0, connection, Nonces())
    made.game = game
    return made


def test_a_client_that_plays_any_game_waits_where_the_fewest_others_are_missing() -> None:
    async def waiting() -> dict[str, list[str]]:
        offers = (
            make_offer("fish", {}, min_players=2, max_players=4, wait=60),
            make_offer("q", {}, min_players=4, max_players=4, wait=60),
        )
        lobby = Lobby(offers, lambda offer, clients: None, Attendance())
        for each in (client("ann", "q"), client("bob", "q"), client("cyd", "q"), client("dan")):
            lobby.add(each)
        found = {queue.offer.game: list(queue.waiting) for queue in lobby.queues}
        lobby.close()
        return found

    assert asyncio.run(waiting()) == {"fish": [], "q": ["ann", "bob", "cyd", "dan"]}


def test_a_client_whose_waiting_time_is_over_is_not_considered_again_until_another_comes() -> None:
    async def wait() -> int:
        lobby = Lobby(
            (make_offer("fish", {}, min_players=2, max_players=2, wait=0.01),),
            lambda offer, clients: None,
            Attendance(),
        )
        [queue] = lobby.queues
        calls, open_ready_rooms = 0, queue.open_ready_rooms
        is_up = asyncio.Event()

        def counted() -> None:
            nonlocal calls
            calls += 1
            open_ready_rooms()
            if calls == 2:  # when it came, and when its time was up
                is_up.set()

        queue.open_ready_rooms = counted  # type: ignore[method-assign]
        lobby.add(client("ann"))
        await is_up.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        return calls

    assert asyncio.run(wait()) == 2


def test_players_are_seated_in_the_order_of_sign_in_whatever_the_policy() -> None:
    async def seated() -> list[list[int]]:
        opened = list[list[int]]()
        offer = make_offer("fish", {}, min_players=4, max_players=4, policy="shuffled", wait=60)
        lobby = Lobby((offer,), lambda offer, clients: opened.append([one.number for one in clients]), Attendance())
        for number in range(40):
            one = client(f"p{number}")
            one.number = number
            lobby.add(one)
        await asyncio.sleep(0)
        lobby.close()
        return opened

    tables = asyncio.run(seated())

    assert len(tables) == 10
    assert tables == [sorted(table) for table in tables]


async def seconds_until_a_suspect_plays(
    loop: VirtualTimeLoop, times: int, rooms: int = 0, *, others_stayed: bool
) -> float:
    """How long a client waits that has vanished so many times, while other rooms open, and one more client comes."""
    attendance, opened = Attendance(), list[list[str]]()
    offer = make_offer("fish", {}, min_players=2, max_players=2, wait=10)
    lobby = Lobby((offer,), lambda offer, clients: opened.append([one.id for one in clients]), attendance)
    suspect, others = client("eve"), [client(f"p{number}") for number in range(2 * rooms)]
    for _ in range(times):
        attendance.record_vanish(suspect, loop.time())
    lobby.add(suspect)
    for other in others:
        if others_stayed:
            attendance.record_vanish(other, loop.time())
            other.stayed = True
        lobby.add(other)
    while len(opened) < rooms:
        await asyncio.sleep(0)
    begun = loop.time()
    lobby.add(client("ann"))
    while len(opened) == rooms:
        await asyncio.sleep(PENALTY_S / 2)
    return loop.time() - begun


def test_a_suspect_plays_with_a_client_that_is_alone_as_soon_as_its_penalty_is_over() -> None:
    waited = run_in_virtual_time(lambda loop: seconds_until_a_suspect_plays(loop, 6, others_stayed=False))

    assert waited == pytest.approx(2**5 * PENALTY_S, abs=PENALTY_S)


def test_a_suspect_without_which_many_rooms_opened_plays_at_once() -> None:
    waited = run_in_virtual_time(
        lambda loop: seconds_until_a_suspect_plays(loop, 6, 6 * ROOMS_PER_PENALTY, others_stayed=False)
    )

    assert waited < PENALTY_S


def test_rooms_of_clients_that_are_suspected_too_do_not_make_up_for_a_penalty() -> None:
    waited = run_in_virtual_time(
        lambda loop: seconds_until_a_suspect_plays(loop, 6, 6 * ROOMS_PER_PENALTY, others_stayed=True)
    )

    assert waited == pytest.approx(2**5 * PENALTY_S, abs=PENALTY_S)


def test_no_room_opens_in_a_lobby_that_is_closed() -> None:
    async def opened(loop: VirtualTimeLoop) -> list[str]:
        rooms: list[str] = []
        offer = make_offer("fish", {}, min_players=2, max_players=4, wait=10)
        lobby = Lobby((offer,), lambda offer, clients: rooms.append(offer.game), Attendance())
        for name in ("ann", "bob"):
            lobby.add(client(name))
        await asyncio.sleep(1)
        lobby.close()
        await asyncio.sleep(60)
        return rooms

    assert run_in_virtual_time(opened) == []
