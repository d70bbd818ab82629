"""Search Q with the C kernels if they are available and the map is near the origin, else with the Python functions."""

from fairplay.games.q import playouts as python_playouts
from fairplay.games.q import search
from fairplay.games.q.board import Map
from fairplay.games.q.draft import Draft, draft_of
from fairplay.games.q.playouts import Outlook
from fairplay.games.q.search import DEFAULT_TILE_TRIES
from fairplay.games.q.view import View
from fairplay.kernels import kernels

MAX_CELL = 2**60  # the largest cell that the kernels support
MAX_SCORE = 2**30


def best_draft(view: View, q_bonus: int, finish_bonus: int, enough: int = DEFAULT_TILE_TRIES) -> Draft | None:
    """The result of `search.best_draft`."""
    edge = view.map.edge
    if kernels is None or is_far(view.map):
        return search.best_draft(view, q_bonus, finish_bonus, enough)
    hand = search.considered_tiles(view)
    finish_bonus = finish_bonus if hand == view.kinds else 0
    placed = kernels.q_best_placement(view.map.tiles.copy(), edge, hand, q_bonus, finish_bonus, enough)
    return search.place_in_order(draft_of(view), dict(placed)) if placed else None


def playouts(start: Outlook, q_bonus: int, finish_bonus: int, numbers: range, seed: bytes) -> int:
    """The result of `playouts.playouts`."""
    if kernels is None or is_far(start.map) or max(start.scores) > MAX_SCORE:
        return python_playouts.playouts(start, q_bonus, finish_bonus, numbers, seed)
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


def is_far(map: Map) -> bool:
    """Has a map a cell beyond what the kernels support?"""
    return bool(map.edge) and max(-map.edge[0], map.edge[-1]) > MAX_CELL
