"""Define positions of Q for tests and pictures, by name."""

from collections.abc import Mapping, Sequence

from fairplay.games.q.actions import Place, Placement
from fairplay.games.q.board import map_of
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import KINDS, Position
from fairplay.games.q.state import State


def position(
    tiles: Mapping[Position, str],
    hands: Sequence[Sequence[str]],
    pile: Sequence[str] = (),
    *,
    to_act: int | None = None,
) -> State:
    """Tiles by their places, the hand of each seat, and the pile; the first seat is on turn."""
    return State(
        map=map_of((at, KINDS[tile]) for at, tile in tiles.items()),
        hands=tuple(tuple(KINDS[tile] for tile in hand) for hand in hands),
        scores=(0,) * len(hands),
        pile=tuple(KINDS[tile] for tile in pile),
        order=tuple(range(len(hands))),
        to_act=len(hands) if to_act is None else to_act,
    )


FIVE_REDS = {
    (0, column): f"red {shape}" for column, shape in enumerate(("star", "8star", "square", "circle", "clover"))
}

EXAMPLES: Mapping[str, State] = {
    # One tile on the map, six in every hand.
    "start": Q().deal(2, bytes(32)),
    # Five shapes in red lie in a row; the red diamond at either end makes a Q.
    "almost a q": position(FIVE_REDS, [["red diamond", "blue star"], ["green circle"]], ["red star"] * 4),
    # Between a red star and a blue circle nothing fits that has its shape from one and its colour from the other.
    "between two": position(
        {(0, 0): "red star", (0, 2): "blue circle", (1, 0): "red clover", (1, 1): "blue clover", (1, 2): "blue square"},
        [["red circle", "blue star"], ["green circle"]],
        ["red star"] * 4,
    ),
    # The green and the yellow star fit at the two ends of the row, with the stars between them: there may be gaps.
    "a gap": position(
        {(0, 0): "red star", (0, 1): "green star", (0, 2): "blue star"},
        [["green star", "yellow star", "purple diamond"], ["green circle"]],
        ["red star"] * 4,
    ),
    # The player on turn can place its last tile, which ends the game.
    "about to finish": position({(0, 0): "red star"}, [["red circle"], ["green circle"]], ["red star"]),
    # No tile fits, and there are too few tiles to exchange the hand for: only passing is legal.
    "only passing": position({(0, 0): "red star"}, [["green circle", "blue square"], ["red circle"]], ["red star"]),
    # The last turn of a round in which no player has placed a tile: if this one passes too, the game is over.
    "last of the round": position(
        {(0, 0): "red star"}, [["red circle", "blue square"], ["green circle"]], ["red star"] * 3, to_act=1
    ),
    # Seat 0 has just placed a tile and drawn a blue star, which is lost if the seat does not acknowledge it.
    "fresh tiles": Q().apply(
        position({(0, 0): "red star"}, [["red circle", "red square"], ["green circle"]], ["blue star", "red star"]),
        Place((Placement("red circle", (0, 1)),)),
    ),
}
