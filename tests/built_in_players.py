"""Name built-in players for tests; slow ones get small parameters, as they would take seconds in pure Python."""

from typing import Any

from fairplay.core.roles import Strategy
from fairplay.games import game_info


def quick_player(game: str, player: str, key: bytes) -> Strategy[Any, Any]:
    """A built-in player with a key of its own."""
    _, _, parameter = quick_address(game, player).partition(":")
    return game_info(game).built_in[player].make(parameter, key)


def quick_address(game: str, player: str) -> str:
    """How it is named."""
    return f"{player}:10" if game_info(game).built_in[player].is_slow else player
