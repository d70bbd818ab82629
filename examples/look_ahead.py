"""Play Fish and look one move ahead: `fairplay play fish ./examples/look_ahead.py greedy`."""

from fairplay.games.fish import Action, Fish, View

FISH = Fish()


def take_turn(view: View) -> Action:
    """Try every action, and choose the one with the best position after it."""
    state = FISH.imagine(view)
    return max(FISH.actions(view), key=lambda action: worth(FISH.view(FISH.apply(state, action), view.seat)))


def worth(view: View) -> float:
    """My prospects minus those of the best opponent: fish, tiles under penguins, and tiles in reach."""
    prospects = [
        player.score + sum(0.5 * view.board[at] + 0.2 * len(view.reach(at)) for at in player.penguins)
        for player in (view.me, *view.opponents)
    ]
    return prospects[0] - max(prospects[1:], default=0)
