"""Seat the visitors of a house for one match: those who are here, and those who come back to what was interrupted."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakSet

from fairplay.core.events import Ejected, Fault, Receipt
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.roles import AsyncChannel, LastingChannel, Parting
from fairplay.hosting.table import Seating, Table
from fairplay.players.door import Nobody
from fairplay.players.location import Location
from fairplay.players.remote import Remote
from fairplay.protocol.limits import Limits, for_people
from fairplay.referee.closing import close_all_async
from fairplay.server.visitor import Visitor

AWAY = (Fault.GONE, Fault.TIMED_OUT)  # the faults of clients that are not there
A_MOMENT = 0.01  # seconds between two looks whether somebody still has to answer
Awaited = Callable[[], Awaitable[Visitor | None]]  # who is to sit here, once it is there; None: it does not come


class SomebodyLeft(Exception):
    """Clients that were to play have left before the match began, of which nothing is on record then."""


class Pause:
    """Lets a house stop between two questions: those that are open are answered, and no other is asked."""

    def __init__(self) -> None:
        self.is_on = False
        self.seated: WeakSet[Seated] = WeakSet()

    async def begin(self, within: float) -> None:
        """Ask nobody any more, and come back when nobody is there who has to answer, or after so many seconds."""
        self.is_on = True
        for seated in self.seated:
            seated.held = True
        until = asyncio.get_running_loop().time() + within
        while any(seated.has_to_answer for seated in self.seated) and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(A_MOMENT)


class Seated(Remote, LastingChannel):
    """A channel to a visitor for one match. Who is out is cut off; all others stay for the next match."""

    def __init__(
        self,
        visitor: Visitor,
        game: Game[Any, Any, Any],
        pause: Pause,
        vanished: Callable[[Visitor], None],
        **options: Any,
    ) -> None:
        super().__init__(visitor.line, game, nonces=visitor.nonces, changes=visitor.changes, **options)
        self._visitor = visitor
        self._vanished = vanished
        self.held = pause.is_on
        pause.seated.add(self)

    @property
    def has_to_answer(self) -> bool:
        """Is it asked, and is it there?"""
        return self.is_asking and self._visitor.line.is_there

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer; if nobody is asked any more, this waits to be called off."""
        if self.held:
            await asyncio.get_running_loop().create_future()
        return await super().ask(message)

    def part(self, parting: Parting | Failed) -> bool:
        """Hand over a receipt, if there is one. False: the line has to be cut."""
        if isinstance(parting, Ejected) or self._broken is not None:
            return False
        if isinstance(parting, Receipt):
            self._line.offer(self._last_words(parting))
        return True

    async def close(self, parting: Parting | Failed) -> float | None:
        """Say why, and cut the line; or hand over a receipt."""
        if isinstance(parting, Ejected) and parting.moment is Moment.GREETING and parting.fault in AWAY:
            self._vanished(self._visitor)
        return None if self.part(parting) else await super().close(parting)


class Excused:
    """A channel to somebody who did not come back to a match that is over: it may well have heard so, and left."""

    async def ask(self, message: Message) -> Answer:
        """Nobody is told, and nobody is missed."""
        return Answered(None)

    async def close(self, parting: Parting) -> None:
        """There is nothing to cut."""


class VisitorsTable(Table):
    """A table at which visitors sit, and whoever else is of this machine."""

    def __init__(
        self,
        others: Mapping[Seat, Location],
        visitors: Mapping[Seat, Awaited],
        pause: Pause,
        limits: Limits,
        *,
        is_over: bool,  # is nothing left but to tell the result?
        vanished: Callable[[Visitor], None],  # is told of clients that do not stay until their first turn
    ) -> None:
        super().__init__(others, limits=limits)
        self._vanished = vanished
        self._visitors = visitors
        self._is_over = is_over
        self._pause = pause

    async def seated(self, game: Game[Any, Any, Any], **known: Any) -> Seating:
        """Wait until everybody sits, or does not come. Raises SomebodyLeft if one of those who were here does not."""
        before = known.get("took") or {}
        seating = await super().seated(game, **known)
        channels: dict[Seat, AsyncChannel] = dict(seating.channels)
        left: list[str] = []

        async def sit_down(seat: Seat, awaited: Awaited) -> None:
            visitor = await awaited()
            limits = self._limits
            if visitor is not None and visitor.person and limits.people is not None:
                limits = for_people(limits)
            options: Any = {"match_id": known["match_id"], "limits": limits, "took": before.get(seat, ())}
            if visitor is None:
                channels[seat] = Excused() if self._is_over else Remote(Nobody(), game, **options)
                return
            channels[seat] = seated = Seated(visitor, game, self._pause, self._vanished, **options)
            answer = await seated.hello()
            if not visitor.sits and isinstance(answer, Failed) and answer.fault is Fault.GONE:
                left.append(visitor.name)
                self._vanished(visitor)
            visitor.sits = True

        try:
            async with asyncio.TaskGroup() as together:
                for seat, awaited in self._visitors.items():
                    together.create_task(sit_down(seat, awaited))
            if left:
                raise SomebodyLeft(", ".join(left))
        except BaseException:
            await close_all_async(channels.values())
            raise
        return Seating(channels, seating.names, seating.enforced)
