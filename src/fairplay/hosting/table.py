"""Seat the players of one match: local ones, programs, people and network clients."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import AsyncChannel, CloseReason
from fairplay.players.bot_log import open_log
from fairplay.players.listener import ConnectedPlayer, Listener, listen_tcp, listen_websocket
from fairplay.players.location import BuiltInAddress, Command, ListenAddress, LocalAddress, Location, Person
from fairplay.players.person import TerminalConnection
from fairplay.players.process import ProgramConnection
from fairplay.players.process_pool import PooledChannel
from fairplay.players.remote import DEFAULT_LIMITS, RemoteChannel
from fairplay.protocol.limits import Limits, limits_for_person
from fairplay.protocol.wire import MAX_NAME_CHARS
from fairplay.referee.changes import ChangeListener
from fairplay.referee.closing import close_all_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import distinct_names, print_warning
from fairplay.render.text import printable
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.protections import check_command

NO_SANDBOX = SandboxPolicy(SandboxLevel.NONE)


class Seating(NamedTuple):
    """The seated players of a match."""

    channels: Mapping[Seat, AsyncChannel]
    names: Mapping[Seat, str]  # of network players that gave one
    enforced: Mapping[Seat, str]  # the protections of each program


class Table:
    """The locations of the players of one match, checked before the record begins.

    `seat_players` starts programs and accepts connections. Use a table in a `with` statement.
    """

    def __init__(
        self,
        locations: Mapping[Seat, Location],
        *,
        limits: Limits = DEFAULT_LIMITS,
        sandbox: SandboxPolicy = NO_SANDBOX,
        logs: str | None = None,  # the directory for what programs write on stderr; None: it is discarded
        tell: Callable[[str], None] = print_warning,
    ) -> None:
        self._locations = locations
        self._limits = limits
        self._sandbox = sandbox
        self._logs = logs
        self._tell = tell
        self.listeners: dict[ListenAddress, Listener] = {}
        self._cleanup = ExitStack()
        for location in locations.values():
            if isinstance(location, Command):
                check_command(location.words, sandbox)
        addresses = dict.fromkeys(one for one in locations.values() if isinstance(one, ListenAddress))
        if addresses:
            with self._cleanup:
                for address in addresses:
                    self.listeners[address] = self._cleanup.enter_context(open_listener(address))
                self._cleanup = self._cleanup.pop_all()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    async def seat_players(
        self,
        game: Game[Any, Any, Any],
        *,
        match_id: str = "",
        turn_times: Mapping[Seat, Sequence[float]] | None = None,
        names: Sequence[str] = (),
        clock: Callable[[], float],
    ) -> Seating:
        """Wait until all players are seated; a player that does not come is GONE.

        `turn_times` has the times of turns before a resumption. `names` are the expected names by seat: a network
        player gets the seat of its name, and the logs of programs are named by them. The caller has to close the
        channels.
        """
        before = turn_times or {}
        channels: dict[Seat, AsyncChannel] = {}
        own_names: dict[Seat, str] = {}
        enforced: dict[Seat, str] = {}
        people = sum(isinstance(location, Person) for location in self._locations.values())

        async def start_program(seat: Seat, command: Command) -> None:
            log = open_log(self._logs, names[seat], match_id) if names else None
            program = await ProgramConnection.start(command.words, sandbox=self._sandbox, log=log)
            remote = RemoteChannel(program, game, match_id=match_id, limits=self._limits, took=before.get(seat, ()))
            channels[seat] = remote
            enforced[seat] = program.enforced
            await remote.hello()

        async def seat_person(seat: Seat, person: Person) -> None:
            terminal = await TerminalConnection.start(person.option, shared=people > 1)
            limits = limits_for_person(self._limits)
            remote = RemoteChannel(terminal, game, match_id=match_id, limits=limits, took=before.get(seat, ()))
            channels[seat] = remote
            await remote.hello()

        async def accept_players(address: ListenAddress) -> None:
            seats = [seat for seat, location in sorted(self._locations.items()) if location == address]
            listener, limits = self.listeners[address], self._limits
            self._tell(f"waiting for {len(seats)} at {address.scheme}://{listener.address}")
            players = await listener.accept_players(
                game, len(seats), match_id=match_id, limits=limits, timeout_s=limits.arrival
            )
            for seat, player in assign_seats(players, {seat: names[seat] if names else "" for seat in seats}).items():
                channels[seat] = player.channel
                player.channel.charge_past_turns(before.get(seat, ()))
                if player.name:
                    own_names[seat] = player.name
                    self._tell(f"{printable(player.name, MAX_NAME_CHARS)} takes seat {seat}")

        cancelling = current_task().cancelling()
        try:
            async with asyncio.TaskGroup() as group:
                for seat, location in self._locations.items():
                    if isinstance(location, Command):
                        group.create_task(start_program(seat, location))
                    elif isinstance(location, Person):
                        group.create_task(seat_person(seat, location))
                    elif isinstance(location, BuiltInAddress):
                        channels[seat] = PooledChannel(location.game, location.address, location.key, clock)
                    elif isinstance(location, LocalAddress):
                        channels[seat] = AsyncLocalChannel(LocalChannel(location.player, game, clock))
                for address in self.listeners:
                    group.create_task(accept_players(address))
        except BaseException as error:  # the match cannot be played
            if isinstance(error, BaseExceptionGroup):
                undo_cancellations(cancelling)
            await close_all_async(channels.values())
            raise (error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error) from None
        return Seating(channels, own_names, enforced)


class ConnectedTable(Table):
    """A table of players that are connected already."""

    def __init__(self, channels: Mapping[Seat, AsyncChannel]) -> None:
        super().__init__({})
        self._channels = channels

    async def seat_players(self, game: Game[Any, Any, Any], **_: Any) -> Seating:
        """Return the players."""
        return Seating(self._channels, {}, {})


def current_task() -> asyncio.Task[Any]:
    """The current task."""
    task = asyncio.current_task()
    assert task is not None
    return task


def undo_cancellations(remaining: int) -> None:
    """Undo the cancellations of this task by a task group, which are not those of a caller."""
    while current_task().cancelling() > remaining:
        current_task().uncancel()


class AsyncLocalChannel(ChangeListener):
    """An async channel to a player in this process."""

    def __init__(self, channel: LocalChannel) -> None:
        self._channel = channel
        self.on_change = channel.on_change

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def open_listener(address: ListenAddress) -> Listener:
    """Open the listener for an address."""
    if address.scheme == "tcp":
        return listen_tcp(address.place)
    if address.scheme == "client":
        raise BadRequest(f"the client {address.place} of a server cannot be seated from here")
    return listen_websocket(address.place)


def assign_seats(players: Sequence[ConnectedPlayer], names: Mapping[Seat, str]) -> dict[Seat, ConnectedPlayer]:
    """Assign network players to seats: by their names, then to the remaining seats in the order of arrival.

    Names prove nothing: this only tells well-meaning players apart.
    """
    left, seating = dict(names), dict[Seat, ConnectedPlayer]()
    for player in players:
        own = [seat for seat, name in left.items() if player.name is not None and name == player.name]
        for seat in own[:1]:
            seating[seat] = player
            del left[seat]
    others = [player for player in players if not any(player is seated for seated in seating.values())]
    return {**seating, **dict(zip(left, others, strict=True))}


def resolve_names(labels: Sequence[str], addresses: Sequence[str], own: Mapping[Seat, str]) -> tuple[str, ...]:
    """The names of the players: the label of the host, or else the name that a network player gave itself.

    >>> resolve_names(("tcp:4000", "ann", "tcp:4000-2"), ("tcp:4000", "tcp:4000", "tcp:4000"), {0: "ann", 1: "bob"})
    ('ann-2', 'ann', 'tcp:4000-2')
    """
    names = dict(enumerate(labels))
    free = {
        seat: name
        for seat, name in sorted(own.items())
        if labels[seat] == addresses[seat] or labels[seat].startswith(f"{addresses[seat]}-")
    }
    taken = [name for seat, name in names.items() if seat not in free]
    names.update(zip(free, distinct_names(list(free.values()), taken), strict=True))
    return tuple(names[seat] for seat in range(len(labels)))
