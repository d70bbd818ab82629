"""Define the actions of Tsuro."""

import msgspec

from fairplay.games.tsuro.pieces import Degrees, Port, Square, Tile


class Place(msgspec.Struct, frozen=True, tag="place", forbid_unknown_fields=True):
    """Place the first tile at the edge of the board, with the avatar on one of its ports."""

    tile: Tile
    degrees: Degrees
    port: Port
    at: Square

    def __str__(self) -> str:
        return f"places tile {self.tile} ({self.degrees}°) at {list(self.at)} and stands on port {self.port}"


class Lay(msgspec.Struct, frozen=True, tag="lay", forbid_unknown_fields=True):
    """Lay a tile on the square that the avatar faces."""

    tile: Tile
    degrees: Degrees

    def __str__(self) -> str:
        return f"lays tile {self.tile} ({self.degrees}°)"


Action = Place | Lay
