"""Test sessions at a server: many matches, and reconnections."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from types import NoneType
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Message
from fairplay.players import relay, session
from fairplay.protocol import player_side, wire
from fairplay.protocol.wire import Goodbye
from fairplay.transport.connection import ConnectionLost
from tests.players.fake_server import END, FISH, RECEIPT, TURN, FakeServer
from tests.players.fake_server import ClientConnection as Guest
from tests.players.host_joining import join_host

FIRST = {"type": "place", "at": [0, 0]}
ENOUGH = wire.encode_suspended("enough", 0)
CLOSING = wire.encode_closing(RECEIPT, match_id="m", turn=1, nonce="c", limit=1.0)
Step = Callable[[Guest], Any] | bytes


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_side, "FIRST_RECONNECT_INTERVAL_S", 0.001)
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.01)
    for module in (player_side, relay, session):
        monkeypatch.setattr(module, "RECEIPT_TIMEOUT_S", 0.2)


class Player:
    """Takes the first action, and counts how often it is asked."""

    def __init__(self) -> None:
        self.turns = 0
        self.receipts: list[Any] = []

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        return next(FISH.actions(view))

    def closing(self, receipt: Any) -> None:
        self.receipts.append(receipt)


def meeting(*steps: Step) -> Callable[[Guest], list[Any]]:
    """What a server does over one connection, and hears: it calls functions, and sends lines."""
    calls = [partial(Guest.send, text=step) if isinstance(step, bytes) else step for step in steps]
    return lambda guest: [call(guest) for call in calls]


def asks(message: Message, limit: float = 5.0) -> Callable[[Guest], Any]:
    """Ask the same question over every connection."""
    text = wire.encode_question(message, FISH, match_id="m", turn=1, nonce=type(message).__name__, limit=limit)
    return lambda guest: guest.ask(text)


class Stay:
    """What came of a session: what the server heard, who played, what was told, and how it ended."""

    def __init__(self, *meetings: Callable[[Guest], Any], make: Callable[[], Any] = Player, **options: Any) -> None:
        self.players: list[Any] = []
        told: list[str] = []

        def seated(game: Any) -> Any:
            self.players.append(make())
            return self.players[-1]

        with FakeServer(*meetings) as server:
            self.end = join_host(server.address, seated, tell=told.append, **{"idle_timeout_s": 5.0, **options})
        self.heard = server.results
        self.told = [text for text in told if not text.startswith("connected to ")]


def hangs_up(guest: Guest) -> None:
    assert guest.receive() is None


SIGNED_IN, BEGUN = (Guest.sign_in,), (Guest.sign_in, Guest.begin)
ENDED = (*BEGUN, Guest.end_without_receipt)
OTHER_MATCH = wire.encode_hello(FISH, match_id="m2", nonce="x", limit=5.0)
UPDATE = wire.encode_suspended("an update", 0.01)
LET_GO = (partial(Guest.sign_in, token=""), ENOUGH)
SHORTLY = partial(Guest.sign_in, window=0.3)
# What a server does over each connection; in how many matches; how many receipts each player had; and how it ended.
SESSIONS: dict[str, tuple[list[tuple[Step, ...]], int | None, list[int], type]] = {
    "ends after the last receipt": ([(Guest.sign_in, Guest.play, Guest.play, hangs_up)], 2, [1, 1], NoneType),
    "leaves without a receipt": ([(*ENDED, hangs_up), (*SIGNED_IN, hangs_up)], 1, [0], NoneType),
    "leaves when it was cut off": ([ENDED, (*SIGNED_IN, hangs_up)], 1, [0], NoneType),
    "leaves before the next match": ([(*ENDED, OTHER_MATCH, hangs_up)], 1, [0], NoneType),
    "repeats its last answer": (
        [(*BEGUN, asks(END)), (*SIGNED_IN, asks(END), CLOSING, hangs_up)],
        *(1, [1], NoneType),
    ),
    "ends a match again that goes on": ([ENDED, (*BEGUN, Guest.end, hangs_up)], 1, [0, 1], NoneType),
    "ends it again after an update": ([(*ENDED, UPDATE), (*BEGUN, Guest.end, hangs_up)], 1, [0, 1], NoneType),
    "waits for a server for years": ([(partial(Guest.sign_in, window=1e10),), LET_GO], None, [], NoneType),
    "waits for a server for ever": ([(partial(Guest.sign_in, window=1e300),), LET_GO], None, [], NoneType),
    "gives up a server that is gone": ([(SHORTLY, Guest.begin)], None, [0], ConnectionLost),
    "gives up a server that refuses it": ([(SHORTLY, Guest.begin), (), (), ()], None, [0], ConnectionLost),
    "is dismissed": ([(*BEGUN, Guest.dismiss)], None, [0], Goodbye),
    "is dismissed when it reconnects": ([BEGUN, (Guest.dismiss,)], None, [0], Goodbye),
    "ends with a host of one match": ([(Guest.begin,)], None, [0], NoneType),
    "ends if it is refused at first": ([()], None, [], NoneType),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_reconnects_until_all_is_said(name: str) -> None:
    connections, matches, receipts, end = SESSIONS[name]

    stay = Stay(*(meeting(*steps) for steps in connections), matches=matches)

    assert [heard for heard in stay.heard if isinstance(heard, Exception)] == []
    assert len(stay.heard) == len(connections)
    assert [len(player.receipts) for player in stay.players] == receipts
    assert type(stay.end) is end


# Match after match.


def test_a_session_plays_match_after_match_until_the_server_closes_it() -> None:
    stay = Stay(meeting(Guest.sign_in, Guest.play, Guest.play, Guest.play, ENOUGH), name="ann", game="fish")

    match = [{"name": "ann"}, FIRST]
    assert stay.heard == [[{"name": "ann", "game": "fish"}, match, match, match, None]]
    assert [player.turns for player in stay.players] == [1, 1, 1]
    assert stay.told == ["signed in as ann", "the server closes the connection: enough"]
    assert stay.end is None


def test_the_idle_timeout_is_for_matches_and_not_for_the_time_between_them() -> None:
    def wait(guest: Guest) -> None:
        threading.Event().wait(0.6)

    between = meeting(Guest.sign_in, wait, Guest.play, wait, Guest.begin, Guest.receive)
    stay = Stay(between, meeting(*LET_GO), idle_timeout_s=0.3)

    assert len(stay.players) == 2
    assert "connection lost: no message came for 0.3 s; reconnecting" in stay.told


# Coming back.


def test_a_guest_reconnects_with_its_token_and_repeats_its_answer_without_the_player() -> None:
    stay = Stay(
        meeting(partial(Guest.sign_in, token="my-pass"), Guest.begin, asks(TURN)),
        meeting(Guest.sign_in, asks(TURN)),
        meeting(Guest.sign_in, asks(TURN), partial(Guest.question, message=TURN), Guest.end, ENOUGH),
        name="ann",
    )

    (said, *_), (again, answer), (_, last_answer, *_) = stay.heard
    assert (said, again) == ({"name": "ann"}, {"name": "ann", "token": "my-pass"})
    assert answer == last_answer == FIRST
    assert [player.turns for player in stay.players] == [2]
    back = ["signed in as ann", "connection lost; reconnecting"]
    assert stay.told == [*back, *back, "signed in as ann", "the server closes the connection: enough"]


def test_a_session_reconnects_to_a_server_that_restarts() -> None:
    restarts = meeting(partial(Guest.sign_in, window=0.001), Guest.begin, wire.encode_suspended("an update", 0.2))
    stay = Stay(restarts, meeting(Guest.sign_in, Guest.play, ENOUGH))

    closed = "the server closes the connection: "
    assert stay.told == ["signed in as ann", closed + "an update", "signed in as ann", closed + "enough"]
    assert stay.end is None


def test_a_goodbye_is_read_although_a_player_in_this_process_thinks_for_too_long() -> None:
    asked, said = threading.Event(), threading.Event()

    class Slow(Player):
        def take_turn(self, view: Any) -> Any:
            asked.set()
            assert said.wait(30)
            threading.Event().wait(0.3)
            return super().take_turn(view)

    def meet(guest: Guest) -> None:
        guest.begin()
        guest.send(wire.encode_question(TURN, FISH, match_id="m", turn=1, nonce="t", limit=0.05))
        assert asked.wait(30)
        guest.dismiss()
        said.set()
        guest.receive()

    assert isinstance(Stay(meet, make=Slow, idle_timeout_s=0.1).end, Goodbye)


def test_texts_of_a_server_are_escaped_for_the_terminal() -> None:
    hostile = "\x1b[2J"
    stay = Stay(meeting(partial(Guest.sign_in, name=hostile * 20), wire.encode_suspended(hostile * 1000, 0)))

    assert len(stay.told) == 2
    assert all(line.isprintable() and len(line) < 700 for line in stay.told)


@pytest.mark.parametrize(
    "text", [b'{"type":"welcome"}\n', b'{"type":"suspended","why":1}\n', b'{"type":"hello","protocol":2}\n', b"junk\n"]
)
def test_a_server_that_breaks_the_protocol_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(BadRequest, match="not a message of the protocol"):
        Stay(meeting(text))


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that are asked for, none of which is made."""
    asked: list[float] = []
    sleep = asyncio.sleep

    async def nap(seconds: float) -> None:
        asked.extend([seconds] if seconds else [])
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", nap)
    return asked


def test_a_server_can_delay_a_reconnection_for_minutes_at_most(naps: list[float]) -> None:
    Stay(meeting(Guest.sign_in, wire.encode_suspended("come back in a year", 365 * 86400.0)), meeting(*LET_GO))

    [nap] = naps
    assert 60 < nap < 600


def test_pauses_between_two_connections_grow_up_to_a_limit(naps: list[float]) -> None:
    Stay(*[meeting(Guest.sign_in)] * 12, meeting(*LET_GO))

    assert len(naps) == 12
    assert naps[0] < naps[-1] <= player_side.MAX_RECONNECT_INTERVAL_S
