"""Choose for Q: the kernel in C where it is here and the map is not too far away, else the function in Python."""

from fairplay.games.q import playouts as by_python
from fairplay.games.q import search
from fairplay.games.q.board import Map
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.playouts import Outlook
from fairplay.games.q.search import DEFAULT_TILE_TRIES
from fairplay.games.q.view import View
from fairplay.kernels import kernels

MAX_CELL = 2**60  # of a cell from 0, for the kernels
MAX_SCORE = 2**30


def best_draft(view: View, q_bonus: int, finish_bonus: int, enough: int = DEFAULT_TILE_TRIES) -> Draft | None:
    """What `search.best_draft` finds."""
    edge = view.map.edge
    if kernels is None or is_far(view.map):
        return search.best_draft(view, q_bonus, finish_bonus, enough)
    hand = search.considered_tiles(view)
    finish_bonus = finish_bonus if hand == view.kinds else 0
    placed = kernels.q_best_placement(view.map.tiles.copy(), edge, hand, q_bonus, finish_bonus, enough)
    return search.put_down(draft_of(view), dict(placed)) if placed else None


def playouts(start: Outlook, q_bonus: int, finish_bonus: int, numbers: range, seed: bytes) -> int:
    """What `playouts.playouts` comes to."""
    if kernels is None or is_far(start.map) or max(start.scores) > MAX_SCORE:
        return by_python.playouts(start, q_bonus, finish_bonus, numbers, seed)
    total: int = kernels.q_playouts(
        start.map.tiles.copy(),
        start.map.edge,
        start.kept,
        start.drawn,
        start.scores,
        start.left,
        start.theirs,
        start.unseen,
        start.begins,
        start.placed,
        q_bonus,
        finish_bonus,
        numbers.start,
        len(numbers),
        int.from_bytes(seed[:8], "little"),
    )
    return total


def is_far(shown: Map) -> bool:
    """Is a map too far away for the kernels?"""
    return bool(shown.edge) and max(-shown.edge[0], shown.edge[-1]) > MAX_CELL
