"""Queue the clients that wait for a room, and open one when a table is full or its waiting time is up."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from random import SystemRandom

from fairplay.server.attendance import Attendance
from fairplay.server.client import Client
from fairplay.server.matchmaking import ROOMS_PER_PENALTY, Trust, WaitingClient, form_tables
from fairplay.server.settings import Offer

OpenRoom = Callable[[Offer, list[Client]], None]  # takes the clients in the order of their seats
SYSTEM_RANDOM = SystemRandom()


class Queue:
    """The clients that wait to play one of the offered games."""

    def __init__(self, offer: Offer, open_room: OpenRoom, attendance: Attendance) -> None:
        self.offer = offer
        self.waiting: dict[str, Client] = {}
        self._open_room = open_room
        self._attendance = attendance
        self._room_count = 0
        self._rooms_at_arrival: dict[str, int] = {}  # the room count when a client came, by its id
        self._alarm: asyncio.TimerHandle | asyncio.Handle | None = None

    def add(self, client: Client) -> None:
        """Queue a client; all that come in the same moment are considered together."""
        self.waiting[client.id] = client
        self._rooms_at_arrival[client.id] = self._room_count
        self.close()
        self._alarm = asyncio.get_running_loop().call_soon(self.open_ready_rooms)

    def remove(self, client: Client) -> None:
        """Forget a client, if it waits here."""
        self.waiting.pop(client.id, None)
        self._rooms_at_arrival.pop(client.id, None)

    def open_ready_rooms(self) -> None:
        """Open rooms for the clients that can begin, and set the alarm for the others."""
        offer, now = self.offer, asyncio.get_running_loop().time()
        waiting = [self._waiting_client(client, now) for client in self.waiting.values()]
        tables = form_tables(
            waiting,
            now,
            min_players=offer.min_players,
            max_players=offer.max_players,
            wait=offer.wait,
            policy=offer.policy,
            has_fill=bool(offer.fill),
            random=SYSTEM_RANDOM,
        )
        for table in tables:
            clients = [self.waiting[one.id] for one in table]
            for client in clients:
                self.remove(client)
            self._room_count += all(one.trust is Trust.FULL for one in table)
            self._open_room(offer, sorted(clients, key=lambda client: client.number))
        self._set_alarm([one for one in waiting if one.id in self.waiting], now)

    def close(self) -> None:
        """Open no more rooms."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _waiting_client(self, client: Client, now: float) -> WaitingClient:
        """A client as matchmaking sees it; enough rooms opened without a suspect end its penalty."""
        trust, vanish_count = self._attendance.trust(client, now), self._attendance.vanish_count(client, now)
        if self._room_count - self._rooms_at_arrival[client.id] >= ROOMS_PER_PENALTY * vanish_count:
            trust = Trust.FULL
        return WaitingClient(client.id, client.free_since, client.met, trust, vanish_count)

    def _set_alarm(self, waiting: Sequence[WaitingClient], now: float) -> None:
        self.close()
        due = [at for one in waiting for at in (one.since + self.offer.wait, one.ready_at, one.mixes_at)]
        due = [at for at in due if at > now]
        if due:  # else there are too few clients, and a new one sets it again
            self._alarm = asyncio.get_running_loop().call_at(min(due), self.open_ready_rooms)


class Lobby:
    """The queues of a server, one for each offered game."""

    def __init__(self, offers: Sequence[Offer], open_room: OpenRoom, attendance: Attendance) -> None:
        self.queues = [Queue(offer, open_room, attendance) for offer in offers]

    def refusal(self, client: Client) -> str:
        """Why a client cannot play here; empty: it can. A client that names no game plays any."""
        known = ["", *(queue.offer.game for queue in self.queues)]
        return "" if client.game in known else f"{client.game} is not played here"

    def add(self, client: Client) -> None:
        """Queue a client for its game, or where the fewest players are missing; it leaves any other queue."""
        self.remove(client)
        queues = [queue for queue in self.queues if client.game in ("", queue.offer.game)]
        min(queues, key=lambda queue: queue.offer.min_players - len(queue.waiting)).add(client)

    def remove(self, client: Client) -> None:
        """Forget a client, if it waits here."""
        for queue in self.queues:
            queue.remove(client)

    def __iter__(self) -> Iterator[Client]:
        for queue in self.queues:
            yield from queue.waiting.values()

    def close(self) -> None:
        """Open no more rooms."""
        for queue in self.queues:
            queue.close()
