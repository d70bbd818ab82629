"""Make games by name, and register games of your own."""

from typing import Any

from fairplay.app.arguments import AnyGame, describe, parse_game
from fairplay.core.game import Game
from fairplay.games import register


def make_game(game: str, **parameters: Any) -> AnyGame:
    """The game of a name, or of a text with parameters, with more parameters by name.

    >>> make_game("fish", rows=3, columns=3) == make_game("fish(rows=3, columns=3)")
    True
    """
    if not isinstance(game, str):
        raise TypeError(f"game must be a name, not {describe(game)}")
    made = parse_game(game)
    return made.with_parameters({**made.parameters(), **parameters}) if parameters else made


def register_game(game: type[AnyGame] | str) -> str:
    """Make a class of rules, or py:module:Name, known by its name in this process; the name.

    Programs that play it have to find it by themselves: it must be in a module that they can import.
    """
    if not isinstance(game, str) and not (isinstance(game, type) and issubclass(game, Game)):
        raise TypeError(f"game must be a class that is derived from Game, or py:module:Name, not {describe(game)}")
    return register(game)
