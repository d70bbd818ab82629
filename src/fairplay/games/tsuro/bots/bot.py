"""Play Tsuro in Python.

    $commands

Change `take_turn` below: it is called for an action on each of your turns. `--bot-logs DIR` keeps what you print.
`fairplay rules $name` prints the rules.
"""

from fairplay.games.tsuro import Action, Lay, State, Tsuro, View

RULES = Tsuro()


def take_turn(view: View) -> Action:
    """Change this function: it keeps its avatar as near to the middle of the board as it can."""
    state = RULES.imagine(view)  # to look ahead from
    nothing = Lay(view.dealt[0], 0)  # the answer if no action is legal
    return min(
        RULES.actions(view), key=lambda action: from_middle(RULES.apply(state, action), view.me.seat), default=nothing
    )


def from_middle(state: State, seat: int) -> int:
    """How far from the middle of the board an avatar is, by the square before it."""
    view = RULES.view(state, seat)
    if view.avatar is None or view.avatar.facing is None:
        return 4 * view.board.size  # it has left the board
    x, y = view.avatar.facing
    return abs(2 * x + 1 - view.board.size) + abs(2 * y + 1 - view.board.size)
