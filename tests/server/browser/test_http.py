"""Come to the web port of a house and be slow, silent, deaf or many: one is cut off, and nobody else notices."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event

import pytest

from fairplay.server.browser import http, lookers, pages
from fairplay.server.settings import Strangers
from tests.server.browser.test_pages import Looking, ask
from tests.server.houses import Running, running

QUESTION = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A house with little patience."""
    monkeypatch.setattr(http, "PATIENCE", 0.3)
    with running(tmp_path) as it:
        yield it


def connected(house: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", house.port), timeout=30)


def is_cut_off(connection: socket.socket) -> bool:
    """Does the other end hang up, sooner or later? Whatever comes before is read."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


def test_who_says_nothing_is_cut_off(house: Running) -> None:
    with connected(house) as silent:
        assert is_cut_off(silent)


def test_who_says_a_byte_now_and_then_is_cut_off(house: Running) -> None:
    with connected(house) as dripping:
        poll = select.poll()
        poll.register(dripping, select.POLLIN | select.POLLHUP)
        for byte in QUESTION.replace(b"\r\n\r\n", b"\r\nX: " + b"a" * 2000):
            if poll.poll(20):
                break
            dripping.sendall(bytes([byte]))
        assert is_cut_off(dripping)


def test_who_has_been_answered_and_says_nothing_more_is_cut_off(house: Running) -> None:
    with connected(house) as idle:
        for _ in range(2):
            idle.sendall(QUESTION)
            answer = b""
            while not answer.endswith(b"ok\n"):
                answer += idle.recv(65536)
        assert is_cut_off(idle)


def test_who_does_not_read_is_cut_off(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, lose = Event(), http.Guarded.connection_lost

    def notice(self: http.Guarded, error: Exception | None) -> None:
        lose(self, error)
        lost.set()

    monkeypatch.setattr(http.Guarded, "connection_lost", notice)
    question = b"GET /parts/replay.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(30)
        deaf.connect(("127.0.0.1", house.port))
        deaf.sendall(question * (http.MOST_HEADERS // len(question)))

        assert lost.wait(30)
        received = bytearray()
        with suppress(ConnectionError):
            while piece := deaf.recv(65536):
                received += piece
    assert 0 < received.count(b"HTTP/1.1 200") < http.MOST_HEADERS // len(question)


def test_a_crowd_of_idle_ones_keeps_nobody_out(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", 60.0)
    monkeypatch.setattr(http, "MOST_CONNECTIONS", 4)
    room = house.open("fish")
    with ExitStack() as crowd:
        looking = Looking(house, room)
        crowd.callback(looking.close)
        assert looking.next()[0] == "hello"
        idle = [crowd.enter_context(connected(house)) for _ in range(20)]

        for _ in range(4):
            assert ask(house, "/healthz").status == 200
        assert is_cut_off(idle[0])  # the first who came
        looking.position()  # whoever is served stays
        number = house.turns(room, 1)
        assert looking.position()["seq"] == number


def test_too_many_who_look_are_told_so(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_LOOKERS", 2)
    room = house.open("fish")
    looking = [Looking(house, room) for _ in range(2)]
    for one in looking:
        one.next()
        one.position()

    refused = ask(house, f"/rooms/{room}/live")
    for one in looking:
        one.close()

    assert refused.status == 503


def live(house: Running, room: str, address: str = "127.0.0.1") -> socket.socket:
    """Ask for a live board, from this address."""
    connection = socket.create_connection(("127.0.0.1", house.port), 30, (address, 0))
    connection.sendall(f"GET /rooms/{room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def status(connection: socket.socket) -> int:
    return int(connection.recv(len("HTTP/1.1 200"))[-3:])


def test_one_address_takes_no_more_than_its_share_of_the_live_boards(house: Running) -> None:
    room = house.open("fish")
    with ExitStack() as boards:
        greedy = [boards.enter_context(live(house, room)) for _ in range(300)]  # more than half of all of them
        answers = [status(one) for one in greedy]
        other = status(boards.enter_context(live(house, room, "127.0.0.2")))
        refused = ask(house, f"/rooms/{room}/live")

    assert answers.count(200) == Strangers().viewers_per_address
    assert answers.count(503) == 300 - answers.count(200)
    assert other == 200
    assert refused.text == "128 browsers at your address look on already\n"


def test_the_share_of_an_address_is_free_again_when_its_browsers_have_left(tmp_path: Path) -> None:
    with running(tmp_path, limits=Strangers(viewers_per_address=1)) as house:
        room = house.open("fish")
        served = 0
        while served < 3:
            with live(house, room) as looking:
                served += status(looking) == 200


def test_nothing_is_drawn_and_nothing_told_once_nobody_looks(house: Running) -> None:
    room = house.open("fish")
    hub = house.house.hubs[room]
    looking = [Looking(house, room) for _ in range(3)]
    for one in looking:
        one.next()
        one.position()
    assert len(hub.watchers) == 1  # for all of them
    for one in looking:
        one.close()

    number = house.turns(room, 1)
    while hub.watchers:
        number = house.turns(room, 0)

    assert number == 1


def test_a_room_is_shown_again_after_everybody_has_left(house: Running) -> None:
    room = house.open("fish")
    hub = house.house.hubs[room]
    for _ in range(3):
        looking = Looking(house, room)
        looking.next()
        looking.position()
        looking.close()
        while hub.watchers:
            house.turns(room, 0)


def test_a_slow_one_gets_the_newest(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookers, "PAUSE", 0.0)
    room = house.open("fish")
    looking = Looking(house, room)
    looking.next()
    looking.position()

    for _ in range(6):
        number = house.turns(room, 1)
    seen = [looking.position()["seq"]]
    while seen[-1] < number:
        seen.append(looking.position()["seq"])
    looking.close()

    assert seen == sorted(set(seen))


def test_a_silent_room_is_heard_from_now_and_then(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookers, "SILENCE", 0.05)
    room = house.open("fish")
    looking = Looking(house, room)
    looking.next()
    looking.position()

    while not looking.beats:
        looking.line()
    del house.house.hubs[room]  # which the host closed before its end
    end = looking.next()
    looking.close()

    assert end == ("", None)


def test_it_ends_at_once_while_people_look_and_others_say_nothing(tmp_path: Path) -> None:
    with ExitStack() as open_ones:
        with running(tmp_path) as house:
            looking = Looking(house, house.open("fish"))
            open_ones.callback(looking.close)
            looking.next()
            looking.position()
            silent = open_ones.enter_context(connected(house))
            assert ask(house, "/healthz").status == 200

        assert looking.next() == ("", None)
        assert is_cut_off(silent)
