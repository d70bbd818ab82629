"""Fit a board into the space on a terminal: at the largest scale that fits, or else a part of the board."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from fairplay.render.text import display_width, strip_colours, truncate


class Scale(NamedTuple):
    """The size at which a board is drawn, in columns and lines of the terminal."""

    wide: int  # from column to column of the board
    high: int  # from row to row
    beside: int = 0  # additional columns
    above: int = 0  # additional lines

    def width(self, columns: int) -> int:
        """The width of so many columns of the board."""
        return self.beside + columns * self.wide

    def height(self, rows: int) -> int:
        """The height of so many rows."""
        return self.above + rows * self.high


class Space(NamedTuple):
    """The available room; None: unlimited."""

    width: int | None = None
    height: int | None = None

    def holds(self, scale: Scale, rows: int, columns: int) -> bool:
        """Is there room for the whole board?"""
        wide = self.width is None or scale.width(columns) <= self.width
        return wide and (self.height is None or scale.height(rows) <= self.height)

    def minus_lines(self, lines: int) -> "Space":
        """The room that is left above so many lines."""
        return self if self.height is None else Space(self.width, max(1, self.height - lines))

    def minus_columns(self, columns: int) -> "Space":
        """The room that is left beside so many columns."""
        return self if self.width is None else Space(max(1, self.width - columns), self.height)


class Part(NamedTuple):
    """The visible part of a board, and its scale."""

    scale: Scale
    rows: range
    columns: range


def visible_part(
    board: tuple[int, int], scales: Sequence[Scale], room: Space, around: tuple[float, float] | None = None
) -> Part:
    """All rows and columns of a board at the first scale that fits; else, at the last one, those around a place."""
    rows, columns = board
    for scale in scales:
        if room.holds(scale, rows, columns):
            return Part(scale, range(rows), range(columns))
    scale, middle = scales[-1], around or (rows / 2, columns / 2)
    lines = room.minus_lines(1).height  # one line says that there is more
    return Part(
        scale,
        visible_range(rows, None if lines is None else (lines - scale.above) // scale.high, middle[0]),
        visible_range(columns, None if room.width is None else (room.width - scale.beside) // scale.wide, middle[1]),
    )


def visible_range(count: int, most: int | None, around: float) -> range:
    """The rows or columns that are visible, if there is room for only some of them.

    >>> visible_range(40, 10, 3), visible_range(40, 10, 20), visible_range(40, 10, 39), visible_range(4, 10, 0)
    (range(0, 10), range(15, 25), range(30, 40), range(0, 4))
    """
    visible = count if most is None else max(1, min(count, most))
    first = min(max(0, int(around) - visible // 2), count - visible)
    return range(first, first + visible)


def format_hidden_part(part: Part, board: tuple[int, int], room: Space) -> Iterator[str]:
    """A line that says how much of a board is hidden, if anything is."""
    rows, columns = board
    more = {
        "on the left": part.columns.start,
        "on the right": columns - part.columns.stop,
        "above": part.rows.start,
        "below": rows - part.rows.stop,
    }
    if any(more.values()):
        line = f"there is more: {', '.join(f'{count} {where}' for where, count in more.items() if count)}"
        yield line if room.width is None else truncate(line, room.width)


def join_side_by_side(board: Iterable[str], others: Sequence[str], gap: int = 2) -> Iterator[str]:
    """Lines, with others to the right of them."""
    left = list(board)
    wide = max(display_width(strip_colours(line)) for line in left) + gap
    for line, other in zip_longest(left, others, fillvalue=""):
        yield f"{line}{' ' * (wide - display_width(strip_colours(line)))}{other}".rstrip()
