"""Define the pieces of Fish: positions, colours, penguins."""

from typing import Annotated

import msgspec

# Wide enough for every board, narrow enough for every machine.
Coordinate = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Position = tuple[Coordinate, Coordinate]  # (row, column), from the top left corner

COLOURS = ("red", "white", "brown", "black")  # the fixed order: the first goes to the youngest
FISH_BITS = 3  # that hold the fish on a tile
MAX_FISH = 5  # on one tile
MAX_SIDE = 100  # of a board, in tiles


def penguins_each(players: int) -> int:
    """How many penguins each player gets, by the number of players at the start (Fish §2.2)."""
    return 6 - players
