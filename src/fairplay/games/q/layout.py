"""Lay a map of Q out in rows and columns, for pictures and terminals alike."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from fairplay.games.q.board import Map, position_of
from fairplay.games.q.pieces import Position

Index = int | None  # the number of a row or of a column; None: several that are empty, and left out

MAX_EMPTY_LINES = 4  # lines between tiles; more are left out
STEPS = (1, 2, 5, 10, 20, 50, 100)  # from label to label


def tiles_of(shown: Map) -> dict[Position, int]:
    """The kinds of the tiles, by position, from top to bottom and from left to right."""
    return {position_of(cell): kind for cell, kind in sorted(shown.tiles.items())}


def places_of(shown: Map) -> list[Position]:
    """The free places where some tile fits, in the same order."""
    return [position_of(cell) for cell, fits in sorted(shown.frontier.items()) if fits]


def extent(shown: Map) -> tuple[list[Index], list[Index]]:
    """The rows and the columns that a picture shows: those of the tiles, and one more on all sides."""
    positions = [position_of(cell) for cell in (*shown.tiles, *shown.frontier)]
    return span(row for row, _ in positions), span(column for _, column in positions)


def span(numbers: Iterable[int]) -> list[Index]:
    """The lines from the first to the last of these numbers; a map may leave very many in between.

    >>> span([0, 1, 3, 3, 1000])
    [0, 1, 2, 3, None, 1000]
    """
    first, *others = sorted(set(numbers)) or [0]
    lines: list[Index] = [first]
    for number in others:
        empty = range(first + 1, number)
        lines += empty if len(empty) <= MAX_EMPTY_LINES else [None]
        lines.append(number)
        first = number
    return lines


def labelled(lines: Sequence[Index], step: int) -> Iterator[tuple[int, int]]:
    """The places and the numbers to label: every so many, and the first of those where that would be none."""
    for _, run in groupby(enumerate(lines), key=lambda line: line[1] is None):
        numbers = [(place, number) for place, number in run if number is not None]
        yield from [line for line in numbers if line[1] % step == 0] or numbers[:1]


def step_over(length: float, pitch: float) -> int:
    """How many lines, at this pitch, have room for a label of this length.

    >>> step_over(3, 3), step_over(4, 3), step_over(7, 3)
    (1, 2, 5)
    """
    return next((step for step in STEPS if step * pitch >= length), STEPS[-1])
