"""Sketch the board of Tsuro for a terminal.

A square is six columns wide and two lines high, with a line around it where a tile lies. At each of its eight ports a
tile has a number from 1 to 4, the same at both ends of a path:

    ┌──────┐
    │31  23│    A and F are connected by path 1, B and E by 2, C and H by 3, D and G by 4
    │41  24│
    └──────┘

Avatars are capitals in the line around their tile, with an arrow before them. Their small letters are where they have
come by, and `*` stands for several of them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import EXITS
from fairplay.games.tsuro.state import Table
from fairplay.games.tsuro.ways import faced, way_of
from fairplay.render.panel import Look
from fairplay.render.text import dye

Cell = tuple[int, int]  # column and line
Canvas = dict[Cell, tuple[str, str]]  # a sign, and the code of its colour

WIDE, HIGH = 7, 3  # from square to square
AROUND = ((2, 0), (5, 0), (7, 1), (7, 2), (5, 3), (2, 3), (0, 2), (0, 1))  # where ports are, in the line around a tile
WITHIN = ((2, 1), (5, 1), (6, 1), (6, 2), (5, 2), (2, 2), (1, 2), (1, 1))  # and inside of it
CORNERS = "·╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the lines that meet: 1 for the one above, 2 below, 4 on the left, 8 on the right
ARROWS = "↑↑→→↓↓←←"  # by port
AHEAD = "▒"  # fills the square before whoever is on turn
SEVERAL = Look("*", "7", "")
LEGEND = "On a tile, equal numbers are the ends of a path; small letters show the ways."
BLANK, DIM = (" ", ""), "2"


def board_lines(table: Table, looks: Mapping[str, Look], *, colour: bool) -> Iterator[str]:
    """The board with its numbers, line by line."""
    size = table.grid.size
    margin = len(str(size - 1))
    canvas = _lines(table)
    canvas.update(_tiles(table))
    canvas.update(_ways(table, looks, canvas))
    canvas.update(_avatars(table, looks))
    yield (" " * (margin + 1) + "".join(f"{x:^{WIDE}}" for x in range(size))).rstrip()
    for line in range(size * HIGH + 1):
        signs = [canvas.get((column, line), BLANK) for column in range(size * WIDE + 1)]
        label = str(line // HIGH) if line % HIGH == 1 else ""
        yield f"{label:>{margin}} {_painted(signs) if colour else ''.join(sign for sign, _ in signs)}".rstrip()


def dealt_lines(dealt: Sequence[int]) -> Iterator[str]:
    """The tiles to choose from, as they lie at 0 degrees."""
    upper, lower = "dealt ", "      "
    for tile in dealt:
        a, b, c, d, e, f, g, h = [*paths_of(4 * tile)]
        upper += f"  {tile:2} │{h}{a}  {b}{c}│"
        lower += f"     │{g}{f}  {e}{d}│"
    yield from (upper, lower)


def paths_of(code: int) -> str:
    """For each port of a tile as it lies, the number of its path.

    >>> paths_of(4 * 2)
    '12342143'
    """
    ends = [min(port, EXITS[code << 3 | port]) for port in range(8)]
    numbers = {end: str(number) for number, end in enumerate(sorted(set(ends)), 1)}
    return "".join(numbers[end] for end in ends)


def _painted(signs: Sequence[tuple[str, str]]) -> str:
    runs = ((code, "".join(sign for sign, _ in run)) for code, run in groupby(signs, key=lambda cell: cell[1]))
    return "".join(dye(run, code) if code else run for code, run in runs)


def _cell(table: Table, spot: int, places: Sequence[Cell]) -> Cell:
    (x, y), (column, line) = table.grid.squares[spot >> 3], places[spot & 7]
    return x * WIDE + column, y * HIGH + line


def _lines(table: Table) -> Canvas:
    """The lines around the board and around its tiles; dots where only empty squares meet."""
    size, canvas = table.grid.size, Canvas()

    def lies(x: int, y: int) -> bool:
        square = table.grid.square((x, y))
        return square is not None and table.board[square] != EMPTY

    def across(x: int, y: int) -> bool:
        """Does a line lead from the corner (x, y) to the right?"""
        return 0 <= x < size and (y in (0, size) or lies(x, y) or lies(x, y - 1))

    def along(x: int, y: int) -> bool:
        """And down?"""
        return 0 <= y < size and (x in (0, size) or lies(x, y) or lies(x - 1, y))

    for x, y in ((x, y) for y in range(size + 1) for x in range(size + 1)):
        left, top = x * WIDE, y * HIGH
        arms = along(x, y - 1) + 2 * along(x, y) + 4 * across(x - 1, y) + 8 * across(x, y)
        canvas[left, top] = CORNERS[arms], ""
        if across(x, y):
            canvas.update({(left + part, top): ("─", "") for part in range(1, WIDE)})
        if along(x, y):
            canvas.update({(left, top + part): ("│", "") for part in range(1, HIGH)})
    return canvas


def _tiles(table: Table) -> Iterator[tuple[Cell, tuple[str, str]]]:
    for square, code in enumerate(table.board):
        if code != EMPTY:
            for port, path in enumerate(paths_of(code)):
                yield _cell(table, 8 * square + port, WITHIN), (path, DIM)
    if (ahead := faced(table)) is not None:
        x, y = table.grid.squares[ahead]
        for column, line in ((3, 1), (4, 1), (3, 2), (4, 2)):
            yield (x * WIDE + column, y * HIGH + line), (AHEAD, "")


def _ways(table: Table, looks: Mapping[str, Look], canvas: Canvas) -> Canvas:
    """Letters in the lines that ways cross, and colours for the numbers of their paths."""
    crossed: dict[Cell, set[Seat]] = {}
    walked: dict[Cell, set[Seat]] = {}
    for seat, start in enumerate(table.starts):
        way = way_of(table, seat)
        for spot in (start, *(step.exit for step in way)):
            if spot != OUT:
                crossed.setdefault(_cell(table, spot, AROUND), set()).add(seat)
        for spot in (spot for step in way for spot in step):
            walked.setdefault(_cell(table, spot, WITHIN), set()).add(seat)
    letters = {cell: _look(table, looks, seats) for cell, seats in crossed.items()}
    return {cell: (look.letter.lower(), look.code) for cell, look in letters.items()} | {
        cell: (canvas[cell][0], _look(table, looks, seats).code) for cell, seats in walked.items()
    }


def _avatars(table: Table, looks: Mapping[str, Look]) -> Iterator[tuple[Cell, tuple[str, str]]]:
    for spot in {*table.avatars} - {OUT}:
        look = _look(table, looks, [seat for seat, avatar in enumerate(table.avatars) if avatar == spot])
        yield _cell(table, spot, AROUND), (look.letter, look.code)
        yield _cell(table, table.grid.ahead[spot], WITHIN), (ARROWS[spot & 7], "")


def _look(table: Table, looks: Mapping[str, Look], seats: Collection[Seat]) -> Look:
    return looks[table.colours[min(seats)]] if len(seats) == 1 else SEVERAL
