"""Sketch the map of Q for a terminal.

A tile is two signs, one for its shape and one for its colour; a dot is a place where some tile fits:

       -1  0  1
    -1     ·
     0  · ✦r  ·
     1     ·
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from fairplay.games.q.board import Map, position_of
from fairplay.games.q.pieces import COLOURS, SHAPES, Position, colour_of, shape_of
from fairplay.render.text import dye

Index = int | None  # the number of a row or of a column; None: several that are empty, and left out

MOST_EMPTY = 4  # lines between tiles; more are left out
STEPS = (1, 2, 5, 10, 20, 50, 100)  # from label to label

SIGNS = dict(zip(SHAPES, "✦✸■●♣◆", strict=True))
LETTERS = {colour: colour[0] for colour in COLOURS}
INKS = dict(zip(COLOURS, (203, 78, 75, 227, 214, 183), strict=True))  # of a terminal with 256 colours
TILE = 235  # what tiles are made of, of the same
PITCH = 3  # from tile to tile
PLACE, LEFT_OUT_COLUMNS, LEFT_OUT_ROWS = " ·", " ┊", "⋮"


def map_lines(shown: Map, *, places: bool, colour: bool) -> Iterator[str]:
    """The map with its numbers, line by line; with the places where tiles fit, if they are asked for."""
    tiles, free = tiles_of(shown), set(places_of(shown)) if places else set()
    rows, columns = extent(shown)
    margin = max(len(str(row)) for row in rows if row is not None)
    yield f"{'':{margin}} {_numbers(columns)}"
    for row in rows:
        if row is None:
            yield LEFT_OUT_ROWS.rjust(margin)
            continue
        cells = []
        for column in columns:
            if column is None:
                cells.append(LEFT_OUT_COLUMNS)
            elif (row, column) in tiles:
                cells.append(tile_sign(tiles[row, column], colour=colour))
            else:
                cells.append(PLACE if (row, column) in free else "  ")
        yield f"{row:{margin}} {' '.join(cells)}".rstrip()


def legend(*, colour: bool) -> Iterator[str]:
    """What the signs of shapes and the letters of colours stand for."""
    yield "  ".join(f"{SIGNS[shape]} {shape}" for shape in SHAPES)
    yield "  ".join(f"{_dyed(LETTERS[hue], hue) if colour else LETTERS[hue]} {hue}" for hue in COLOURS)


def hand_line(hand: Sequence[int], *, colour: bool) -> str:
    """A hand, in its order."""
    return f"hand  {' '.join(tile_sign(kind, colour=colour) for kind in hand)}"


def tile_sign(kind: int, *, colour: bool) -> str:
    """A tile of this kind.

    >>> tile_sign(0, colour=False)
    '✦r'
    """
    shape, hue = SHAPES[shape_of(kind)], COLOURS[colour_of(kind)]
    sign = SIGNS[shape] + LETTERS[hue]
    return _dyed(sign, hue) if colour else sign


def _dyed(sign: str, hue: str) -> str:
    return dye(sign, f"1;38;5;{INKS[hue]};48;5;{TILE}")


def _numbers(columns: Sequence[Index]) -> str:
    """The numbers of columns, as many as there is room for."""
    longest = max(len(str(column)) for column in columns if column is not None)
    line = ""
    for place, column in labelled(columns, step_over(longest + 1, PITCH)):
        label, start = f"{column:2}", place * PITCH
        if start == 0 or start > len(line):
            line = line.ljust(start) + label
    return line


# What every picture shows of a map, be it on a terminal or not.


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
        lines += empty if len(empty) <= MOST_EMPTY else [None]
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
