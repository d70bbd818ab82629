"""Define the pieces of Q: tiles of six shapes in six colours, and which kinds fit beside each other."""

from typing import Annotated

from msgspec import Meta

# Q §1.1.
SHAPES = ("star", "8star", "square", "circle", "clover", "diamond")  # ascending
COLOURS = ("red", "green", "blue", "yellow", "orange", "purple")  # ascending
COPIES = 30  # of each kind of tile
HAND_SIZE = 6  # tiles at the start
Q_BONUS = 8  # the defaults
FINISH_BONUS = 4

# A kind is a number: first by shape, then by colour, so that kinds are in the order of tiles (Q §1.2). Players and
# people use its name.
NAMES = tuple(f"{colour} {shape}" for shape in SHAPES for colour in COLOURS)
KINDS = {name: kind for kind, name in enumerate(NAMES)}
NONE = len(NAMES)  # in place of a kind: no tile

Coordinate = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Position = tuple[Coordinate, Coordinate]  # (row, column), from the first tile


def shape_of(kind: int) -> int:
    """The number of its shape."""
    return kind // len(COLOURS)


def colour_of(kind: int) -> int:
    """The number of its colour."""
    return kind % len(COLOURS)


SAME_SHAPE = tuple(
    sum(1 << other for other in range(NONE) if shape_of(other) == shape_of(kind)) for kind in range(NONE)
)
SAME_COLOUR = tuple(
    sum(1 << other for other in range(NONE) if colour_of(other) == colour_of(kind)) for kind in range(NONE)
)
ANY = (1 << NONE) - 1  # the mask of all kinds


def kinds_between(one: int, other: int) -> int:
    """The mask of the kinds that fit between two neighbours on opposite sides, NONE where there is none (Q §3.5)."""
    if one == NONE and other == NONE:
        return ANY
    if one == NONE or other == NONE:
        kind = min(one, other)
        return SAME_SHAPE[kind] | SAME_COLOUR[kind]
    by_shape = SAME_SHAPE[one] if shape_of(one) == shape_of(other) else 0
    by_colour = SAME_COLOUR[one] if colour_of(one) == colour_of(other) else 0
    return by_shape | by_colour


BETWEEN = tuple(tuple(kinds_between(one, other) for other in range(NONE + 1)) for one in range(NONE + 1))
