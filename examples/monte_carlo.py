"""Play Q by trying each action in several imagined worlds: `fairplay play q ./examples/monte_carlo.py dag`.

The hands of the others and the next tiles are hidden, but they can be drawn at random from what is possible.
"""

from itertools import islice

from fairplay.games.q import Action, Q, State, View

RULES = Q()
WORLDS, OPTIONS, REPLIES = 5, 50, 20  # how many of them are tried


def take_turn(view: View) -> Action:
    """Choose the action that leaves me furthest ahead after the replies of the others, on average over all worlds."""
    worlds = [RULES.imagine(view, seed=bytes([number])) for number in range(WORLDS)]

    def lead(action: Action) -> int:
        return sum(lead_in(RULES.apply(world, action), view.me.seat) for world in worlds)

    return max(islice(RULES.actions(view), OPTIONS), key=lead)


def lead_in(state: State, me: int) -> int:
    """My lead when it is my turn again, if each of the others takes the most points that it finds."""
    while (seat := RULES.turn(state)) is not None and seat != me:
        replies = islice(RULES.actions(RULES.view(state, seat)), REPLIES)
        after = [RULES.apply(state, reply) for reply in replies]
        state = max(after, key=lambda then: sum(then.scores))  # only the score of the seat on turn changes
    return state.scores[me] - max((score for seat, score in enumerate(state.scores) if seat != me), default=0)
