"""Keep what a server knows of a client: a player that has signed in."""

import asyncio
from collections import Counter

from fairplay.protocol.nonces import Nonces
from fairplay.transport.reconnecting import ReconnectingConnection


class Client:
    """A player that has signed in, until it is gone; its connections come and go meanwhile."""

    def __init__(self, id: str, name: str, number: int, connection: ReconnectingConnection, nonces: Nonces) -> None:
        self.id = id  # the name of its token, or a drawn id for a guest
        self.name = name  # for display; never a key
        self.number = number  # in the order of sign-in
        self.connection = connection
        self.nonces = nonces
        self.endpoint = ""  # of its newest connection, as HOST:PORT, for the operator
        self.is_person = False  # a person plays
        self.wants_changes = False  # wants a message for every change
        self.game = ""  # the game that it wants to play; empty: any
        self.met: Counter[str] = Counter()  # how many matches it has played with others, by their ids
        self.free_since = asyncio.get_running_loop().time()
        self.matches_played = 0
        self.stayed = False  # it stayed in its room when another client vanished
        self.is_seated = True  # False: it was given a seat, and has not answered yet
        self._room: str | None = None

    @property
    def address(self) -> str:
        """Its address in specs and journals."""
        return f"client:{self.id}"

    @property
    def may_reconnect(self) -> bool:
        """Is its seat reserved if its connection is lost?"""
        return self._room is not None and self.is_seated

    @property
    def room(self) -> str | None:
        """The id of the match in which it has a seat, or None."""
        return self._room

    @room.setter
    def room(self, room: str | None) -> None:
        """Give it a seat, or take it. A client that was disconnected meanwhile is gone once it has none."""
        self._room = room
        if room is None:
            self.free_since = asyncio.get_running_loop().time()
            if not self.connection.is_connected:
                self.connection.give_up("left")

    def return_to_queue(self) -> None:
        """Leave a room in which no match began, and keep the time waited so far."""
        since, self.stayed = self.free_since, True
        self.room = None
        self.free_since = since
