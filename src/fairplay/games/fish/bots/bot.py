"""Play Fish in Python.

    $commands

Change `take_turn`, right below: it is asked for an action on each of your turns. Print what you like, and
`--bot-logs DIR` keeps it. `fairplay rules $name` prints the rules.
"""

from fairplay.games.fish import Action, Fish, Move, View

RULES = Fish()


def take_turn(view: View) -> Action:
    """Change this function: it takes the action that ends on the most fish."""
    return max(RULES.actions(view), key=lambda action: fish_under(view, action))


def fish_under(view: View, action: Action) -> int:
    """How many fish are on the tile that the penguin will stand on."""
    return view.board[action.to if isinstance(action, Move) else action.at]
