"""Keep the door of a house: say hello to whoever comes, see what it wants, and let players come back to their seats."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Protocol, Self

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.door import listening
from fairplay.protocol import wire
from fairplay.protocol.host_side import HostSide
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import Wrong
from fairplay.protocol.wire import Introduction
from fairplay.referee.closing import all_surely
from fairplay.server.farewells import LAST_WORDS, Farewells
from fairplay.server.settings import HouseSettings
from fairplay.server.sign_in.crowd import Crowd, neighbourhood
from fairplay.server.sign_in.identity import Identities, Refused
from fairplay.server.sign_in.labels import label, skeleton
from fairplay.server.sign_in.tls import tls_context
from fairplay.server.sign_in.tokens import GUEST
from fairplay.server.visitor import Visitor
from fairplay.transport.connection import over_tcp
from fairplay.transport.hall import Hall
from fairplay.transport.lasting import LastingLine
from fairplay.transport.line import Closed, Line, TooMuch, received
from fairplay.transport.places import reason, written_place
from fairplay.transport.timer import Timer

NAMELESS = "guest"  # what a guest is called that does not say its name
A_MOMENT = 0.05  # seconds, at the least
LOOKS = 8  # how often we look, while somebody may be idle, for whom that is too long

OpenLine = Callable[[socket.socket, ssl.SSLContext | None], Awaitable[Line]]


class Host(Protocol):
    """Whoever is told by a reception who comes and goes."""

    def arrived(self, visitor: Visitor) -> None:
        """Somebody has signed up, or is back."""

    def lost(self, visitor: Visitor) -> None:
        """The connection of somebody with a seat is lost; it may come back."""

    def gone(self, visitor: Visitor) -> None:
        """Somebody does not come back any more. Who has no seat is gone as soon as its connection is lost."""

    def watch(self, line: Line, room: str, address: str) -> None:
        """Somebody wants to watch a room, or any. The line is the host's from now on, who has to hang up."""

    def status_line(self) -> bytes:
        """What goes on in the house, as one line."""

    def refused(self, place: str, reason: str, why: str) -> None:
        """Somebody is turned away: where it came from, a word for whoever counts, and why, without secrets."""


class Reception:
    """A door that stays open. It listens as soon as it is made, and lets people in as long as one is within.

    Whoever connects is nobody until it has answered hello. Who comes back with its token, or its pass, is the visitor
    that it was, and the newest connection counts.
    """

    def __init__(self, host: Host, settings: HouseSettings) -> None:
        self.visitors: dict[str, Visitor] = {}  # by their ids
        self._host = host
        self._identities = Identities(settings.folder, guests=settings.guests)
        self._tls = tls_context(settings.tls.certificate, settings.tls.key) if settings.tls else None
        self._window = settings.window
        self._crowd = Crowd(settings.strangers.connections, settings.strangers.each)
        self._hello = settings.strangers.hello
        self._idle = settings.strangers.idle
        self._numbers = count()
        self._labels: set[str] = set()  # the skeletons of all names
        self._farewells = Farewells()
        self._alarm: asyncio.TimerHandle | None = None
        self._doors = [listening(settings.host, settings.port)]
        self._halls = [Hall(self._doors[0], partial(self._greet, over_tcp))]
        if settings.websocket is not None:
            from fairplay.transport.websocket import over_websocket  # the library that it needs is an extra

            try:
                self._doors.append(listening(settings.host, settings.websocket))
            except BadRequest:
                self._doors[0].close()
                raise
            self._halls.append(Hall(self._doors[1], partial(self._greet, over_websocket)))

    @property
    def addresses(self) -> list[str]:
        """Where to come in, as HOST:PORT: over TCP, and if that is so, over WebSocket."""
        return [written_place(*door.getsockname()[:2]) for door in self._doors]

    async def __aenter__(self) -> Self:
        for hall in self._halls:
            await hall.__aenter__()
        self._look_for_idlers()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let nobody in any more, and hang up on all who are here."""
        try:
            await self.shut()
        finally:
            for visitor in self.visitors.copy().values():
                self._farewells.say(visitor.line, b"")
            await self._farewells.said()

    async def shut(self) -> None:
        """Let nobody in any more; those who are here stay."""
        halls, self._halls = self._halls, []
        if self._alarm is not None:
            self._alarm.cancel()
        try:
            await all_surely([hall.__aexit__() for hall in halls])
        finally:
            for door in self._doors:
                door.close()

    async def _greet(self, open_line: OpenLine, connection: socket.socket, place: str) -> None:
        """See what somebody wants. Who is turned away hears why, if that can be said, and is cut off."""
        address, line = neighbourhood(place), None
        last: bytes | None = b""
        try:
            if why := self._crowd.add(connection, address, asyncio.get_running_loop().time()):
                raise Refused("crowd", why, Fault.FLOOD)
            with Timer(self._hello):
                line = await open_line(connection, self._tls)
                last = await self._let_in(line, address, place)
        except (Refused, Closed, TooMuch, OSError) as error:
            refused = self._refusal(error)
            last = wire.goodbye("", Failed(refused.fault, str(refused)))
            self._host.refused(place, refused.reason, str(refused.__cause__ or refused))
        finally:
            if line is None:
                connection.close()
            elif last is not None:
                await line.hang_up(last, LAST_WORDS)

    def _refusal(self, error: Exception) -> Refused:
        """Why somebody is turned away to whom this happened."""
        match error:
            case Refused():
                return error
            case Closed():
                return Refused(error.fault.value, str(error), error.fault)
            case TooMuch():
                return Refused("flood", f"said more than {wire.MOST_BYTES} bytes at once", Fault.FLOOD)
            case TimeoutError():
                return Refused("silent", f"did not say who it is within {self._hello:g} s", Fault.TIMED_OUT)
        return Refused("gone", reason(error), Fault.GONE)

    async def _let_in(self, line: Line, address: str, place: str) -> bytes | None:
        """Do what somebody came for; None: it stays, else these are the last words to it."""
        side = HostSide(None)
        said = await self._introduction(line, side)
        if said.visit == "status":
            await line.hang_up(self._host.status_line(), self._hello)
            return b""
        if said.visit == "watch":
            self._host.watch(line, said.room, address)
            return None
        id = self._identities.who(said)
        if said.visit == "leave":
            if id in self.visitors:
                self.visitors[id].line.give_up("left")
            return b""
        while True:
            visitor = self.visitors.get(id) or self._new(id, said, side.nonces)
            if await visitor.line.attach(line, self._welcome(visitor, said)):
                break
            if not visitor.line.is_gone:
                raise Refused("replaced", "somebody newer came with the same token")
        visitor.place, visitor.changes, visitor.game = place, said.changes, said.game
        visitor.person = said.person
        if not visitor.line.is_gone:  # or it has left at once
            self._host.arrived(visitor)
        return None

    async def _introduction(self, line: Line, side: HostSide) -> Introduction:
        """What somebody answers to hello. Nothing of that is ever shown, as there may be a token in it."""
        line.send(side.hello(self._hello))
        said = side.receive(await received(line))
        if isinstance(said, Wrong):
            raise Refused("malformed", said.why, said.fault)
        return said or Introduction()

    def _welcome(self, visitor: Visitor, said: Introduction) -> bytes:
        """What somebody hears that has signed up, or is back."""
        token = "" if said.token else self._identities.pass_for(visitor.id)
        return wire.welcome(visitor.name, self._window, token)

    def _new(self, id: str, said: Introduction, nonces: Nonces) -> Visitor:
        """Somebody who was not here."""
        owned = frozenset[str]() if not id.startswith(GUEST) else self._identities.tokens.skeletons
        wanted = said.name if isinstance(said.name, str) else NAMELESS
        name = label(wanted, id.removeprefix(GUEST), self._labels | owned)
        line = LastingLine(
            self._window, on_lost=lambda: self._has_lost(visitor), on_gone=lambda: self._is_gone(visitor)
        )
        visitor = Visitor(id, name, next(self._numbers), line, nonces)
        self.visitors[id] = visitor
        self._labels.add(skeleton(name))
        return visitor

    # Those who are here.

    def _has_lost(self, visitor: Visitor) -> None:
        """A seat is kept for somebody who may come back; without one there is nothing to come back to."""
        if visitor.may_come_back:
            self._host.lost(visitor)
        else:
            visitor.line.give_up("left")

    def _is_gone(self, visitor: Visitor) -> None:
        """Somebody does not come back."""
        del self.visitors[visitor.id]
        self._labels.discard(skeleton(visitor.name))
        self._farewells.say(visitor.line, b"")
        self._host.gone(visitor)

    def _look_for_idlers(self) -> None:
        """Send those away who have had no seat for long; what nobody needs need not be kept."""
        loop, last = asyncio.get_running_loop(), wire.suspended(f"there was no game for you within {self._idle:g} s", 0)
        for visitor in self.visitors.copy().values():
            if visitor.room is None and loop.time() - visitor.free_since > self._idle:
                self._farewells.say(visitor.line, last)
        self._alarm = loop.call_later(max(self._idle / LOOKS, A_MOMENT), self._look_for_idlers)
