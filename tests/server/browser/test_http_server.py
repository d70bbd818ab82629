"""Test that the web port closes slow, silent and excessive connections, and no others."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fairplay.server.browser import http_server, pages, viewers
from fairplay.server.settings import ConnectionLimits
from tests.server.browser.test_pages import ask, open_board
from tests.server.small_servers import RunningServer, run_small_server

QUESTION = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server with short timeouts."""
    monkeypatch.setattr(http_server, "REQUEST_TIMEOUT_S", 0.3)
    with run_small_server(tmp_path) as it:
        yield it


def connect(server: RunningServer, said: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), 30, (address, 0))
    connection.sendall(said)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Read until the server closes the connection."""
    with suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def test_browsers_that_are_silent_drip_or_idle_after_an_answer_are_disconnected(server: RunningServer) -> None:
    with connect(server) as silent, connect(server) as dripping, connect(server) as idle:
        for _ in range(2):
            idle.sendall(QUESTION)
            answer = b""
            while not answer.endswith(b"ok\n"):
                answer += idle.recv(65536)
        poll = select.poll()
        poll.register(dripping, select.POLLIN | select.POLLHUP)
        for byte in QUESTION.replace(b"\r\n\r\n", b"\r\nX: " + b"a" * 2000):
            if poll.poll(20):
                break
            dripping.sendall(bytes([byte]))

        assert [is_closed(one) for one in (silent, dripping, idle)] == [True] * 3


def test_a_browser_that_does_not_read_is_disconnected(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    lost, lose = Event(), http_server.BrowserConnection.connection_lost
    accept = http_server.BrowserConnection.connection_made

    def accept_with_small_buffer(self: http_server.BrowserConnection, transport: Any) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        accept(self, transport)

    def notice(self: http_server.BrowserConnection, error: Exception | None) -> None:
        lose(self, error)
        lost.set()

    monkeypatch.setattr(http_server.BrowserConnection, "connection_made", accept_with_small_buffer)
    monkeypatch.setattr(http_server.BrowserConnection, "connection_lost", notice)
    question = b"GET /parts/replay.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    requests = http_server.MAX_HEADER_BYTES // len(question)
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(30)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(question * requests)

        assert lost.wait(30)
        received = bytearray()
        with suppress(ConnectionError):
            while piece := deaf.recv(65536):
                received += piece
    assert 0 < received.count(b"HTTP/1.1 200") < requests


def test_many_idle_browsers_keep_no_other_out(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "REQUEST_TIMEOUT_S", 60.0)
    monkeypatch.setattr(http_server, "MAX_BROWSER_CONNECTIONS", 4)
    room = server.open_room("fish")
    with ExitStack() as stack:
        viewer = stack.enter_context(open_board(server, room))
        idle = [stack.enter_context(connect(server)) for _ in range(20)]

        for _ in range(4):
            assert ask(server, "/healthz").status == 200
        assert is_closed(idle[0])  # the first that came
        number = server.play_turns(room, 1)  # a viewer that is served stays
        assert viewer.position()["seq"] == number


# Viewers


def live(server: RunningServer, room: str, address: str = "127.0.0.1") -> socket.socket:
    return connect(server, f"GET /rooms/{room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), address)


def status(connection: socket.socket) -> int:
    return int(connection.recv(len("HTTP/1.1 200"))[-3:])


def test_too_many_viewers_are_refused(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_VIEWERS", 2)
    room = server.open_room("fish")
    with open_board(server, room), open_board(server, room):
        assert ask(server, f"/rooms/{room}/live").status == 503


def test_viewers_from_one_address_are_limited(server: RunningServer) -> None:
    room = server.open_room("fish")
    with ExitStack() as boards:
        connections = [boards.enter_context(live(server, room)) for _ in range(300)]  # more than half of all of them
        answers = [status(one) for one in connections]
        other = status(boards.enter_context(live(server, room, "127.0.0.2")))
        refused = ask(server, f"/rooms/{room}/live")

    assert answers.count(200) == ConnectionLimits().viewers_per_address
    assert answers.count(503) == 300 - answers.count(200)
    assert other == 200
    assert refused.text == "too many viewers from your address: 128 are allowed\n"


def test_viewers_that_left_are_not_counted(tmp_path: Path) -> None:
    with run_small_server(tmp_path, limits=ConnectionLimits(viewers_per_address=1)) as server:
        room = server.open_room("fish")
        served = 0
        while served < 3:
            with live(server, room) as viewer:
                served += status(viewer) == 200


def test_nothing_is_drawn_without_viewers_and_a_room_is_shown_again_to_later_ones(server: RunningServer) -> None:
    room = server.open_room("fish")
    hub = server.server.hubs[room]
    for _ in range(3):
        with open_board(server, room), open_board(server, room):
            assert len(hub.watchers) == 1  # for all of them
        while hub.watchers:
            server.play_turns(room, 0)


def test_a_slow_viewer_gets_the_newest_picture(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.0)
    room = server.open_room("fish")
    with open_board(server, room) as viewer:
        for _ in range(6):
            number = server.play_turns(room, 1)
        seen = [viewer.position()["seq"]]
        while seen[-1] < number:
            seen.append(viewer.position()["seq"])

    assert seen == sorted(set(seen))


def test_the_web_server_stops_at_once_despite_viewers_and_silent_browsers(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with run_small_server(tmp_path) as server:
            viewer = stack.enter_context(open_board(server, server.open_room("fish")))
            silent = stack.enter_context(connect(server))
            assert ask(server, "/healthz").status == 200

        assert viewer.next() == ("", None)
        assert is_closed(silent)
