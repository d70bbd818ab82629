"""Play Q by trying each placement in worlds that may be: `fairplay play q ./examples/monte_carlo.py dag`.

Nobody knows what the others hold and what is drawn next, but one can imagine it.
"""

from itertools import islice

from fairplay.games.q import Action, Q, State, View

RULES = Q()
WORLDS, OPTIONS, REPLIES = 5, 50, 20  # how many are tried


def take_turn(view: View) -> Action:
    """Choose what leaves me furthest ahead, on average over all worlds, once everybody has replied to it."""
    worlds = [RULES.imagine(view, seed=bytes([number])) for number in range(WORLDS)]

    def lead(action: Action) -> int:
        return sum(lead_in(RULES.apply(world, action), view.me.seat) for world in worlds)

    return max(islice(RULES.actions(view), OPTIONS), key=lead)


def lead_in(state: State, me: int) -> int:
    """My lead when it is my turn again, if each of the others takes the most points that it finds."""
    while (seat := RULES.turn(state)) is not None and seat != me:
        replies = islice(RULES.actions(RULES.view(state, seat)), REPLIES)
        after = [RULES.apply(state, reply) for reply in replies]
        state = max(after, key=lambda then: sum(then.scores))  # only whoever is on turn gets any
    return state.scores[me] - max((score for seat, score in enumerate(state.scores) if seat != me), default=0)
