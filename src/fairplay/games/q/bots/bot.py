"""Play Q in Python.

    $commands

Change `take_turn`, right below: it is asked for an action on each of your turns. Print what you like, and
`--bot-logs DIR` keeps it. `fairplay rules $name` prints the rules.
"""

from itertools import islice

from fairplay.games.q import Action, Exchange, Place, Q, View

RULES = Q()
MOST = 1000  # actions to look at; there may be very many, and those that place few tiles come first


def take_turn(view: View) -> Action:
    """Change this function: it places as many tiles as it can, or if none fits exchanges the hand."""
    return max(islice(RULES.actions(view), MOST), key=worth)


def worth(action: Action) -> int:
    """How good an action is."""
    if isinstance(action, Place):
        return 1 + len(action.tiles)
    return 1 if isinstance(action, Exchange) else 0
