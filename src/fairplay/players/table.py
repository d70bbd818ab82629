"""Seat players at every distance, and play a match with them."""

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import AsyncChannel, Record
from fairplay.players.address import AnyPlayer
from fairplay.players.door import Door, listen_tcp
from fairplay.players.limits import Limits
from fairplay.players.process import Program
from fairplay.players.remote import DEFAULT, Remote
from fairplay.players.sandbox import Level, Sandbox, wrap
from fairplay.players.wire import LONGEST_NAME
from fairplay.referee.drivers import play_async
from fairplay.referee.host import Referee, complain
from fairplay.referee.local import Local, no_clock
from fairplay.referee.referee import no_receipt
from fairplay.render.text import printable

AnyMatch = Match[Any, Any, Any]
OPEN = Sandbox(Level.NONE)


class Near(msgspec.Struct, frozen=True):
    """A player in this process."""

    player: AnyPlayer


class Command(msgspec.Struct, frozen=True):
    """A program to be started."""

    words: tuple[str, ...]


class Invitation(msgspec.Struct, frozen=True):
    """A place where somebody may come in; the same place can be for several seats."""

    scheme: str  # tcp or ws
    place: str  # PORT or HOST:PORT


Location = Near | Command | Invitation


def far(address: str) -> Command | Invitation | None:
    """Where the player of an address is, if that is not in this process. Raises BadRequest if it is nowhere."""
    scheme, colon, rest = address.partition(":")
    if colon and scheme in ("tcp", "ws"):
        return Invitation(scheme, rest)
    if colon and scheme == "exec":
        return Command(words_in(rest))
    if address.startswith("py:"):
        return None
    if address.endswith(".py"):
        if not Path(address).is_file():
            raise BadRequest(f"there is no Python file {address}")
        return Command((sys.executable, "-P", "-m", "fairplay.bot", address))
    return Command((address,)) if "/" in address else None


def words_in(text: str) -> tuple[str, ...]:
    """The words of a command line, as a shell has them."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BadRequest(f"exec:{text} is no command line: {error}") from None
    if not words:
        raise BadRequest("exec: names no program; write exec:./bot or exec:'./bot --flag'")
    return words


class Table:
    """Places for the seats of one match, made ready before anything is recorded: whatever is wrong is said at once.

    Programs are started, and doors answered, when the match is played. Use it in a `with` statement.
    """

    def __init__(
        self,
        places: Mapping[Seat, Location],
        *,
        limits: Limits = DEFAULT,
        sandbox: Sandbox = OPEN,
        tell: Callable[[str], None] = complain,
    ) -> None:
        self._places = places
        self._limits = limits
        self._sandbox = sandbox
        self._tell = tell
        self.doors: dict[Invitation, Door] = {}  # where somebody may come in
        self._undo = ExitStack()
        for place in places.values():
            if isinstance(place, Command):
                wrap(place.words, sandbox)
        with self._undo:
            for place in dict.fromkeys(place for place in places.values() if isinstance(place, Invitation)):
                self.doors[place] = self._undo.enter_context(door_at(place))
            self._undo = self._undo.pop_all()

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def play(
        self,
        referee: Referee,
        match: AnyMatch,
        *,
        record: Record | None = None,
        match_id: str = "",
        turns: Mapping[Seat, int] | None = None,
    ) -> AnyMatch:
        """Play the match to its end, from wherever it stands."""
        near = [place.player for _, place in sorted(self._places.items()) if isinstance(place, Near)]
        if len(near) == len(self._places):  # nobody has to be waited for
            return referee.resume(match, near, record=record)
        return asyncio.run(self.play_async(referee, match, record=record, match_id=match_id, turns=turns))

    async def play_async(
        self,
        referee: Referee,
        match: AnyMatch,
        *,
        record: Record | None = None,
        match_id: str = "",
        turns: Mapping[Seat, int] | None = None,
    ) -> AnyMatch:
        """The same, awaited."""
        before = turns or {}
        clock = no_clock if record is None else record.clock
        receipt = no_receipt if record is None else record.receipt
        channels: dict[Seat, AsyncChannel] = {}

        async def start(seat: Seat, command: Command) -> None:
            program = await Program.start(command.words, sandbox=self._sandbox)
            remote = Remote(program, match.game, match_id=match_id, limits=self._limits, turns=before.get(seat, 0))
            channels[seat] = remote
            await remote.hello()

        async def let_in(invitation: Invitation) -> None:
            seats = [seat for seat, place in sorted(self._places.items()) if place == invitation]
            door = self.doors[invitation]
            self._tell(f"waiting for {len(seats)} at {invitation.scheme}://{door.address}")
            limits = self._limits
            guests = await door.seat(match.game, len(seats), match_id=match_id, limits=limits, within=limits.arrival)
            for seat, guest in zip(seats, guests, strict=True):
                channels[seat] = guest.remote
                guest.remote.turns = before.get(seat, 0)
                if guest.name:
                    self._tell(f"{printable(guest.name, LONGEST_NAME)} takes seat {seat}")

        with referee.announcing(record) as announce:
            async with AsyncExitStack() as undo:
                undo.push_async_callback(close_all, channels)
                try:
                    async with asyncio.TaskGroup() as together:
                        for seat, place in self._places.items():
                            if isinstance(place, Command):
                                together.create_task(start(seat, place))
                            elif isinstance(place, Near):
                                channels[seat] = Here(Local(place.player, match.game, clock))
                        for invitation in self.doors:
                            together.create_task(let_in(invitation))
                except BaseExceptionGroup as group:
                    raise group.exceptions[0] from None
                undo.pop_all()
            return await play_async(match, channels, announce, receipt)


class Here:
    """A player in this process, at a table where others are not."""

    def __init__(self, channel: Local) -> None:
        self._channel = channel

    async def ask(self, message: Message) -> Answer:
        """Say it, and have the answer at once."""
        return self._channel.ask(message)

    async def close(self, ejected: Ejected | None) -> None:
        """Nothing has to be cut."""
        self._channel.close(ejected)


def door_at(invitation: Invitation) -> Door:
    """A door that is open from now on."""
    if invitation.scheme == "tcp":
        return listen_tcp(invitation.place)
    from fairplay.players.websocket import listen_websocket  # the library that it needs is an extra

    return listen_websocket(invitation.place)


async def close_all(channels: Mapping[Seat, AsyncChannel]) -> None:
    """Say goodbye to everybody, as nothing came of the match."""
    await asyncio.gather(*(channel.close(None) for channel in channels.values()))
