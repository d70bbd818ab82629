"""Make house players for tests: those that think do so little, as in pure Python they would take seconds."""

from typing import Any

from fairplay.core.roles import Strategy
from fairplay.games import title

LITTLE = {"sampler": "10", "territory": "60", "foresight": "10"}


def quick(game: str, player: str, key: bytes) -> Strategy[Any, Any]:
    """A house player with a key of its own."""
    return title(game).house[player].make(LITTLE.get(player, ""), key)
