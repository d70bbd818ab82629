"""Remember clients that vanished from their rooms before the first turn, so that others are paired without them.

A guest has a new identity whenever it likes, so what counts against guests is their address; a client with a token
answers for itself alone.
"""

from typing import NamedTuple

from fairplay.server.client import Client
from fairplay.server.matchmaking import Trust
from fairplay.server.sign_in.connection_limiter import client_network
from fairplay.server.sign_in.tokens import GUEST_PREFIX

FORGET_S = 600.0  # after the last time
MAX_VANISH_COUNT = 8  # more than that makes no difference
MAX_TRACKED_IDENTITIES = 10_000  # identities and addresses


class VanishRecord(NamedTuple):
    """How often clients of one identity or address vanished, and when they did last."""

    times: int
    at: float


class Attendance:
    """How often clients vanished lately, by identity and by address."""

    def __init__(self) -> None:
        self._vanished: dict[str, VanishRecord] = {}  # the latest last

    def record_vanish(self, client: Client, now: float) -> None:
        """A client left its room before its first turn."""
        for key in identity_keys(client):
            times = min(self._count(key, now) + 1, MAX_VANISH_COUNT)
            self._vanished.pop(key, None)
            self._vanished[key] = VanishRecord(times, now)
        while len(self._vanished) > MAX_TRACKED_IDENTITIES:
            del self._vanished[next(iter(self._vanished))]

    def vanish_count(self, client: Client, now: float) -> int:
        """How often clients like this one vanished lately."""
        return max(self._count(key, now) for key in identity_keys(client))

    def trust(self, client: Client, now: float) -> Trust:
        """How likely it is that a client stays in its room: one that has played proved it."""
        if client.matches_played or not self.vanish_count(client, now):
            return Trust.FULL
        return Trust.STAYED if client.stayed else Trust.SUSPECT

    def _count(self, key: str, now: float) -> int:
        known = self._vanished.get(key)
        return known.times if known is not None and now - known.at < FORGET_S else 0


def identity_keys(client: Client) -> list[str]:
    """What a client answers for: its identity, and if that costs nothing, its address too."""
    guest = client.id.startswith(GUEST_PREFIX) and client.endpoint
    return [client.id, client_network(client.endpoint)] if guest else [client.id]
