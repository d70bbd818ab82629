"""Define the actions of Fish."""

import msgspec

from fairplay.games.fish.pieces import Position


class Place(msgspec.Struct, frozen=True, tag="place", forbid_unknown_fields=True):
    """Place a penguin."""

    at: Position

    def __str__(self) -> str:
        return f"places a penguin at {list(self.at)}"


class Move(msgspec.Struct, frozen=True, tag="move", forbid_unknown_fields=True, rename={"start": "from"}):
    """Move a penguin along a straight line."""

    start: Position
    to: Position

    def __str__(self) -> str:
        return f"moves from {list(self.start)} to {list(self.to)}"


Action = Place | Move
