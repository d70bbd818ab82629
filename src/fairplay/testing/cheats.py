"""Make strategies that cheat: each game has illegal actions, one for each clause that an action can break."""

from fairplay.core.roles import AnyStrategy, Cheat
from fairplay.games import GAMES, game_info

CHEATS = {game: game_info(game).cheats for game in GAMES}  # by game and name


def cheating_strategy(cheat: Cheat, strategy: AnyStrategy) -> AnyStrategy:
    """A strategy that cheats whenever it can."""
    return lambda view: cheat(view) or strategy(view)


def broken_clause(cheat: Cheat) -> str:
    """The clause that a cheat breaks, from its docstring.

    >>> broken_clause(CHEATS["q"]["cheats: no-fit"])
    '3.5'
    """
    return (cheat.__doc__ or "").partition(":")[0].lstrip("§")


def describe_cheat(cheat: Cheat) -> str:
    """The description of a cheat, without the clause.

    >>> describe_cheat(CHEATS["q"]["cheats: no-fit"])
    'a tile of the hand where it does not fit'
    """
    return (cheat.__doc__ or "").partition(": ")[2].rstrip(".")
