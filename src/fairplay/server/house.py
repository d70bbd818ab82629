"""Keep a house: let players and spectators in, open rooms, go on with what was interrupted, and stop in good order."""

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.core.game import Seat
from fairplay.core.version import VERSION
from fairplay.hosting.records import gone_on_with, journal_in, outcome_on_record
from fairplay.hosting.run import new_match, sitting_for
from fairplay.hosting.sitting import Sitting, locations
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.journal.requests import Finished, Sync
from fairplay.journal.unfinished import unfinished
from fairplay.players.location import Invitation, Location, far
from fairplay.players.remote import DEFAULT
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.blame import host_to_blame, told
from fairplay.referee.closing import surely
from fairplay.server.allocation import Allocation
from fairplay.server.attendance import Attendance
from fairplay.server.farewells import Farewells
from fairplay.server.logs import tell, warn
from fairplay.server.metrics import Counts
from fairplay.server.room import Room
from fairplay.server.seats import Awaited, Pause, SomebodyLeft, VisitorsTable
from fairplay.server.settings import HouseSettings, Offer
from fairplay.server.spectating.hub import Hub
from fairplay.server.spectating.spectators import Spectators
from fairplay.server.status import (
    MOST_FINISHED,
    FinishedSeen,
    HouseStatus,
    OfferSeen,
    RoomSeen,
    WaiterSeen,
    as_line,
    finished_seen,
    room_seen,
)
from fairplay.server.visitor import Visitor
from fairplay.transport.line import Line

MATCHES = "matches"  # the folder of the journals
KEY = "key"  # the file that marks them
GRACE = 8.0  # seconds in which open questions may be answered when the house stops
FRESH = 0.1  # seconds for which what was told of all this is good enough
NO_ROOM = "the house cannot play now"
PEOPLE_S = 60.0  # for each answer of a person, if the host does not say
AGAIN = 2.0  # seconds after which it makes sense to come again


class KeptSeat(NamedTuple):
    """A seat to which somebody is to come back."""

    match: str  # its id
    taken: asyncio.Future[Visitor]


class Waiting(Protocol):
    """Where visitors wait who have no seat."""

    def refusal(self, visitor: Visitor) -> str:
        """Why somebody cannot play here; empty: it can."""

    def add(self, visitor: Visitor) -> None:
        """Let somebody wait."""

    def remove(self, visitor: Visitor) -> None:
        """Let somebody go, if it is here at all."""

    def __iter__(self) -> Iterator[Visitor]: ...

    def close(self) -> None:
        """Let nobody play any more."""


class House:
    """One event loop with a lobby, rooms and whoever watches; a reception tells it who comes and goes."""

    def __init__(self, settings: HouseSettings) -> None:
        self.settings = settings
        self.counts = Counts()
        self.rooms: dict[str, Room] = {}  # by their ids
        self.visitors: dict[str, Visitor] = {}  # by theirs
        self.lobby: Waiting  # whoever opens the house says who plays with whom
        self.finished: deque[FinishedSeen] = deque(maxlen=MOST_FINISHED)  # the newest first
        self._since = time.time()
        self._told = -inf, b""  # the last line of that, and when
        self._opened = 0  # rooms, so far
        self.attendance = Attendance()
        self._allocation = Allocation()
        self._pause = Pause()
        self._tasks: dict[str, asyncio.Task[str]] = {}  # in which rooms are played
        self._awaited: dict[str, deque[KeptSeat]] = {}  # seats to which somebody is to come back, by its id
        self._missed: set[str] = set()  # who was waited for in vain, and is not waited for again until it comes
        self._farewells = Farewells()
        self._spectators = Spectators(self.rooms, settings.strangers, self._farewells)
        self._matches = str(Path(settings.folder, MATCHES))
        self._key = str(Path(settings.folder, KEY))

    # Visitors.

    def arrived(self, visitor: Visitor) -> None:
        """Somebody has signed up, or come back."""
        tell("back" if visitor.id in self.visitors else "signed up", name=visitor.name, place=visitor.place)
        self.visitors[visitor.id] = visitor
        self._missed.discard(visitor.id)
        if visitor.room is None:
            self._is_free(visitor)

    def lost(self, visitor: Visitor) -> None:
        """The line of somebody is lost; if it has a seat, that is kept for a while."""
        self.lobby.remove(visitor)

    def gone(self, visitor: Visitor) -> None:
        """Somebody does not come back any more."""
        tell("left", name=visitor.name)
        self.lobby.remove(visitor)
        self.visitors.pop(visitor.id, None)

    def _vanished(self, visitor: Visitor) -> None:
        """A client did not stay until its first turn."""
        self.attendance.note_vanished(visitor, asyncio.get_running_loop().time())

    def _is_free(self, visitor: Visitor) -> None:
        """Let somebody sit down where it is awaited, or wait, or go; a house that stops opens no room any more."""
        if self._pause.is_on:
            return
        for seat in self._awaited.get(visitor.id, ()):
            if not seat.taken.done():
                visitor.room = seat.match
                seat.taken.set_result(visitor)
                return
        if why := self.lobby.refusal(visitor):
            self.send_away(visitor, why, again=0.0)
        else:
            self.lobby.add(visitor)

    # Rooms.

    def open_room(self, offer: Offer, visitors: list[Visitor]) -> None:
        """Open a room for these, and for house players where there are too few of them."""
        entrants = [Entrant(visitor.address, visitor.name) for visitor in visitors]
        entrants += [Entrant(offer.fill)] * (offer.least - len(entrants))
        spec = MatchSpec(
            game=offer.game,
            entrants=tuple(entrants),
            parameters=offer.parameters,
            limits=limits_for(visitors, offer.limits),
            journal=self._matches,
            key=self._key,
        )
        try:
            self._begun(new_match(spec), visitors)
        except FairplayError as fault:
            warn("no room can be opened", why=str(fault))
            for visitor in visitors:
                self.send_away(visitor, NO_ROOM)

    def take_up(self) -> None:
        """Go on with all matches that were interrupted, as soon as their players are back."""
        for path in unfinished(self._matches, lambda opening: True):
            try:
                sitting = gone_on_with(path, None, None, journal_in(self._matches, Sync.BATCH, self._key))
                self._begun(sitting)
            except FairplayError as error:
                warn("match left as it is", match=path.stem, why=str(error))

    async def play(self, spec: MatchSpec) -> Outcome:
        """Play a match of a tournament with those who are here, or come back in time, as soon as they are free."""
        places = [far(address) for address in spec.addresses]
        async with self._allocation.of({place.place for place in places if isinstance(place, Invitation)}):
            try:
                room = self._begun(sitting_for(spec))
            except Finished:
                return outcome_on_record(spec)
            return room.outcome(await self._tasks[room.id])

    async def _back(self, id: str, match: str) -> Visitor | None:
        """Somebody who is to play in a match, if it is here, or comes back in time."""
        visitor = self.visitors.get(id)
        if visitor is not None and visitor.room is None and visitor.line.is_there:
            self.lobby.remove(visitor)
            visitor.room = match
            return visitor
        if id in self._missed:
            return None
        seat = KeptSeat(match, asyncio.get_running_loop().create_future())
        awaited = self._awaited.setdefault(id, deque())
        awaited.append(seat)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.settings.back):
                    return await seat.taken
            self._missed.add(id)
            return None
        finally:
            awaited.remove(seat)
            if not awaited:
                self._awaited.pop(id, None)

    def _begun(self, sitting: Sitting, here: Iterable[Visitor] = ()) -> Room:
        """A room in which a match is played from now on, with these visitors; others are waited for."""
        match, present = sitting.match, {visitor.id: visitor for visitor in here}
        with host_to_blame(match.game):
            is_over = match.turn is None
        visitors: dict[Seat, Awaited] = {}
        others: dict[Seat, Location] = {}
        for seat, location in locations(match, sitting.addresses).items():
            if not isinstance(location, Invitation):
                others[seat] = location
            elif location.place in present:
                visitors[seat] = partial(at_once, present[location.place])
                present[location.place].room, present[location.place].sits = match.id, False
            else:
                visitors[seat] = partial(self._back, location.place, match.id)
        self._opened += 1
        limits = sitting.terms.limits or DEFAULT
        room = Room(
            f"{match.game.name}-{self._opened}",
            sitting,
            [address.removeprefix("visitor:") for address in sitting.addresses],
            table=VisitorsTable(others, visitors, self._pause, limits, is_over=is_over, vanished=self._vanished),
            observers=[self.counts],
        )
        self.rooms[room.id] = room
        self._tasks[room.id] = asyncio.create_task(self._play(room))
        return room

    async def _play(self, room: Room) -> str:
        """Play a match to its end; then everybody in the room goes elsewhere. Why it failed, if we did."""
        failed = ""
        tell("room opened", room=room.name, match=room.id, players=room.match.names)
        self._spectators.show_around()
        try:
            await room.play()
            match, result = room.match, room.match.result
            winners = [match.names[seat] for group in result.ranking[:1] for seat in sorted(group)]
            tell("match over", room=room.name, match=room.id, won=winners)
            shown = not match.sealed  # or the deal would be known to those who have yet to play it
            seen = finished_seen(room.id, match.game.name, match.names, result, at=time.time(), recorded=shown)
            self.finished.appendleft(seen)
        except SomebodyLeft as left:
            tell("room closed before the match", room=room.name, left=str(left))
        except Exception as error:  # of whatever kind: nobody is to be left sitting there
            failed = told(error, room.match.game)
            warn("match failed", room=room.name, match=room.id, why=failed)
        finally:
            del self.rooms[room.id], self._tasks[room.id]
        self._rise(room, NO_ROOM if failed else "")
        await self._spectators.show_out(room)
        return failed

    def _rise(self, room: Room, why: str) -> None:
        """Let those who played, or were to, wait for another match; or send them away, if there is a reason."""
        seated = [self.visitors[id] for id in room.player_ids if id in self.visitors]
        rising = [visitor for visitor in seated if visitor.room == room.id]  # others left, and came again since
        for visitor in rising:
            if room.has_begun:
                visitor.met.update(other.id for other in seated if other is not visitor)
                visitor.played += 1
                visitor.room = None
            else:
                visitor.return_to_place()
        for visitor in rising:
            if why:
                self.send_away(visitor, why)
            elif visitor.played >= self.settings.strangers.matches:
                self.send_away(visitor, f"{visitor.played} matches are all that one may play in a visit")
            elif visitor.line.is_there:
                self._is_free(visitor)

    def watch(self, line: Line, room: str, address: str) -> None:
        """Let somebody watch a room, by its id or its name, or whatever is played."""
        self._spectators.add(line, room, address)

    # What is known of all this.

    def status(self) -> HouseStatus:
        """What goes on, as far as anybody may know."""
        now, loop = time.time(), asyncio.get_running_loop()
        return HouseStatus(
            name=self.settings.name,
            version=VERSION,
            since=self._since,
            up=now - self._since,
            offers=tuple(map(offer_seen, self.settings.offers)),
            rooms=tuple(seen(room) for room in self.rooms.values()),
            waiting=tuple(WaiterSeen(one.name, one.game, loop.time() - one.free_since) for one in self.lobby),
            players=tuple(one.name for one in self.visitors.values() if one.line.is_there),
            finished=tuple(self.finished),
        )

    def status_line(self) -> bytes:
        """The same as one line, made once for all who ask within a moment, however many they are."""
        now = asyncio.get_running_loop().time()
        if now - self._told[0] > FRESH:
            self._told = now, as_line(self.status())
        return self._told[1]

    def hub(self, room: str) -> Hub | None:
        """What passes on what happens in the room of this id; None: there is no such room."""
        return self.rooms[room].hub if room in self.rooms else None

    def journal(self, match: str) -> Path | None:
        """Where a match of this id is recorded, which is over; None: there is none."""
        known = any(one.match == match and one.recorded for one in self.finished)
        return Path(self._matches, f"{match}.jsonl") if known else None

    def refused(self, place: str, reason: str, why: str) -> None:
        """Somebody was turned away at the door."""
        self.counts.refused[reason] += 1
        tell("refused", place=place, reason=reason, why=why)

    # The end.

    def send_away(self, visitor: Visitor, why: str, again: float = AGAIN) -> None:
        """Let somebody go, and say why."""
        tell("sent away", name=visitor.name, why=why)
        self._farewells.say(visitor.line, wire.suspended(why, again))

    async def stop(self, why: str, again: float) -> None:
        """Let open questions be answered, ask no more, and tell everybody; all that is played can be gone on with."""
        tell("stopping", rooms=len(self.rooms), players=len(self.visitors))
        self.lobby.close()
        try:
            await self._pause.begin(GRACE)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            for line in [*self._spectators.lines, *(visitor.line for visitor in self.visitors.values())]:
                self._farewells.say(line, wire.suspended(why, again))
            await surely(ended(tasks))
            await self._farewells.said()


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Come back when all of them have ended, however they did."""
    await asyncio.gather(*tasks, return_exceptions=True)


async def at_once(visitor: Visitor) -> Visitor:
    """Somebody who is here."""
    return visitor


def limits_for(visitors: Iterable[Visitor], limits: Limits) -> Limits:
    """The limits of a match; people get more time, unless the host says how much."""
    if limits.people is None and any(visitor.person for visitor in visitors):
        return msgspec.structs.replace(limits, people=max(limits.move, PEOPLE_S))
    return limits


def offer_seen(offer: Offer) -> OfferSeen:
    """An offer as everybody may see it."""
    return OfferSeen(offer.game, offer.rules().public_parameters(), offer.least, offer.most)


def seen(room: Room) -> RoomSeen:
    """A room as everybody may see it."""
    number, spectators = 0 if room.hub.last is None else room.hub.last.seq, room.hub.watching
    return room_seen(room.id, room.name, room.match, stage=room.stage, number=number, spectators=spectators)
