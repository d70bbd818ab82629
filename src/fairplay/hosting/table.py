"""Seat players at every distance at the table of one match."""

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
from fairplay.sandbox.protections import wrap_command

NO_SANDBOX = SandboxPolicy(SandboxLevel.NONE)


class Seating(NamedTuple):
    """Who sits at a table once everybody is there."""

    channels: Mapping[Seat, AsyncChannel]
    names: Mapping[Seat, str]  # of those guests who said one
    enforced: Mapping[Seat, str]  # what keeps programs in


class Table:
    """Places for the seats of one match, made ready before anything is recorded: whatever is wrong is said at once.

    Programs are started, and listeners answered, when the players sit down. Use it in a `with` statement.
    """

    def __init__(
        self,
        locations: Mapping[Seat, Location],
        *,
        limits: Limits = DEFAULT_LIMITS,
        sandbox: SandboxPolicy = NO_SANDBOX,
        logs: str | None = None,  # the directory where what programs say on stderr is kept; None: nowhere
        tell: Callable[[str], None] = print_warning,
    ) -> None:
        self._locations = locations
        self._limits = limits
        self._sandbox = sandbox
        self._logs = logs
        self._tell = tell
        self.listeners: dict[ListenAddress, Listener] = {}  # where somebody may come in
        self._cleanup = ExitStack()
        for location in locations.values():
            if isinstance(location, Command):
                wrap_command(location.words, sandbox)
        invitations = dict.fromkeys(one for one in locations.values() if isinstance(one, ListenAddress))
        if invitations:
            with self._cleanup:
                for invitation in invitations:
                    self.listeners[invitation] = self._cleanup.enter_context(open_listener(invitation))
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
        """Wait until everybody sits, or cannot be had; who did not come is answered for by GONE.

        If a match is resumed, `turn_times` has how long each turn of a player took before. A guest sits where somebody
        of its name is to sit, or sat before, if that is said by `names`, by which the logs of programs are called too.
        Whoever is given the channels has to close them.
        """
        before = turn_times or {}
        channels: dict[Seat, AsyncChannel] = {}
        said: dict[Seat, str] = {}
        enforced: dict[Seat, str] = {}
        people = sum(isinstance(location, Person) for location in self._locations.values())

        async def start(seat: Seat, command: Command) -> None:
            log = open_log(self._logs, names[seat], match_id) if names else None
            program = await ProgramConnection.start(command.words, sandbox=self._sandbox, log=log)
            remote = RemoteChannel(program, game, match_id=match_id, limits=self._limits, took=before.get(seat, ()))
            channels[seat] = remote
            enforced[seat] = program.enforced
            await remote.hello()

        async def sit_down(seat: Seat, person: Person) -> None:
            line = await TerminalConnection.start(person.option, shared=people > 1)
            limits = limits_for_person(self._limits)
            remote = RemoteChannel(line, game, match_id=match_id, limits=limits, took=before.get(seat, ()))
            channels[seat] = remote
            await remote.hello()

        async def let_in(invitation: ListenAddress) -> None:
            seats = [seat for seat, location in sorted(self._locations.items()) if location == invitation]
            listener, limits = self.listeners[invitation], self._limits
            self._tell(f"waiting for {len(seats)} at {invitation.scheme}://{listener.address}")
            guests = await listener.accept_players(
                game, len(seats), match_id=match_id, limits=limits, timeout_s=limits.arrival
            )
            for seat, guest in assign_seats(guests, {seat: names[seat] if names else "" for seat in seats}).items():
                channels[seat] = guest.channel
                guest.channel.charge_past_turns(before.get(seat, ()))
                if guest.name:
                    said[seat] = guest.name
                    self._tell(f"{printable(guest.name, MAX_NAME_CHARS)} takes seat {seat}")

        cancelling = current_task().cancelling()
        try:
            async with asyncio.TaskGroup() as together:
                for seat, location in self._locations.items():
                    if isinstance(location, Command):
                        together.create_task(start(seat, location))
                    elif isinstance(location, Person):
                        together.create_task(sit_down(seat, location))
                    elif isinstance(location, BuiltInAddress):
                        channels[seat] = PooledChannel(location.game, location.address, location.key, clock)
                    elif isinstance(location, LocalAddress):
                        channels[seat] = AsyncLocalChannel(LocalChannel(location.player, game, clock))
                for invitation in self.listeners:
                    together.create_task(let_in(invitation))
        except BaseException as error:  # nothing comes of the match
            if isinstance(error, BaseExceptionGroup):
                undo_cancellations(cancelling)
            await close_all_async(channels.values())
            raise (error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error) from None
        return Seating(channels, said, enforced)


class ConnectedTable(Table):
    """A table of those who are here already, and whose channels are known."""

    def __init__(self, channels: Mapping[Seat, AsyncChannel]) -> None:
        super().__init__({})
        self._channels = channels

    async def seat_players(self, game: Game[Any, Any, Any], **_: Any) -> Seating:
        """Everybody sits."""
        return Seating(self._channels, {}, {})


def current_task() -> asyncio.Task[Any]:
    """The task that runs."""
    task = asyncio.current_task()
    assert task is not None
    return task


def undo_cancellations(remaining: int) -> None:
    """Forget those with which a group of tasks has called us off: nobody else wanted that."""
    while current_task().cancelling() > remaining:
        current_task().uncancel()


class AsyncLocalChannel(ChangeListener):
    """A player in this process, at a table where others are not."""

    def __init__(self, channel: LocalChannel) -> None:
        self._channel = channel
        self.on_change = channel.on_change

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def open_listener(invitation: ListenAddress) -> Listener:
    """A listener that is open from now on."""
    if invitation.scheme == "tcp":
        return listen_tcp(invitation.place)
    if invitation.scheme == "client":
        raise BadRequest(f"who came to a server as {invitation.place} cannot be sent for from here")
    return listen_websocket(invitation.place)


def assign_seats(guests: Sequence[ConnectedPlayer], names: Mapping[Seat, str]) -> dict[Seat, ConnectedPlayer]:
    """Who sits where: guests on the seats of their names, all others on what is left, in the order in which they came.

    Names are no proof of anything: this keeps those apart who mean well.
    """
    left, seating = dict(names), dict[Seat, ConnectedPlayer]()
    for guest in guests:
        own = [seat for seat, name in left.items() if guest.name is not None and name == guest.name]
        for seat in own[:1]:
            seating[seat] = guest
            del left[seat]
    others = [guest for guest in guests if not any(guest is one for one in seating.values())]
    return {**seating, **dict(zip(left, others, strict=True))}


def resolve_names(labels: Sequence[str], addresses: Sequence[str], own: Mapping[Seat, str]) -> tuple[str, ...]:
    """What people are called: by the host's label; where it gave none, by the name that a guest gave itself.

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
