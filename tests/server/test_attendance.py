"""Test how long a server remembers clients that vanished, by identity and address."""

import asyncio

import pytest

from fairplay.protocol.nonces import Nonces
from fairplay.server.attendance import MAX_TRACKED_IDENTITIES, MAX_VANISH_COUNT, VANISH_MEMORY_S, Attendance
from fairplay.server.client import Client
from fairplay.server.matchmaking import Trust
from fairplay.transport.reconnecting import ReconnectingConnection


def client(id: str, endpoint: str = "192.0.2.1:4000") -> Client:
    async def make() -> Client:
        connection = ReconnectingConnection(1.0, on_lost=lambda: None, on_gone=lambda: None)
        return Client(id, id, 0, connection, Nonces())

    made = asyncio.run(make())
    made.endpoint = endpoint
    return made


def test_a_guest_that_vanishes_counts_against_guests_of_its_address_alone() -> None:
    attendance = Attendance()

    attendance.record_vanish(client("~1"), 0.0)

    assert attendance.trust(client("~2", "192.0.2.1:4001"), 0.0) is Trust.SUSPECT
    assert attendance.trust(client("~1", "192.0.2.2:4000"), 0.0) is Trust.SUSPECT  # the same guest at another address
    assert attendance.trust(client("~3", "192.0.2.2:4000"), 0.0) is Trust.FULL
    assert attendance.trust(client("ann"), 0.0) is Trust.FULL  # with a token


def test_a_client_with_a_token_that_vanishes_counts_against_itself_alone() -> None:
    attendance = Attendance()

    attendance.record_vanish(client("ann"), 0.0)

    assert attendance.trust(client("ann", "192.0.2.2:4000"), 0.0) is Trust.SUSPECT
    assert attendance.trust(client("~1"), 0.0) is Trust.FULL


@pytest.mark.parametrize(("what", "trust"), [("stayed", Trust.STAYED), ("matches_played", Trust.FULL)])
def test_a_client_that_stayed_is_trusted_more_and_one_that_played_is_trusted(what: str, trust: Trust) -> None:
    attendance, one = Attendance(), client("~1")
    attendance.record_vanish(client("~2"), 0.0)

    setattr(one, what, True)

    assert attendance.trust(one, 0.0) is trust


def test_a_vanished_client_is_forgotten_after_a_while() -> None:
    attendance, one = Attendance(), client("ann")
    for _ in range(2 * MAX_VANISH_COUNT):
        attendance.record_vanish(one, 5.0)

    assert attendance.vanish_count(one, 5.0 + VANISH_MEMORY_S - 1) == MAX_VANISH_COUNT
    assert attendance.vanish_count(one, 5.0 + VANISH_MEMORY_S) == 0


def test_the_number_of_remembered_clients_is_limited() -> None:
    attendance, one = Attendance(), client("ann")
    for number in range(MAX_TRACKED_IDENTITIES + 1):
        one.id = f"p{number}"
        attendance.record_vanish(one, 0.0)

    one.id = "p0"
    assert attendance.vanish_count(one, 0.0) == 0
    one.id = "p1"
    assert attendance.vanish_count(one, 0.0) == 1


def test_a_client_that_vanished_once_more_is_remembered_longer_than_one_that_did_not() -> None:
    attendance, one = Attendance(), client("ann")
    for number in (*range(MAX_TRACKED_IDENTITIES), 0, MAX_TRACKED_IDENTITIES):
        one.id = f"p{number}"
        attendance.record_vanish(one, 0.0)

    one.id = "p0"
    assert attendance.vanish_count(one, 0.0) == 2
    one.id = "p1"
    assert attendance.vanish_count(one, 0.0) == 0
