"""Keep what a server knows of somebody who came to play there."""

import asyncio
from collections import Counter

from fairplay.protocol.nonces import Nonces
from fairplay.transport.reconnecting import ReconnectingConnection


class Client:
    """Somebody who came to play, from the sign-up until it is gone; connections come and go meanwhile."""

    def __init__(self, id: str, name: str, number: int, line: ReconnectingConnection, nonces: Nonces) -> None:
        self.id = id  # a name with a token, or what a guest was given
        self.name = name  # what others see; never a key
        self.number = number  # the later somebody has signed up, the higher
        self.connection = line
        self.nonces = nonces
        self.endpoint = ""  # where it came from last, as HOST:PORT, for whoever runs the server
        self.is_person = False  # does a person play?
        self.wants_changes = False  # does it want to hear of every change?
        self.game = ""  # that it wants to play; empty: any
        self.met: Counter[str] = Counter()  # how often it has played with others, by their ids
        self.free_since = asyncio.get_running_loop().time()
        self.matches_played = 0  # matches
        self.stayed = False  # in its room when another client vanished
        self.is_seated = True  # in its room, if it has one; else it was asked to, and has not answered yet
        self._room: str | None = None

    @property
    def address(self) -> str:
        """How it is called in specs and journals."""
        return f"client:{self.id}"

    @property
    def may_reconnect(self) -> bool:
        """Is there something to come back to, if its line is lost?"""
        return self._room is not None and self.is_seated

    @property
    def room(self) -> str | None:
        """The id of the match in which it has a seat; None: it has none."""
        return self._room

    @room.setter
    def room(self, room: str | None) -> None:
        """Let it sit down, or rise. Who has left meanwhile has nothing to come back to."""
        self._room = room
        if room is None:
            self.free_since = asyncio.get_running_loop().time()
            if not self.connection.is_connected:
                self.connection.give_up("left")

    def return_to_queue(self) -> None:
        """Rise from a room in which no match began, without losing the time waited so far."""
        since, self.stayed = self.free_since, True
        self.room = None
        self.free_since = since
