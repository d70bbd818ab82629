"""Play Fish and look one move ahead: `fairplay play fish ./examples/look_ahead.py greedy`."""

from fairplay.games.fish import Action, Fish, View

FISH = Fish()


def take_turn(view: View) -> Action:
    """Try every action on the position as it is, and choose the one after which it is worth most."""
    state = FISH.imagine(view)
    return max(FISH.actions(view), key=lambda action: worth(FISH.view(FISH.apply(state, action), view.seat)))


def worth(view: View) -> float:
    """What I have and hope for, less that of the best of the others: fish, tiles to stand on, and ways to go."""
    hopes = [
        player.score + sum(0.5 * view.board[at] + 0.2 * len(view.reach(at)) for at in player.penguins)
        for player in (view.me, *view.opponents)
    ]
    return hopes[0] - max(hopes[1:], default=0)
