"""Define what a player sees of a position of Q."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.q.board import Map, cell_at, position_of
from fairplay.games.q.pieces import KINDS, NAMES, Position
from fairplay.games.q.state import Tiles


@immutable
class Tile(StrEnum):
    """A tile: its name, as in "red star", with its colour and shape."""

    _ignore_ = "members name_"
    members = vars()
    for name_ in NAMES:
        members[name_] = name_

    __hash__ = str.__hash__

    @property
    def colour(self) -> str:
        """As in "red"."""
        return self.value.partition(" ")[0]

    @property
    def shape(self) -> str:
        """As in "star"."""
        return self.value.partition(" ")[2]

    def __repr__(self) -> str:
        return repr(self.value)


OF_KIND = tuple(Tile)  # the tile of each kind


class Player(msgspec.Struct, frozen=True, gc=False):
    """A player that is still in."""

    seat: Seat
    score: int


class Board(Mapping[Position, Tile]):
    """The tiles on the table, as in `board[row, column]`; `board.get((row, column))` is None where none lies."""

    def __init__(self, map: Map) -> None:
        self._tiles = map.tiles

    def __getitem__(self, position: Position) -> Tile:
        kind = self._tiles.get(cell_at(position))
        if kind is None:
            raise KeyError(f"no tile lies at {position}")
        return OF_KIND[kind]

    def __iter__(self) -> Iterator[Position]:
        return (position_of(cell) for cell in sorted(self._tiles))

    def __len__(self) -> int:
        return len(self._tiles)

    def __repr__(self) -> str:
        return repr(dict(self))


class View(msgspec.Struct, frozen=True, gc=False):
    """What a seat sees (None: a spectator); it contains neither other hands nor the pile.

    Positions are (row, column), from the first tile, and may be negative. `print(view)` draws the board.
    """

    seat: Seat | None
    map: Map
    kinds: Tiles  # of the tiles in its own hand; empty for spectators
    order: tuple[Seat, ...]  # the seats still in, starting with the one on turn
    points: tuple[int, ...]  # their scores, in that order
    left: int  # how many tiles are in the pile
    done: bool = False  # is the game over? Then no player is on turn

    @property
    def me(self) -> Player:
        """The player that this view is for, if it is still in."""
        for player in self.players:
            if player.seat == self.seat:
                return player
        if self.seat is None:
            raise BadRequest("this is the view of a spectator, which has no player")
        raise BadRequest(f"seat {self.seat} is out")

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The other players still in, starting with the next to move."""
        return tuple(player for player in self.players if player.seat != self.seat)

    @property
    def players(self) -> tuple[Player, ...]:
        """The players that are still in, starting with the next to move."""
        return tuple(Player(seat, score) for seat, score in zip(self.order, self.points, strict=True))

    @property
    def scores(self) -> dict[Seat, int]:
        """The points of the players that are still in, by seat."""
        return dict(zip(self.order, self.points, strict=True))

    @property
    def hand(self) -> tuple[Tile, ...]:
        """The tiles in the player's own hand."""
        return tuple(OF_KIND[kind] for kind in self.kinds)

    @property
    def board(self) -> Board:
        """The tiles that lie on the table."""
        return Board(self.map)

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is; None: the game is over."""
        return None if self.done else self.order[0]

    def fits(self, tile: str) -> tuple[Position, ...]:
        """The positions where a tile fits now."""
        mask, frontier = 1 << KINDS[tile], self.map.frontier
        return tuple(position_of(cell) for cell in self.map.edge if frontier[cell] & mask)

    def __repr__(self) -> str:
        return (
            f"View(seat={self.seat}, turn={self.turn}, scores={self.scores}, left={self.left}, "
            f"hand={self.hand}, board={self.board})"
        )

    def __str__(self) -> str:
        from fairplay.games.q.terminal import text  # start-up: only a drawing needs it

        return text(self)

    def _repr_svg_(self, names: tuple[str, ...] = ()) -> str:
        """The picture that Jupyter displays."""
        from fairplay.games.q.draw import svg  # start-up: only a drawing needs it

        return svg(self, names)
