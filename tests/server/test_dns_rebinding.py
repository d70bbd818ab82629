"""Test that pages of other sites, in a real browser on this machine, get no data from a server.

A site may point its name at this machine once its page is loaded (DNS rebinding): for the browser, the page and the
server then have the same origin.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.nonempty import nonempty
from tests.page.browser import needs_chromium, start_browser
from tests.server.small_servers import run_small_server
from tests.server.test_hostile_browsers import Shown, a_match

pytestmark = needs_chromium
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
    context = browser.new_context()
    try:
        page = context.new_page()
        page.route(f"http://{EVIL}:{port}/theirs", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
        page.goto(f"http://{EVIL}:{port}/theirs")
        assert page.title() == "A page of another site"
        yield page
    finally:
        context.close()


class OtherSite(BaseHTTPRequestHandler):
    """Another site on this machine."""

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
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        context = browser.new_context()
        try:
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{site.server_port}/")
            yield page
        finally:
            context.close()
            site.shutdown()
            thread.join()


def attack(page: Page, host: str, shown: Shown) -> dict[str, Any]:
    """Run all attacks in a page, against a server by this name; what each has read."""
    ports = {"web": shown.port, "websocket": shown.server.websockets[0], "tcp": shown.server.port}
    found: dict[str, Any] = page.evaluate(ATTACKS, {"host": host, "room": shown.room, **ports})
    return found


def test_a_page_with_a_rebound_name_reads_nothing(browser: Browser, tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        for port in nonempty((shown.port, shown.server.websockets[0], shown.server.port)):
            with rebound(browser, port) as page:
                found = attack(page, EVIL, shown)
            assert {what for what, text in nonempty(found.items()) if text} == set(), port
        assert shown.server.status().rooms[0].spectators == 0


def test_a_page_of_another_site_on_this_machine_reads_nothing(browser: Browser, tmp_path: Path) -> None:
    with a_match(tmp_path) as shown:
        for host in nonempty(("127.0.0.1", "localhost", EVIL)):
            with other_site_page(browser) as page:
                found = attack(page, host, shown)
            assert {what for what, text in nonempty(found.items()) if text} == set(), host
        assert shown.server.status().rooms[0].spectators == 0


def test_a_page_with_an_allowed_name_reads_the_status(browser: Browser, tmp_path: Path) -> None:
    with run_small_server(tmp_path, hosts=[EVIL]) as server:
        room = server.open_room("fish")
        with rebound(browser, server.port) as page:
            found = page.evaluate(
                ATTACKS, {"host": EVIL, "room": room, "web": server.port, "websocket": None, "tcp": None}
            )

    assert {what for what, text in found.items() if text} == {"status", "metrics", "page", "blind", "live"}
    assert room in found["status"]
