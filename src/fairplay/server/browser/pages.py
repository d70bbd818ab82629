"""Serve web pages of a server: its rooms, live boards, replays, status and metrics.

They are served in the event loop of the game server, and are read-only. docs/server.md lists the paths.
"""

import asyncio
import socket
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairplay.core.errors import FairplayError
from fairplay.core.version import VERSION
from fairplay.page.assembly import content_security_policy, live_page, read_part
from fairplay.players.listener import listening_socket
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.server import metrics
from fairplay.server.browser.http_server import make_http_server
from fairplay.server.browser.rendering import RenderPool, ReplayJob
from fairplay.server.browser.viewers import HEARTBEAT, THEMES, RoomStream, format_server_event
from fairplay.server.logs import log_warning
from fairplay.server.settings import ConnectionLimits
from fairplay.server.sign_in.connection_limiter import client_network
from fairplay.server.spectating.hub import Hub
from fairplay.server.status import ServerStatus, encode
from fairplay.transport.endpoint import LOOPBACK, format_endpoint

STATUS_CACHE_INTERVAL_S = 0.5
MAX_VIEWERS = 512  # in all rooms
MAX_REPLAY_PAGES = 8  # cached, or being rendered
REPLAY_PROCESSES = 2  # so that one long match does not delay all others
PAGE_CHUNK_BYTES = 64 * 1024
DEFAULT_CONNECTION_LIMITS = ConnectionLimits()
LOCAL_NAMES = frozenset({"localhost"})
BASE_CONTENT_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
CONTENT_POLICY = f"default-src 'self'; img-src 'self' data:; object-src 'none'; {BASE_CONTENT_POLICY}"
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
PAGE_PARTS = {  # all files that are served, and their types
    "elements.js": "text/javascript",
    "pictures.js": "text/javascript",
    "server.js": "text/javascript",
    "room.js": "text/javascript",
    "replay.css": "text/css",
    "live.css": "text/css",
}


class MonitoredServer(Protocol):
    """A server as web pages show it."""

    @property
    def counts(self) -> metrics.ServerCounts:
        """What has happened there, in numbers."""

    def status(self) -> ServerStatus:
        """Its public status."""

    def hub(self, room: str) -> Hub | None:
        """The hub of the room of this id, or None."""

    def journal(self, match: str) -> Path | None:
        """The journal of the finished match of this id, or None."""


class WebPages:
    """The web application for browsers and monitors."""

    def __init__(
        self, server: MonitoredServer, hosts: Iterable[str] = (), limits: ConnectionLimits = DEFAULT_CONNECTION_LIMITS
    ) -> None:
        self._server = server
        self._max_viewers_per_address = limits.viewers_per_address
        self._viewers: Counter[str] = Counter()  # open streams, by the address of the browser
        self._status: tuple[float, ServerStatus] | None = None
        self._metrics = metrics.make_registry(self._current_status, server.counts)
        self._streams: dict[str, RoomStream] = {}
        self._boards, self._replays = RenderPool(), RenderPool(REPLAY_PROCESSES)
        self._pages: OrderedDict[str, asyncio.Task[str]] = OrderedDict()  # the replays that were requested last
        routes = [
            Route("/", self._front_page),
            Route("/parts/{name}", self._part),
            Route("/rooms/{room}", self._room),
            Route("/rooms/{room}/live", self._live),
            Route("/matches/{match}", self._match),
            Route("/status", self._status_response),
            Route("/metrics", self._metrics_response),
            Route("/healthz", self._health_response),
        ]
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        self.app = guard(app, LOCAL_NAMES | {host.lower() for host in hosts})

    def stop(self) -> None:
        """End all live boards."""
        for stream in self._streams.values():
            stream.stop()

    async def close(self) -> None:
        """End the rendering processes."""
        for page in self._pages.values():
            page.cancel()
        await self._boards.close()
        await self._replays.close()

    def _current_status(self) -> ServerStatus:
        """The status, cached for a moment, as it may be requested very often."""
        now = asyncio.get_running_loop().time()
        if self._status is None or now - self._status[0] > STATUS_CACHE_INTERVAL_S:
            self._status = now, self._server.status()
        return self._status[1]

    @staticmethod
    async def _front_page(request: Request) -> Response:
        return Response(live_page("server"), media_type="text/html")

    async def _part(self, request: Request) -> Response:
        name = request.path_params["name"]
        return Response(read_part(name), media_type=PAGE_PARTS[name]) if name in PAGE_PARTS else not_found()

    async def _room(self, request: Request) -> Response:
        room = request.path_params["room"]
        if self._server.hub(room) is not None:
            return Response(live_page("room"), media_type="text/html")
        return not_found() if self._server.journal(room) is None else RedirectResponse(f"/matches/{room}", 303)

    async def _live(self, request: Request) -> Response:
        room, theme = request.path_params["room"], request.query_params.get("theme", "light")
        hub = self._server.hub(room)
        if hub is None or theme not in THEMES or request.method != "GET":
            return not_found()
        address = client_network(format_endpoint(*(request.client or (LOOPBACK, 0))))
        self._viewers = +self._viewers  # without zero counts
        if self._viewers[address] >= self._max_viewers_per_address:
            return PlainTextResponse(
                f"too many viewers from your address: {self._max_viewers_per_address} are allowed\n", 503
            )
        if self._viewers.total() >= MAX_VIEWERS:
            return PlainTextResponse(f"too many viewers: {MAX_VIEWERS} are allowed\n", 503)
        self._viewers[address] += 1  # at once, as many may ask at the same moment
        return LiveStream(self._frames(room, hub, theme), lambda: self._viewers.subtract([address]))

    async def _frames(self, room: str, hub: Hub, theme: str) -> AsyncIterator[bytes]:
        """The server-sent events of a room, for one viewer."""
        stream = self._streams.get(room)
        if stream is None:
            stream = self._streams[room] = RoomStream(hub, self._boards)
        try:
            yield format_server_event("hello", {"version": VERSION, "name": hub.name})
            async with aclosing(stream.frames(theme)) as frames:
                async for frame in frames:
                    yield frame
                    if frame == HEARTBEAT and self._server.hub(room) is not hub:  # it was closed before its end
                        return
        finally:
            if not stream.viewer_counts and self._streams.get(room) is stream:
                del self._streams[room]
                await stream.close()

    async def _match(self, request: Request) -> Response:
        match = request.path_params["match"]
        journal = self._server.journal(match)
        if journal is None:
            return not_found()
        if match not in self._pages:
            if sum(not page.done() for page in self._pages.values()) >= MAX_REPLAY_PAGES:
                return PlainTextResponse("too many replays are being rendered: try again\n", 503)
            self._pages[match] = asyncio.create_task(self._replays.render(ReplayJob(str(journal))))
        self._pages.move_to_end(match)
        try:
            page = await asyncio.shield(self._pages[match])
        except FairplayError as error:  # the match is sealed, or its journal is damaged
            self._pages.pop(match, None)
            log_warning("cannot render a replay", match=match, why=str(error))
            return not_found()
        finally:
            while len(self._pages) > MAX_REPLAY_PAGES:
                self._pages.popitem(last=False)
        policy = {"content-security-policy": f"{content_security_policy('replay')}; frame-ancestors 'none'"}
        return ClosingStream(split_page(page.encode()), media_type="text/html", headers=policy)

    async def _status_response(self, request: Request) -> Response:
        return Response(encode(self._current_status()), media_type="application/json")

    async def _metrics_response(self, request: Request) -> Response:
        return Response(metrics.format_metrics(self._metrics), media_type=metrics.CONTENT_TYPE)

    async def _health_response(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")


class ClosingStream(StreamingResponse):
    """An answer in chunks, whose source is closed in any case."""

    async def stream_response(self, send: Send) -> None:
        """Send the chunks."""
        async with aclosing(self.body_iterator):  # type: ignore[type-var]  # ours are generators
            await super().stream_response(send)


class LiveStream(ClosingStream):
    """The live board of one browser; calls a function when it ends, in whatever way."""

    def __init__(self, frames: AsyncIterator[bytes], on_end: Callable[[], None]) -> None:
        super().__init__(frames, media_type="text/event-stream")
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()


async def split_page(page: bytes) -> AsyncIterator[bytes]:
    """A page in chunks, so that each has a deadline of its own."""
    for at in range(0, len(page), PAGE_CHUNK_BYTES):
        yield page[at : at + PAGE_CHUNK_BYTES]


def not_found() -> Response:
    """The answer for a page that does not exist, or may not be shown."""
    return PlainTextResponse("not found\n", 404)


def guard(app: ASGIApp, hosts: frozenset[str]) -> ASGIApp:
    """Refuse requests that pages of other sites cause, and add security headers to all answers.

    Another site may point a name of its own at this machine (DNS rebinding), so only our own names are answered.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message["headers"])
                added = [
                    (name.encode(), value.encode())
                    for name, value in SECURITY_HEADERS.items()
                    if name.encode() not in given
                ]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refused = refuse_request(scope["method"], headers, hosts)
        if refused is not None:
            await refused(scope, receive, send_guarded)
            return
        await app(scope, receive, send_guarded)

    return answer


def refuse_request(method: str, headers: dict[bytes, bytes], hosts: frozenset[str]) -> Response | None:
    """The refusal of a request, or None."""
    host, origin = headers.get(b"host", b"").decode("latin-1").lower(), headers.get(b"origin")
    if method not in ("GET", "HEAD"):
        return PlainTextResponse("only GET and HEAD are allowed\n", 405, {"allow": "GET, HEAD", "connection": "close"})
    if b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0":
        return PlainTextResponse("requests may not have a body\n", 400, {"connection": "close"})
    if not is_own_name(host, hosts):
        return PlainTextResponse("unknown host name: add it with --web-name\n", 421, {"connection": "close"})
    if origin is not None and origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
        return PlainTextResponse("cross-origin requests are not allowed\n", 403, {"connection": "close"})
    return None


def is_own_name(host: str, hosts: frozenset[str]) -> bool:
    """Is this a name of the server? So is any IP address, as no other site can point one here.

    >>> [is_own_name(host, LOCAL_NAMES) for host in ("localhost:80", "127.0.0.1", "[::1]:40")]
    [True, True, True]
    >>> [is_own_name(host, LOCAL_NAMES) for host in ("x.example", "127.0.0.1.x.example")]
    [False, False]
    """
    name, colon, port = host.rpartition(":")
    if not colon or not port.isdigit():
        name = host
    if name in hosts:
        return True
    try:
        ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    return True


@asynccontextmanager
async def serve_pages(
    server: MonitoredServer,
    port: int,
    host: str = LOOPBACK,
    *,
    hosts: Iterable[str] = (),
    limits: ConnectionLimits = DEFAULT_CONNECTION_LIMITS,
) -> AsyncIterator[str]:
    """Serve the pages of a server while the context lasts; yields the address. `hosts` are its other host names."""
    listener: socket.socket = listening_socket(host, port)
    web = WebPages(server, (host, *hosts), limits)
    http_server = make_http_server(web.app)
    serving = asyncio.create_task(http_server.serve([listener]))
    try:
        yield format_endpoint(*listener.getsockname()[:2])
    finally:
        web.stop()
        http_server.should_exit = True
        await finish_despite_cancellation(asyncio.wait([serving]))
        await web.close()
        listener.close()
