"""Test how waiting clients are matched: when rooms open, for how many, with whom, and who is suspected to vanish."""

import asyncio
from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from fairplay.protocol.nonces import Nonces
from fairplay.server.attendance import MAX_TRACKED_IDENTITIES, MAX_VANISH_COUNT, VANISH_MEMORY_S, Attendance
from fairplay.server.client import Client
from fairplay.server.lobby import Lobby
from fairplay.server.matchmaking import (
    MAX_PENALTY_S,
    PENALTY_S,
    POLICIES,
    ROOMS_PER_PENALTY,
    Trust,
    WaitingClient,
    form_tables,
)
from fairplay.server.settings import Offer, make_offer
from fairplay.transport.reconnecting import ReconnectingConnection
from tests.nonempty import nonempty

# Tables


def waiting(*since: float) -> list[WaitingClient]:
    return [WaitingClient(f"p{number}", time) for number, time in enumerate(since)]


def suspect(name: str, since: float, vanish_count: int = 3) -> WaitingClient:
    return WaitingClient(name, since, {}, Trust.SUSPECT, vanish_count)


def tables(clients: list[WaitingClient], now: float, seats: int = 4, **options: Any) -> list[list[str]]:
    """The ids at each table that begins now, for two to so many players."""
    given: dict[str, Any] = {"min_players": 2, "max_players": seats, "wait": 10.0, "random": Random(1), **options}
    return [[one.id for one in table] for table in form_tables(clients, now, **given)]


@pytest.mark.parametrize(
    ("clients", "now", "options", "expected"),
    [
        (waiting(0, 0, 0, 0), 0, {}, [["p0", "p1", "p2", "p3"]]),
        (waiting(0, 5), 9.9, {}, []),
        (waiting(0, 5), 10, {}, [["p0", "p1"]]),
        (waiting(0), 1000, {}, []),
        (waiting(0), 9, {"has_fill": True}, []),
        (waiting(0), 10, {"has_fill": True}, [["p0"]]),
        (waiting(0, 0, 0, 0, 9, 9), 10, {}, [["p0", "p1", "p2", "p3"]]),
        (waiting(0, 5)[::-1], 10, {}, [["p0", "p1"]]),
    ],
    ids=[
        "a full table begins at once",
        "a table waits for more players",
        "until its time is up",
        "too few wait on",
        "a table with built-in players waits for more",
        "until its time is up, too",
        "the time of those that came later is not up",
        "the time of the longest wait counts wherever it stands",
    ],
)
def test_a_table_begins_when_it_is_full_or_its_time_is_up(
    clients: list[WaitingClient], now: float, options: dict[str, Any], expected: list[list[str]]
) -> None:
    assert tables(clients, now, **options) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_seats_a_client_twice_and_the_longest_wait_comes_first(policy: str) -> None:
    for seed in nonempty(range(50)):
        clients = waiting(*(float(number) for number in range(11)))
        found = tables(clients, 0, policy=policy, random=Random(seed))
        assert len(found) == 2
        assert set(Counter(id for table in found for id in table).values()) == {1}
        assert found[0][0] == "p0"
        since = {one.id: one.since for one in clients}
        assert all(since[before[0]] < since[after[0]] for before, after in pairwise(found))


def test_the_shuffled_policy_draws_opponents() -> None:
    found = [tables(waiting(0, 1, 2, 3), 3, 2, policy="shuffled", random=Random(seed))[0] for seed in range(30)]

    assert {tuple(table) for table in found} == {("p0", "p1"), ("p0", "p2"), ("p0", "p3")}


def test_the_policy_least_met_seats_clients_that_have_met_least() -> None:
    first = WaitingClient("p0", 0, {"p1": 2, "p2": 1, "p3": 1})

    assert tables([first, *waiting(0, 1, 2, 3)[1:]], 3, 2, policy="least-met") == [["p0", "p2"], ["p1", "p3"]]


def test_a_client_that_does_not_begin_is_due_later_however_coarse_the_clock_is() -> None:
    early = 0
    for since in range(1000, 3000):  # milliseconds, in which a clock may count
        one = WaitingClient("ann", since / 1000, {})
        now = (since + 100) / 1000
        found = form_tables([one], now, min_players=2, max_players=2, wait=0.1, has_fill=True, random=Random(0))
        assert found or one.since + 0.1 > now
        early += not found
    assert early


# Suspects


@pytest.mark.parametrize("policy", POLICIES)
def test_suspects_play_with_each_other_while_enough_others_wait(policy: str) -> None:
    clients = [suspect("s0", 0), suspect("s1", 1), *waiting(50, 51)]

    assert tables(clients, 60, 2, policy=policy) == [["p0", "p1"], ["s0", "s1"]]


@pytest.mark.parametrize("seconds", [0.0, 1.0, 4.0])
def test_a_suspect_joins_others_that_are_too_few_after_a_penalty_that_doubles(seconds: float) -> None:
    assert bool(tables([suspect("s", 0), *waiting(0)], seconds, 2)) == (seconds >= 4 * PENALTY_S)


def test_a_penalty_ends_after_a_minute_at_the_latest() -> None:
    assert suspect("s", 0, vanish_count=1000).mixes_at == MAX_PENALTY_S


def test_clients_that_would_only_wait_for_a_larger_table_are_not_mixed_with_suspects() -> None:
    clients = [suspect("s0", 0), suspect("s1", 0), *waiting(58, 59)]

    assert tables(clients, 60) == [["s0", "s1"]]
    assert tables(clients, 68) == [["p0", "p1"], ["s0", "s1"]]


def test_a_suspect_that_plays_with_a_trusted_client_is_at_no_other_table() -> None:
    found = tables([suspect("s0", 0), suspect("s1", 1), suspect("s2", 2), *waiting(0)], 60, 2)

    assert sorted(name for table in found for name in table) == ["p0", "s0", "s1", "s2"]


def test_suspects_do_not_play_before_their_penalty_is_over() -> None:
    assert tables([suspect("s0", 0), suspect("s1", 0)], PENALTY_S / 2, 2) == []


def test_a_client_that_stayed_plays_with_others_at_once() -> None:
    assert tables([WaitingClient("stayed", 0, {}, Trust.STAYED, 3), *waiting(0)], 0, 2) == [["p0", "stayed"]]


# Queues


def make_client(name: str, game: str = "", endpoint: str = "192.0.2.1:4000") -> Client:
    connection = ReconnectingConnection(1.0, on_lost=lambda: None, on_gone=lambda: None)
    made = Client(name, name, 0, connection, Nonces())
    made.game, made.endpoint = game, endpoint
    return made


class RecordingLobby(Lobby):
    def __init__(self, *offers: Offer, attendance: Attendance | None = None) -> None:
        self.opened: list[list[Client]] = []
        super().__init__(offers, lambda offer, clients: self.opened.append(clients), attendance or Attendance())


def fish(min_players: int = 2, max_players: int = 2, **options: Any) -> Offer:
    return make_offer("fish", {}, min_players=min_players, max_players=max_players, **options)


async def test_a_client_that_plays_any_game_waits_where_the_fewest_others_are_missing() -> None:
    lobby = RecordingLobby(fish(2, 4, wait=60), make_offer("q", {}, min_players=4, max_players=4, wait=60))
    for client in (make_client("ann", "q"), make_client("bob", "q"), make_client("cyd", "q"), make_client("dan")):
        lobby.add(client)

    assert [list(queue.waiting) for queue in lobby.queues] == [[], ["ann", "bob", "cyd", "dan"]]
    lobby.close()


async def test_a_client_whose_waiting_time_is_over_is_not_considered_again_until_another_comes() -> None:
    lobby = RecordingLobby(fish(wait=0.01))
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
    lobby.add(make_client("ann"))
    await is_up.wait()
    for _ in range(100):
        await asyncio.sleep(0)

    assert calls == 2


async def test_players_are_seated_in_the_order_of_sign_in_whatever_the_policy() -> None:
    lobby = RecordingLobby(fish(4, 4, policy="shuffled", wait=60))
    for number in range(40):
        client = make_client(f"p{number}")
        client.number = number
        lobby.add(client)
    await asyncio.sleep(0)
    lobby.close()

    found = [[one.number for one in clients] for clients in lobby.opened]
    assert len(found) == 10
    assert found == [sorted(numbers) for numbers in found]


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("rooms", "others_stayed", "seconds"),
    [(0, False, 2**5 * PENALTY_S), (6 * ROOMS_PER_PENALTY, False, 0), (6 * ROOMS_PER_PENALTY, True, 2**5 * PENALTY_S)],
    ids=["when its penalty is over", "at once if many rooms opened", "not earlier if these were of suspects"],
)
async def test_a_suspect_plays_with_a_client_that_is_alone(rooms: int, others_stayed: bool, seconds: float) -> None:
    attendance, loop = Attendance(), asyncio.get_running_loop()
    lobby = RecordingLobby(fish(wait=10), attendance=attendance)
    eve, others = make_client("eve"), [make_client(f"p{number}") for number in range(2 * rooms)]
    for _ in range(6):
        attendance.record_vanish(eve, loop.time())
    lobby.add(eve)
    for other in others:
        if others_stayed:
            attendance.record_vanish(other, loop.time())
            other.stayed = True
        lobby.add(other)
    while len(lobby.opened) < rooms:
        await asyncio.sleep(0)
    begun = loop.time()
    lobby.add(make_client("ann"))
    while len(lobby.opened) == rooms:
        await asyncio.sleep(PENALTY_S / 2)

    assert loop.time() - begun == pytest.approx(seconds, abs=PENALTY_S)


@pytest.mark.virtual_time
async def test_no_room_opens_in_a_lobby_that_is_closed() -> None:
    lobby = RecordingLobby(fish(2, 4, wait=10))
    for name in ("ann", "bob"):
        lobby.add(make_client(name))
    await asyncio.sleep(1)
    lobby.close()
    await asyncio.sleep(60)

    assert lobby.opened == []


# Clients that vanish


async def test_a_guest_that_vanishes_counts_against_guests_of_its_address_alone() -> None:
    attendance = Attendance()
    attendance.record_vanish(make_client("~1"), 0.0)

    assert attendance.trust(make_client("~2", "", "192.0.2.1:4001"), 0.0) is Trust.SUSPECT
    assert attendance.trust(make_client("~1", "", "192.0.2.2:4000"), 0.0) is Trust.SUSPECT  # at another address
    assert attendance.trust(make_client("~3", "", "192.0.2.2:4000"), 0.0) is Trust.FULL
    assert attendance.trust(make_client("ann"), 0.0) is Trust.FULL  # with a token


async def test_a_client_with_a_token_that_vanishes_counts_against_itself_alone() -> None:
    attendance = Attendance()
    attendance.record_vanish(make_client("ann"), 0.0)

    assert attendance.trust(make_client("ann", "", "192.0.2.2:4000"), 0.0) is Trust.SUSPECT
    assert attendance.trust(make_client("~1"), 0.0) is Trust.FULL


@pytest.mark.parametrize(("what", "trust"), [("stayed", Trust.STAYED), ("matches_played", Trust.FULL)])
async def test_a_client_that_stayed_is_trusted_more_and_one_that_played_is_trusted(what: str, trust: Trust) -> None:
    attendance, one = Attendance(), make_client("~1")
    attendance.record_vanish(make_client("~2"), 0.0)

    setattr(one, what, True)

    assert attendance.trust(one, 0.0) is trust


async def test_a_vanished_client_is_forgotten_after_a_while() -> None:
    attendance, one = Attendance(), make_client("ann")
    for _ in range(2 * MAX_VANISH_COUNT):
        attendance.record_vanish(one, 5.0)

    assert attendance.vanish_count(one, 5.0 + VANISH_MEMORY_S - 1) == MAX_VANISH_COUNT
    assert attendance.vanish_count(one, 5.0 + VANISH_MEMORY_S) == 0


@pytest.mark.parametrize(("more", "remembered"), [((), (0, 1)), ((0,), (2, 0))], ids=["the oldest", "not the newest"])
async def test_beyond_a_number_of_clients_one_is_forgotten(more: tuple[int, ...], remembered: tuple[int, int]) -> None:
    attendance, one = Attendance(), make_client("ann")
    for number in (*range(MAX_TRACKED_IDENTITIES), *more, MAX_TRACKED_IDENTITIES):
        one.id = f"p{number}"
        attendance.record_vanish(one, 0.0)

    for id, vanish_count in nonempty(zip(("p0", "p1"), remembered, strict=True)):
        one.id = id
        assert attendance.vanish_count(one, 0.0) == vanish_count
