"""Choose for Q: the kernel in C where it is here and the map is not too far away, else the function in Python."""

from fairplay.games.q import search
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.state import View
from fairplay.kernels import kernels

FARTHEST = 2**60  # of a cell from 0, for the kernel


def best_draft(view: View, q_bonus: int, finish_bonus: int) -> Draft | None:
    """What `search.best_draft` finds."""
    edge = view.map.edge
    if kernels is None or (edge and max(-edge[0], edge[-1]) > FARTHEST):
        return search.best_draft(view, q_bonus, finish_bonus)
    hand = search.considered(view)
    finish_bonus = finish_bonus if hand == view.hand else 0
    placed = kernels.q_best_placement(view.map.tiles.copy(), edge, hand, q_bonus, finish_bonus)
    return search.put_down(draft_of(view), dict(placed)) if placed else None
