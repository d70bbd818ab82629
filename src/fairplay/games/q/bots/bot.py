"""Play Q in Python.

    $commands

Change `take_turn`, right below: it is asked for an action on each of your turns. Print what you like, and
`--bot-logs DIR` keeps it. `fairplay rules $name` prints the rules.
"""

from itertools import islice

from fairplay.games.q import Action, Exchange, Q, View

RULES = Q()
MAX_ACTIONS = 100  # actions to look at; there may be very many, and those that place few tiles come first


def take_turn(view: View) -> Action:
    """Change this function: it takes the most points that it finds, or if there are none exchanges the hand."""
    state, me = RULES.imagine(view), view.me.seat  # to look ahead from

    def worth(action: Action) -> tuple[int, bool]:
        return RULES.apply(state, action).scores[me], isinstance(action, Exchange)

    return max(islice(RULES.actions(view), MAX_ACTIONS), key=worth)
