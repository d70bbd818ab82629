"""Draw at random what a player of Q cannot see: the hands of the others and the pile."""

from fairplay.core.chance import SeededRandom
from fairplay.games.q.pieces import COPIES, HAND_SIZE, NAMES
from fairplay.games.q.state import State, Tiles
from fairplay.games.q.view import View


def imagine_state(view: View, seed: bytes) -> State:
    """A possible state behind a view.

    The scores of ejected players are in no view, and are 0 here. Whether a player has placed a tile in a round that has
    begun is drawn, too.
    """
    lots, order = SeededRandom(seed), view.order
    hidden = unseen_tiles(view)
    lots.shuffle(hidden)
    pile, rest = tuple(hidden[: view.left]), hidden[view.left :]
    others = [seat for seat in order if seat != view.seat]
    sizes = hand_sizes(len(rest), len(others), lots)
    seats = 1 + max((*order, view.seat or 0))
    hands, scores = list[Tiles]([()] * seats), [0] * seats
    if view.seat is not None:
        hands[view.seat] = view.kinds
    for seat, size in zip(others, sizes, strict=True):
        hands[seat] = tuple(rest[:size])
        del rest[:size]
    for seat, score in view.scores.items():
        scores[seat] = score
    to_act = (order.index(min(order)) or len(order)) if order else 0  # rounds begin with the lowest seat
    return State(
        map=view.map,
        hands=tuple(hands),
        scores=tuple(scores),
        pile=pile,
        order=order,
        to_act=to_act,
        placed=to_act < len(order) and len(view.map.tiles) > 1 and lots.below(2) == 1,
        done=view.done,
        lost=tuple(rest),
    )


def unseen_tiles(view: View) -> list[int]:
    """The kinds of all tiles that are neither on the map nor in the hand."""
    counts = [COPIES] * len(NAMES)
    for kind in (*view.map.tiles.values(), *view.kinds):
        counts[kind] -= 1
    return [kind for kind, count in enumerate(counts) for _ in range(count)]


def hand_sizes(tiles: int, players: int, lots: SeededRandom) -> list[int]:
    """How many of so many tiles each of the others holds: as many as at the start, unless there are too few of them.

    >>> hand_sizes(20, 3, SeededRandom(b"")), sum(hand_sizes(10, 3, SeededRandom(b"")))
    ([6, 6, 6], 10)
    """
    sizes = [0] * players
    for _ in range(min(tiles, players * HAND_SIZE)):
        fewest = [seat for seat in range(players) if not sizes[seat]]
        open_to = fewest or [seat for seat in range(players) if sizes[seat] < HAND_SIZE]
        sizes[open_to[lots.below(len(open_to))]] += 1
    return sizes
