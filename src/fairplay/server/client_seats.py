"""Seat the clients of a server for one match: those who are here, and those who come back to what was interrupted."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakSet

from fairplay.core.events import Ejected, Fault, Receipt
from fairplay.core.game import Game, Moment, Seat
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.roles import AsyncChannel, CloseReason, PersistentChannel
from fairplay.hosting.table import Seating, Table
from fairplay.players.listener import AbsentConnection
from fairplay.players.location import Location
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits, limits_for_person
from fairplay.referee.closing import close_all_async
from fairplay.server.client import Client

ABSENCE_FAULTS = (Fault.GONE, Fault.TIMED_OUT)  # the faults of clients that are not there
ANSWER_POLL_INTERVAL_S = 0.01  # seconds between two looks whether somebody still has to answer
WaitForClient = Callable[[], Awaitable[Client | None]]  # who is to sit here, once it is there; None: it does not come


class ClientsLeft(Exception):
    """Clients that were to play have left before the match began, of which nothing is on record then."""


class Pause:
    """Lets a server stop between two questions: those that are open are answered, and no other is asked."""

    def __init__(self) -> None:
        self.is_on = False
        self.channels: WeakSet[ClientChannel] = WeakSet()

    async def begin(self, within: float) -> None:
        """Ask nobody any more, and come back when nobody is there who has to answer, or after so many seconds."""
        self.is_on = True
        for seated in self.channels:
            seated.is_paused = True
        until = asyncio.get_running_loop().time() + within
        while any(seated.must_answer for seated in self.channels) and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(ANSWER_POLL_INTERVAL_S)


class ClientChannel(RemoteChannel, PersistentChannel):
    """A channel to a client for one match. Who is out is cut off; all others stay for the next match."""

    def __init__(
        self,
        client: Client,
        game: Game[Any, Any, Any],
        pause: Pause,
        vanished: Callable[[Client], None],
        **options: Any,
    ) -> None:
        super().__init__(client.connection, game, nonces=client.nonces, changes=client.wants_changes, **options)
        self._client = client
        self._on_vanished = vanished
        self.is_paused = pause.is_on
        pause.channels.add(self)

    @property
    def must_answer(self) -> bool:
        """Is it asked, and is it there?"""
        return self.is_asking and self._client.connection.is_connected

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer; if nobody is asked any more, this waits to be called off."""
        if self.is_paused:
            await asyncio.get_running_loop().create_future()
        return await super().ask(message)

    def try_close(self, parting: CloseReason | Failed) -> bool:
        """Hand over a receipt, if there is one. False: the line has to be cut."""
        if isinstance(parting, Ejected) or self._failed_answer is not None:
            return False
        if isinstance(parting, Receipt):
            self._connection.offer(self._last_message(parting))
        return True

    async def close(self, parting: CloseReason | Failed) -> float | None:
        """Say why, and cut the line; or hand over a receipt."""
        if isinstance(parting, Ejected) and parting.moment is Moment.GREETING and parting.fault in ABSENCE_FAULTS:
            self._on_vanished(self._client)
        return None if self.try_close(parting) else await super().close(parting)


class AbsentClientChannel:
    """A channel to somebody who did not come back to a match that is over: it may well have heard so, and left."""

    async def ask(self, message: Message) -> Answer:
        """Nobody is told, and nobody is missed."""
        return Answered(None)

    async def close(self, parting: CloseReason) -> None:
        """There is nothing to cut."""


class ClientsTable(Table):
    """A table at which clients sit, and whoever else is of this machine."""

    def __init__(
        self,
        others: Mapping[Seat, Location],
        clients: Mapping[Seat, WaitForClient],
        pause: Pause,
        limits: Limits,
        *,
        is_over: bool,  # is nothing left but to tell the result?
        on_vanished: Callable[[Client], None],  # is told of clients that do not stay until their first turn
    ) -> None:
        super().__init__(others, limits=limits)
        self._on_vanished = on_vanished
        self._clients = clients
        self._is_over = is_over
        self._pause = pause

    async def seat_players(self, game: Game[Any, Any, Any], **known: Any) -> Seating:
        """Wait until everybody sits, or does not come. Raises ClientsLeft if one of those who were here does not."""
        before = known.get("turn_times") or {}
        seating = await super().seat_players(game, **known)
        channels: dict[Seat, AsyncChannel] = dict(seating.channels)
        left: list[str] = []

        async def sit_down(seat: Seat, awaited: WaitForClient) -> None:
            client = await awaited()
            limits = self._limits
            if client is not None and client.is_person and limits.people is not None:
                limits = limits_for_person(limits)
            options: Any = {"match_id": known["match_id"], "limits": limits, "took": before.get(seat, ())}
            if client is None:
                channels[seat] = (
                    AbsentClientChannel() if self._is_over else RemoteChannel(AbsentConnection(), game, **options)
                )
                return
            channels[seat] = seated = ClientChannel(client, game, self._pause, self._on_vanished, **options)
            answer = await seated.hello()
            if not client.is_seated and isinstance(answer, Failed) and answer.fault is Fault.GONE:
                left.append(client.name)
                self._on_vanished(client)
            client.is_seated = True

        try:
            async with asyncio.TaskGroup() as together:
                for seat, awaited in self._clients.items():
                    together.create_task(sit_down(seat, awaited))
            if left:
                raise ClientsLeft(", ".join(left))
        except BaseException:
            await close_all_async(channels.values())
            raise
        return Seating(channels, seating.names, seating.enforced)
