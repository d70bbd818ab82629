"""Draw a view of Fish as text for a terminal.

Where there is room, a tile is a hexagon with the number of its fish, and the letter of the penguin on it:

       0   0
      ___
    0 / 3 \\___
    1 \\___/R 1\\
          \\___/

Else it is two characters: "R1", or only the number; a dot is a hole. Changes are in brackets.
"""

from collections.abc import Callable, Iterator, Sequence

from fairplay.games.fish.roster import occupants, players_of
from fairplay.games.fish.state import State
from fairplay.games.fish.view import View
from fairplay.render.fit import Part, Scale, Space, format_hidden_part, visible_part
from fairplay.render.roster import Look, roster
from fairplay.render.text import CHANGED_COLOUR, add_colour

Cell = int


def text(
    view: View,
    names: Sequence[str] = (),
    *,
    colour: bool = False,
    width: int | None = None,
    height: int | None = None,
    before: View | None = None,
) -> str:
    """The board and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else.

    No line is wider than `width`, and there are at most `height` lines, unless even the smallest part needs more.
    """
    players, earlier = players_of(view.state, names), None if before is None else before.state
    below = [*roster(players, colour=colour, width=width)]
    room, looks = Space(width, height).minus_lines(len(below) + 1), [player.look for player in players]
    board = board_lines(view.state, looks, room, colour=colour, before=earlier)
    return "\n".join([*board, "", *below]).rstrip("\n")


def board_lines(
    state: State, looks: Sequence[Look], room: Space, *, colour: bool, before: State | None = None
) -> Iterator[str]:
    """The board with its numbers, line by line, or as much of it as there is room for."""
    size = state.grid.rows, state.grid.columns
    margin = len(str(size[0] - 1)) + 1
    new = changed_cells(state, before)
    large, small = Scale(8, 1, margin + 5, 3), Scale(4, 1, margin + 2, 1)
    part = visible_part(size, (large, small), room, middle_of(state, new))
    draw = large_lines if part.scale is large else small_lines
    yield from draw(state, looks, part, new, margin, add_colour if colour else plain)
    yield from format_hidden_part(part, size, room)


def changed_cells(state: State, before: State | None) -> set[Cell]:
    """The cells that a penguin has reached or left."""
    if before is None or before.grid is not state.grid:
        return set()
    return {cell for cell, _ in occupants(state).items() ^ occupants(before).items()}


def middle_of(state: State, cells: set[Cell]) -> tuple[float, float] | None:
    """The middle of these cells, or else of all penguins."""
    places = [divmod(cell, state.grid.columns) for cell in cells or occupants(state)]
    if not places:
        return None
    return sum(row for row, _ in places) / len(places), sum(column for _, column in places) / len(places)


def plain(words: str, code: str) -> str:
    """Words without a colour."""
    return words


def large_lines(
    state: State,
    looks: Sequence[Look],
    part: Part,
    new: set[Cell],
    margin: int,
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    """The board in hexagons: a tile is two lines high, and its fish are on the line with the number of its row."""
    canvas = [[" "] * (margin + len(part.columns) * 8 + 5) for _ in range(len(part.rows) + 3)]
    for place, column in enumerate(part.columns):
        for odd in range(min(state.grid.rows, 2)):
            _put(canvas[0], margin + place * 8 + odd * 4 + 1, f"{column:^3}")
    for row in part.rows:
        _put(canvas[row - part.rows.start + 2], 0, str(row).rjust(margin - 1))
    taken = occupants(state)
    for row, column in ((row, column) for row in part.rows for column in part.columns):
        cell, line = row * state.grid.columns + column, row - part.rows.start
        fish, left = state.fish_at(cell), margin + (column - part.columns.start) * 8 + row % 2 * 4
        if fish:
            _put(canvas[line + 1], left + 1, "___")
            _put(canvas[line + 2], left, f"/ {fish} \\")
            _put(canvas[line + 3], left, "\\___/")
        if cell in taken:
            look = looks[taken[cell]]
            canvas[line + 2][left + 1 : left + 4] = (paint(f"{look.letter} {fish}", look.code), "", "")
    for cell in new:  # after all others, which share their edges
        row, column = divmod(cell, state.grid.columns)
        if row in part.rows and column in part.columns:
            left = margin + (column - part.columns.start) * 8 + row % 2 * 4
            for at, bracket in ((left, "["), (left + 4, "]")):
                canvas[row - part.rows.start + 2][at] = paint(bracket, CHANGED_COLOUR)
    return ("".join(line).rstrip() for line in canvas)


def small_lines(
    state: State,
    looks: Sequence[Look],
    part: Part,
    new: set[Cell],
    margin: int,
    paint: Callable[[str, str], str],
) -> Iterator[str]:
    """The board with two characters per tile, and one line per row."""
    yield " " * margin + "".join(f"{column:3} " for column in part.columns).rstrip()
    taken = occupants(state)
    for row in part.rows:
        line = str(row).rjust(margin - 1) + " " + "  " * (row % 2)
        for column in part.columns:
            cell = row * state.grid.columns + column
            fish = state.fish_at(cell)
            look = looks[taken[cell]] if cell in taken else None
            tile = f" {fish}" if fish and look is None else " ·" if look is None else f"{look.letter}{fish}"
            around = [paint(bracket, CHANGED_COLOUR) if cell in new else " " for bracket in "[]"]
            line += tile.join(around) if look is None else paint(tile, look.code).join(around)
        yield line.rstrip()


def _put(line: list[str], at: int, signs: str) -> None:
    line[at : at + len(signs)] = signs
