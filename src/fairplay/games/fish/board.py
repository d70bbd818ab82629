"""Know which tiles can be reached from which, by bit masks and tables worked out once per size of board."""

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

MAX_CACHED_CELLS = 12  # cells of a line of which all answers are kept; of a longer one there are too many


class Ray(dict[int, tuple[Move, ...]]):
    """The moves along a line, up to what stops a penguin there, by the mask of its cells that are free."""

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
    """The tables of one size of board, which all matches share. A cell is a number, row by row; a mask has a bit each.

    What is worked out only when it is asked for lies behind functions, so that a player can assign to none of it.
    """

    rows: int
    columns: int
    positions: tuple[Position, ...]
    cell: Callable[[Position], int | None]  # the number of the cell at a position; None: off the board
    fish_bytes: int  # that hold the fish on all cells
    lines: tuple[Lines, ...]  # by cell
    near: tuple[int, ...]  # by cell: the mask of its neighbours
    moves: Callable[[Iterable[int], int], list[Move]]  # those of penguins on these cells over free cells, in order
    path: Callable[[int, int], int]  # the mask of a straight line to a cell, with that one; 0: there is none
    all_places: tuple[Place, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return grid, (self.rows, self.columns)  # so that a copy from another process is the same grid again

    def __repr__(self) -> str:
        return f"grid({self.rows}, {self.columns})"

    def places(self, free: int) -> Iterator[Place]:
        """Every placement on a free cell, row by row."""
        return compress(self.all_places, bits(free))


class Mover:
    """Finds moves by rays, which are worked out when they are first asked for."""

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
        """Those from a cell, by the neighbour in their way: first where cells grow, then where they fall."""
        lines = sorted((line for line in self._lines[cell] if line), key=lambda line: line[0] < cell)
        start = self._positions[cell]
        return {
            line[0]: (sum(1 << to for to in line), Ray(line, tuple(Move(start, self._positions[to]) for to in line)))
            for line in lines
        }


class Paths:
    """Finds the straight line between two cells; those from a cell are worked out when one is first asked for."""

    def __init__(self, lines: tuple[Lines, ...]) -> None:
        self._lines = lines
        self._known: dict[int, dict[int, int]] = {}

    def path(self, start: int, to: int) -> int:
        """The mask of the cells on the way, with the last one; 0: no straight line leads there."""
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
