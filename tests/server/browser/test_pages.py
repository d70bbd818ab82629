"""Ask a house over HTTP, as browsers, monitors and people with bad intentions do."""

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

from fairplay.games import GAMES, title
from fairplay.server.browser import lookers, pages, painting
from fairplay.server.browser.http import MOST_HEADERS
from fairplay.server.browser.painting import Studio
from tests.hostile_names import NAMES
from tests.server.houses import Running, running
from tests.some import some


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("house")) as it:
        yield it


class Answer:
    """What a browser gets."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        self.text = answer.read().decode()


def ask(house: Running, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=30)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Looking:
    """Somebody who looks at a room, and hears all that is said of it."""

    def __init__(self, house: Running, room: str, look: str = "light") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", house.port, timeout=30)
        self._connection.request("GET", f"/rooms/{room}/live?look={look}")
        self._answer = self._connection.getresponse()
        assert self._answer.status == 200
        self.lines: list[str] = []
        self.beats = 0  # how often nothing was said

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


def test_it_says_that_it_is_well(house: Running) -> None:
    answer = ask(house, "/healthz")

    assert (answer.status, answer.text) == (200, "ok\n")


def test_a_browser_may_ask_for_more_over_one_connection_than_one_request_may_be_long(house: Running) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", house.port, timeout=30)) as connection:
        connection.connect()
        first = connection.sock
        for _ in range(8):
            connection.request("GET", "/healthz", headers={"X-Long": "a" * (MOST_HEADERS // 4)})
            assert Answer(connection.getresponse()).status == 200
            assert connection.sock is first


def test_a_monitor_reads_figures(house: Running) -> None:
    answer = ask(house, "/metrics")

    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "\nfairplay_turns_total " in answer.text
    assert '\nfairplay_ejections_total{fault="timed_out"} 0.0\n' in answer.text


def test_the_status_tells_rooms_and_what_is_over(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "AT_LEAST", 0.0)
    room = house.open("fish", ("ann", "bob", "cyd"))
    number = house.turns(room, 4)

    [seen] = [it for it in json.loads(ask(house, "/status").text)["rooms"] if it["id"] == room]
    house.to_the_end(room)
    over = json.loads(ask(house, "/status").text)

    assert (seen["names"], seen["game"], seen["number"]) == (["ann", "bob", "cyd"], "fish", number)
    assert seen["scores"] == [0, 0, 0]
    assert seen["turn"] == 1
    assert room not in [it["id"] for it in over["rooms"]]
    assert over["finished"][0]["match"] == room
    assert sorted(seat for group in over["finished"][0]["ranking"] for seat in group) == [0, 1, 2]


def test_a_status_is_made_once_for_all_who_ask_at_a_time(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    status = house.house.status

    def counted() -> Any:
        nonlocal made
        made += 1
        return status()

    monkeypatch.setattr(pages, "AT_LEAST", 1000.0)
    monkeypatch.setattr(house.house, "status", counted)
    for _ in range(20):
        ask(house, "/status")

    assert made <= 1


@pytest.mark.parametrize("game", GAMES)
def test_whoever_looks_sees_the_board_after_every_turn(house: Running, game: str) -> None:
    room = house.open(game)
    looking = Looking(house, room)
    name, hello = looking.next()
    assert (name, hello["name"]) == ("hello", house.house.hubs[room].name)

    first = looking.position()
    pictures = []
    for _ in range(3):
        number = house.turns(room, 1)
        now = looking.position()
        assert now["seq"] == number
        assert "lines" in now
        assert now["said"][-1][0] == number
        match = house.house.hubs[room].last
        assert match is not None
        view = match.match.view(None)
        assert title(game).svg(view, match.match.names).splitlines()[0] == looking.lines[0]
        pictures.append("\n".join(looking.lines))
    looking.close()

    assert first["seq"] == 0
    assert first["names"] == ["ann", "bob", "cyd"]
    assert len(set(pictures)) == 3


def test_pictures_are_those_that_draw_makes(house: Running) -> None:
    room = house.open("fish")
    before = house.house.hubs[room].last
    light, dark = Looking(house, room), Looking(house, room, "dark-small")
    for looking in (light, dark):
        looking.next()
        looking.position()
    house.turns(room, 1)
    after = house.house.hubs[room].last
    assert before is not None
    assert after is not None
    for looking, look in ((light, {}), (dark, {"dark": True, "small": True})):
        looking.position()
        views = [it.match.view(None) for it in (before, after)]
        expected = title("fish").svg(views[1], ("ann", "bob", "cyd"), before=views[0], **look)
        assert "\n".join(looking.lines) == expected
        looking.close()


def test_the_last_position_ends_the_stream_and_leads_to_the_replay(house: Running) -> None:
    room = house.open("tsuro", fails=1)
    looking = Looking(house, room)
    looking.next()
    assert ask(house, f"/matches/{room}").status == 404
    assert ask(house, f"/rooms/{room}").status == 200

    house.to_the_end(room)
    now = looking.position()
    while not now["over"]:
        now = looking.position()
    end = looking.next()
    looking.close()

    assert end == ("", None)
    assert now["out"] == {"1": "crashed"}
    assert now["best"]
    assert 1 not in now["best"]
    assert [said[3] for said in now["said"]].count(True) == 1
    moved = ask(house, f"/rooms/{room}")
    assert (moved.status, moved.headers["location"]) == (303, f"/matches/{room}")
    replay = ask(house, f"/matches/{room}")
    assert replay.status == 200
    assert "A recorded match" in replay.text
    assert "unsafe" not in replay.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'sha256-" in replay.headers["content-security-policy"]


def test_the_last_position_comes_also_where_the_room_is_gone_before_it_is_drawn(
    house: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, begun, draw = house.open("fish"), Event(), Studio.drawn

    async def slowly(studio: Studio, job: Any) -> str:
        begun.set()
        while room in house.house.hubs:
            await asyncio.sleep(0.001)
        return await draw(studio, job)

    monkeypatch.setattr(Studio, "drawn", slowly)
    looking = Looking(house, room)
    looking.next()
    assert begun.wait(30)
    house.to_the_end(room)
    first, last = looking.position(), looking.position()
    looking.close()

    assert (first["seq"], first["over"], last["over"]) == (0, False, True)


def test_a_replay_that_takes_long_to_draw_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_hangs = f"mkdir {tmp_path}/begun 2>/dev/null && exec sleep 1000; exec {' '.join(painting.COMMAND)}"
    monkeypatch.setattr(painting, "COMMAND", ("sh", "-c", first_hangs))
    with running(tmp_path) as house:
        slow, quick = house.open("fish"), house.open("fish")
        for room in (slow, quick):
            house.to_the_end(room)
        with socket.create_connection(("127.0.0.1", house.port), timeout=30) as waiting:
            waiting.sendall(f"GET /matches/{slow} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not (tmp_path / "begun").exists():
                ask(house, "/healthz")

            assert ask(house, f"/matches/{quick}").status == 200


def test_a_replay_that_failed_is_drawn_when_it_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_fails = f"mkdir {tmp_path}/begun 2>/dev/null && exit 1; exec {' '.join(painting.COMMAND)}"
    monkeypatch.setattr(painting, "COMMAND", ("sh", "-c", first_fails))
    with running(tmp_path) as house:
        room = house.open("fish")
        house.to_the_end(room)

        assert [ask(house, f"/matches/{room}").status for _ in range(2)] == [404, 200]


def test_only_the_last_replays_are_remembered(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    async def draw(studio: Studio, job: Any) -> str:
        drawn.append(job)
        return "a replay"

    monkeypatch.setattr(Studio, "drawn", draw)
    monkeypatch.setattr(pages, "MOST_PAGES", 1)
    rooms = [house.open("fish") for _ in range(2)]
    for room in rooms:
        house.to_the_end(room)

    for room in (rooms[0], rooms[0], rooms[1], rooms[0]):
        assert ask(house, f"/matches/{room}").text == "a replay"

    assert len(drawn) == 3  # the second time it was remembered, and the last time not any more


def test_a_replay_that_is_asked_for_again_is_remembered_longer(house: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []

    async def draw(studio: Studio, job: Any) -> str:
        drawn.append(job)
        return "a replay"

    monkeypatch.setattr(Studio, "drawn", draw)
    monkeypatch.setattr(pages, "MOST_PAGES", 2)
    first, second, third = rooms = [house.open("fish") for _ in range(3)]
    for room in rooms:
        house.to_the_end(room)

    for room in (first, second, first, third, first):
        assert ask(house, f"/matches/{room}").text == "a replay"

    assert len(drawn) == 3


def test_no_more_replays_are_drawn_at_once_than_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_hangs = f"mkdir {tmp_path}/begun 2>/dev/null && exec sleep 1000; exec {' '.join(painting.COMMAND)}"
    monkeypatch.setattr(painting, "COMMAND", ("sh", "-c", first_hangs))
    monkeypatch.setattr(pages, "MOST_PAGES", 1)
    with running(tmp_path) as house:
        slow, other = house.open("fish"), house.open("fish")
        for room in (slow, other):
            house.to_the_end(room)
        with socket.create_connection(("127.0.0.1", house.port), timeout=30) as waiting:
            waiting.sendall(f"GET /matches/{slow} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            while not (tmp_path / "begun").exists():
                ask(house, "/healthz")

            assert ask(house, f"/matches/{other}").status == 503


def test_a_browser_that_asks_for_no_more_than_the_head_of_a_live_board_gets_nothing(house: Running) -> None:
    room = house.open("fish")

    assert ask(house, f"/rooms/{room}/live", "HEAD").status == 404


def test_a_live_board_ends_when_its_room_is_closed_before_the_match_is_over(
    house: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookers, "SILENCE", 0.01)
    room = house.open("fish")
    looking = Looking(house, room)
    assert looking.next()[0] == "hello"
    looking.position()

    async def close() -> None:
        del house.house.hubs[room]

    house.do(close)
    beats = 0
    while beats < 100 and looking.line():
        beats += 1
    looking.close()

    assert beats < 100


def test_a_sealed_match_is_not_shown_again(house: Running) -> None:
    room = house.open("fish", sealed=True)

    house.to_the_end(room)

    assert ask(house, f"/matches/{room}").status == 404


# What people with bad intentions do.

HEADERS = {
    "content-security-policy": pages.POLICY,
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
def test_every_answer_says_what_a_browser_may_do_with_it(house: Running, path: str) -> None:
    answer = ask(house, path)

    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "server" not in answer.headers
    assert "set-cookie" not in answer.headers
    assert "unsafe" not in pages.POLICY


def test_pages_hold_no_script_no_style_and_no_data(house: Running) -> None:
    room = house.open("fish", ("<script>alert(1)</script>", "bob"))
    for path in some(("/", f"/rooms/{room}")):
        text = ask(house, path).text
        assert text.count("<script") == text.count('<script type="module" src="/parts/') == 1
        assert "<style" not in text
        assert " style=" not in text
        assert " on" not in text.replace(" one", "").replace(" on ", "")
        assert "alert" not in text


def test_names_are_plain_text_in_what_is_streamed(house: Running) -> None:
    for name in some(NAMES[:6]):
        room = house.open("fish", (name, "bob"))
        looking = Looking(house, room)
        looking.next()
        now = looking.position()
        looking.close()
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


@pytest.mark.parametrize("place", PLACES, ids=range(len(PLACES)))
def test_an_id_is_looked_up_and_never_a_path(house: Running, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Studio, "drawn", lambda *job: asked.append(str(job)))
    for path in some(("/matches/", "/rooms/", "/parts/", "/parts/../", "/")):
        answer = raw(
            house, f"GET {path}{place.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        home = path == "/" and place in (".",)
        assert answer.startswith(b"HTTP/1.1 404") or (home and b" 200 " in answer), path
        assert b"root:" not in answer
    assert asked == []


@pytest.mark.parametrize(
    "name", ["", "pages.py", "replay.html", "replay.py", "sha256.js", ".git/config", "__init__.py", "README.md"]
)
def test_nothing_is_given_out_that_is_not_on_the_list(house: Running, name: str) -> None:
    assert ask(house, f"/parts/{name}").status == 404


def test_what_is_on_the_list_is_given_out_as_what_it_is(house: Running) -> None:
    for name, kind in some(pages.PARTS.items()):
        answer = ask(house, f"/parts/{name}")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith(kind)


def raw(house: Running, request: str | bytes) -> bytes:
    """All that comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", house.port), timeout=30) as connection:
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
def test_nobody_is_answered_who_calls_the_house_by_another_name(house: Running, host: str) -> None:
    for path in some(("/", "/status", "/metrics")):
        answer = ask(house, path, Host=host)
        assert answer.status in (400, 421)
        assert "rooms" not in answer.text


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "localhost:4001", "[::1]:4001", "LOCALHOST"])
def test_its_own_names_and_addresses_are_answered(house: Running, host: str) -> None:
    assert ask(house, "/healthz", Host=host).status == 200


def test_a_host_may_have_names(tmp_path: Path) -> None:
    with running(tmp_path, hosts=["Games.example.org"]) as named:
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
def test_pages_from_elsewhere_may_not_ask(house: Running, origin: str) -> None:
    room = house.open("fish")
    for path in some(("/status", f"/rooms/{room}/live")):
        answer = ask(house, path, Host=f"localhost:{house.port}", Origin=origin.format(port=house.port))
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers


def test_the_own_page_may_ask(house: Running) -> None:
    for scheme in ("http", "https"):  # behind a proxy that encrypts
        answer = ask(house, "/status", Host=f"localhost:{house.port}", Origin=f"{scheme}://localhost:{house.port}")
        assert answer.status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_nothing_can_be_changed(house: Running, method: str) -> None:
    for path in some(("/", "/status", "/rooms/x")):
        assert ask(house, path, method).status in (400, 405)


def test_to_ask_changes_nothing(house: Running) -> None:
    room = house.open("fish")
    hub = house.house.hubs[room]
    assert hub.last is not None
    before = hub.last.seq, hub.last.match.state

    for path in some(("/", f"/rooms/{room}", "/status", "/metrics", f"/rooms/{room}?kick=0", f"/rooms/{room}?seat=0")):
        ask(house, path)

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
def test_whatever_is_no_plain_question_is_refused_once_and_cut_off(house: Running, kind: str) -> None:
    answer = b""
    with suppress(ConnectionResetError):
        answer = raw(house, BAD[kind].encode("latin-1"))

    assert answer[:12] in (b"", b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") <= 1
    assert ask(house, "/healthz").status == 200
