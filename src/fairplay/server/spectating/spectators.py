"""Let spectators in at a house: to the room that they name, or to whatever is played, as strollers."""

from functools import partial
from typing import Any

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.protocol import wire
from fairplay.referee.closing import all_surely
from fairplay.server.farewells import LAST_WORDS, Farewells
from fairplay.server.room import Room
from fairplay.server.settings import Strangers
from fairplay.server.spectating.following import QUIET
from fairplay.transport.line import Closed, Heard, Line

HUSH = Failed(Fault.FLOOD, "whoever watches has nothing to say")


class Spectators:
    """Those who watch the rooms of a house from elsewhere."""

    def __init__(self, rooms: dict[str, Room], limits: Strangers, farewells: Farewells) -> None:
        self._rooms = rooms
        self._limits = limits
        self._addresses: dict[Line, str] = {}
        self._farewells = farewells
        self._strolling: dict[Line, Room | None] = {}  # what those see who watch whatever is played

    @property
    def lines(self) -> set[Line]:
        """The lines of all of them."""
        return {*self._strolling, *(line for room in self._rooms.values() for line in lines_at(room))}

    def add(self, line: Line, wanted: str, address: str) -> None:
        """Let a spectator at this address watch a room, by its id or its name, or whatever is played."""
        lines, share = self.lines, self._limits.spectators_per_address
        self._addresses = {one: other for one, other in self._addresses.items() if one in lines}
        room = next((one for one in self._rooms.values() if wanted in (one.id, one.name)), None)
        failed = None
        if wanted and room is None:
            failed = Failed(Fault.GONE, f"there is no room {wanted}")
        elif len(lines) >= self._limits.spectators:
            failed = Failed(Fault.FLOOD, "too many watch already")
        elif list(self._addresses.values()).count(address) >= share:
            failed = Failed(Fault.FLOOD, f"{share} spectators from your address watch already")
        if failed is not None:
            self._farewells.say(line, wire.goodbye("", failed))
            return
        self._addresses[line] = address
        if room is not None:
            room.hub.add(line)
        else:
            self._strolling[line] = None
            self._stroll(line)
        line.when_lost(partial(self._left, line))  # which may be at once
        line.listen(partial(self._spoke, line))

    def show_around(self) -> None:
        """Show something to those who have nothing to see."""
        for line in [one for one, seen in self._strolling.items() if seen is None]:
            self._stroll(line)

    async def show_out(self, room: Room) -> None:
        """Show those who watched a match to its end another one, or the way out."""
        await room.hub.caught_up(LAST_WORDS)
        for line in [one for one, seen in self._strolling.items() if seen is room]:
            room.hub.remove(line)
            self._strolling[line] = None
        self.show_around()
        await all_surely([line.hang_up(b"", LAST_WORDS) for line in lines_at(room)])

    def _stroll(self, line: Line) -> None:
        """Show the newest room to somebody who watches whatever is played; or say that there is none."""
        for room in reversed(self._rooms.values()):
            self._strolling[line] = room
            room.hub.add(line)
            return
        line.offer(QUIET + b"\n")

    def _spoke(self, line: Line, heard: Heard) -> None:
        """Somebody says something: it has to go, as what nobody reads would keep us from seeing that it has left."""
        if not isinstance(heard, Closed):
            self._left(line, wire.goodbye("", HUSH))

    def _left(self, line: Line, last: bytes = b"") -> None:
        """Somebody watches no more; as it may have closed but its own end, we close ours."""
        self._strolling.pop(line, None)
        for room in self._rooms.values():
            room.hub.remove(line)
        self._farewells.say(line, last)


def lines_at(room: Room) -> list[Any]:
    """The lines of all who watch from elsewhere."""
    return [watcher for watcher in room.hub.watchers if hasattr(watcher, "hang_up")]
