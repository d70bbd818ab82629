"""Route the four paths of a tile over a few characters of a terminal, so that they can be distinguished.

A tile is a small grid of cells, each for one character. Paths go from cell to cell with as few bends as possible, cross
each other at right angles, and share nothing else. Not every tile has such routes on a grid of every size.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from fairplay.games.tsuro.pieces import EXITS

Cell = tuple[int, int]  # column and line

NORTH, SOUTH, WEST, EAST = 1, 2, 4, 8
STEPS = {NORTH: (0, -1), SOUTH: (0, 1), WEST: (-1, 0), EAST: (1, 0)}
FACING = {NORTH: SOUTH, SOUTH: NORTH, WEST: EAST, EAST: WEST}
SIDES = (NORTH, NORTH, EAST, EAST, SOUTH, SOUTH, WEST, WEST)  # by port
SIGNS = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"  # by the mask of the sides to which they lead
TRIALS = ((False, 3), (True, 3), (True, 4))  # may paths use corners, and how often may each of them bend?
ALL = frozenset(range(8))


class Size(NamedTuple):
    """The grid of a tile, and in which of its columns and lines the ports are."""

    wide: int
    high: int
    left: int
    right: int
    upper: int
    lower: int

    @property
    def ports(self) -> tuple[Cell, ...]:
        """The cell of each port."""
        last, end = self.wide - 1, self.high - 1
        sides = ((last, self.upper), (last, self.lower)), ((0, self.lower), (0, self.upper))
        return (self.left, 0), (self.right, 0), *sides[0], (self.right, end), (self.left, end), *sides[1]

    @property
    def corners(self) -> tuple[Cell, ...]:
        """The cells in the corners, clockwise from the upper left."""
        return (0, 0), (self.wide - 1, 0), (self.wide - 1, self.high - 1), (0, self.high - 1)


class Route(NamedTuple):
    """A route for one path: its cells, each with the sides to which it leads; and the same as masks of cells."""

    cells: tuple[tuple[Cell, int], ...]
    bends: int
    bent: int  # the cells in which it bends
    along: int  # in which it leads up and down
    across: int  # in which it leads from left to right


@cache
def routes_of(code: int, size: Size, ports: frozenset[int] = ALL) -> Mapping[int, Route]:
    """The routes of a tile as it lies, each by the lower of its two ports; empty: there is no room for all of them.

    Only paths that begin at one of these ports get a route. The corners stay free if possible.
    """
    ends = [(port, EXITS[code << 3 | port]) for port in range(8) if port < EXITS[code << 3 | port] and port in ports]
    for corners, bends in TRIALS:
        best = fewest_bends([choices(start, end, size, corners, bends) for start, end in ends])
        if best:
            return {start: route for (start, _), route in zip(ends, best, strict=True)}
    return {}


def fewest_bends(paths: Sequence[Sequence[Route]]) -> Sequence[Route]:
    """A route for each path, with the fewest bends in total and without overlaps; empty: there are none."""
    if not all(paths):
        return ()
    least = [sum(routes[0].bends for routes in paths[place:]) for place in range(len(paths) + 1)]
    best: tuple[int, Sequence[Route]] = 1000, ()

    def lead(chosen: tuple[Route, ...], bends: int, bent: int, along: int, across: int) -> None:
        nonlocal best
        place = len(chosen)
        if place == len(paths):
            best = bends, chosen
            return
        rest = least[place + 1]
        for route in paths[place]:
            _, more, turns, down, right = route
            if bends + more + rest >= best[0]:
                return
            if not (down & along or right & across or turns & (bent | along | across) or bent & (down | right)):
                lead((*chosen, route), bends + more, bent | turns, along | down, across | right)

    lead((), 0, 0, 0, 0)
    return best[1]


@cache
def choices(start: int, end: int, size: Size, corners: bool, most: int) -> Sequence[Route]:
    """All routes from a port to another, those with the fewest bends first, and of those the shortest."""
    blocked, ports = set() if corners else set(size.corners), size.ports
    target, goal = ports[end], SIDES[end]
    found = []

    def lead(cell: Cell, back: int, bends: int, before: dict[Cell, int]) -> None:
        for side, (right, down) in STEPS.items():
            bent = bends + (side != FACING[back])
            if side == back or bent > most:
                continue
            if cell == target and side == goal:
                found.append(_route({**before, cell: back | side}, bent, size))
                continue
            column, line = ahead = cell[0] + right, cell[1] + down
            if ahead not in before and ahead not in blocked and 0 <= column < size.wide and 0 <= line < size.high:
                lead(ahead, FACING[side], bent, {**before, cell: back | side})

    lead(ports[start], SIDES[start], 0, {})
    return sorted(found, key=lambda route: (route.bends, len(route.cells)))


def _route(cells: dict[Cell, int], bends: int, size: Size) -> Route:
    bent = along = across = 0
    for (column, line), sides in cells.items():
        mask = 1 << line * size.wide + column
        if sides == NORTH | SOUTH:
            along |= mask
        elif sides == WEST | EAST:
            across |= mask
        else:
            bent |= mask
    return Route((*cells.items(),), bends, bent, along, across)
