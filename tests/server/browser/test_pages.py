"""Test the pages of a server, as browsers, monitors and attackers request them."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from fairplay.games import GAMES, game_info
from fairplay.server.browser import pages, rendering, viewers
from fairplay.server.browser.http_server import MAX_HEADER_BYTES
from fairplay.server.browser.rendering import RenderPool
from tests.hostile_names import NAMES
from tests.nonempty import nonempty
from tests.server.small_servers import RunningServer, run_small_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with run_small_server(tmp_path_factory.mktemp("server")) as it:
        yield it


class Answer:
    """An answer to a request."""

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
    """A browser viewer of a room."""

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


def test_healthz_answers_ok(server: RunningServer) -> None:
    answer = ask(server, "/healthz")

    assert (answer.status, answer.text) == (200, "ok\n")


def test_the_header_limit_is_for_each_request_of_a_connection(server: RunningServer) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.connect()
        first = connection.sock
        for _ in range(8):
            connection.request("GET", "/healthz", headers={"X-Long": "a" * (MAX_HEADER_BYTES // 4)})
            assert Answer(connection.getresponse()).status == 200
            assert connection.sock is first


def test_metrics_are_served(server: RunningServer) -> None:
    answer = ask(server, "/metrics")

    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "\nfairplay_turns_total " in answer.text
    assert '\nfairplay_ejections_total{fault="timed_out"} 0.0\n' in answer.text


def test_the_status_lists_rooms_and_finished_matches(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "STATUS_CACHE_INTERVAL_S", 0.0)
    room = server.open_room("fish", ("ann", "bob", "cyd"))
    number = server.play_turns(room, 4)

    [shown] = [it for it in json.loads(ask(server, "/status").text)["rooms"] if it["id"] == room]
    server.play_to_end(room)
    over = json.loads(ask(server, "/status").text)

    assert (shown["names"], shown["game"], shown["seq"]) == (["ann", "bob", "cyd"], "fish", number)
    assert shown["scores"] == [0, 0, 0]
    assert shown["turn"] == 1
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


@pytest.mark.parametrize("game", GAMES)
def test_a_viewer_sees_the_board_after_every_turn(server: RunningServer, game: str) -> None:
    room = server.open_room(game)
    viewer = Viewer(server, room)
    name, hello = viewer.next()
    assert (name, hello["name"]) == ("hello", server.server.hubs[room].name)

    first = viewer.position()
    pictures = []
    for _ in range(3):
        number = server.play_turns(room, 1)
        now = viewer.position()
        assert now["seq"] == number
        assert "lines" in now
        assert now["facts"][-1][0] == number
        match = server.server.hubs[room].last
        assert match is not None
        view = match.match.view(None)
        assert game_info(game).svg(view, match.match.names).splitlines()[0] == viewer.lines[0]
        pictures.append("\n".join(viewer.lines))
    viewer.close()

    assert first["seq"] == 0
    assert first["names"] == ["ann", "bob", "cyd"]
    assert len(set(pictures)) == 3


def test_pictures_are_those_of_fairplay_draw(server: RunningServer) -> None:
    room = server.open_room("fish")
    before = server.server.hubs[room].last
    light, dark = Viewer(server, room), Viewer(server, room, "dark-small")
    for viewer in (light, dark):
        viewer.next()
        viewer.position()
    server.play_turns(room, 1)
    after = server.server.hubs[room].last
    assert before is not None
    assert after is not None
    for viewer, options in ((light, {}), (dark, {"dark": True, "small": True})):
        viewer.position()
        views = [it.match.view(None) for it in (before, after)]
        expected = game_info("fish").svg(views[1], ("ann", "bob", "cyd"), before=views[0], **options)
        assert "\n".join(viewer.lines) == expected
        viewer.close()


def test_the_last_position_ends_the_stream_and_leads_to_the_replay(server: RunningServer) -> None:
    room = server.open_room("tsuro", fails=1)
    viewer = Viewer(server, room)
    viewer.next()
    assert ask(server, f"/matches/{room}").status == 404
    assert ask(server, f"/rooms/{room}").status == 200

    server.play_to_end(room)
    now = viewer.position()
    while not now["over"]:
        now = viewer.position()
    end = viewer.next()
    viewer.close()

    assert end == ("", None)
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
    viewer = Viewer(server, room)
    viewer.next()
    assert begun.wait(30)
    server.play_to_end(room)
    first, last = viewer.position(), viewer.position()
    viewer.close()

    assert (first["seq"], first["over"], last["over"]) == (0, False, True)


def test_a_replay_that_takes_long_to_render_delays_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_hangs = f"mkdir {tmp_path}/begun 2>/dev/null && exec sleep 1000; exec {' '.join(rendering.RENDER_COMMAND)}"
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sh", "-c", first_hangs))
    with run_small_server(tmp_path) as server:
        slow, quick = server.open_room("fish"), server.open_room("fish")
        for room in (slow, quick):
            server.play_to_end(room)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as waiting:
            waiting.sendall(f"GET /matches/{slow} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not (tmp_path / "begun").exists():
                ask(server, "/healthz")

            assert ask(server, f"/matches/{quick}").status == 200


def test_a_replay_that_failed_is_rendered_at_the_next_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_fails = f"mkdir {tmp_path}/begun 2>/dev/null && exit 1; exec {' '.join(rendering.RENDER_COMMAND)}"
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sh", "-c", first_fails))
    with run_small_server(tmp_path) as server:
        room = server.open_room("fish")
        server.play_to_end(room)

        assert [ask(server, f"/matches/{room}").status for _ in range(2)] == [404, 200]


def test_only_the_last_replays_are_cached(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    async def draw(pool: RenderPool, job: Any) -> str:
        drawn.append(job)
        return "a replay"

    monkeypatch.setattr(RenderPool, "render", draw)
    monkeypatch.setattr(pages, "MAX_REPLAY_PAGES", 1)
    rooms = [server.open_room("fish") for _ in range(2)]
    for room in rooms:
        server.play_to_end(room)

    for room in (rooms[0], rooms[0], rooms[1], rooms[0]):
        assert ask(server, f"/matches/{room}").text == "a replay"

    assert len(drawn) == 3  # the second request was cached, the last one no more


def test_a_replay_that_is_requested_again_is_cached_longer(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    async def draw(pool: RenderPool, job: Any) -> str:
        drawn.append(job)
        return "a replay"

    monkeypatch.setattr(RenderPool, "render", draw)
    monkeypatch.setattr(pages, "MAX_REPLAY_PAGES", 2)
    first, second, third = rooms = [server.open_room("fish") for _ in range(3)]
    for room in rooms:
        server.play_to_end(room)

    for room in (first, second, first, third, first):
        assert ask(server, f"/matches/{room}").text == "a replay"

    assert len(drawn) == 3


def test_replays_rendered_at_once_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_hangs = f"mkdir {tmp_path}/begun 2>/dev/null && exec sleep 1000; exec {' '.join(rendering.RENDER_COMMAND)}"
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sh", "-c", first_hangs))
    monkeypatch.setattr(pages, "MAX_REPLAY_PAGES", 1)
    with run_small_server(tmp_path) as server:
        slow, other = server.open_room("fish"), server.open_room("fish")
        for room in (slow, other):
            server.play_to_end(room)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as waiting:
            waiting.sendall(f"GET /matches/{slow} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not (tmp_path / "begun").exists():
                ask(server, "/healthz")

            assert ask(server, f"/matches/{other}").status == 503


def test_a_head_request_for_a_live_board_is_not_found(server: RunningServer) -> None:
    room = server.open_room("fish")

    assert ask(server, f"/rooms/{room}/live", "HEAD").status == 404


def test_a_live_board_ends_when_its_room_is_closed_before_the_match_is_over(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "HEARTBEAT_INTERVAL_S", 0.01)
    room = server.open_room("fish")
    viewer = Viewer(server, room)
    assert viewer.next()[0] == "hello"
    viewer.position()

    async def close() -> None:
        del server.server.hubs[room]

    server.call(close)
    beats = 0
    while beats < 100 and viewer.line():
        beats += 1
    viewer.close()

    assert beats < 100


def test_a_sealed_match_has_no_replay(server: RunningServer) -> None:
    room = server.open_room("fish", sealed=True)

    server.play_to_end(room)

    assert ask(server, f"/matches/{room}").status == 404


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


def test_names_are_plain_text_in_the_stream(server: RunningServer) -> None:
    for name in nonempty(NAMES[:6]):
        room = server.open_room("fish", (name, "bob"))
        viewer = Viewer(server, room)
        viewer.next()
        now = viewer.position()
        viewer.close()
        assert now["names"] == [name, "bob"]
        assert "<script" not in now["picture"].lower()
        assert "onerror=" not in now["picture"].replace("&lt;", "<").split(">")[0]


PLACES = [
    "../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..\\..\\etc\\passwd",
    "..%5c..%5cetc",
    "%00",
    "a%00.jsonl",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "con",
    ".",
    "..",
    "%20",
    "*",
    "~root",
    "file:%2f%2f%2fetc%2fpasswd",
    "%c0%ae%c0%ae",
    "%ff%fe",
    "a" * 10_000,
    "%252e%252e%252f",
    "journal.jsonl",
    "..;/",
    "%u002e",
    "0" * 32,
    "1' OR '1'='1",
]


@pytest.mark.parametrize("id", PLACES, ids=range(len(PLACES)))
def test_an_id_is_looked_up_and_never_a_path(server: RunningServer, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[str] = []
    monkeypatch.setattr(RenderPool, "render", lambda *job: jobs.append(str(job)))
    for path in nonempty(("/matches/", "/rooms/", "/parts/", "/parts/../", "/")):
        answer = raw(
            server, f"GET {path}{id.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        home = path == "/" and id in (".",)
        assert answer.startswith(b"HTTP/1.1 404") or (home and b" 200 " in answer), path
        assert b"root:" not in answer
    assert jobs == []


@pytest.mark.parametrize(
    "name", ["", "pages.py", "replay.html", "replay.py", "sha256.js", ".git/config", "__init__.py", "README.md"]
)
def test_only_listed_parts_are_served(server: RunningServer, name: str) -> None:
    assert ask(server, f"/parts/{name}").status == 404


def test_listed_parts_are_served_with_their_types(server: RunningServer) -> None:
    for name, kind in nonempty(pages.PAGE_PARTS.items()):
        answer = ask(server, f"/parts/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(kind)


def raw(server: RunningServer, request: str | bytes) -> bytes:
    """The whole answer to these bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request if isinstance(request, bytes) else request.encode())
        received = bytearray()
        while piece := connection.recv(65536):
            received += piece
        return bytes(received)


OTHERS = [
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:80",
    "",
    "localhost:x",
    "[::1",
]


@pytest.mark.parametrize("host", OTHERS)
def test_requests_with_another_host_name_are_refused(server: RunningServer, host: str) -> None:
    for path in nonempty(("/", "/status", "/metrics")):
        answer = ask(server, path, Host=host)
        assert answer.status in (400, 421)
        assert "rooms" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "localhost:4001", "[::1]:4001", "LOCALHOST"])
def test_requests_with_own_names_and_addresses_are_answered(server: RunningServer, host: str) -> None:
    assert ask(server, "/healthz", Host=host).status == 200


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


@pytest.mark.parametrize("origin", ORIGINS)
def test_cross_origin_requests_are_refused(server: RunningServer, origin: str) -> None:
    room = server.open_room("fish")
    for path in nonempty(("/status", f"/rooms/{room}/live")):
        answer = ask(server, path, Host=f"localhost:{server.port}", Origin=origin.format(port=server.port))
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers


def test_same_origin_requests_are_answered(server: RunningServer) -> None:
    for scheme in ("http", "https"):  # behind a proxy that encrypts
        answer = ask(server, "/status", Host=f"localhost:{server.port}", Origin=f"{scheme}://localhost:{server.port}")
        assert answer.status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_methods_that_change_something_are_refused(server: RunningServer, method: str) -> None:
    for path in nonempty(("/", "/status", "/rooms/x")):
        assert ask(server, path, method).status in (400, 405)


def test_requests_change_nothing(server: RunningServer) -> None:
    room = server.open_room("fish")
    hub = server.server.hubs[room]
    assert hub.last is not None
    before = hub.last.seq, hub.last.match.state

    for path in nonempty(
        ("/", f"/rooms/{room}", "/status", "/metrics", f"/rooms/{room}?kick=0", f"/rooms/{room}?seat=0")
    ):
        ask(server, path)

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
        answer = raw(server, BAD[kind].encode("latin-1"))

    assert answer[:12] in (b"", b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") <= 1
    assert ask(server, "/healthz").status == 200
