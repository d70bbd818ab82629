"""Test the pages of a server, as browsers, monitors and attackers request them."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fairplay.games import GAMES, game_info
from fairplay.server.browser import pages, rendering, viewers
from fairplay.server.browser.http_server import MAX_HEADER_BYTES
from fairplay.server.browser.rendering import RenderPool
from tests.nonempty import nonempty
from tests.server.small_servers import RunningServer, run_small_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


class Answer:
    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.text = answer.read().decode()


def ask(server: RunningServer, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Viewer:
    def __init__(self, server: RunningServer, room: str, theme: str = "light") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        self._connection.request("GET", f"/rooms/{room}/live?theme={theme}")
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self.lines: list[str] = []
        self.beats = 0  # heartbeats

    def line(self) -> str:
        """The next line of an answer, up to the first of an event."""
        line = self._answer.readline().decode()
        if line == ": \n":
            self.beats += 1
            assert self._answer.readline() == b"\n"
        return line.strip()

    def next(self) -> tuple[str, Any]:
        """The next event; an empty one is the end."""
        name = self.line()
        while name == ":":
            name = self.line()
        if not name:
            return "", None
        data = self._answer.readline().decode().removeprefix("data: ")
        assert self._answer.readline() == b"\n"
        return name.removeprefix("event: "), json.loads(data)

    def position(self) -> Any:
        """The next position, with its picture put together."""
        name, now = self.next()
        assert name == "position"
        if "picture" in now:
            self.lines = now["picture"].split("\n")
        else:
            parts = [[part] if isinstance(part, str) else self.lines[part[0] : sum(part)] for part in now["lines"]]
            self.lines = [line for some_lines in parts for line in some_lines]
        return now

    def close(self) -> None:
        self._answer.close()
        self._connection.close()


@contextmanager
def open_board(server: RunningServer, room: str, theme: str = "light") -> Iterator[Viewer]:
    """A browser viewer of a room that has seen the board."""
    with closing(Viewer(server, room, theme)) as viewer:
        assert viewer.next()[0] == "hello"
        viewer.position()
        yield viewer


def first_job(directory: Path, does: str) -> tuple[str, ...]:
    """The command of processes that render, of which the first does this instead; then `begun` is in the directory."""
    command = " ".join(rendering.RENDER_COMMAND)
    return "sh", "-c", f"mkdir {directory}/begun 2>/dev/null && {does}; exec {command}"


def test_the_header_limit_is_for_each_request_of_a_connection(server: RunningServer) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.connect()
        first = connection.sock
        for _ in range(8):
            connection.request("GET", "/healthz", headers={"X-Long": "a" * (MAX_HEADER_BYTES // 4)})
            assert Answer(connection.getresponse()).status == 200
            assert connection.sock is first


def test_healthz_and_metrics_are_served(server: RunningServer) -> None:
    health, metrics = ask(server, "/healthz"), ask(server, "/metrics")

    assert (health.status, health.text) == (200, "ok\n")
    assert metrics.status == 200
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "\nfairplay_turns_total " in metrics.text
    assert '\nfairplay_ejections_total{fault="timed_out"} 0.0\n' in metrics.text


def test_the_status_lists_rooms_and_finished_matches(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "STATUS_CACHE_INTERVAL_S", 0.0)
    room = server.open_room("fish", ("ann", "bob", "cyd"))
    number = server.play_turns(room, 4)

    [shown] = [it for it in json.loads(ask(server, "/status").text)["rooms"] if it["id"] == room]
    server.play_to_end(room)
    over = json.loads(ask(server, "/status").text)

    assert (shown["names"], shown["game"], shown["seq"]) == (["ann", "bob", "cyd"], "fish", number)
    assert (shown["scores"], shown["turn"]) == ([0, 0, 0], 1)
    assert room not in [it["id"] for it in over["rooms"]]
    assert over["finished"][0]["match"] == room
    assert sorted(seat for group in over["finished"][0]["ranking"] for seat in group) == [0, 1, 2]


def test_a_status_is_cached_for_a_moment(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    status = server.server.status

    def counted() -> Any:
        nonlocal made
        made += 1
        return status()

    monkeypatch.setattr(pages, "STATUS_CACHE_INTERVAL_S", 1000.0)
    monkeypatch.setattr(server.server, "status", counted)
    for _ in range(20):
        ask(server, "/status")

    assert made <= 1


# Live boards


@pytest.mark.parametrize("game", GAMES)
def test_a_viewer_sees_the_board_after_every_turn(server: RunningServer, game: str) -> None:
    room = server.open_room(game)
    hub, pictures = server.server.hubs[room], set[str]()
    with closing(Viewer(server, room)) as viewer:
        name, hello = viewer.next()
        first = viewer.position()
        assert (name, hello["name"], first["seq"], first["names"]) == ("hello", hub.name, 0, ["ann", "bob", "cyd"])
        for _ in range(3):
            number = server.play_turns(room, 1)
            now = viewer.position()
            assert (now["seq"], now["facts"][-1][0], "lines" in now) == (number, number, True)
            assert hub.last is not None
            match = hub.last.match
            assert game_info(game).svg(match.view(None), match.names).splitlines()[0] == viewer.lines[0]
            pictures.add("\n".join(viewer.lines))

    assert len(pictures) == 3


def test_pictures_are_those_of_fairplay_draw(server: RunningServer) -> None:
    room = server.open_room("fish")
    hub = server.server.hubs[room]
    assert hub.last is not None
    before = hub.last.match.view(None)
    with open_board(server, room) as light, open_board(server, room, "dark-small") as dark:
        server.play_turns(room, 1)
        after = hub.last.match.view(None)
        for viewer, options in ((light, {}), (dark, {"dark": True, "small": True})):
            viewer.position()
            expected = game_info("fish").svg(after, ("ann", "bob", "cyd"), before=before, **options)
            assert "\n".join(viewer.lines) == expected


def test_the_last_position_ends_the_stream_and_leads_to_the_replay(server: RunningServer) -> None:
    room = server.open_room("tsuro", fails=1)
    assert ask(server, f"/matches/{room}").status == 404
    assert ask(server, f"/rooms/{room}").status == 200
    with open_board(server, room) as viewer:
        server.play_to_end(room)
        now = viewer.position()
        while not now["over"]:
            now = viewer.position()
        assert viewer.next() == ("", None)

    assert now["ejected"] == {"1": "crashed"}
    assert now["winners"]
    assert 1 not in now["winners"]
    assert [fact[3] for fact in now["facts"]].count(True) == 1
    moved = ask(server, f"/rooms/{room}")
    assert (moved.status, moved.headers["location"]) == (303, f"/matches/{room}")
    replay = ask(server, f"/matches/{room}")
    assert replay.status == 200
    assert "A recorded match" in replay.text
    assert "unsafe" not in replay.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'sha256-" in replay.headers["content-security-policy"]


def test_the_last_position_comes_also_where_the_room_is_gone_before_it_is_drawn(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, begun, draw = server.open_room("fish"), Event(), RenderPool.render

    async def slowly(pool: RenderPool, job: Any) -> str:
        begun.set()
        while room in server.server.hubs:
            await asyncio.sleep(0.001)
        return await draw(pool, job)

    monkeypatch.setattr(RenderPool, "render", slowly)
    with closing(Viewer(server, room)) as viewer:
        viewer.next()
        assert begun.wait(30)
        server.play_to_end(room)
        first, last = viewer.position(), viewer.position()

    assert (first["seq"], first["over"], last["over"]) == (0, False, True)


def test_a_head_request_for_a_live_board_is_not_found(server: RunningServer) -> None:
    room = server.open_room("fish")

    assert ask(server, f"/rooms/{room}/live", "HEAD").status == 404


def test_a_live_board_ends_when_its_room_is_closed_before_the_match_is_over(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "HEARTBEAT_INTERVAL_S", 0.01)
    room = server.open_room("fish")
    with open_board(server, room) as viewer:
        while not viewer.beats:
            viewer.line()

        async def close() -> None:
            del server.server.hubs[room]

        server.call(close)
        beats = 0
        while beats < 100 and viewer.line():
            beats += 1

    assert beats < 100


# Replays


@pytest.mark.parametrize(
    ("most", "status"), [(pages.MAX_REPLAY_PAGES, 200), (1, 503)], ids=["delays no other", "counts for the limit"]
)
def test_a_replay_that_takes_long_to_render(
    most: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", first_job(tmp_path, "exec sleep 1000"))
    monkeypatch.setattr(pages, "MAX_REPLAY_PAGES", most)
    with run_small_server(tmp_path) as server:
        slow, quick = server.open_room("fish"), server.open_room("fish")
        for room in (slow, quick):
            server.play_to_end(room)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as waiting:
            waiting.sendall(f"GET /matches/{slow} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not (tmp_path / "begun").exists():
                ask(server, "/healthz")

            assert ask(server, f"/matches/{quick}").status == status


def test_a_replay_that_failed_is_rendered_at_the_next_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", first_job(tmp_path, "exit 1"))
    with run_small_server(tmp_path) as server:
        room = server.open_room("fish")
        server.play_to_end(room)

        assert [ask(server, f"/matches/{room}").status for _ in range(2)] == [404, 200]


@pytest.mark.parametrize(
    ("most", "requests"),
    [(1, (0, 0, 1, 0)), (2, (0, 1, 0, 2, 0))],
    ids=["and no others", "longest those that are requested again"],
)
def test_the_last_replays_are_cached(
    most: int, requests: tuple[int, ...], server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    async def draw(pool: RenderPool, job: Any) -> str:
        drawn.append(job)
        return "a replay"

    monkeypatch.setattr(RenderPool, "render", draw)
    monkeypatch.setattr(pages, "MAX_REPLAY_PAGES", most)
    rooms = [server.open_room("fish") for _ in range(3)]
    for room in rooms:
        server.play_to_end(room)

    for number in requests:
        assert ask(server, f"/matches/{rooms[number]}").text == "a replay"

    assert len(drawn) == 3


# Attacks.

HEADERS = {
    "content-security-policy": pages.CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


@pytest.mark.parametrize(
    "path", ["/", "/status", "/metrics", "/healthz", "/parts/room.js", "/nowhere", "/rooms/x/live"]
)
def test_every_answer_has_the_security_headers(server: RunningServer, path: str) -> None:
    answer = ask(server, path)

    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "server" not in answer.headers
    assert "set-cookie" not in answer.headers
    assert "unsafe" not in pages.CONTENT_POLICY


def test_pages_have_no_inline_script_style_or_data(server: RunningServer) -> None:
    room = server.open_room("fish", ("<script>alert(1)</script>", "bob"))
    for path in nonempty(("/", f"/rooms/{room}")):
        text = ask(server, path).text
        assert text.count("<script") == text.count('<script type="module" src="/parts/') == 1
        assert "<style" not in text
        assert " style=" not in text
        assert " on" not in text.replace(" one", "").replace(" on ", "")
        assert "alert" not in text


PLACES = [
    "../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..\\..\\etc\\passwd",
    "..%5c..%5cetc",
    "a%00.jsonl",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    ".",
    "..",
    "~root",
    "file:%2f%2f%2fetc%2fpasswd",
    "%c0%ae%c0%ae",
    "a" * 10_000,
    "%252e%252e%252f",
    "journal.jsonl",
    "..;/",
    "0" * 32,
    "1' OR '1'='1",
]


@pytest.mark.parametrize("id", PLACES, ids=range(len(PLACES)))
def test_an_id_is_looked_up_and_never_a_path(server: RunningServer, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[str] = []
    monkeypatch.setattr(RenderPool, "render", lambda *job: jobs.append(str(job)))
    for path in nonempty(("/matches/", "/rooms/", "/parts/", "/parts/../", "/")):
        place = id.replace(" ", "%20")
        answer = raw(server, f"GET {path}{place} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        home = path + id == "/."
        assert answer.startswith(b"HTTP/1.1 404") or (home and b" 200 " in answer), path
        assert b"root:" not in answer
    assert jobs == []


def test_only_listed_parts_are_served_with_their_types(server: RunningServer) -> None:
    for name, kind in nonempty(pages.PAGE_PARTS.items()):
        answer = ask(server, f"/parts/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(kind)
    for name in ("", "pages.py", "replay.html", "replay.py", "sha256.js", ".git/config", "__init__.py", "README.md"):
        assert ask(server, f"/parts/{name}").status == 404, name


def raw(server: RunningServer, request: str) -> bytes:
    """The whole answer to this request."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request.encode("latin-1"))
        with connection.makefile("rb") as stream:
            return stream.read()


EVIL = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80"]
OTHERS = [*EVIL, "", "localhost:x", "[::1"]
OWN = ["localhost", "127.0.0.1", "localhost:4001", "[::1]:4001", "LOCALHOST"]


def test_requests_are_answered_for_own_names_and_addresses_alone(server: RunningServer) -> None:
    for host in OWN:
        assert ask(server, "/healthz", Host=host).status == 200, host
    for host in OTHERS:
        for path in ("/", "/status", "/metrics"):
            answer = ask(server, path, Host=host)
            assert answer.status in (400, 421), host
            assert "rooms" not in answer.text


def test_more_host_names_may_be_set(tmp_path: Path) -> None:
    with run_small_server(tmp_path, hosts=["Games.example.org"]) as named:
        assert ask(named, "/healthz", Host="games.example.org").status == 200
        assert ask(named, "/healthz", Host="x.games.example.org").status == 421


ORIGINS = [
    "null",
    "http://evil.example",
    "http://x.localhost:{port}",
    "http://localhost:{port}.evil.example",
    "http://localhost:1",
    "https://127.0.0.1:{port}",
    "http://localhost",
    "file://",
    "javascript:alert(1)",
]


def test_only_same_origin_requests_are_answered(server: RunningServer) -> None:
    room, host = server.open_room("fish"), f"localhost:{server.port}"
    for scheme in ("http", "https"):  # behind a proxy that encrypts
        assert ask(server, "/status", Host=host, Origin=f"{scheme}://{host}").status == 200
    for origin in ORIGINS:
        for path in ("/status", f"/rooms/{room}/live"):
            answer = ask(server, path, Host=host, Origin=origin.format(port=server.port))
            assert answer.status == 403, origin
            assert "access-control-allow-origin" not in answer.headers


def test_requests_change_nothing_and_methods_that_would_are_refused(server: RunningServer) -> None:
    room = server.open_room("fish")
    hub = server.server.hubs[room]
    assert hub.last is not None
    before = hub.last.seq, hub.last.match.state

    for path in ("/", f"/rooms/{room}", "/status", "/metrics", f"/rooms/{room}?kick=0", f"/rooms/{room}?seat=0"):
        assert ask(server, path).status == 200
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
            assert ask(server, path, method).status in (400, 405)

    assert (hub.last.seq, hub.last.match.state) == before


BAD = {
    "a body": "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    "one within the other": "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 4"
    "\r\n\r\n0\r\n\r\nGET /status HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "two lengths": "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a space": "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "a long header": f"GET / HTTP/1.1\r\nHost: localhost\r\nX: {'a' * 100_000}\r\n\r\n",
    "a long path": f"GET /{'a' * 100_000} HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an encrypted line": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "nonsense": "nonsense\r\n\r\n",
}


@pytest.mark.parametrize("kind", BAD)
def test_a_malformed_request_is_refused_once_and_disconnected(server: RunningServer, kind: str) -> None:
    answer = b""
    with suppress(ConnectionResetError):
        answer = raw(server, BAD[kind])

    assert answer[:12] in (b"", b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") <= 1
    assert ask(server, "/healthz").status == 200
