"""Seat players at every distance at the table of one match."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import AsyncChannel, Parting
from fairplay.players.bot_log import open_log
from fairplay.players.door import Door, Guest, listen_tcp, listen_websocket
from fairplay.players.location import Command, House, Invitation, Location, Near, Person
from fairplay.players.person import AtTerminal
from fairplay.players.process import Program
from fairplay.players.remote import DEFAULT, Remote
from fairplay.players.thinking import Thinker
from fairplay.protocol.limits import Limits, for_people
from fairplay.protocol.wire import LONGEST_NAME
from fairplay.referee.changes import TellsChanges
from fairplay.referee.closing import close_all_async
from fairplay.referee.host import complain, distinct
from fairplay.referee.local import Local
from fairplay.render.text import printable
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.measures import wrap

OPEN = Sandbox(Level.NONE)


class Seating(NamedTuple):
    """Who sits at a table once everybody is there."""

    channels: Mapping[Seat, AsyncChannel]
    names: Mapping[Seat, str]  # of those guests who said one
    enforced: Mapping[Seat, str]  # what keeps programs in


class Table:
    """Places for the seats of one match, made ready before anything is recorded: whatever is wrong is said at once.

    Programs are started, and doors answered, when the players sit down. Use it in a `with` statement.
    """

    def __init__(
        self,
        locations: Mapping[Seat, Location],
        *,
        limits: Limits = DEFAULT,
        sandbox: Sandbox = OPEN,
        logs: str | None = None,  # the folder where what programs say on stderr is kept; None: nowhere
        tell: Callable[[str], None] = complain,
    ) -> None:
        self._locations = locations
        self._limits = limits
        self._sandbox = sandbox
        self._logs = logs
        self._tell = tell
        self.doors: dict[Invitation, Door] = {}  # where somebody may come in
        self._undo = ExitStack()
        for location in locations.values():
            if isinstance(location, Command):
                wrap(location.words, sandbox)
        invitations = dict.fromkeys(one for one in locations.values() if isinstance(one, Invitation))
        if invitations:
            with self._undo:
                for invitation in invitations:
                    self.doors[invitation] = self._undo.enter_context(door_at(invitation))
                self._undo = self._undo.pop_all()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    async def seated(
        self,
        game: Game[Any, Any, Any],
        *,
        match_id: str = "",
        took: Mapping[Seat, Sequence[float]] | None = None,
        names: Sequence[str] = (),
        clock: Callable[[], float],
    ) -> Seating:
        """Wait until everybody sits, or cannot be had; who did not come is answered for by GONE.

        If a match is resumed, `took` has how long each turn of a player took before. A guest sits where somebody of its
        name is to sit, or sat before, if that is said by `names`, by which the logs of programs are called too. Whoever
        is given the channels has to close them.
        """
        before = took or {}
        channels: dict[Seat, AsyncChannel] = {}
        said: dict[Seat, str] = {}
        enforced: dict[Seat, str] = {}
        people = sum(isinstance(location, Person) for location in self._locations.values())

        async def start(seat: Seat, command: Command) -> None:
            log = open_log(self._logs, names[seat], match_id) if names else None
            program = await Program.start(command.words, sandbox=self._sandbox, log=log)
            remote = Remote(program, game, match_id=match_id, limits=self._limits, took=before.get(seat, ()))
            channels[seat] = remote
            enforced[seat] = program.enforced
            await remote.hello()

        async def sit_down(seat: Seat, person: Person) -> None:
            line = await AtTerminal.start(person.option, shared=people > 1)
            limits = for_people(self._limits)
            remote = Remote(line, game, match_id=match_id, limits=limits, took=before.get(seat, ()))
            channels[seat] = remote
            await remote.hello()

        async def let_in(invitation: Invitation) -> None:
            seats = [seat for seat, location in sorted(self._locations.items()) if location == invitation]
            door, limits = self.doors[invitation], self._limits
            self._tell(f"waiting for {len(seats)} at {invitation.scheme}://{door.address}")
            guests = await door.seat(game, len(seats), match_id=match_id, limits=limits, within=limits.arrival)
            for seat, guest in placed(guests, {seat: names[seat] if names else "" for seat in seats}).items():
                channels[seat] = guest.remote
                guest.remote.had_turns(before.get(seat, ()))
                if guest.name:
                    said[seat] = guest.name
                    self._tell(f"{printable(guest.name, LONGEST_NAME)} takes seat {seat}")

        cancelling = task_here().cancelling()
        try:
            async with asyncio.TaskGroup() as together:
                for seat, location in self._locations.items():
                    if isinstance(location, Command):
                        together.create_task(start(seat, location))
                    elif isinstance(location, Person):
                        together.create_task(sit_down(seat, location))
                    elif isinstance(location, House):
                        channels[seat] = Thinker(location.game, location.address, location.key, clock)
                    elif isinstance(location, Near):
                        channels[seat] = Here(Local(location.player, game, clock))
                for invitation in self.doors:
                    together.create_task(let_in(invitation))
        except BaseException as error:  # nothing comes of the match
            if isinstance(error, BaseExceptionGroup):
                forget_cancellations(cancelling)
            await close_all_async(channels.values())
            raise (error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error) from None
        return Seating(channels, said, enforced)


class Gathering(Table):
    """A table of those who are here already, and whose channels are known."""

    def __init__(self, channels: Mapping[Seat, AsyncChannel]) -> None:
        super().__init__({})
        self._channels = channels

    async def seated(self, game: Game[Any, Any, Any], **_: Any) -> Seating:
        """Everybody sits."""
        return Seating(self._channels, {}, {})


def task_here() -> asyncio.Task[Any]:
    """The task that runs."""
    task = asyncio.current_task()
    assert task is not None
    return task


def forget_cancellations(but: int) -> None:
    """Forget those with which a group of tasks has called us off: nobody else wanted that."""
    while task_here().cancelling() > but:
        task_here().uncancel()


class Here(TellsChanges):
    """A player in this process, at a table where others are not."""

    def __init__(self, channel: Local) -> None:
        self._channel = channel
        self.changed = channel.changed

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, parting: Parting) -> None:
        self._channel.close(parting)


def door_at(invitation: Invitation) -> Door:
    """A door that is open from now on."""
    if invitation.scheme == "tcp":
        return listen_tcp(invitation.place)
    if invitation.scheme == "visitor":
        raise BadRequest(f"who came to a server as {invitation.place} cannot be sent for from here")
    return listen_websocket(invitation.place)


def placed(guests: Sequence[Guest], names: Mapping[Seat, str]) -> dict[Seat, Guest]:
    """Who sits where: guests on the seats of their names, all others on what is left, in the order in which they came.

    Names are no proof of anything: this keeps those apart who mean well.
    """
    left, seating = dict(names), dict[Seat, Guest]()
    for guest in guests:
        own = [seat for seat, name in left.items() if guest.name is not None and name == guest.name]
        for seat in own[:1]:
            seating[seat] = guest
            del left[seat]
    others = [guest for guest in guests if not any(guest is one for one in seating.values())]
    return {**seating, **dict(zip(left, others, strict=True))}


def called(labels: Sequence[str], addresses: Sequence[str], own: Mapping[Seat, str]) -> tuple[str, ...]:
    """What people are called: by the host's label; where it gave none, by the name that a guest gave itself.

    >>> called(("tcp:4000", "ann", "tcp:4000-2"), ("tcp:4000", "tcp:4000", "tcp:4000"), {0: "ann", 1: "bob"})
    ('ann-2', 'ann', 'tcp:4000-2')
    """
    names = dict(enumerate(labels))
    free = {
        seat: name
        for seat, name in sorted(own.items())
        if labels[seat] == addresses[seat] or labels[seat].startswith(f"{addresses[seat]}-")
    }
    taken = [name for seat, name in names.items() if seat not in free]
    names.update(zip(free, distinct(list(free.values()), taken), strict=True))
    return tuple(names[seat] for seat in range(len(labels)))
