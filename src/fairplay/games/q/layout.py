"""Lay out a map of Q in rows and columns, for pictures and terminals."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from fairplay.games.q.board import Map, position_of
from fairplay.games.q.pieces import Position

Index = int | None  # the number of a row or of a column; None: several empty ones, left out

MAX_EMPTY_LINES = 4  # lines between tiles; more are left out
STEPS = (1, 2, 5, 10, 20, 50, 100)  # from label to label


def tiles_of(map: Map) -> dict[Position, int]:
    """The kinds of the tiles, by position, from top to bottom and from left to right."""
    return {position_of(cell): kind for cell, kind in sorted(map.tiles.items())}


def places_of(map: Map) -> list[Position]:
    """The free places where some tile fits, in the same order."""
    return [position_of(cell) for cell, fits in sorted(map.frontier.items()) if fits]


def extent(map: Map) -> tuple[list[Index], list[Index]]:
    """The rows and the columns of a picture: those of the tiles, and one more on each side."""
    positions = [position_of(cell) for cell in (*map.tiles, *map.frontier)]
    return span(row for row, _ in positions), span(column for _, column in positions)


def span(numbers: Iterable[int]) -> list[Index]:
    """The lines from the first to the last of these numbers; None stands for many empty ones.

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


def lines_to_label(lines: Sequence[Index], step: int) -> Iterator[tuple[int, int]]:
    """The places and numbers of the lines with a label: every `step`-th, and at least one in each run of lines."""
    for _, run in groupby(enumerate(lines), key=lambda line: line[1] is None):
        numbers = [(place, number) for place, number in run if number is not None]
        yield from [line for line in numbers if line[1] % step == 0] or numbers[:1]


def label_step(length: float, pitch: float) -> int:
    """How many lines, at this pitch, have room for a label of this length.

    >>> label_step(3, 3), label_step(4, 3), label_step(7, 3)
    (1, 2, 5)
    """
    return next((step for step in STEPS if step * pitch >= length), STEPS[-1])
