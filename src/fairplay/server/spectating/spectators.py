"""Let spectators in at a server: to the room that they name, or to whatever is played, as strollers."""

from functools import partial
from typing import Any

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.protocol import wire
from fairplay.referee.closing import finish_all
from fairplay.server.pending_closes import LAST_MESSAGE_TIMEOUT_S, PendingCloses
from fairplay.server.room import Room
from fairplay.server.settings import ConnectionLimits
from fairplay.server.spectating.follower import IDLE_LINE
from fairplay.transport.connection import Connection, ConnectionClosed, Received

SPECTATOR_SPOKE = Failed(Fault.FLOOD, "whoever watches has nothing to say")


class Spectators:
    """Those who watch the rooms of a server from elsewhere."""

    def __init__(self, rooms: dict[str, Room], limits: ConnectionLimits, pending_closes: PendingCloses) -> None:
        self._rooms = rooms
        self._limits = limits
        self._addresses: dict[Connection, str] = {}
        self._pending_closes = pending_closes
        self._roaming: dict[Connection, Room | None] = {}  # what those see who watch whatever is played

    @property
    def connections(self) -> set[Connection]:
        """The lines of all of them."""
        return {*self._roaming, *(line for room in self._rooms.values() for line in spectator_connections(room))}

    def add(self, line: Connection, wanted: str, address: str) -> None:
        """Let a spectator at this address watch a room, by its id or its name, or whatever is played."""
        lines, share = self.connections, self._limits.spectators_per_address
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
            self._pending_closes.close(line, wire.encode_goodbye("", failed))
            return
        self._addresses[line] = address
        if room is not None:
            room.hub.add(line)
        else:
            self._roaming[line] = None
            self._show_newest_room(line)
        line.on_lost(partial(self._remove, line))  # which may be at once
        line.on_receive(partial(self._on_receive, line))

    def assign_roaming(self) -> None:
        """Show something to those who have nothing to see."""
        for line in [one for one, seen in self._roaming.items() if seen is None]:
            self._show_newest_room(line)

    async def release_room(self, room: Room) -> None:
        """Show those who watched a match to its end another one, or the way out."""
        await room.hub.wait_until_sent(LAST_MESSAGE_TIMEOUT_S)
        for line in [one for one, seen in self._roaming.items() if seen is room]:
            room.hub.remove(line)
            self._roaming[line] = None
        self.assign_roaming()
        await finish_all([line.close(b"", LAST_MESSAGE_TIMEOUT_S) for line in spectator_connections(room)])

    def _show_newest_room(self, line: Connection) -> None:
        """Show the newest room to somebody who watches whatever is played; or say that there is none."""
        for room in reversed(self._rooms.values()):
            self._roaming[line] = room
            room.hub.add(line)
            return
        line.offer(IDLE_LINE + b"\n")

    def _on_receive(self, line: Connection, heard: Received) -> None:
        """Somebody says something: it has to go, as what nobody reads would keep us from seeing that it has left."""
        if not isinstance(heard, ConnectionClosed):
            self._remove(line, wire.encode_goodbye("", SPECTATOR_SPOKE))

    def _remove(self, line: Connection, last: bytes = b"") -> None:
        """Somebody watches no more; as it may have closed but its own end, we close ours."""
        self._roaming.pop(line, None)
        for room in self._rooms.values():
            room.hub.remove(line)
        self._pending_closes.close(line, last)


def spectator_connections(room: Room) -> list[Any]:
    """The lines of all who watch from elsewhere."""
    return [watcher for watcher in room.hub.watchers if hasattr(watcher, "on_receive")]
