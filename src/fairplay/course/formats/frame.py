"""Map coordinates of any size into our range, and back.

In Q only neighbourhood and order of places matter. So coordinates that are too large are shifted, and wide gaps between
them are made smaller; neighbours and order do not change.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games.q.pieces import Position

MAX_COORDINATE = 10**9  # coordinates up to this do not change
COORDINATE_GAP = 10**6  # tiles that are further apart cannot meet in a game


class Axis(msgspec.Struct, frozen=True):
    """The coordinates of one direction, ascending, and ours for them; empty: they are the same."""

    theirs: tuple[int, ...] = ()
    ours: tuple[int, ...] = ()

    def to_ours(self, number: int) -> int:
        """Our coordinate for one of theirs, or one close to it. Raises BadRequest if there is none."""
        moved = _map_number(number, self.theirs, self.ours)
        if not -2 * MAX_COORDINATE <= moved <= 2 * MAX_COORDINATE:
            raise BadRequest("a coordinate is too far away")  # not quoted: it may have too many digits for text
        return moved

    def to_theirs(self, number: int) -> int:
        """Their coordinate for one of ours."""
        return _map_number(number, self.ours, self.theirs)


class Frame(msgspec.Struct, frozen=True):
    """The axis of the rows and that of the columns."""

    rows: Axis = Axis()
    columns: Axis = Axis()

    def to_ours(self, row: int, column: int) -> Position:
        """Our position for their coordinates."""
        if (
            self is IDENTITY_FRAME
            and -MAX_COORDINATE <= row <= MAX_COORDINATE
            and -MAX_COORDINATE <= column <= MAX_COORDINATE
        ):
            return row, column
        return self.rows.to_ours(row), self.columns.to_ours(column)

    def to_theirs(self, position: Position) -> tuple[int, int]:
        """Their row and column for our position."""
        return self.rows.to_theirs(position[0]), self.columns.to_theirs(position[1])


IDENTITY_FRAME = Frame()  # changes no coordinate


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
    """Shift a number as its nearest known number was shifted."""
    if not known:
        return number
    after = min(bisect_left(known, number), len(known) - 1)
    nearest = min((max(after - 1, 0), after), key=lambda index: abs(known[index] - number))
    return goals[nearest] + number - known[nearest]
