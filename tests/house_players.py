"""Name house players for tests: those that think do so little, as in pure Python they would take seconds."""

from typing import Any

from fairplay.core.roles import Strategy
from fairplay.games import title


def quick(game: str, player: str, key: bytes) -> Strategy[Any, Any]:
    """A house player with a key of its own."""
    _, _, parameter = quick_address(game, player).partition(":")
    return title(game).house[player].make(parameter, key)


def quick_address(game: str, player: str) -> str:
    """How it is named."""
    return f"{player}:10" if title(game).house[player].thinks else player
