"""Define the map of Q with its frontier: for each free place beside a tile, the kinds that fit there.

A cell is a position as one number, so that neighbours are a step away and cells are in the order of rows and columns.
A map is immutable; extending it copies two dictionaries and a list, and updates at most five places of the frontier for
each tile.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fairplay.games.q.pieces import ANY, BETWEEN, COLOURS, NONE, SHAPES, Position, colour_of, shape_of

WIDTH = 2**34  # more columns than there are
ROW, COLUMN = 1, WIDTH  # the steps along a row and along a column
AROUND = (-COLUMN, -ROW, ROW, COLUMN)
ALL_SHAPES = (1 << len(SHAPES)) - 1
ALL_COLOURS = (1 << len(COLOURS)) - 1 << len(SHAPES)
TRAITS = tuple(1 << shape_of(kind) | 1 << len(SHAPES) + colour_of(kind) for kind in range(NONE))  # of kinds, as masks


def cell_at(position: Position) -> int:
    """The cell at a position."""
    return position[0] * WIDTH + position[1]


def position_of(cell: int) -> Position:
    """The position of a cell.

    >>> position_of(cell_at((-3, 5))), position_of(cell_at((0, -2)))
    ((-3, 5), (0, -2))
    """
    row = (cell + WIDTH // 2) // WIDTH
    return row, cell - row * WIDTH


class Map:
    """The tiles on the table, by cell, and the frontier around them. Equal maps have the same tiles."""

    __slots__ = ("edge", "frontier", "tiles")

    tiles: MappingProxyType[int, int]  # the kind on each cell
    frontier: MappingProxyType[int, int]  # for each free cell beside a tile, the mask of the kinds that fit
    edge: Sequence[int]  # the same cells in ascending order

    def __init__(self, tiles: Mapping[int, int], frontier: Mapping[int, int], edge: Sequence[int]) -> None:
        fix = object.__setattr__
        fix(self, "tiles", MappingProxyType(tiles))
        fix(self, "frontier", MappingProxyType(frontier))
        fix(self, "edge", tuple(edge))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a map cannot be changed, so neither can its {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a map cannot be changed, so neither can its {name}")

    def __reduce__(self) -> Any:
        return Map, (dict(self.tiles), dict(self.frontier), self.edge)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Map) and self.tiles == other.tiles

    def __hash__(self) -> int:
        return hash(frozenset(self.tiles.items()))

    def with_tiles(self, placed: Iterable[tuple[int, int]]) -> "Map":
        """The map with these tiles on it, each a cell and a kind."""
        extended = MutableMap(self)
        for cell, kind in placed:
            extended.put(cell, kind)
        return Map(extended.tiles, extended.frontier, extended.edge)


class MutableMap:
    """A copy of a map, to put tiles on."""

    __slots__ = ("edge", "frontier", "tiles")

    def __init__(self, map: Map) -> None:
        self.tiles = map.tiles.copy()  # which is much quicker than dict()
        self.frontier = map.frontier.copy()
        self.edge = list(map.edge)

    def put(self, cell: int, kind: int) -> None:
        """Put a tile there, and update the frontier."""
        tiles, frontier, edge = self.tiles, self.frontier, self.edge
        tiles[cell] = kind
        if frontier.pop(cell, None) is not None:
            del edge[bisect_left(edge, cell)]
        between = BETWEEN[kind]
        for step in AROUND:
            near = cell + step
            if near in frontier:  # as in `fitting_kinds`
                frontier[near] &= between[tiles.get(near + step, NONE)]
            elif near not in tiles:
                insort(edge, near)
                frontier[near] = between[NONE]


def map_of(tiles: Iterable[tuple[Position, int]]) -> Map:
    """A map from positions and kinds; it need not be one that can come up in play."""
    return Map({}, {}, ()).with_tiles((cell_at(position), kind) for position, kind in tiles)


def fitting_kinds(map: Map, new: Mapping[int, int], cell: int) -> int:
    """The mask of the kinds that fit on a free cell of a map, with some new tiles on it (Q §3.5); ANY: beside no tile.

    What fits between two tiles also fits beside each of them, so only new tiles need a check.
    """
    fits = map.frontier.get(cell, ANY)
    for step in AROUND:
        kind = new.get(cell + step)
        if kind is not None:
            fits &= BETWEEN[kind][new.get(cell - step, map.tiles.get(cell - step, NONE))]
    return fits


def score_of(extended: Map, placed: Iterable[int], q_bonus: int) -> int:
    """The points for the tiles on these cells, on the map that they lie on (Q §4.1, §4.2, §4.3)."""
    tiles, points = extended.tiles, 0
    counted: set[tuple[int, int]] = set()
    for cell in placed:
        points += 1
        for step in (ROW, COLUMN):
            first = cell
            while first - step in tiles:
                first -= step
            if (first, step) in counted:
                continue
            counted.add((first, step))
            length = traits = 0
            while first in tiles:
                length += 1
                traits |= TRAITS[tiles[first]]
                first += step
            if length > 1:
                points += length
            if length == len(SHAPES) and is_complete(traits):
                points += q_bonus
    return points


def is_complete(traits: int) -> bool:
    """Are these the traits of all shapes, or of all colours?"""
    return traits & ALL_SHAPES == ALL_SHAPES or traits & ALL_COLOURS == ALL_COLOURS
