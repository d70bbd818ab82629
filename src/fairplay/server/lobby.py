"""Keep those who wait for a room, and open one as soon as a table is full or its time is up."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from random import SystemRandom

from fairplay.server.matchmaking import Waiting, tables
from fairplay.server.settings import Offer
from fairplay.server.visitor import Visitor

Open = Callable[[Offer, list[Visitor]], None]  # opens a room for these, in the order of their seats
LOTS = SystemRandom()


class Queue:
    """Those who wait to play one of the games that are offered."""

    def __init__(self, offer: Offer, open_room: Open) -> None:
        self.offer = offer
        self.waiting: dict[str, tuple[Visitor, Waiting]] = {}
        self._open = open_room
        self._alarm: asyncio.TimerHandle | None = None

    def add(self, visitor: Visitor) -> None:
        """Let somebody wait from now on."""
        now = asyncio.get_running_loop().time()
        self.waiting[visitor.id] = visitor, Waiting(visitor.id, now, visitor.met)
        self.look()

    def remove(self, visitor: Visitor) -> None:
        """Let somebody go."""
        self.waiting.pop(visitor.id, None)

    def look(self) -> None:
        """Open rooms for those who can begin, and look again when the time of the others is up."""
        offer, now = self.offer, asyncio.get_running_loop().time()
        found = tables(
            [one for _, one in self.waiting.values()],
            now,
            least=offer.least,
            most=offer.most,
            wait=offer.wait,
            policy=offer.policy,
            filled=bool(offer.fill),
            random=LOTS,
        )
        for table in found:
            visitors = [self.waiting.pop(one.id)[0] for one in table]
            self._open(offer, sorted(visitors, key=lambda visitor: visitor.number))
        self._set_alarm(now)

    def close(self) -> None:
        """Open no room any more."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _set_alarm(self, now: float) -> None:
        self.close()
        due = [one.since + self.offer.wait for _, one in self.waiting.values()]
        if due and min(due) > now:  # else there are too few of them, and somebody has to come
            self._alarm = asyncio.get_running_loop().call_at(min(due), self.look)


class Lobby:
    """Where visitors wait, each for one of the games that a house offers."""

    def __init__(self, offers: Sequence[Offer], open_room: Open) -> None:
        self.queues = [Queue(offer, open_room) for offer in offers]

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
            for visitor, _ in queue.waiting.values():
                yield visitor

    def close(self) -> None:
        """Open no room any more."""
        for queue in self.queues:
            queue.close()
