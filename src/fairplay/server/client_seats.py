"""Seat clients for one match: those that are connected, and those that come back to an interrupted match."""

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

ABSENCE_FAULTS = (Fault.GONE, Fault.TIMED_OUT)  # of absent clients
ANSWER_POLL_INTERVAL_S = 0.01  # while the server stops, and some answers are due
WaitForClient = Callable[[], Awaitable[Client | None]]  # the client of a seat; None: it does not come


class ClientsLeft(Exception):
    """Clients left before the match began, so there is no record of it."""


class Pause:
    """Stops a server between two questions: open ones may be answered, and no other is asked."""

    def __init__(self) -> None:
        self.is_on = False
        self.channels: WeakSet[ClientChannel] = WeakSet()

    async def begin(self, timeout_s: float) -> None:
        """Ask no more questions, and wait until the open ones are answered, up to a timeout."""
        self.is_on = True
        for channel in self.channels:
            channel.is_paused = True
        until = asyncio.get_running_loop().time() + timeout_s
        while any(channel.must_answer for channel in self.channels) and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(ANSWER_POLL_INTERVAL_S)


class ClientChannel(RemoteChannel, PersistentChannel):
    """A channel to a client for one match. An ejected client is disconnected; all others stay for the next match."""

    def __init__(
        self,
        client: Client,
        game: Game[Any, Any, Any],
        pause: Pause,
        on_vanished: Callable[[Client], None],
        **options: Any,
    ) -> None:
        super().__init__(client.connection, game, nonces=client.nonces, changes=client.wants_changes, **options)
        self._client = client
        self._on_vanished = on_vanished
        self.is_paused = pause.is_on
        pause.channels.add(self)

    @property
    def must_answer(self) -> bool:
        """Has it an open question, and is it connected?"""
        return self.is_asking and self._client.connection.is_connected

    async def ask(self, message: Message) -> Answer:
        """Ask, and wait for the answer; while the server stops, wait to be cancelled instead."""
        if self.is_paused:
            await asyncio.get_running_loop().create_future()
        return await super().ask(message)

    def try_close(self, reason: CloseReason | Failed) -> bool:
        """Send the receipt, if there is one. False: the connection has to be closed."""
        if isinstance(reason, Ejected) or self._failed_answer is not None:
            return False
        if isinstance(reason, Receipt):
            self._connection.offer(self._last_message(reason))
        return True

    async def close(self, reason: CloseReason | Failed) -> float | None:
        """Say why and close the connection, or send the receipt and keep it open."""
        if isinstance(reason, Ejected) and reason.moment is Moment.GREETING and reason.fault in ABSENCE_FAULTS:
            self._on_vanished(self._client)
        return None if self.try_close(reason) else await super().close(reason)


class AbsentClientChannel:
    """A channel to a client that did not come back to a match that is over: it may have heard the result before."""

    async def ask(self, message: Message) -> Answer:
        """Answer at once, as the client may be absent."""
        return Answered(None)

    async def close(self, reason: CloseReason) -> None:
        """Do nothing: there is no connection."""


class ClientsTable(Table):
    """A table for clients and for players of this machine."""

    def __init__(
        self,
        others: Mapping[Seat, Location],
        clients: Mapping[Seat, WaitForClient],
        pause: Pause,
        limits: Limits,
        *,
        is_over: bool,  # only the result has still to be sent
        on_vanished: Callable[[Client], None],  # for clients that leave before their first turn
    ) -> None:
        super().__init__(others, limits=limits)
        self._on_vanished = on_vanished
        self._clients = clients
        self._is_over = is_over
        self._pause = pause

    async def seat_players(self, game: Game[Any, Any, Any], **known: Any) -> Seating:
        """Wait until all clients are seated or absent. Raises ClientsLeft if one that was given a seat here left."""
        before = known.get("turn_times") or {}
        seating = await super().seat_players(game, **known)
        channels: dict[Seat, AsyncChannel] = dict(seating.channels)
        left: list[str] = []

        async def seat_client(seat: Seat, wait_for_client: WaitForClient) -> None:
            client = await wait_for_client()
            limits = self._limits
            if client is not None and client.is_person and limits.people is not None:
                limits = limits_for_person(limits)
            options: Any = {"match_id": known["match_id"], "limits": limits, "took": before.get(seat, ())}
            if client is None:
                channels[seat] = (
                    AbsentClientChannel() if self._is_over else RemoteChannel(AbsentConnection(), game, **options)
                )
                return
            channels[seat] = channel = ClientChannel(client, game, self._pause, self._on_vanished, **options)
            answer = await channel.hello()
            if not client.is_seated and isinstance(answer, Failed) and answer.fault is Fault.GONE:
                left.append(client.name)
                self._on_vanished(client)
            client.is_seated = True

        try:
            async with asyncio.TaskGroup() as together:
                for seat, wait_for_client in self._clients.items():
                    together.create_task(seat_client(seat, wait_for_client))
            if left:
                raise ClientsLeft(", ".join(left))
        except BaseException:
            await close_all_async(channels.values())
            raise
        return Seating(channels, seating.names, seating.enforced)
