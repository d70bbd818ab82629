"""Compute which tiles penguins can reach, with bit masks and tables that are cached per board size."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from types import MappingProxyType
from typing import Any

import msgspec

from fairplay.games.fish.actions import Move, Place
from fairplay.games.fish.pieces import FISH_BITS, Position

# From an even row and from an odd row, in the order N, NE, SE, S, SW, NW (Fish §1.3).
STEPS = (
    ((-2, 0), (-1, 0), (1, 0), (2, 0), (1, -1), (-1, -1)),
    ((-2, 0), (-1, 1), (1, 1), (2, 0), (1, 0), (-1, 0)),
)
ZERO_OR_ONE = bytes.maketrans(b"01", b"\0\1")

MAX_CACHED_CELLS = 12  # cells of a line whose answers are cached; a longer line has too many


class Ray(dict[int, tuple[Move, ...]]):
    """The moves along a line up to the first cell that is not free, by the mask of free cells."""

    def __init__(self, line: Sequence[int], moves: tuple[Move, ...]) -> None:
        self._line = line
        self._moves = moves

    def __missing__(self, free: int) -> tuple[Move, ...]:
        length = next((place for place, cell in enumerate(self._line) if not free >> cell & 1), len(self._line))
        moves = self._moves[:length]
        if len(self._line) <= MAX_CACHED_CELLS:
            self[free] = moves
        return moves


Rays = tuple[tuple[int, Ray], ...]  # each with the mask of its line
Lines = tuple[tuple[int, ...], ...]  # the cells in each of the six directions, in their order, up to the edge


class Grid(msgspec.Struct, frozen=True, eq=False):
    """The tables of one board size, which all matches share. Cells are numbered row by row; a mask has a bit per cell.

    What is computed on demand is behind functions, so that players cannot assign to it.
    """

    rows: int
    columns: int
    positions: tuple[Position, ...]
    cell: Callable[[Position], int | None]  # the number of the cell at a position; None: off the board
    fish_bytes: int  # that hold the fish on all cells
    lines: tuple[Lines, ...]  # by cell
    near: tuple[int, ...]  # by cell: the mask of its neighbours
    moves: Callable[[Iterable[int], int], list[Move]]  # of penguins on these cells over free cells, in order
    path: Callable[[int, int], int]  # the mask of a straight line to a cell, including it; 0: there is none
    all_places: tuple[Place, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return grid, (self.rows, self.columns)  # so that a copy from another process is the same grid again

    def __repr__(self) -> str:
        return f"grid({self.rows}, {self.columns})"

    def places(self, free: int) -> Iterator[Place]:
        """Every placement on a free cell, row by row."""
        return compress(self.all_places, bits(free))


class Mover:
    """Finds moves by rays, which are computed when they are first needed."""

    def __init__(self, positions: tuple[Position, ...], lines: tuple[Lines, ...], near: tuple[int, ...]) -> None:
        self._positions = positions
        self._lines = lines
        self._near = near
        self._rays: list[dict[int, tuple[int, Ray]]] = [{} for _ in positions]  # by cell and neighbour
        self._open_rays: list[dict[int, Rays]] = [{} for _ in positions]  # by cell and its free neighbours

    def moves(self, cells: Iterable[int], free: int) -> list[Move]:
        """Every move of penguins on these cells over free cells, penguin by penguin."""
        near, open_rays = self._near, self._open_rays
        found: list[Move] = []
        for cell in cells:
            exits = near[cell] & free
            if exits:
                for mask, moves in open_rays[cell].get(exits) or self._cast(cell, exits):
                    found += moves[mask & free]
        return found

    def _cast(self, cell: int, exits: int) -> Rays:
        rays = self._rays[cell] = self._rays[cell] or self._rays_from(cell)
        self._open_rays[cell][exits] = found = tuple(rays[to] for to in rays if exits >> to & 1)
        return found

    def _rays_from(self, cell: int) -> dict[int, tuple[int, Ray]]:
        """The rays from a cell, by its neighbour on each: first those with ascending cells, then the others."""
        lines = sorted((line for line in self._lines[cell] if line), key=lambda line: line[0] < cell)
        start = self._positions[cell]
        return {
            line[0]: (sum(1 << to for to in line), Ray(line, tuple(Move(start, self._positions[to]) for to in line)))
            for line in lines
        }


class Paths:
    """Finds the straight line between two cells; all lines from a cell are computed when one is first needed."""

    def __init__(self, lines: tuple[Lines, ...]) -> None:
        self._lines = lines
        self._known: dict[int, dict[int, int]] = {}

    def path(self, start: int, to: int) -> int:
        """The mask of the cells on the way, including the last one; 0: no straight line leads there."""
        known = self._known.get(start)
        return (self._from(start) if known is None else known).get(to, 0)

    def _from(self, start: int) -> dict[int, int]:
        self._known[start] = paths = {}
        for line in self._lines[start]:
            mask = 0
            for cell in line:
                mask |= 1 << cell
                paths[cell] = mask
        return paths


def bits(mask: int) -> bytes:
    """A mask as a byte 0 or 1 for each cell, for `itertools.compress`.

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
    positions: tuple[Position, ...] = tuple((row, column) for row in range(rows) for column in range(columns))
    cell = MappingProxyType({position: cell for cell, position in enumerate(positions)}).get
    lines = tuple(tuple(tuple(walk(position, way, cell)) for way in range(6)) for position in positions)
    near = tuple(sum(1 << line[0] for line in around if line) for around in lines)
    return Grid(
        rows=rows,
        columns=columns,
        positions=positions,
        cell=cell,
        fish_bytes=FISH_BITS * len(positions) + 7 >> 3,
        lines=lines,
        near=near,
        moves=Mover(positions, lines, near).moves,
        path=Paths(lines).path,
        all_places=tuple(Place(position) for position in positions),
    )


def walk(position: Position, direction: int, cell_at: Callable[[Position], int | None]) -> Iterator[int]:
    """The cells in a direction, up to the edge."""
    row, column = position
    while True:
        down, right = STEPS[row % 2][direction]
        row, column = row + down, column + right
        cell = cell_at((row, column))
        if cell is None:
            return
        yield cell
