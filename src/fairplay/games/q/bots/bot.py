"""Play Q in Python.

    $commands

Change `take_turn` below: it is called for an action on each of your turns. `--bot-logs DIR` keeps what you print.
`fairplay rules $name` prints the rules.
"""

from itertools import islice

from fairplay.games.q import Action, Exchange, Q, View

RULES = Q()
MAX_ACTIONS = 100  # actions to evaluate; there may be very many, and those that place few tiles come first


def take_turn(view: View) -> Action:
    """Change this function: it takes the action with the most points, or exchanges the hand if none scores."""
    state, me = RULES.imagine(view), view.me.seat  # to look ahead from

    def worth(action: Action) -> tuple[int, bool]:
        return RULES.apply(state, action).scores[me], isinstance(action, Exchange)

    return max(islice(RULES.actions(view), MAX_ACTIONS), key=worth)
