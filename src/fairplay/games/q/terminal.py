"""Draw a view of Q as text for a terminal.

A tile is two characters, one for its shape and one for its colour; a dot is a place where some tile fits:

       -1  0  1
    -1     ·
     0  · ✦r  ·
     1     ·

New tiles are in brackets.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from fairplay.games.q.board import Map
from fairplay.games.q.layout import Index, extent, label_step, lines_to_label, places_of, tiles_of
from fairplay.games.q.pieces import COLOURS, SHAPES, Position, colour_of, shape_of
from fairplay.games.q.roster import format_stage, players_of
from fairplay.games.q.view import View
from fairplay.render.fit import Scale, Space, format_hidden_part, join_side_by_side, visible_part
from fairplay.render.roster import cards, roster
from fairplay.render.text import CHANGED_COLOUR, add_colour, display_width, strip_colours, wrap_items

SIGNS = dict(zip(SHAPES, "✦✸■●♣◆", strict=True))
LETTERS = {colour: colour[0] for colour in COLOURS}
INKS = dict(zip(COLOURS, (203, 78, 75, 227, 214, 183), strict=True))  # of a terminal with 256 colours
TILE = 235  # the background of tiles, in the same palette
PITCH = 3  # from tile to tile
CARDS = 32  # columns for the players and the legend beside a map
ROOM = Space()
EDGES = {
    (False, True): "[",
    (True, False): "]",
    (True, True): " ",
    (False, False): " ",
}  # between an old tile and a new
PLACE, LEFT_OUT_COLUMNS, LEFT_OUT_ROWS = " ·", " ┊", "⋮"


def text(
    view: View,
    names: Sequence[str] = (),
    *,
    colour: bool = False,
    width: int | None = None,
    height: int | None = None,
    before: View | None = None,
) -> str:
    """The map and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else.

    No line is wider than `width`, and there are at most `height` lines, unless even the smallest part needs more.
    """
    hand = [hand_line(view.kinds, colour=colour), ""] if view.kinds else []
    players, room = [*players_of(view, names).values()], Space(width, height)
    draw = partial(
        map_lines,
        view.map,
        places=not view.done,
        colour=colour,
        before=None if before is None else before.map,
    )
    below = ["", *legend(colour=colour, width=width), "", *hand, format_stage(view)]
    below += roster(players, colour=colour, width=width)
    left = room.minus_lines(len(below))
    if height is not None and not fits(view.map, left) and width is not None and width >= 2 * CARDS:
        panel = cards(players, colour=colour, width=CARDS - 2)
        beside = [format_stage(view), "", *hand, *panel, "", *legend(colour=colour, width=CARDS - 2)]
        if len(beside) <= height and all(display_width(strip_colours(line)) <= CARDS - 2 for line in hand):
            return "\n".join(join_side_by_side(draw(room=room.minus_columns(CARDS)), beside))
    return "\n".join([*draw(room=left), *below])


def map_lines(map: Map, *, places: bool, colour: bool, room: Space = ROOM, before: Map | None = None) -> Iterator[str]:
    """The map with its numbers, line by line, with the places where tiles fit if `places` is true.

    If there is not enough room, it is the part around the tiles that are new since `before`, or around all tiles.
    """
    tiles, free = tiles_of(map), set(places_of(map)) if places else set()
    rows, columns = extent(map)
    new = set() if before is None else tiles.keys() - tiles_of(before).keys()
    board, margin = (len(rows), len(columns)), margin_of(rows)
    part = visible_part(board, [scale_of(rows)], room, middle_of(rows, columns, new or tiles.keys()))
    columns = columns[part.columns.start : part.columns.stop]
    yield f"{'':{margin}} {_numbers(columns)}"
    for row in rows[part.rows.start : part.rows.stop]:
        if row is None:
            yield LEFT_OUT_ROWS.rjust(margin)
            continue
        line, open_ = "", False  # open: the tile before is in brackets
        for column in columns:
            at = None if column is None else (row, column)
            line += _bracket(EDGES[open_, at in new], colour=colour)
            open_ = at in new
            if at is None:
                line += LEFT_OUT_COLUMNS
            elif at in tiles:
                line += tile_sign(tiles[at], colour=colour)
            else:
                line += PLACE if at in free else "  "
        yield f"{row:{margin}}{line}{_bracket(']', colour=colour) if open_ else ''}".rstrip()
    yield from format_hidden_part(part, board, room)


def margin_of(rows: Sequence[Index]) -> int:
    """The width of the numbers of the rows."""
    return max(len(str(row)) for row in rows if row is not None)


def scale_of(rows: Sequence[Index]) -> Scale:
    """The scale of a map with these rows."""
    return Scale(PITCH, 1, margin_of(rows) + 1, 1)


def fits(map: Map, room: Space) -> bool:
    """Is there room for the whole map?"""
    rows, columns = extent(map)
    return room.holds(scale_of(rows), len(rows), len(columns))


def middle_of(rows: Sequence[Index], columns: Sequence[Index], tiles: Collection[Position]) -> tuple[float, float]:
    """The middle of these tiles, as places in these rows and columns."""
    if not tiles:
        return 0, 0
    down, right = [row for row, _ in tiles], [column for _, column in tiles]
    first, last = rows.index(min(down)), rows.index(max(down))
    return (first + last) / 2, (columns.index(min(right)) + columns.index(max(right))) / 2


def legend(*, colour: bool, width: int | None = None) -> Iterator[str]:
    """The meaning of the signs of shapes and the letters of colours."""
    yield from wrap_items((f"{SIGNS[shape]} {shape}" for shape in SHAPES), width)
    for line in wrap_items((f"{LETTERS[hue]} {hue}" for hue in COLOURS), width):
        yield "  ".join(_add_colour(item[0], item[2:]) + item[1:] for item in line.split("  ")) if colour else line


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
    return _add_colour(sign, hue) if colour else sign


def _bracket(sign: str, *, colour: bool) -> str:
    return add_colour(sign, CHANGED_COLOUR) if colour and sign != " " else sign


def _add_colour(sign: str, hue: str) -> str:
    return add_colour(sign, f"1;38;5;{INKS[hue]};48;5;{TILE}")


def _numbers(columns: Sequence[Index]) -> str:
    """The numbers of columns, as many as there is room for."""
    longest = max(len(str(column)) for column in columns if column is not None)
    line = ""
    for place, column in lines_to_label(columns, label_step(longest + 1, PITCH)):
        label, start = f"{column:2}", place * PITCH
        if start == 0 or start > len(line):
            line = line.ljust(start) + label
    return line
