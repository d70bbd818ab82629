"""Know which tiles can be reached from which, by bit masks and tables worked out once per size of board."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from typing import Any

from fairplay.games.fish.actions import Move, Place
from fairplay.games.fish.pieces import FISH_BITS, Position

# From an even row and from an odd row, in the order N, NE, SE, S, SW, NW (Fish §1.3).
STEPS = (
    ((-2, 0), (-1, 0), (1, 0), (2, 0), (1, -1), (-1, -1)),
    ((-2, 0), (-1, 1), (1, 1), (2, 0), (1, 0), (-1, 0)),
)
ZERO_OR_ONE = bytes.maketrans(b"01", b"\0\1")

LONGEST_KEPT = 12  # cells of a line of which all answers are kept; of a longer one there are too many


class Ray(dict[int, tuple[Move, ...]]):
    """The moves along a line, up to what stops a penguin there, by the mask of its cells that are free."""

    def __init__(self, line: Sequence[int], moves: tuple[Move, ...]) -> None:
        self._line = line
        self._moves = moves

    def __missing__(self, free: int) -> tuple[Move, ...]:
        length = next((place for place, cell in enumerate(self._line) if not free >> cell & 1), len(self._line))
        moves = self._moves[:length]
        if len(self._line) <= LONGEST_KEPT:
            self[free] = moves
        return moves


Rays = tuple[tuple[int, Ray], ...]  # each with the mask of its line


class Paths(dict[int, dict[int, int]]):
    """By cell, and by each cell on a straight line from there: the mask of the cells on the way, with the last one."""

    def __init__(self, lines: Sequence[Iterable[Sequence[int]]]) -> None:
        self._lines = lines

    def __missing__(self, start: int) -> dict[int, int]:
        self[start] = paths = {}
        for line in self._lines[start]:
            mask = 0
            for cell in line:
                mask |= 1 << cell
                paths[cell] = mask
        return paths


class Grid:
    """The tables of one size of board. A cell is a number, row by row; a mask has one bit per cell."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.positions: tuple[Position, ...] = tuple((row, column) for row in range(rows) for column in range(columns))
        # The number of the cell at a position; None: off the board.
        self.cell: Callable[[Position], int | None] = {place: cell for cell, place in enumerate(self.positions)}.get
        self.fish_bytes = FISH_BITS * len(self.positions) + 7 >> 3  # that hold the fish on all cells
        self._places = tuple(Place(position) for position in self.positions)
        self._lines = [self._lines_from(position) for position in self.positions]
        self.near = tuple(sum(1 << line[0] for line in lines if line) for lines in self._lines)
        self._rays: list[dict[int, tuple[int, Ray]]] = [{} for _ in self.positions]  # by cell and neighbour
        self._open_rays: list[dict[int, Rays]] = [{} for _ in self.positions]  # by cell and its free neighbours
        self.paths = Paths(self._lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return grid, (self.rows, self.columns)  # so that a copy from another process is the same grid again

    def lines(self, cell: int) -> tuple[tuple[int, ...], ...]:
        """The cells in each of the six directions, in their order, up to the edge."""
        return self._lines[cell]

    def places(self, free: int) -> Iterator[Place]:
        """Every placement on a free cell, row by row."""
        return compress(self._places, bits(free))

    def moves(self, cells: Iterable[int], free: int) -> list[Move]:
        """Every move of penguins on these cells over free cells, penguin by penguin."""
        near, open_rays = self.near, self._open_rays
        found: list[Move] = []
        for cell in cells:
            exits = near[cell] & free
            if exits:
                for mask, moves in open_rays[cell].get(exits) or self._cast(cell, exits):
                    found += moves[mask & free]
        return found

    def _lines_from(self, position: Position) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self._walk(position, direction)) for direction in range(6))

    def _walk(self, position: Position, direction: int) -> Iterator[int]:
        row, column = position
        while True:
            down, right = STEPS[row % 2][direction]
            row, column = row + down, column + right
            cell = self.cell((row, column))
            if cell is None:
                return
            yield cell

    def _cast(self, cell: int, exits: int) -> Rays:
        """The rays from a cell through its free neighbours, worked out when they are first asked for."""
        rays = self._rays[cell] = self._rays[cell] or self._rays_from(cell)
        self._open_rays[cell][exits] = found = tuple(rays[to] for to in rays if exits >> to & 1)
        return found

    def _rays_from(self, cell: int) -> dict[int, tuple[int, Ray]]:
        """Those from a cell, by the neighbour in their way: first where cells grow, then where they fall."""
        lines = sorted((line for line in self._lines[cell] if line), key=lambda line: line[0] < cell)
        start = self.positions[cell]
        return {
            line[0]: (sum(1 << to for to in line), Ray(line, tuple(Move(start, self.positions[to]) for to in line)))
            for line in lines
        }


def bits(mask: int) -> bytes:
    """A mask as a byte 0 or 1 for each cell, which C code can walk through.

    >>> list(bits(0b1101))
    [1, 0, 1, 1]
    """
    return f"{mask:b}".encode().translate(ZERO_OR_ONE)[::-1]


def cells(mask: int) -> Iterator[int]:
    """The cells of a mask, in ascending order.

    >>> list(cells(0b1101))
    [0, 2, 3]
    """
    return compress(range(mask.bit_length()), bits(mask))


@cache
def grid(rows: int, columns: int) -> Grid:
    """The grid of this size; there is only one."""
    return Grid(rows, columns)
