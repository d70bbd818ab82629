"""Run a game server: seat clients, open rooms, resume interrupted matches, and stop in good order."""

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
from fairplay.hosting.prepared_match import PreparedMatch, locations
from fairplay.hosting.records import open_journal, recorded_outcome, resume_match
from fairplay.hosting.run import new_match, prepare_from_spec
from fairplay.hosting.spec import Entrant, MatchSpec, Outcome
from fairplay.journal.options import Durability, Finished
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.players.location import ListenAddress, Location, parse_remote_address
from fairplay.players.remote import DEFAULT_LIMITS
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.referee.host_faults import as_host_fault, describe_rules_error
from fairplay.server.allocation import Allocation
from fairplay.server.attendance import Attendance
from fairplay.server.client import Client
from fairplay.server.client_seats import ClientsLeft, ClientsTable, Pause, WaitForClient
from fairplay.server.logs import log_event, log_warning
from fairplay.server.metrics import ServerCounts
from fairplay.server.pending_closes import PendingCloses
from fairplay.server.room import Room
from fairplay.server.settings import Offer, ServerSettings
from fairplay.server.spectating.hub import Hub
from fairplay.server.spectating.spectators import Spectators
from fairplay.server.status import (
    MAX_FINISHED_MATCHES,
    FinishedStatus,
    OfferStatus,
    RoomStatus,
    ServerStatus,
    WaitingStatus,
    encode_status,
    finished_status,
    room_status,
)
from fairplay.transport.connection import Connection

MATCHES_DIRECTORY = "matches"  # of the journals
KEY_FILE = "key"  # of their MACs
STOP_GRACE_S = 8.0  # for answers to open questions when the server stops
STATUS_LINE_CACHE_S = 0.1
NO_ROOM_MESSAGE = "the server cannot run matches now"
PERSON_TIMEOUT_S = 60.0  # for each answer of a person, if the settings do not say
RETRY_AFTER_S = 2.0  # after which clients should reconnect


class ReservedSeat(NamedTuple):
    """A seat that waits for its client to come back."""

    match: str  # its id
    arrival: asyncio.Future[Client]


class WaitingClients(Protocol):
    """Where clients without a seat wait."""

    def refusal(self, client: Client) -> str:
        """Why a client cannot play here; empty: it can."""

    def add(self, client: Client) -> None:
        """Let a client wait."""

    def remove(self, client: Client) -> None:
        """Forget a client, if it waits here."""

    def __iter__(self) -> Iterator[Client]: ...

    def close(self) -> None:
        """Start no more matches."""


class GameServer:
    """A lobby, rooms and spectators in one event loop; its sign-in tells it of clients that come and go."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.counts = ServerCounts()
        self.rooms: dict[str, Room] = {}  # by their ids
        self.clients: dict[str, Client] = {}  # by theirs
        self.lobby: WaitingClients  # set by the caller, before the listeners open
        self.finished: deque[FinishedStatus] = deque(maxlen=MAX_FINISHED_MATCHES)  # the newest first
        self._started_at = time.time()
        self._cached_status_line = -inf, b""  # and when it was made
        self._room_count = 0  # so far
        self.attendance = Attendance()
        self._allocation = Allocation()
        self._pause = Pause()
        self._tasks: dict[str, asyncio.Task[str]] = {}  # of the rooms
        self._reserved_seats: dict[str, deque[ReservedSeat]] = {}  # by client id
        self._absent: set[str] = (
            set()
        )  # ids of clients that did not come back in time, and are not waited for again until they come
        self._pending_closes = PendingCloses()
        self._spectators = Spectators(self.rooms, settings.connection_limits, self._pending_closes)
        self._journal_directory = str(Path(settings.directory, MATCHES_DIRECTORY))
        self._key_path = str(Path(settings.directory, KEY_FILE))

    # Clients.

    def on_signed_in(self, client: Client) -> None:
        """Seat or queue a client that has signed in or come back."""
        event = "reconnected" if client.id in self.clients else "signed in"
        log_event(event, name=client.name, address=client.endpoint)
        self.clients[client.id] = client
        self._absent.discard(client.id)
        if client.room is None:
            self._seat_or_queue(client)

    def on_lost(self, client: Client) -> None:
        """Stop queueing a client whose connection is lost; its seat stays reserved for a while."""
        self.lobby.remove(client)

    def on_gone(self, client: Client) -> None:
        """Forget a client that does not come back."""
        log_event("left", name=client.name)
        self.lobby.remove(client)
        self.clients.pop(client.id, None)

    def _on_vanished(self, client: Client) -> None:
        """Remember that a client did not stay until its first turn."""
        self.attendance.record_vanish(client, asyncio.get_running_loop().time())

    def _seat_or_queue(self, client: Client) -> None:
        """Give a client its reserved seat, or queue it, or disconnect it; do nothing while the server stops."""
        if self._pause.is_on:
            return
        for seat in self._reserved_seats.get(client.id, ()):
            if not seat.arrival.done():
                client.room = seat.match
                seat.arrival.set_result(client)
                return
        if why := self.lobby.refusal(client):
            self.dismiss_client(client, why, retry_after=0.0)
        else:
            self.lobby.add(client)

    # Rooms.

    def open_room(self, offer: Offer, clients: list[Client]) -> None:
        """Open a room for these clients, and fill it up with built-in players."""
        entrants = [Entrant(client.address, client.name) for client in clients]
        entrants += [Entrant(offer.fill)] * (offer.min_players - len(entrants))
        spec = MatchSpec(
            game=offer.game,
            entrants=tuple(entrants),
            parameters=offer.parameters,
            limits=limits_for(clients, offer.limits),
            journal=self._journal_directory,
            key=self._key_path,
        )
        try:
            self._start_room(new_match(spec), clients)
        except FairplayError as fault:
            log_warning("cannot open a room", why=str(fault))
            for client in clients:
                self.dismiss_client(client, NO_ROOM_MESSAGE)

    def resume_matches(self) -> None:
        """Resume all interrupted matches, as soon as their players are back."""
        for path in find_unfinished(self._journal_directory, lambda opening: True):
            try:
                prepared = resume_match(
                    path, None, None, open_journal(self._journal_directory, Durability.BATCH, self._key_path)
                )
                self._start_room(prepared)
            except FairplayError as error:
                log_warning("cannot resume a match", match=path.stem, why=str(error))

    async def play(self, spec: MatchSpec) -> Outcome:
        """Play a match of a tournament as soon as its clients are free; absent ones may still come back in time."""
        places = [parse_remote_address(address) for address in spec.addresses]
        async with self._allocation.reserve({place.place for place in places if isinstance(place, ListenAddress)}):
            try:
                room = self._start_room(prepare_from_spec(spec))
            except Finished:
                return recorded_outcome(spec)
            return room.outcome(await self._tasks[room.id])

    async def _wait_for_client(self, id: str, match: str) -> Client | None:
        """The client of a seat, if it is connected or comes back in time."""
        client = self.clients.get(id)
        if client is not None and client.room is None and client.connection.is_connected:
            self.lobby.remove(client)
            client.room = match
            return client
        if id in self._absent:
            return None
        seat = ReservedSeat(match, asyncio.get_running_loop().create_future())
        awaited = self._reserved_seats.setdefault(id, deque())
        awaited.append(seat)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.settings.restart_window):
                    return await seat.arrival
            self._absent.add(id)
            return None
        finally:
            awaited.remove(seat)
            if not awaited:
                self._reserved_seats.pop(id, None)

    def _start_room(self, prepared: PreparedMatch, connected: Iterable[Client] = ()) -> Room:
        """Start a match in a new room with these clients; wait for the others."""
        match, present = prepared.match, {client.id: client for client in connected}
        with as_host_fault(match.game):
            is_over = match.turn is None
        clients: dict[Seat, WaitForClient] = {}
        others: dict[Seat, Location] = {}
        for seat, location in locations(match, prepared.addresses).items():
            if not isinstance(location, ListenAddress):
                others[seat] = location
            elif location.place in present:
                clients[seat] = partial(present_client, present[location.place])
                present[location.place].room, present[location.place].is_seated = match.id, False
            else:
                clients[seat] = partial(self._wait_for_client, location.place, match.id)
        self._room_count += 1
        limits = prepared.conditions.limits or DEFAULT_LIMITS
        room = Room(
            f"{match.game.name}-{self._room_count}",
            prepared,
            [address.removeprefix("client:") for address in prepared.addresses],
            table=ClientsTable(others, clients, self._pause, limits, is_over=is_over, on_vanished=self._on_vanished),
            observers=[self.counts],
        )
        self.rooms[room.id] = room
        self._tasks[room.id] = asyncio.create_task(self._play(room))
        return room

    async def _play(self, room: Room) -> str:
        """Play a match to its end, and release the clients of its room; why it failed, if the host is to blame."""
        failed = ""
        log_event("room opened", room=room.name, match=room.id, players=room.match.names)
        self._spectators.assign_roaming()
        try:
            await room.play()
            match, result = room.match, room.match.result
            winners = [match.names[seat] for group in result.ranking[:1] for seat in sorted(group)]
            log_event("match ended", room=room.name, match=room.id, winners=winners)
            is_shown = not match.sealed  # others may still have to play the same deal
            finished = finished_status(
                room.id, match.game.name, match.names, result, ended_at=time.time(), recorded=is_shown
            )
            self.finished.appendleft(finished)
        except ClientsLeft as left:
            log_event("room closed before the match began", room=room.name, left=str(left))
        except Exception as error:  # of whatever kind: no client may be left in its seat
            failed = describe_rules_error(error, room.match.game)
            log_warning("match failed", room=room.name, match=room.id, why=failed)
        finally:
            del self.rooms[room.id], self._tasks[room.id]
        self._release_clients(room, NO_ROOM_MESSAGE if failed else "")
        await self._spectators.release_room(room)
        return failed

    def _release_clients(self, room: Room, why: str) -> None:
        """Queue the clients of a room for another match, or disconnect them, if there is a reason."""
        seated = [self.clients[id] for id in room.player_ids if id in self.clients]
        released = [client for client in seated if client.room == room.id]  # others left, and came again since
        for client in released:
            if room.has_begun:
                client.met.update(other.id for other in seated if other is not client)
                client.matches_played += 1
                client.room = None
            else:
                client.return_to_queue()
        for client in released:
            if why:
                self.dismiss_client(client, why)
            elif client.matches_played >= self.settings.connection_limits.matches_per_client:
                self.dismiss_client(
                    client, f"you have played {client.matches_played} matches, the most that this server allows"
                )
            elif client.connection.is_connected:
                self._seat_or_queue(client)

    def watch(self, connection: Connection, room: str, address: str) -> None:
        """Add a spectator of a room, by its id or name; without one, it roams."""
        self._spectators.add(connection, room, address)

    # Status.

    def status(self) -> ServerStatus:
        """The public status of the server."""
        now, loop = time.time(), asyncio.get_running_loop()
        return ServerStatus(
            name=self.settings.name,
            version=VERSION,
            started_at=self._started_at,
            uptime_s=now - self._started_at,
            offers=tuple(map(offer_status, self.settings.offers)),
            rooms=tuple(current_room_status(room) for room in self.rooms.values()),
            waiting=tuple(WaitingStatus(one.name, one.game, loop.time() - one.free_since) for one in self.lobby),
            players=tuple(one.name for one in self.clients.values() if one.connection.is_connected),
            finished=tuple(self.finished),
        )

    def status_line(self) -> bytes:
        """The status as one line, cached for a moment."""
        now = asyncio.get_running_loop().time()
        if now - self._cached_status_line[0] > STATUS_LINE_CACHE_S:
            self._cached_status_line = now, encode_status(self.status())
        return self._cached_status_line[1]

    def hub(self, room: str) -> Hub | None:
        """The hub of the room of this id, or None."""
        return self.rooms[room].hub if room in self.rooms else None

    def journal(self, match: str) -> Path | None:
        """The journal of the finished match of this id, or None."""
        is_known = any(one.match == match and one.recorded for one in self.finished)
        return Path(self._journal_directory, f"{match}.jsonl") if is_known else None

    def on_refused(self, address: str, reason: str, why: str) -> None:
        """Count and log a refused connection."""
        self.counts.refused[reason] += 1
        log_event("refused", address=address, reason=reason, why=why)

    # The end.

    def dismiss_client(self, client: Client, why: str, retry_after: float = RETRY_AFTER_S) -> None:
        """Disconnect a client, and say why."""
        log_event("disconnected", name=client.name, why=why)
        self._pending_closes.close(client.connection, wire.encode_suspended(why, retry_after))

    async def stop(self, why: str, retry_after: float) -> None:
        """Wait for the open answers, ask no more, and disconnect all; every match can be resumed."""
        log_event("stopping", rooms=len(self.rooms), players=len(self.clients))
        self.lobby.close()
        try:
            await self._pause.begin(STOP_GRACE_S)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            clients = (client.connection for client in self.clients.values())
            for connection in (*self._spectators.connections, *clients):
                self._pending_closes.close(connection, wire.encode_suspended(why, retry_after))
            await finish_despite_cancellation(wait_all(tasks))
            await self._pending_closes.wait()


async def wait_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until all tasks have ended, in whatever way."""
    await asyncio.gather(*tasks, return_exceptions=True)


async def present_client(client: Client) -> Client:
    """A client that is connected, as a `WaitForClient`."""
    return client


def limits_for(clients: Iterable[Client], limits: Limits) -> Limits:
    """The limits of a match; people get more time, unless the limits say how much."""
    if limits.people is None and any(client.is_person for client in clients):
        return msgspec.structs.replace(limits, people=max(limits.move, PERSON_TIMEOUT_S))
    return limits


def offer_status(offer: Offer) -> OfferStatus:
    """The public status of an offer."""
    return OfferStatus(offer.game, offer.rules().public_parameters(), offer.min_players, offer.max_players)


def current_room_status(room: Room) -> RoomStatus:
    """The public status of a room."""
    seq, spectators = 0 if room.hub.last is None else room.hub.last.seq, room.hub.watcher_count
    return room_status(room.id, room.name, room.match, stage=room.stage, seq=seq, spectators=spectators)
