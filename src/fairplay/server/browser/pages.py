"""Show a house to browsers and monitors: what is played, a room while it is played, and what a monitor wants to know.

It runs in the event loop of the house, and nothing that is asked here changes anything. docs/house.md has the paths.
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
from fairplay.page.assembly import live_page, part, policy_of
from fairplay.players.door import listening
from fairplay.referee.closing import surely
from fairplay.server import metrics
from fairplay.server.browser.http import server_of
from fairplay.server.browser.lookers import BEAT, LOOKS, Showing, as_event
from fairplay.server.browser.painting import Replay, Studio
from fairplay.server.logs import warn
from fairplay.server.settings import Strangers
from fairplay.server.sign_in.crowd import neighbourhood
from fairplay.server.spectating.hub import Hub
from fairplay.server.status import HouseStatus, encode
from fairplay.transport.places import LOOPBACK, written_place

AT_LEAST = 0.5  # seconds for which a status is good enough for everybody who asks
MOST_LOOKERS = 512  # in all rooms
MOST_PAGES = 8  # replays that are remembered, or drawn
REPLAY_PAINTERS = 2  # processes, so that one long match does not keep all others waiting
PIECE = 64 * 1024  # bytes of a page that are sent at once
STRANGERS = Strangers()  # as usual
LOCAL = frozenset({"localhost"})
NO_MORE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
POLICY = f"default-src 'self'; img-src 'self' data:; object-src 'none'; {NO_MORE}"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
PARTS = {  # all that is given out, and what it is
    "elements.js": "text/javascript",
    "pictures.js": "text/javascript",
    "house.js": "text/javascript",
    "room.js": "text/javascript",
    "replay.css": "text/css",
    "live.css": "text/css",
}


class HouseSeen(Protocol):
    """A house as it is seen from outside."""

    @property
    def counts(self) -> metrics.Counts:
        """What has happened there."""

    def status(self) -> HouseStatus:
        """What goes on."""

    def hub(self, room: str) -> Hub | None:
        """What passes on what happens in the room of this id; None: there is no such room."""

    def journal(self, match: str) -> Path | None:
        """Where a match of this id is recorded, which is over; None: there is none."""


class Web:
    """The answers to all that browsers and monitors ask."""

    def __init__(self, house: HouseSeen, hosts: Iterable[str] = (), limits: Strangers = STRANGERS) -> None:
        self._house = house
        self._share = limits.viewers_per_address
        self._viewers: Counter[str] = Counter()  # streams that are open, by the address of the browser
        self._status: tuple[float, HouseStatus] | None = None
        self._figures = metrics.registry(self._now, house.counts)
        self._showings: dict[str, Showing] = {}
        self._boards, self._replays = Studio(), Studio(REPLAY_PAINTERS)
        self._pages: OrderedDict[str, asyncio.Task[str]] = OrderedDict()  # the last replays that somebody asked for
        routes = [
            Route("/", self._front),
            Route("/parts/{name}", self._part),
            Route("/rooms/{room}", self._room),
            Route("/rooms/{room}/live", self._live),
            Route("/matches/{match}", self._match),
            Route("/status", self._tell_status),
            Route("/metrics", self._tell_metrics),
            Route("/healthz", self._tell_health),
        ]
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        self.app = guarded(app, LOCAL | {host.lower() for host in hosts})

    def stop(self) -> None:
        """Let nobody look on any more."""
        for showing in self._showings.values():
            showing.stop()

    async def close(self) -> None:
        """End what draws."""
        for page in self._pages.values():
            page.cancel()
        await self._boards.close()
        await self._replays.close()

    def _now(self) -> HouseStatus:
        """What goes on, or what went on a moment ago: it may be asked for very often."""
        now = asyncio.get_running_loop().time()
        if self._status is None or now - self._status[0] > AT_LEAST:
            self._status = now, self._house.status()
        return self._status[1]

    @staticmethod
    async def _front(request: Request) -> Response:
        return Response(live_page("house"), media_type="text/html")

    async def _part(self, request: Request) -> Response:
        name = request.path_params["name"]
        return Response(part(name), media_type=PARTS[name]) if name in PARTS else missing()

    async def _room(self, request: Request) -> Response:
        room = request.path_params["room"]
        if self._house.hub(room) is not None:
            return Response(live_page("room"), media_type="text/html")
        return missing() if self._house.journal(room) is None else RedirectResponse(f"/matches/{room}", 303)

    async def _live(self, request: Request) -> Response:
        room, look = request.path_params["room"], request.query_params.get("look", "light")
        hub = self._house.hub(room)
        if hub is None or look not in LOOKS or request.method != "GET":
            return missing()
        address = neighbourhood(written_place(*(request.client or (LOOPBACK, 0))))
        self._viewers = +self._viewers  # without those of whom there is none any more
        if self._viewers[address] >= self._share:
            return PlainTextResponse(f"{self._share} browsers at your address look on already\n", 503)
        if self._viewers.total() >= MOST_LOOKERS:
            return PlainTextResponse("too many look on already\n", 503)
        self._viewers[address] += 1  # at once, as many may ask at the same moment
        return Live(self._frames(room, hub, look), lambda: self._viewers.subtract([address]))

    async def _frames(self, room: str, hub: Hub, look: str) -> AsyncIterator[bytes]:
        """All that happens in a room, for one who looks at it."""
        showing = self._showings.get(room)
        if showing is None:
            showing = self._showings[room] = Showing(hub, self._boards)
        try:
            yield as_event("hello", {"version": VERSION, "name": hub.name})
            async with aclosing(showing.frames(look)) as frames:
                async for frame in frames:
                    yield frame
                    if frame == BEAT and self._house.hub(room) is not hub:  # it was closed before its end
                        return
        finally:
            if not showing.looking and self._showings.get(room) is showing:
                del self._showings[room]
                await showing.close()

    async def _match(self, request: Request) -> Response:
        match = request.path_params["match"]
        journal = self._house.journal(match)
        if journal is None:
            return missing()
        if match not in self._pages:
            if sum(not page.done() for page in self._pages.values()) >= MOST_PAGES:
                return PlainTextResponse("too many replays are asked for\n", 503)
            self._pages[match] = asyncio.create_task(self._replays.drawn(Replay(str(journal))))
        self._pages.move_to_end(match)
        try:
            page = await asyncio.shield(self._pages[match])
        except FairplayError as error:  # it is sealed, or something is wrong with it
            self._pages.pop(match, None)
            warn("a replay failed", match=match, why=str(error))
            return missing()
        finally:
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
        policy = {"content-security-policy": f"{policy_of('replay')}; frame-ancestors 'none'"}
        return Stream(pieces(page.encode()), media_type="text/html", headers=policy)

    async def _tell_status(self, request: Request) -> Response:
        return Response(encode(self._now()), media_type="application/json")

    async def _tell_metrics(self, request: Request) -> Response:
        return Response(metrics.told(self._figures), media_type=metrics.CONTENT_TYPE)

    async def _tell_health(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")


class Stream(StreamingResponse):
    """An answer in pieces, whose source is closed whatever happens."""

    async def stream_response(self, send: Send) -> None:
        """Send it."""
        async with aclosing(self.body_iterator):  # type: ignore[type-var]  # ours are generators
            await super().stream_response(send)


class Live(Stream):
    """What happens in a room, for one browser; at its end this is called, whatever happens."""

    def __init__(self, frames: AsyncIterator[bytes], ended: Callable[[], None]) -> None:
        super().__init__(frames, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


async def pieces(page: bytes) -> AsyncIterator[bytes]:
    """A page piece by piece: whoever takes one in time gets the next."""
    for at in range(0, len(page), PIECE):
        yield page[at : at + PIECE]


def missing() -> Response:
    """What is said of whatever is not there, or may not be seen."""
    return PlainTextResponse("there is nothing here\n", 404)


def guarded(app: ASGIApp, hosts: frozenset[str]) -> ASGIApp:
    """Let nobody ask who was led here by somebody else's page; and let browsers do nothing else with what is said.

    A page elsewhere may have a name of its own lead to this machine: so this one has to be called by its own names.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message["headers"])
                more = [
                    (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given
                ]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        refused = why_refused(scope["method"], headers, hosts)
        if refused is not None:
            await refused(scope, receive, send_guarded)
            return
        await app(scope, receive, send_guarded)

    return answer


def why_refused(method: str, headers: dict[bytes, bytes], hosts: frozenset[str]) -> Response | None:
    """What is answered to a request that is not looked at; None: it is."""
    host, origin = headers.get(b"host", b"").decode("latin-1").lower(), headers.get(b"origin")
    if method not in ("GET", "HEAD"):
        return PlainTextResponse("nothing can be changed here\n", 405, {"allow": "GET, HEAD", "connection": "close"})
    if b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0":
        return PlainTextResponse("nothing is to be sent here\n", 400, {"connection": "close"})
    if not is_ours(host, hosts):
        return PlainTextResponse("this is not what I am called\n", 421, {"connection": "close"})
    if origin is not None and origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
        return PlainTextResponse("pages from elsewhere may not ask\n", 403, {"connection": "close"})
    return None


def is_ours(host: str, hosts: frozenset[str]) -> bool:
    """Is this what we are called? A name of ours, or an address, which nobody else can have lead here.

    >>> [is_ours(host, LOCAL) for host in ("localhost:80", "127.0.0.1", "[::1]:40", "x.example", "127.0.0.1.x.example")]
    [True, True, True, False, False]
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
async def shown(
    house: HouseSeen,
    port: int,
    host: str = LOOPBACK,
    *,
    hosts: Iterable[str] = (),
    limits: Strangers = STRANGERS,
) -> AsyncIterator[str]:
    """Show a house while this lasts, at the address that it gives; `hosts` are more names by which it is called."""
    door: socket.socket = listening(host, port)
    web = Web(house, (host, *hosts), limits)
    server = server_of(web.app)
    serving = asyncio.create_task(server.serve([door]))
    try:
        yield written_place(*door.getsockname()[:2])
    finally:
        web.stop()
        server.should_exit = True
        await surely(asyncio.wait([serving]))
        await web.close()
        door.close()
