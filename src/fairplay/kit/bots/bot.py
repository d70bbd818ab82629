"""Play $name in Python.

    $commands

Change `take_turn` below: it is called for an action on each of your turns. `--bot-logs DIR` keeps what you print.
"""

from typing import Any

from fairplay.kit import Action, View


def take_turn(view: View[Any]) -> Action:
    """Change this function: it takes the action after which I have won or have the most points."""
    actions: list[Action] = list(view.game.actions(view))
    return max(actions, key=lambda action: worth(view, action))


def worth(view: View[Any], action: Action) -> tuple[bool, int]:
    """Have I won? And my points."""
    game = view.game
    after = game.apply(game.imagine(view), action)
    first = game.turn(after) is None and game.ranking(after)[0] == {view.me.seat}
    return first, game.view(after, view.seat).scores.get(view.me.seat, 0)
