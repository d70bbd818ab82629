"""Test sessions at a server: many matches, and reconnections."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from fairplay.core.errors import BadRequest
from fairplay.players import relay, session
from fairplay.protocol import player_side, wire
from fairplay.protocol.wire import Goodbye
from fairplay.transport.connection import ConnectionLost
from tests.players.fake_server import END, FISH, RECEIPT, TURN, ClientConnection, FakeServer
from tests.players.host_joining import join_host

FIRST = {"type": "place", "at": [0, 0]}


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all waits short."""
    monkeypatch.setattr(player_side, "FIRST_RECONNECT_INTERVAL_S", 0.001)
    monkeypatch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.01)
    for module in (player_side, relay, session):
        monkeypatch.setattr(module, "RECEIPT_TIMEOUT_S", 0.2)


class Player:
    """Takes the first action, and counts how often it is asked; before it answers, something else may happen."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.turns = 0
        self.before = before

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        self.before()
        return next(FISH.actions(view))


class Stay:
    """What came of a session: who played, what was told, and how it ended."""

    def __init__(self, server: FakeServer, make: Callable[[], Any] = Player, **options: Any) -> None:
        self.players: list[Any] = []
        self.all_told: list[str] = []

        def seated(game: Any) -> Any:
            self.players.append(make())
            return self.players[-1]

        with server:
            self.end = join_host(
                server.address, seated, tell=self.all_told.append, **{"idle_timeout_s": 5.0, **options}
            )

    @property
    def told(self) -> list[str]:
        """What was told, but for each connection."""
        return [text for text in self.all_told if not text.startswith("connected to ")]


def cut(guest: ClientConnection) -> None:
    """Let it in, and hang up in the middle of everything."""
    guest.sign_in()
    guest.begin()


def let_go(guest: ClientConnection) -> Any:
    """Let it in and go again; what it says about itself."""
    said = guest.sign_in(token="")
    guest.send(wire.encode_suspended("enough", 0))
    return said


# Match after match.


def test_a_session_plays_match_after_match_until_the_server_closes_it() -> None:
    def meet(guest: ClientConnection) -> list[Any]:
        said = [guest.sign_in(), guest.play(), guest.play(), guest.play()]
        guest.send(wire.encode_suspended("the tournament is over", 0))
        return said

    server = FakeServer(meet)
    stay = Stay(server, name="ann", game="fish")

    match = [{"name": "ann"}, FIRST]
    assert server.results == [[{"name": "ann", "game": "fish"}, match, match, match]]
    assert [player.turns for player in stay.players] == [1, 1, 1]
    assert stay.told == ["signed in as ann", "the server closes the connection: the tournament is over"]
    assert stay.end is None


def test_a_session_with_a_number_of_matches_ends_after_the_last_receipt() -> None:
    def meet(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.play()
        guest.play()
        return guest.receive()

    server = FakeServer(meet)
    receipts: list[Any] = []

    class Keeping(Player):
        def closing(self, receipt: Any) -> None:
            receipts.append(receipt)

    stay = Stay(server, Keeping, matches=2)

    assert server.results == [None]  # it has hung up
    assert (len(stay.players), len(receipts), stay.end) == (2, 2, None)


def test_a_leaving_session_waits_shortly_for_a_receipt_and_begins_no_match() -> None:
    def without(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()
        return guest.receive()

    def cut_off(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()

    def again(guest: ClientConnection) -> Any:
        guest.sign_in()
        return guest.receive()

    def at_once(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()
        guest.send(wire.encode_hello(FISH, match_id="m2", nonce="x", limit=5.0))
        return guest.receive()

    for meetings in ((without, again), (cut_off, again), (at_once,)):
        server = FakeServer(*meetings)
        stay = Stay(server, matches=1)
        assert (server.results, len(stay.players), stay.end) == ([None] * len(meetings), 1, None)


def test_the_idle_timeout_is_for_matches_and_not_for_the_time_between_them() -> None:
    waiting = threading.Event()

    def meet(guest: ClientConnection) -> None:
        guest.sign_in()
        waiting.wait(0.6)
        guest.play()
        waiting.wait(0.6)
        guest.begin()
        guest.receive()

    stay = Stay(FakeServer(meet, let_go), idle_timeout_s=0.3)

    assert len(stay.players) == 2
    assert "connection lost: no message came for 0.3 s; reconnecting" in stay.told


# Coming back.


def test_a_guest_reconnects_with_its_token_and_is_asked_once() -> None:
    question: list[bytes] = []

    def first(guest: ClientConnection) -> Any:
        said = guest.sign_in(token="my-pass")
        guest.begin()
        question.append(guest.write_question(TURN))
        guest.ask(question[0])
        return said

    def second(guest: ClientConnection) -> Any:
        said = guest.sign_in(token="")
        answer = guest.ask(question[0])
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return said, answer

    server = FakeServer(first, second)
    stay = Stay(server, name="ann")

    assert server.results == [{"name": "ann"}, ({"name": "ann", "token": "my-pass"}, FIRST)]
    assert [player.turns for player in stay.players] == [1]
    assert stay.told == [
        "signed in as ann",
        "connection lost; reconnecting",
        "signed in as ann",
        "the server closes the connection: enough",
    ]


def test_an_answer_that_may_be_lost_is_sent_again_after_a_reconnection() -> None:
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        question.append(guest.write_question(TURN))
        guest.ask(question[0])

    def again(guest: ClientConnection) -> Any:
        guest.sign_in()
        return guest.ask(question[0])

    def last(guest: ClientConnection) -> Any:
        guest.sign_in()
        answer = guest.ask(question[0])
        guest.question(TURN)
        guest.end()
        guest.send(wire.encode_suspended("enough", 0))
        return answer

    server = FakeServer(first, again, last)
    stay = Stay(server)

    assert server.results == [None, FIRST, FIRST]
    assert [player.turns for player in stay.players] == [2]


def test_the_last_answer_before_leaving_is_sent_again_after_a_reconnection() -> None:
    question: list[bytes] = []

    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        question.append(guest.write_question(END))
        guest.ask(question[0])

    def again(guest: ClientConnection) -> Any:
        guest.sign_in()
        answer = guest.ask(question[0])
        guest.send(wire.encode_closing(RECEIPT, match_id="m", turn=1, nonce="c", limit=1.0))
        return answer, guest.receive()

    server = FakeServer(first, again)
    stay = Stay(server, matches=1)

    assert server.results == [None, (None, None)]  # and then it has hung up
    assert (len(stay.players), stay.end) == (1, None)


@pytest.mark.parametrize("by", [b"", wire.encode_suspended("an update", 0.01)])
def test_a_match_that_goes_on_at_the_server_after_its_end_is_ended_again_before_leaving(by: bytes) -> None:
    def first(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.begin()
        guest.end_without_receipt()
        guest.send(by)

    def second(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.begin()
        guest.end()
        return guest.receive()

    server = FakeServer(first, second)
    stay = Stay(server, matches=1)

    assert server.results == [None, None]
    assert (len(stay.players), stay.end) == (2, None)


def test_a_session_reconnects_to_a_server_that_restarts() -> None:
    def first(guest: ClientConnection) -> None:
        guest.sign_in(window=0.001)
        guest.begin()
        guest.send(wire.encode_suspended("an update", 0.2))

    def second(guest: ClientConnection) -> Any:
        guest.sign_in()
        guest.play()
        guest.send(wire.encode_suspended("enough", 0))

    stay = Stay(FakeServer(first, second))

    assert stay.told == [
        "signed in as ann",
        "the server closes the connection: an update",
        "signed in as ann",
        "the server closes the connection: enough",
    ]
    assert stay.end is None


@pytest.mark.parametrize("window", [1e10, 1e300])
def test_a_session_reconnects_to_a_server_that_reserves_seats_for_ever(window: float) -> None:
    server = FakeServer(lambda guest: guest.sign_in(window=window), let_go)

    stay = Stay(server)

    assert len(server.results) == 2
    assert stay.end is None


def test_a_client_with_a_token_sends_it_at_every_connection() -> None:
    server = FakeServer(lambda guest: guest.sign_in(token=""), let_go)

    Stay(server, token="own")

    assert server.results == [{"token": "own"}] * 2


def test_a_server_that_is_gone_is_given_up_after_its_reconnect_window() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.sign_in(window=0.3)
        guest.begin()

    stay = Stay(FakeServer(meet))

    assert isinstance(stay.end, ConnectionLost)
    assert "Connection refused" in str(stay.end)


def test_a_server_that_refuses_every_reconnection_is_given_up() -> None:
    def shut(guest: ClientConnection) -> None:
        """Hang up without a word."""

    def meet(guest: ClientConnection) -> None:
        guest.sign_in(window=0.3)
        guest.begin()

    server = FakeServer(meet, *[shut] * 3)
    stay = Stay(server)

    assert len(server.results) == 4
    assert isinstance(stay.end, ConnectionLost)


def test_a_session_that_is_refused_at_a_reconnection_ends_with_the_reason() -> None:
    stay = Stay(FakeServer(cut, lambda guest: guest.dismiss()))

    assert isinstance(stay.end, Goodbye)
    assert len(stay.players) == 1


def test_an_ejected_player_does_not_reconnect() -> None:
    def meet(guest: ClientConnection) -> None:
        cut(guest)
        guest.dismiss()

    assert isinstance(Stay(FakeServer(meet)).end, Goodbye)


def test_a_goodbye_is_read_although_a_player_in_this_process_thinks_for_too_long() -> None:
    asked, said = threading.Event(), threading.Event()

    def meet(guest: ClientConnection) -> None:
        guest.begin()
        guest.send(wire.encode_question(TURN, FISH, match_id="m", turn=1, nonce="t", limit=0.05))
        assert asked.wait(30)
        guest.dismiss()
        said.set()
        guest.receive()

    def think() -> None:
        asked.set()
        assert said.wait(30)
        threading.Event().wait(0.3)

    stay = Stay(FakeServer(meet), lambda: Player(think), idle_timeout_s=0.1)

    assert isinstance(stay.end, Goodbye)


def test_a_session_with_a_host_of_one_match_ends_with_its_connection() -> None:
    def plain(guest: ClientConnection) -> None:
        guest.begin()

    stay = Stay(FakeServer(plain))

    assert (stay.end, stay.told, len(stay.players)) == (None, [], 1)


def test_a_session_that_is_refused_at_first_ends() -> None:
    stay = Stay(FakeServer(lambda guest: None))

    assert (stay.end, stay.told) == (None, [])


def test_texts_of_a_server_are_escaped_for_the_terminal() -> None:
    def meet(guest: ClientConnection) -> None:
        guest.sign_in(name="\x1b[2J" * 20)
        guest.send(wire.encode_suspended("\x1b[2J" * 1000, 0))

    told = Stay(FakeServer(meet)).told

    assert len(told) == 2
    assert all(line.isprintable() and len(line) < 700 for line in told)


@pytest.mark.parametrize(
    "text",
    [b'{"type":"welcome"}\n', b'{"type":"suspended","why":1}\n', b'{"type":"hello","protocol":2}\n', b"junk\n"],
)
def test_a_server_that_breaks_the_protocol_is_a_bad_request(text: bytes) -> None:
    with pytest.raises(BadRequest, match="not a message of the protocol"):
        Stay(FakeServer(lambda guest: guest.send(text)))


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
    def close(guest: ClientConnection) -> None:
        guest.sign_in()
        guest.send(wire.encode_suspended("come back in a year", 365 * 86400.0))

    Stay(FakeServer(close, let_go))

    [nap] = naps
    assert 60 < nap < 600


def test_pauses_between_two_connections_grow_up_to_a_limit(naps: list[float]) -> None:
    Stay(FakeServer(*[lambda guest: guest.sign_in()] * 12, let_go))

    assert len(naps) == 12
    assert naps[0] < naps[-1] <= player_side.MAX_RECONNECT_INTERVAL_S
