"""Play Fish: always go where the most fish are.

    fairplay play fish ./examples/a_player.py random

A player is a class with these methods, or just a function take_turn(view); only take_turn is needed.
"""

from fairplay.core.events import Result
from fairplay.games.fish import Action, Fish, Move, View

RULES = Fish()


class Player:
    """Sits down once for each match."""

    def start(self, seat: int, names: tuple[str, ...], view: View) -> None:
        """Learn where you sit, and with whom."""
        self.name = names[seat]

    def take_turn(self, view: View) -> Action:
        """Answer with one of the legal actions: the one that ends on the most fish."""
        options = list(RULES.actions(view))
        return max(options, key=lambda action: fish_under(view, action))

    def end(self, result: Result) -> None:
        """Learn how it came out."""


def fish_under(view: View, action: Action) -> int:
    """How many fish are on the tile that the penguin will stand on."""
    return view.board[action.to if isinstance(action, Move) else action.at]
