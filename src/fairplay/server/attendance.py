"""Remember clients that vanished from their rooms before the first turn, so that others are paired without them.

A guest has a new identity whenever it likes, so what counts against guests is their address; a client with a token
answers for itself alone.
"""

from typing import NamedTuple

from fairplay.server.matchmaking import Trust
from fairplay.server.sign_in.crowd import neighbourhood
from fairplay.server.sign_in.tokens import GUEST
from fairplay.server.visitor import Visitor

FORGET_S = 600.0  # after the last time
MAX_COUNT = 8  # more than that makes no difference
MAX_KEPT = 10_000  # identities and addresses


class Vanished(NamedTuple):
    """How often clients of one identity or address vanished, and when they did last."""

    times: int
    at: float


class Attendance:
    """How often clients vanished lately, by identity and by address."""

    def __init__(self) -> None:
        self._vanished: dict[str, Vanished] = {}  # the latest last

    def note_vanished(self, client: Visitor, now: float) -> None:
        """A client left its room before its first turn."""
        for key in keys(client):
            times = min(self._times(key, now) + 1, MAX_COUNT)
            self._vanished.pop(key, None)
            self._vanished[key] = Vanished(times, now)
        while len(self._vanished) > MAX_KEPT:
            del self._vanished[next(iter(self._vanished))]

    def vanished(self, client: Visitor, now: float) -> int:
        """How often clients like this one vanished lately."""
        return max(self._times(key, now) for key in keys(client))

    def trust(self, client: Visitor, now: float) -> Trust:
        """How likely it is that a client stays in its room: one that has played proved it."""
        if client.played or not self.vanished(client, now):
            return Trust.FULL
        return Trust.STAYED if client.stayed else Trust.SUSPECT

    def _times(self, key: str, now: float) -> int:
        known = self._vanished.get(key)
        return known.times if known is not None and now - known.at < FORGET_S else 0


def keys(client: Visitor) -> list[str]:
    """What a client answers for: its identity, and if that costs nothing, its address too."""
    guest = client.id.startswith(GUEST) and client.place
    return [client.id, neighbourhood(client.place)] if guest else [client.id]
