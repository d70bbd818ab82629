"""Play Fish in Python.

    $commands

Change `take_turn` below: it is called for an action on each of your turns. `--bot-logs DIR` keeps what you print.
`fairplay rules $name` prints the rules.
"""

from fairplay.games.fish import Action, Fish, Move, View

RULES = Fish()


def take_turn(view: View) -> Action:
    """Change this function: it chooses the action that ends on the most fish."""
    return max(RULES.actions(view), key=lambda action: fish_under(view, action))


def fish_under(view: View, action: Action) -> int:
    """The fish on the tile where the penguin will stand."""
    return view.board[action.to if isinstance(action, Move) else action.at]
