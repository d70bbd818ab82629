"""Define the actions of Q."""

from typing import Any, Literal

import msgspec

from fairplay.games.q.pieces import NAMES, Position

TileName: Any = Literal[NAMES]  # by its name, as in "red star"


class Placement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A tile on a place of the map."""

    tile: TileName
    at: Position


class Place(msgspec.Struct, frozen=True, tag="place", forbid_unknown_fields=True, gc=False):
    """Place tiles, one after the other."""

    tiles: tuple[Placement, ...]

    def __str__(self) -> str:
        return "places " + (", ".join(f"{one.tile} at {list(one.at)}" for one in self.tiles) or "nothing")


class Exchange(msgspec.Struct, frozen=True, tag="exchange", forbid_unknown_fields=True, gc=False):
    """Exchange all tiles of the hand."""

    def __str__(self) -> str:
        return "exchanges all tiles"


class Pass(msgspec.Struct, frozen=True, tag="pass", forbid_unknown_fields=True, gc=False):
    """Do nothing."""

    def __str__(self) -> str:
        return "passes"


Action = Place | Exchange | Pass
