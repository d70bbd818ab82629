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

MAX_COORDINATE = 10**9  # whatever lies within keeps its place
COORDINATE_GAP = 10**6  # what is further apart than this cannot meet in a game


class Axis(msgspec.Struct, frozen=True):
    """The numbers that came up along one direction, ascending, and ours for them; none: they are the same."""

    theirs: tuple[int, ...] = ()
    ours: tuple[int, ...] = ()

    def to_ours(self, number: int) -> int:
        """Our number for one of theirs, or for one close to it. Raises BadRequest if there is none."""
        moved = _map_number(number, self.theirs, self.ours)
        if not -2 * MAX_COORDINATE <= moved <= 2 * MAX_COORDINATE:
            raise BadRequest("a coordinate is too far away")  # which may have more digits than a text can
        return moved

    def to_theirs(self, number: int) -> int:
        """Theirs for one of ours."""
        return _map_number(number, self.ours, self.theirs)


class Frame(msgspec.Struct, frozen=True):
    """The axis of the rows and that of the columns."""

    rows: Axis = Axis()
    columns: Axis = Axis()

    def to_ours(self, row: int, column: int) -> Position:
        """Our position for coordinates of theirs."""
        if (
            self is IDENTITY_FRAME
            and -MAX_COORDINATE <= row <= MAX_COORDINATE
            and -MAX_COORDINATE <= column <= MAX_COORDINATE
        ):
            return row, column
        return self.rows.to_ours(row), self.columns.to_ours(column)

    def to_theirs(self, position: Position) -> tuple[int, int]:
        """Their row and column for a position of ours."""
        return self.rows.to_theirs(position[0]), self.columns.to_theirs(position[1])


IDENTITY_FRAME = Frame()  # in which all coordinates stand for themselves


def make_frame(coordinates: Iterable[tuple[int, int]]) -> Frame:
    """A frame for a map with these rows and columns on it."""
    rows, columns = zip(*coordinates, strict=True)
    axes = _make_axis(rows), _make_axis(columns)
    return Frame(*axes) if any(axis.theirs for axis in axes) else IDENTITY_FRAME


def _make_axis(numbers: Sequence[int]) -> Axis:
    if min(numbers) >= -MAX_COORDINATE and max(numbers) <= MAX_COORDINATE:
        return Axis()
    theirs = sorted(set(numbers))
    ours = [0]
    for one, other in pairwise(theirs):
        ours.append(ours[-1] + min(other - one, COORDINATE_GAP))
    return Axis(tuple(theirs), tuple(ours))


def _map_number(number: int, known: tuple[int, ...], goals: tuple[int, ...]) -> int:
    """The number as far from its nearest known one as it was, where that one went."""
    if not known:
        return number
    after = min(bisect_left(known, number), len(known) - 1)
    nearest = min((max(after - 1, 0), after), key=lambda index: abs(known[index] - number))
    return goals[nearest] + number - known[nearest]
