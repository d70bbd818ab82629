"""Test that hostile browsers, spectators and pages of other sites get no data from a server, and disturb no match."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from fairplay.testing.hostile_connections import HANDSHAKE
from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, start_browser
from tests.server import test_many_clients
from tests.server.browser.test_pages import BAD, ORIGINS, OTHERS, PLACES
from tests.server.guest_threads import (
    ServerProcess,
    check_undisturbed,
    connect_raw,
    introduce,
    offer,
    playing_beside,
    run_server,
    wait_for_value,
)
from tests.server.small_servers import run_small_server

IDLE, VIEWERS, SPECTATORS, FLOODS = 1000, 100, 300, 50
MAX_MEMORY_KB = 50_000  # for all of them
many_files = test_many_clients.many_files


class Shown:
    """A server with an unfinished match, and its web pages."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        [event] = wait_for_value(lambda: server.events("serving web pages"))
        self.port = int(event["address"].rpartition(":")[2])
        self.room = server.events("room opened")[0]["match"]

    def say(self, text: str) -> socket.socket:
        return connect_raw(self.port, text.encode("latin-1"))

    def ask(self, path: str, headers: str = "Host: localhost\r\n") -> bytes:
        with self.say(f"GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n") as browser:
            return browser.makefile("rb").read()


@contextmanager
def a_match(directory: Path) -> Iterator[Shown]:
    """A server with a match over connections that break; at the end it is undisturbed, and nothing failed."""
    with run_server(directory / "server", offers=[offer(rows=8, columns=8)], websocket=0, web=0) as server:
        with playing_beside(server, breaks=4):
            shown = Shown(server)
            yield shown
        wait_for_value(lambda: server.events("match ended"))
        assert b" 200 " in shown.ask(f"/matches/{shown.room}")[:20]
        server.stop_when_idle()
    [path] = server.journals()
    check_undisturbed(path)
    assert [one for one in server.told if one["level"] != "info"] == []


def test_forbidden_requests_of_browsers_are_refused_and_disturb_no_match(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        assert b" 200 " in shown.ask(f"/rooms/{shown.room}")[:20]
        for place in (shown.room, f"{shown.room}.jsonl", *PLACES):  # an unfinished match has no replay
            answer = shown.ask(f"/matches/{place.replace(' ', '%20')}")
            assert answer.startswith(b"HTTP/1.1 404"), place
            assert shown.room.encode() not in answer
        for origin in nonempty(ORIGINS):
            headers = f"Host: localhost:{shown.port}\r\nOrigin: {origin.format(port=shown.port)}\r\n"
            assert shown.ask(f"/rooms/{shown.room}/live", headers).startswith(b"HTTP/1.1 403"), origin
            shaken = HANDSHAKE.replace(b"\r\n\r\n", f"\r\nOrigin: {origin.format(port=shown.port)}\r\n\r\n".encode())
            with connect_raw(shown.server.websockets[0], shaken) as connection, connection.makefile("rb") as answered:
                assert answered.readline().split()[1] == b"403", origin
        for host in nonempty(OTHERS):
            assert shown.ask("/status", f"Host: {host}\r\n")[:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400"), host
        for text in nonempty(BAD.values()):
            with shown.say(text) as connection, connection.makefile("rb") as answered, suppress(ConnectionError):
                assert answered.read().count(b"HTTP/1.1") <= 1
        assert shown.ask("/healthz").endswith(b"ok\n")


def test_many_browsers_that_idle_never_read_or_never_end_cost_little_and_delay_no_match(tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        server, before = shown.server, memory(shown.server)
        connections = [shown.say("") for _ in range(IDLE)]
        connections += [shown.say("GET / HTTP/1.1\r\nX: ") for _ in range(VIEWERS)]
        live = f"GET /rooms/{shown.room}/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connections += [shown.say(live) for _ in range(VIEWERS)]
        connections += [introduce(server, {"purpose": "watch"}) for _ in range(SPECTATORS)]
        wait_for_value(lambda: server.status().rooms[0].spectators >= SPECTATORS)
        for _ in range(FLOODS):
            with connect_raw(server.port) as connection, suppress(ConnectionError):
                for _ in range(100):
                    connection.sendall(b"x" * 100_000)
        assert shown.ask("/healthz").endswith(b"ok\n")
        assert memory(server) - before < MAX_MEMORY_KB
        for connection in connections:
            connection.close()


def memory(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1])


# Pages of other sites
#
# A site may point its name at this machine once its page is loaded (DNS rebinding): for the browser, the page and the
# server then have the same origin.

EVIL = "evil.example"
CAUTIONS = ("BlockInsecurePrivateNetworkRequests", "LocalNetworkAccessChecks")  # of some browsers
PAGE = "<!DOCTYPE html><title>A page of another site</title>"
ATTACKS = """async ({host, web, websocket, tcp, room}) => {
    const read = async (url, how) => { const answer = await fetch(url, how); return answer.ok ? answer.text() : ""; };
    const framed = (url) => new Promise((done) => {
        const frame = document.createElement("iframe");
        frame.onload = () => { try { done(frame.contentDocument.body.textContent); } catch { done(""); } };
        frame.src = url;
        document.body.append(frame);
    });
    const streamed = (url) => new Promise((done) => {
        const stream = new EventSource(url);
        stream.addEventListener("hello", ({ data }) => { stream.close(); done(data); });
        stream.onerror = () => { stream.close(); done(""); };
    });
    const connected = (url) => new Promise((done) => {
        const socket = new WebSocket(url);
        socket.onmessage = ({ data }) => done(data);
        socket.onopen = () => setTimeout(done, 5000, "open");
        socket.onerror = () => done("");
    });
    const shown = `http://${host}:${web}`;
    const attacks = {
        status: () => read(`${shown}/status`),
        metrics: () => read(`${shown}/metrics`),
        page: () => read(`${shown}/rooms/${room}`),
        blind: () => read(`${shown}/status`, { mode: "no-cors" }),
        post: () => read(`${shown}/status`, { method: "POST", body: "x" }),
        frame: () => framed(`${shown}/healthz`),
        live: () => streamed(`${shown}/rooms/${room}/live`),
        websocket: () => websocket ? connected(`ws://${host}:${websocket}`) : "",
        websocketToWeb: () => connected(`ws://${host}:${web}/`),
        lines: () => tcp ? read(`http://${host}:${tcp}/`, { method: "POST", mode: "no-cors", body: LINES }) : "",
        linesRead: () => tcp ? read(`http://${host}:${tcp}/`) : "",
    };
    const LINES = '{"nonce": "1", "answer": {"purpose": "watch"}}\\n'.repeat(9);
    const got = {};
    await Promise.all(Object.entries(attacks).map(async ([name, attack]) => {
        try { got[name] = await attack(); } catch { got[name] = ""; }
    }));
    return got;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that resolves the name of a bad site to this machine, without protections of its own."""
    with start_browser(f"--host-resolver-rules=MAP {EVIL} 127.0.0.1", f"--disable-features={','.join(CAUTIONS)}") as it:
        yield it


@contextmanager
def rebound(browser: Browser, port: int) -> Iterator[Page]:
    """A page of the bad site, whose name now points at this port."""
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.route(f"http://{EVIL}:{port}/theirs", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
        page.goto(f"http://{EVIL}:{port}/theirs")
        assert page.title() == "A page of another site"
        yield page


class OtherSite(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def other_site_page(browser: Browser) -> Iterator[Page]:
    """A page of another program that serves pages on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as site, closing(browser.new_context()) as context:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{site.server_port}/")
            yield page
        finally:
            site.shutdown()
            thread.join()


def attack(page: Page, host: str, shown: Shown) -> dict[str, Any]:
    """Run all attacks in a page, against a server by this name; what each has read."""
    ports = {"web": shown.port, "websocket": shown.server.websockets[0], "tcp": shown.server.port}
    found: dict[str, Any] = page.evaluate(ATTACKS, {"host": host, "room": shown.room, **ports})
    return found


@needs_chromium
def test_a_page_with_a_rebound_name_reads_nothing(browser: Browser, tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        for port in nonempty((shown.port, shown.server.websockets[0], shown.server.port)):
            with rebound(browser, port) as page:
                found = attack(page, EVIL, shown)
            assert {what for what, text in nonempty(found.items()) if text} == set(), port
        assert shown.server.status().rooms[0].spectators == 0


@needs_chromium
def test_a_page_of_another_site_on_this_machine_reads_nothing(browser: Browser, tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        for host in nonempty(("127.0.0.1", "localhost", EVIL)):
            with other_site_page(browser) as page:
                found = attack(page, host, shown)
            assert {what for what, text in nonempty(found.items()) if text} == set(), host
        assert shown.server.status().rooms[0].spectators == 0


@needs_chromium
def test_a_page_with_an_allowed_name_reads_the_status(browser: Browser, tmp_path: Path) -> None:
    with run_small_server(tmp_path, hosts=[EVIL]) as server:
        room = server.open_room("fish")
        with rebound(browser, server.port) as page:
            found = page.evaluate(
                ATTACKS, {"host": EVIL, "room": room, "web": server.port, "websocket": None, "tcp": None}
            )

    assert {what for what, text in found.items() if text} == {"status", "metrics", "page", "blind", "live"}
    assert room in found["status"]
