"""Play Fish: always choose the action that ends on the most fish.

    fairplay play fish ./examples/a_player.py random

A player is a class with these methods, or just a function take_turn(view); only take_turn is required.
"""

from fairplay.core.events import Result
from fairplay.games.fish import Action, Fish, Move, View

RULES = Fish()


class Player:
    """Plays one match."""

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        """Learn your seat and the names of all players."""
        self.name = names[seat]

    def take_turn(self, view: View) -> Action:
        """Answer with one of the legal actions: the one that ends on the most fish."""
        options = list(RULES.actions(view))
        return max(options, key=lambda action: fish_under(view, action))

    def end(self, result: Result) -> None:
        """Learn the result."""


def fish_under(view: View, action: Action) -> int:
    """The fish on the tile where the penguin will stand."""
    return view.board[action.to if isinstance(action, Move) else action.at]
