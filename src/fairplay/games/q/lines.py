"""List the free places for a hand of Q by row and column, with upper bounds of their points."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate
from math import inf

import msgspec

from fairplay.games.q.board import COLUMN, ROW, TRAITS, Map, is_complete, position_of
from fairplay.games.q.pieces import ANY, SHAPES
from fairplay.games.q.state import Tiles

Q_LENGTH = len(SHAPES)


class FreeCell(msgspec.Struct, frozen=True, gc=False):
    """A free cell of a line, and the tiles around it, up to the next free cells."""

    fits: int = ANY  # the mask of kinds
    before: int = 0  # how many tiles along the line
    before_traits: int = 0
    after: int = 0
    after_traits: int = 0
    across: int = 0  # how many on both sides of the line
    across_traits: int = 0

    def gain(self, kind: int, q_bonus: int) -> int:
        """The points for a new tile here, in the run across and, with the tiles after it, in the run along."""
        if not self.across:
            return 2 + self.after
        is_q = self.across == Q_LENGTH - 1 and is_complete(self.across_traits | TRAITS[kind])
        return 3 + self.after + self.across + (q_bonus if is_q else 0)


OPEN = FreeCell()  # no tile beside it
FreeCells = dict[int, FreeCell]  # by cell


class Lane(msgspec.Struct, frozen=True, gc=False):
    """A row or a column with spots for tiles of a hand."""

    step: int
    spots: FreeCells
    values: dict[int, float]  # the most points that a tile on each spot can add to a placement
    bound: float  # the most points of a placement


class Geometry(msgspec.Struct, frozen=True):
    """A map, a hand and the bonuses: everything that the value of a place depends on."""

    map: Map
    hand: Tiles
    q_bonus: int
    finish_bonus: int

    def lines(self) -> list[Lane]:
        """All lines in which a tile can be placed, those with the highest bound first."""
        tiles, frontier, wanted = self.map.tiles, self.map.frontier, mask_of(self.hand)
        rows: dict[int, FreeCells] = defaultdict(dict)
        columns: dict[int, FreeCells] = defaultdict(dict)
        for cell in self.map.edge:
            fits = frontier[cell] & wanted
            if fits:
                left, right, up, down = (adjacent_run(tiles, cell, step) for step in (-ROW, ROW, -COLUMN, COLUMN))
                row, column = position_of(cell)
                rows[row][cell] = FreeCell(fits, *left, *right, up[0] + down[0], up[1] | down[1])
                columns[column][cell] = FreeCell(fits, *up, *down, left[0] + right[0], left[1] | right[1])
        lines = [self._line(ROW, spots) for spots in rows.values()]
        lines += [self._line(COLUMN, spots) for spots in columns.values()]
        return sorted(lines, key=lambda line: -line.bound)

    def open_spots(self, line: Lane) -> FreeCells:
        """The spots of a line, and the open cells that the hand may reach from them."""
        tiles, frontier, spots = self.map.tiles, self.map.frontier, dict(line.spots)
        for start in line.spots:
            for step in (-line.step, line.step):
                cell = start
                for _ in range(len(self.hand) - 1):
                    cell += step
                    if cell in frontier or cell in tiles:
                        break
                    spots[cell] = OPEN
        return spots

    def bound_behind(self, line: Lane, cells: Iterable[int]) -> dict[int, list[float]]:
        """For each cell, by the number of used tiles: the most points that the tiles left can add behind it."""
        size = len(self.hand)
        highest: list[float] = []  # of the values behind a cell, as many as there are tiles, ascending
        bounds = {}
        for cell in sorted(cells, reverse=True):
            sums = list(accumulate(reversed(highest), initial=self.finish_bonus))
            bounds[cell] = [sums[min(size - used, len(highest))] for used in range(size + 1)]
            insort(highest, line.values.get(cell) or self._value(cell, OPEN, line.step))
            del highest[:-size]
        return bounds

    def _line(self, step: int, spots: FreeCells) -> Lane:
        values = {cell: self._value(cell, spot, step) for cell, spot in spots.items()}
        highest = sorted(values.values(), reverse=True)[: len(self.hand)]
        opens = len(self.hand) - len(highest)
        each = 2 + self.q_bonus / 2  # behind four tiles and a new one it may complete a Q
        bound: float = 0
        for value in highest:
            bound += value  # not by sum(), which rounds differently from Python 3.12 on
        return Lane(step, spots, values, bound + opens * each + self.finish_bonus)

    def _value(self, cell: int, spot: FreeCell, step: int) -> float:
        """The most points that a tile here can add; the new tiles of a Q along the line share its bonus."""
        along = spot.before + spot.after
        points: float = 2 + along + (1 + spot.across if spot.across else 0)
        if spot.across == Q_LENGTH - 1 and could_be_q(spot.across, spot.across_traits):
            points += self.q_bonus
        if along < Q_LENGTH and could_be_q(along, spot.before_traits | spot.after_traits):
            points += self.q_bonus / self._short_of_q(cell, spot, step)
        return points

    def _short_of_q(self, cell: int, spot: FreeCell, step: int) -> float:
        """The fewest new tiles that make a Q along the line, with one of them here; infinity: none can."""
        tiles, fewest = self.map.tiles, inf
        for back in range(spot.before, Q_LENGTH - spot.after):
            first = cell - step * back
            end = first + step * Q_LENGTH
            if first - step in tiles or end in tiles:  # the run would be longer
                continue
            old = [tiles[other] for other in range(first, end, step) if other in tiles]
            if Q_LENGTH - len(old) < fewest and could_be_q(len(old), traits_of(old)):
                fewest = Q_LENGTH - len(old)
        return fewest if fewest <= len(self.hand) else inf


def could_be_q(length: int, traits: int) -> bool:
    """Could so many tiles with these traits be part of a Q? Then all differ in shape, or all in colour."""
    return (traits % (1 << Q_LENGTH)).bit_count() == length or (traits >> Q_LENGTH).bit_count() == length


def adjacent_run(tiles: Mapping[int, int], cell: int, step: int) -> tuple[int, int]:
    """How many tiles lie beside a cell in one direction without a gap, and their traits."""
    length = traits = 0
    while (cell := cell + step) in tiles:
        length += 1
        traits |= TRAITS[tiles[cell]]
    return length, traits


def mask_of(kinds: Iterable[int]) -> int:
    """The mask of some kinds."""
    mask = 0
    for kind in kinds:
        mask |= 1 << kind
    return mask


def traits_of(kinds: Iterable[int]) -> int:
    """The traits of some kinds together."""
    traits = 0
    for kind in kinds:
        traits |= TRAITS[kind]
    return traits
