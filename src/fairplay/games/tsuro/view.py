"""Define what a player sees of a position of Tsuro."""

from collections.abc import Iterator, Mapping
from enum import Enum

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import CONNECTIONS, EXITS, PORTS, TILES, Square, code_of
from fairplay.games.tsuro.state import DONE, Stage, Table
from fairplay.games.tsuro.ways import way_of


@immutable
class Tile(int, Enum):
    """A tile: its number, from 0 to 34, with its paths."""

    _ignore_ = "members number"
    members = vars()
    for number in range(TILES):
        members[f"tile {number}"] = number

    __hash__ = int.__hash__

    @property
    def connections(self) -> tuple[str, ...]:
        """Its four connections at 0 degrees.

        >>> Tile(4).connections
        ('AH', 'BC', 'DE', 'FG')
        """
        ports = CONNECTIONS[self]
        return tuple(ports[place : place + 2] for place in range(0, len(ports), 2))

    def exit(self, port: str, degrees: int = 0) -> str:
        """The port at which a path leaves that comes in at this one.

        >>> Tile(0).exit("A"), Tile(0).exit("A", 90)
        ('E', 'F')
        """
        return PORTS[EXITS[code_of(self, degrees) << 3 | PORTS.index(port)]]

    def __repr__(self) -> str:
        return str(int(self))

    __str__ = __repr__


class LaidTile(msgspec.Struct, frozen=True, gc=False):
    """A tile on the board."""

    tile: Tile
    degrees: int

    def exit(self, port: str) -> str:
        """The port at which a path leaves that comes in at this one."""
        return self.tile.exit(port, self.degrees)


class Avatar(msgspec.Struct, frozen=True, gc=False):
    """The position of an avatar: on a port of the tile on a square."""

    square: Square
    port: str
    facing: Square | None  # the square before it; None: the edge of the board


class Player(msgspec.Struct, frozen=True, gc=False):
    """A player, even if it is out."""

    seat: Seat
    colour: str
    avatar: Avatar | None  # None: not yet on the board, or no longer
    score: int  # the round that it has survived to


class Board(Mapping[Square, LaidTile]):
    """The tiles that lie on squares, as in `board[x, y]`; `board.get((x, y))` is None where none lies."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.size = table.grid.size

    def __getitem__(self, at: Square) -> LaidTile:
        square = self._table.grid.square(at)
        code = EMPTY if square is None else self._table.board[square]
        if code == EMPTY:
            raise KeyError(f"no tile lies at {at}" if square is not None else f"{at} is off the board")
        return LaidTile(Tile(code >> 2), 90 * (code & 3))

    def __iter__(self) -> Iterator[Square]:
        return (at for at, code in zip(self._table.grid.squares, self._table.board, strict=True) if code != EMPTY)

    def __len__(self) -> int:
        return len(self._table.board) - self._table.board.count(EMPTY)

    def __repr__(self) -> str:
        return f"{ {at: (int(laid.tile), laid.degrees) for at, laid in self.items()} }"


class View(msgspec.Struct, frozen=True, gc=False):
    """What a seat sees (None: a spectator). Only the player on turn sees the tiles dealt to it.

    Squares are (x, y), from the top left corner. `print(view)` draws the board.
    """

    seat: Seat | None
    table: Table
    dealt: tuple[int, ...]  # the numbers of the tiles

    @property
    def me(self) -> Player:
        """The player that this view is for."""
        if self.seat is None:
            raise BadRequest("this is the view of a spectator, which has no player")
        return player_at(self.table, self.seat)

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The other players still in, starting with the next to move."""
        waiting, alive = self.table.waiting, self.table.alive
        order = (*waiting, *(seat for seat in alive if seat not in waiting))
        return tuple(player_at(self.table, seat) for seat in order if seat != self.seat)

    @property
    def players(self) -> tuple[Player, ...]:
        """All players by seat, including those that are out."""
        return tuple(player_at(self.table, seat) for seat in range(len(self.table.fell)))

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles dealt to the player of this view; empty if it is not its turn."""
        return tuple(Tile(number) for number in self.dealt)

    @property
    def avatar(self) -> Avatar | None:
        """The avatar of the player of this view; None: not yet on the board, or no longer."""
        return self.me.avatar

    @property
    def board(self) -> Board:
        """The tiles that lie on squares."""
        return Board(self.table)

    @property
    def paths(self) -> dict[Seat, tuple[Square, ...]]:
        """The squares that each avatar has visited, from its first one; without ejected players."""
        squares, starts = self.table.grid.squares, self.table.starts
        return {
            seat: tuple(squares[spot >> 3] for spot in (start, *(step.exit for step in way_of(self.table, seat))))
            for seat, start in enumerate(starts)
            if start != OUT and self.table.fell[seat] >= 0
        }

    @property
    def scores(self) -> dict[Seat, int]:
        """The round that each seat has survived to."""
        return {seat: self.table.survived_to(seat) for seat in range(len(self.table.fell))}

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is; None: the game is over."""
        return self.table.waiting[0] if self.table.waiting and self.table.stage is not DONE else None

    @property
    def stage(self) -> Stage:
        """The stage of the game."""
        return self.table.stage

    @property
    def round(self) -> int:
        """The round, from 1; 0 while first tiles are placed."""
        return self.table.round

    def __repr__(self) -> str:
        standing = {
            player.seat: player.avatar and (player.avatar.square, player.avatar.port) for player in self.players
        }
        return (
            f"View(seat={self.seat}, turn={self.turn}, stage={self.stage.value!r}, round={self.round}, "
            f"tiles={self.tiles}, avatars={standing}, board={self.board})"
        )

    def __str__(self) -> str:
        from fairplay.games.tsuro.terminal import text  # start-up: only a drawing needs it

        return text(self)

    def _repr_svg_(self, names: tuple[str, ...] = ()) -> str:
        """The picture that Jupyter displays."""
        from fairplay.games.tsuro.draw import svg  # start-up: only a drawing needs it

        return svg(self, names)


def player_at(table: Table, seat: Seat) -> Player:
    """The player at a seat."""
    return Player(seat, table.colours[seat], avatar_of(table, seat), table.survived_to(seat))


def avatar_of(table: Table, seat: Seat) -> Avatar | None:
    """The avatar of a seat, if it is on the board."""
    spot, grid = table.avatars[seat], table.grid
    if spot == OUT:
        return None
    square, port = grid.place(spot)
    ahead = grid.ahead[spot]
    return Avatar(square, port, None if ahead == OUT else grid.squares[ahead >> 3])
