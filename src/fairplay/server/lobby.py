"""Keep those who wait for a room, and open one as soon as a table is full or its time is up."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from random import SystemRandom

from fairplay.server.attendance import Attendance
from fairplay.server.matchmaking import ROOMS_PER_PENALTY, Trust, Waiting, tables
from fairplay.server.settings import Offer
from fairplay.server.visitor import Visitor

Open = Callable[[Offer, list[Visitor]], None]  # opens a room for these, in the order of their seats
LOTS = SystemRandom()


class Queue:
    """Those who wait to play one of the games that are offered."""

    def __init__(self, offer: Offer, open_room: Open, attendance: Attendance) -> None:
        self.offer = offer
        self.waiting: dict[str, Visitor] = {}
        self._open = open_room
        self._attendance = attendance
        self._opened = 0  # rooms
        self._came: dict[str, int] = {}  # how many rooms were open when somebody came, by its id
        self._alarm: asyncio.TimerHandle | asyncio.Handle | None = None

    def add(self, visitor: Visitor) -> None:
        """Let somebody wait from now on; all that come in the same moment are looked at together."""
        self.waiting[visitor.id] = visitor
        self._came[visitor.id] = self._opened
        self.close()
        self._alarm = asyncio.get_running_loop().call_soon(self.look)

    def remove(self, visitor: Visitor) -> None:
        """Let somebody go."""
        self.waiting.pop(visitor.id, None)
        self._came.pop(visitor.id, None)

    def look(self) -> None:
        """Open rooms for those who can begin, and look again when the time of the others is up."""
        offer, now = self.offer, asyncio.get_running_loop().time()
        waiting = [self._seen(visitor, now) for visitor in self.waiting.values()]
        found = tables(
            waiting,
            now,
            least=offer.least,
            most=offer.most,
            wait=offer.wait,
            policy=offer.policy,
            filled=bool(offer.fill),
            random=LOTS,
        )
        for table in found:
            visitors = [self.waiting[one.id] for one in table]
            for visitor in visitors:
                self.remove(visitor)
            self._opened += all(one.trust is Trust.FULL for one in table)
            self._open(offer, sorted(visitors, key=lambda visitor: visitor.number))
        self._set_alarm([one for one in waiting if one.id in self.waiting], now)

    def close(self) -> None:
        """Open no room any more."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _seen(self, visitor: Visitor, now: float) -> Waiting:
        """Somebody who waits; rooms that opened without a suspect make up for its penalty."""
        trust, vanished = self._attendance.trust(visitor, now), self._attendance.vanished(visitor, now)
        if self._opened - self._came[visitor.id] >= ROOMS_PER_PENALTY * vanished:
            trust = Trust.FULL
        return Waiting(visitor.id, visitor.free_since, visitor.met, trust, vanished)

    def _set_alarm(self, waiting: Sequence[Waiting], now: float) -> None:
        self.close()
        due = [at for one in waiting for at in (one.since + self.offer.wait, one.sits_at, one.mixes_at)]
        due = [at for at in due if at > now]
        if due:  # else there are too few of them, and somebody has to come
            self._alarm = asyncio.get_running_loop().call_at(min(due), self.look)


class Lobby:
    """Where visitors wait, each for one of the games that a house offers."""

    def __init__(self, offers: Sequence[Offer], open_room: Open, attendance: Attendance) -> None:
        self.queues = [Queue(offer, open_room, attendance) for offer in offers]

    def refusal(self, visitor: Visitor) -> str:
        """Why somebody cannot play here; empty: it can. Whoever names no game plays any."""
        known = ["", *(queue.offer.game for queue in self.queues)]
        return "" if visitor.game in known else f"{visitor.game} is not played here"

    def add(self, visitor: Visitor) -> None:
        """Let somebody wait, in one place only: where it wants to now, or where the next room is nearest."""
        self.remove(visitor)
        queues = [queue for queue in self.queues if visitor.game in ("", queue.offer.game)]
        min(queues, key=lambda queue: queue.offer.least - len(queue.waiting)).add(visitor)

    def remove(self, visitor: Visitor) -> None:
        """Let somebody go."""
        for queue in self.queues:
            queue.remove(visitor)

    def __iter__(self) -> Iterator[Visitor]:
        for queue in self.queues:
            yield from queue.waiting.values()

    def close(self) -> None:
        """Open no room any more."""
        for queue in self.queues:
            queue.close()
