"""Follow paths over tiles, with tables that are cached per board size.

A square is a number, row by row; a spot is a port of a square, 8 * square + port. A board is a string of bytes: for
each square the code of the tile on it, or EMPTY.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

import msgspec

from fairplay.games.tsuro.pieces import EXITS, PORTS, Square

EMPTY = 255
OUT = -1  # instead of a spot: off the board
LOOP = -2  # instead of a spot: in an endless loop
BYTES = tuple(bytes([value]) for value in range(256))

# Where a port leads to (x, y), and which port it touches there (Tsuro §1.2).
STEPS = ((0, -1, 5), (0, -1, 4), (1, 0, 7), (1, 0, 6), (0, 1, 1), (0, 1, 0), (-1, 0, 3), (-1, 0, 2))


class Grid(msgspec.Struct, frozen=True, eq=False):
    """The tables of one size of board, which all matches share."""

    size: int
    squares: tuple[Square, ...]
    ahead: tuple[int, ...]  # spot to spot, or OUT
    beside: tuple[tuple[int, ...], ...]  # by square
    rim: tuple[int, ...]  # the squares at the edge

    def __reduce__(self) -> tuple[Any, ...]:
        return grid, (self.size,)  # so that a copy from another process is the same grid again

    def __repr__(self) -> str:
        return f"grid({self.size})"

    def square(self, at: Square) -> int | None:
        """The number of the square at this position; None: off the board."""
        x, y = at
        return y * self.size + x if 0 <= x < self.size and 0 <= y < self.size else None

    def place(self, spot: int) -> tuple[Square, str]:
        """The position of a spot's square, and the letter of its port."""
        return self.squares[spot >> 3], PORTS[spot & 7]

    def follow(self, board: bytes, start: int) -> int:
        """The spot where an avatar that starts from a spot comes to rest; or OUT, or LOOP.

        Two paths never join, so a loop returns to its start.
        """
        ahead = self.ahead
        spot = start
        while (entry := ahead[spot]) >= 0:
            code = board[entry >> 3]
            if code == EMPTY:
                return spot
            spot = entry & -8 | EXITS[code << 3 | entry & 7]
            if spot == start:
                return LOOP
        return OUT


@cache
def grid(size: int) -> Grid:
    """The grid of this size; there is only one."""
    squares = tuple((x, y) for y in range(size) for x in range(size))
    ahead = tuple(spot_ahead(size, x, y, port) for x, y in squares for port in range(8))
    return Grid(
        size=size,
        squares=squares,
        ahead=ahead,
        beside=tuple(
            tuple({ahead[8 * square + port] >> 3 for port in range(8)} - {OUT}) for square in range(size * size)
        ),
        rim=tuple(square for square, (x, y) in enumerate(squares) if {x, y} & {0, size - 1}),
    )


def spot_ahead(size: int, x: int, y: int, port: int) -> int:
    """The spot that a port of a square touches, or OUT."""
    right, down, touching = STEPS[port]
    x, y = x + right, y + down
    return 8 * (y * size + x) + touching if 0 <= x < size and 0 <= y < size else OUT


class Prospect(msgspec.Struct, frozen=True, gc=False):
    """The board and the avatars after a tile is laid."""

    board: bytes  # with the tile on it
    avatars: tuple[int, ...]  # by seat: their spots, or OUT
    looping: tuple[int, ...]  # the seats whose avatars would loop endlessly


@lru_cache(maxsize=4096)
def prospect(size: int, board: bytes, avatars: tuple[int, ...], square: int, code: int) -> Prospect:
    """The prospect of a tile on a square; cached, as rules, referee and strategies ask for it in the same turn."""
    tables = grid(size)
    ahead = tables.ahead
    after = board[:square] + BYTES[code] + board[square + 1 :]
    moved = list(avatars)
    looping = []
    for seat, spot in enumerate(avatars):
        if spot >= 0 and ahead[spot] >> 3 == square:
            moved[seat] = tables.follow(after, spot)
            if moved[seat] == LOOP:
                looping.append(seat)
    return Prospect(after, tuple(moved), tuple(looping))


def dangers(size: int, board: bytes, avatars: tuple[int, ...], seat: int, codes: Iterable[int]) -> list[int]:
    """The danger of each of these tiles on the square before a seat, found without making the boards.

    LOOP: an avatar would loop endlessly; else OUT: the seat itself would leave the board; else 0.
    """
    ahead = grid(size).ahead
    mine = avatars[seat]
    square = ahead[mine] >> 3
    facing = [spot for spot in avatars if spot >= 0 and ahead[spot] >> 3 == square]
    found = []
    for code in codes:
        danger = 0
        for start in facing:
            spot = start
            while (entry := ahead[spot]) >= 0:  # as in `follow`, with the tile that is not on the board yet
                lies = code if entry >> 3 == square else board[entry >> 3]
                if lies == EMPTY:
                    break
                spot = entry & -8 | EXITS[lies << 3 | entry & 7]
                if spot == start:
                    danger = LOOP
                    break
            else:
                if start == mine:
                    danger = danger or OUT
        found.append(danger)
    return found
