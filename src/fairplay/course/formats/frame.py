"""Bring coordinates of any size into the range of ours, and back again.

In Q nothing depends on where the map lies, only on what is beside what and what comes first. So coordinates that are
too large are moved, and wide gaps between them are made smaller: neighbours and the order of places stay as they are.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games.q.pieces import Position

FARTHEST = 10**9  # whatever lies within keeps its place
APART = 10**6  # what is further apart than this cannot meet in a game


class Axis(msgspec.Struct, frozen=True):
    """The numbers that came up along one direction, ascending, and ours for them; none: they are the same."""

    theirs: tuple[int, ...] = ()
    ours: tuple[int, ...] = ()

    def inwards(self, number: int) -> int:
        """Our number for one of theirs, or for one close to it. Raises BadRequest if there is none."""
        moved = _moved(number, self.theirs, self.ours)
        if not -2 * FARTHEST <= moved <= 2 * FARTHEST:
            raise BadRequest("a coordinate is too far away")  # which may have more digits than a text can
        return moved

    def outwards(self, number: int) -> int:
        """Theirs for one of ours."""
        return _moved(number, self.ours, self.theirs)


class Frame(msgspec.Struct, frozen=True):
    """The axis of the rows and that of the columns."""

    rows: Axis = Axis()
    columns: Axis = Axis()

    def inwards(self, row: int, column: int) -> Position:
        """Our position for coordinates of theirs."""
        if self is PLAIN and -FARTHEST <= row <= FARTHEST and -FARTHEST <= column <= FARTHEST:
            return row, column
        return self.rows.inwards(row), self.columns.inwards(column)

    def outwards(self, position: Position) -> tuple[int, int]:
        """Their row and column for a position of ours."""
        return self.rows.outwards(position[0]), self.columns.outwards(position[1])


PLAIN = Frame()  # in which all coordinates stand for themselves


def frame_of(coordinates: Iterable[tuple[int, int]]) -> Frame:
    """A frame for a map with these rows and columns on it."""
    rows, columns = zip(*coordinates, strict=True)
    axes = _axis_of(rows), _axis_of(columns)
    return Frame(*axes) if any(axis.theirs for axis in axes) else PLAIN


def _axis_of(numbers: Sequence[int]) -> Axis:
    if min(numbers) >= -FARTHEST and max(numbers) <= FARTHEST:
        return Axis()
    theirs = sorted(set(numbers))
    ours = [0]
    for one, other in pairwise(theirs):
        ours.append(ours[-1] + min(other - one, APART))
    return Axis(tuple(theirs), tuple(ours))


def _moved(number: int, known: tuple[int, ...], goals: tuple[int, ...]) -> int:
    """The number as far from its nearest known one as it was, where that one went."""
    if not known:
        return number
    after = min(bisect_left(known, number), len(known) - 1)
    nearest = min((max(after - 1, 0), after), key=lambda index: abs(known[index] - number))
    return goals[nearest] + number - known[nearest]
