"""Count clients that vanished from their rooms before the first turn, so that others are paired without them.

A guest can take a new identity at any time, so guests are counted by address; a client with a token is counted by its
identity alone.
"""

from typing import NamedTuple

from fairplay.server.client import Client
from fairplay.server.matchmaking import Trust
from fairplay.server.sign_in.connection_limiter import client_network
from fairplay.server.sign_in.tokens import GUEST_PREFIX

VANISH_MEMORY_S = 600.0  # after the last time
MAX_VANISH_COUNT = 8  # more make no difference
MAX_TRACKED_IDENTITIES = 10_000  # identities and addresses


class VanishRecord(NamedTuple):
    """How often clients of one identity or address vanished, and when they did last."""

    vanish_count: int
    last_at: float


class Attendance:
    """How often clients vanished lately, by identity and by address."""

    def __init__(self) -> None:
        self._vanished: dict[str, VanishRecord] = {}  # in the order of the last time

    def record_vanish(self, client: Client, now: float) -> None:
        """Count a client that left its room before its first turn."""
        for key in identity_keys(client):
            vanish_count = min(self._count(key, now) + 1, MAX_VANISH_COUNT)
            self._vanished.pop(key, None)
            self._vanished[key] = VanishRecord(vanish_count, now)
        while len(self._vanished) > MAX_TRACKED_IDENTITIES:
            del self._vanished[next(iter(self._vanished))]

    def vanish_count(self, client: Client, now: float) -> int:
        """How often clients of the same identity or address vanished lately."""
        return max(self._count(key, now) for key in identity_keys(client))

    def trust(self, client: Client, now: float) -> Trust:
        """How likely a client is to stay in its room: fully trusted once it has played a match."""
        if client.matches_played or not self.vanish_count(client, now):
            return Trust.FULL
        return Trust.STAYED if client.stayed else Trust.SUSPECT

    def _count(self, key: str, now: float) -> int:
        known = self._vanished.get(key)
        return known.vanish_count if known is not None and now - known.last_at < VANISH_MEMORY_S else 0


def identity_keys(client: Client) -> list[str]:
    """The keys under which a client is counted: its identity, and for a guest its address too."""
    guest = client.id.startswith(GUEST_PREFIX) and client.endpoint
    return [client.id, client_network(client.endpoint)] if guest else [client.id]
