"""Show spectators the room that they name, or the newest one, if they are roaming."""

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

SPECTATOR_SPOKE = Failed(Fault.FLOOD, "spectators may not send messages")


class Spectators:
    """The connections of spectators at a server."""

    def __init__(self, rooms: dict[str, Room], limits: ConnectionLimits, pending_closes: PendingCloses) -> None:
        self._rooms = rooms
        self._limits = limits
        self._addresses: dict[Connection, str] = {}
        self._pending_closes = pending_closes
        self._roaming: dict[Connection, Room | None] = {}  # roaming spectators, and the rooms that they see

    @property
    def connections(self) -> set[Connection]:
        """The connections of all spectators."""
        return {*self._roaming, *(one for room in self._rooms.values() for one in spectator_connections(room))}

    def add(self, connection: Connection, wanted: str, address: str) -> None:
        """Add a spectator from this address to a room, by its id or name; without one, it roams."""
        connections, per_address = self.connections, self._limits.spectators_per_address
        self._addresses = {one: other for one, other in self._addresses.items() if one in connections}
        room = next((one for one in self._rooms.values() if wanted in (one.id, one.name)), None)
        failed = None
        if wanted and room is None:
            failed = Failed(Fault.GONE, f"no room {wanted!r}: see fairplay status")
        elif len(connections) >= self._limits.spectators:
            failed = Failed(Fault.FLOOD, f"too many spectators: {self._limits.spectators} are allowed")
        elif list(self._addresses.values()).count(address) >= per_address:
            failed = Failed(Fault.FLOOD, f"too many spectators from your address: {per_address} are allowed")
        if failed is not None:
            self._pending_closes.close(connection, wire.encode_goodbye("", failed))
            return
        self._addresses[connection] = address
        if room is not None:
            room.hub.add(connection)
        else:
            self._roaming[connection] = None
            self._show_newest_room(connection)
        connection.on_lost(partial(self._remove, connection))  # which may be at once
        connection.on_receive(partial(self._on_receive, connection))

    def assign_roaming(self) -> None:
        """Show the newest room to roaming spectators that see none."""
        for connection in [one for one, shown in self._roaming.items() if shown is None]:
            self._show_newest_room(connection)

    async def release_room(self, room: Room) -> None:
        """Show the roaming spectators of a finished match another one, and disconnect the others."""
        await room.hub.wait_until_sent(LAST_MESSAGE_TIMEOUT_S)
        for connection in [one for one, shown in self._roaming.items() if shown is room]:
            room.hub.remove(connection)
            self._roaming[connection] = None
        self.assign_roaming()
        await finish_all([one.close(b"", LAST_MESSAGE_TIMEOUT_S) for one in spectator_connections(room)])

    def _show_newest_room(self, connection: Connection) -> None:
        """Show a roaming spectator the newest room, or say that there is none."""
        for room in reversed(self._rooms.values()):
            self._roaming[connection] = room
            room.hub.add(connection)
            return
        connection.offer(IDLE_LINE + b"\n")

    def _on_receive(self, connection: Connection, received: Received) -> None:
        """Disconnect a spectator that sends something: unread data would hide that it has left."""
        if not isinstance(received, ConnectionClosed):
            self._remove(connection, wire.encode_goodbye("", SPECTATOR_SPOKE))

    def _remove(self, connection: Connection, last: bytes = b"") -> None:
        """Remove a spectator, and close our end too, as it may have closed only its own."""
        self._roaming.pop(connection, None)
        for room in self._rooms.values():
            room.hub.remove(connection)
        self._pending_closes.close(connection, last)


def spectator_connections(room: Room) -> list[Any]:
    """The watchers of a room that are connections."""
    return [watcher for watcher in room.hub.watchers if hasattr(watcher, "on_receive")]
