"""Draw a view of Tsuro as text for a terminal.

Where there is room, a tile shows its four paths, which cross only at right angles:

      │ │
    ──┼─┼──    A and F are connected, B and E, C and H, D and G
    ──┼─┼──
      │ │

The few tiles for which this is impossible have a number at each port instead, the same at both ends of a path, or the
letter of the avatar that has followed it. In less room, tiles are shaded, and only the paths are drawn that an avatar
has followed.

Avatars are capitals on the port where they stand, with an arrow before them. Small letters show their ways, and `*`
stands for several of them. The corners of a new tile are marked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, product

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import EXITS, PORTS
from fairplay.games.tsuro.roster import LOOKS, format_stage, players_of
from fairplay.games.tsuro.routes import ALL, EAST, NORTH, SIGNS, SOUTH, WEST, Cell, Size, routes_of
from fairplay.games.tsuro.state import Table
from fairplay.games.tsuro.view import View
from fairplay.games.tsuro.ways import faced_square, way_of
from fairplay.render.fit import Part, Scale, Space, format_hidden_part, join_side_by_side, visible_part
from fairplay.render.roster import Look, Player, cards, roster
from fairplay.render.text import CHANGED_COLOUR, add_colour, wrap_items

Canvas = dict[Cell, tuple[str, str]]  # a sign, and the code of its colour
Looks = Mapping[str, Look]

LARGE, MIDDLE = Size(7, 4, 2, 4, 1, 2), Size(5, 4, 1, 3, 1, 2)  # with all paths
SMALL = Size(5, 2, 1, 3, 0, 1)  # only with ways
ARROWS = "↑↑→→↓↓←←"  # by port
AHEAD = "▒"  # fills the square before the avatar on turn
TILE, NO_TILE = "░", "·"  # the shade of tiles where only ways are drawn; and a square without a tile
CORNERS = "┌┐┘└"
INKS = {"W": "1", "K": "38;5;245", "R": "31", "G": "32", "B": "94", "*": "1"}  # of ways, by letter
DEFAULT_COLUMNS = 80  # columns of text
CARDS = 28  # columns for the players and the dealt tiles beside a board
BETWEEN = "  "  # tiles that are dealt
SEVERAL = Look("*", "7", "")
BLANK, DIM = (" ", ""), "2"
LEGEND = "Capitals: avatars.", "Small letters: ways.", "Equal numbers: one path."
TILE_LEGEND, AHEAD_LEGEND = f"{TILE}: tile.", f"{AHEAD}: next tile."


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
    table, room, players = view.table, Space(width, height), players_of(view.table, names)
    now, earlier = format_stage(table), None if before is None else before.table
    board = partial(board_lines, table, LOOKS, colour=colour, before=earlier, choosing=bool(view.dealt))
    dealt = [*dealt_lines(view.dealt, width), ""] if view.dealt else []
    below = ["", *dealt, now, *roster(players, colour=colour, width=width)]
    left, narrow = room.minus_lines(len(below)), room.minus_columns(CARDS)
    size, other = tile_size(table, left), tile_size(table, narrow)
    crowded = size is None and bool(dealt) and width is not None and width >= 2 * CARDS
    if height is not None and ((other is not None and (size is None or other > size)) or crowded):
        panel = panel_lines(view, now, players, legend_for(table, other), CARDS - 2, height, colour=colour)
        if len(panel) <= height:
            return "\n".join(join_side_by_side(board(narrow), panel))
    legend = ["", *wrap_items(legend_for(table, size), width or DEFAULT_COLUMNS, " ")]
    if height is None or tile_size(table, room.minus_lines(len(legend) + len(below))) == size is not None:
        below = [*legend, *below]
    return "\n".join([*board(room.minus_lines(len(below))), *below])


def board_lines(
    table: Table, looks: Looks, room: Space, *, colour: bool, before: Table | None = None, choosing: bool = False
) -> Iterator[str]:
    """The board with its numbers, line by line, or as much of it as there is room for.

    That is the part around the new tiles, or around the avatar on turn if its player is `choosing`.
    """
    count = table.grid.size
    margin = len(str(count - 1))
    scales = scales_of(count)
    new = changed_squares(table, before)
    part = visible_part((count, count), [*scales], room, middle_of(table, [] if choosing else new))
    size = scales[part.scale]
    canvas = draw_squares(table, looks, size, new)
    frame = size is not SMALL
    if frame:
        _frame(canvas, part, count)
    rows = range(part.rows.start * size.high - frame, part.rows.stop * size.high + frame)
    columns = range(part.columns.start * size.wide - frame, part.columns.stop * size.wide + frame)
    yield " " * (margin + 1 + frame) + "".join(f"{x:^{size.wide}}" for x in part.columns).rstrip()
    for line in rows:
        signs = [canvas.get((column, line), BLANK) for column in columns]
        inside = line // size.high in part.rows and line % size.high == size.upper
        label = str(line // size.high) if inside else ""
        yield f"{label:>{margin}} {_paint(signs) if colour else ''.join(sign for sign, _ in signs)}".rstrip()
    yield from format_hidden_part(part, (count, count), room)


def tile_size(table: Table, room: Space) -> Size | None:
    """The largest size of tiles with which the whole board fits; None: it does not fit."""
    count = table.grid.size
    return next((size for scale, size in scales_of(count).items() if room.holds(scale, count, count)), None)


def legend_for(table: Table, size: Size | None) -> list[str]:
    """The legend of a board with tiles of this size."""
    tiles = [] if size in (LARGE, MIDDLE) else [TILE_LEGEND]
    return [*LEGEND, *tiles, *([] if faced_square(table) is None else [AHEAD_LEGEND])]


def scales_of(count: int) -> dict[Scale, Size]:
    """The scales for a board of this size, the largest first; all but the smallest have a frame."""
    beside = len(str(count - 1)) + 1
    frames = {LARGE: 2, MIDDLE: 2, SMALL: 0}
    return {Scale(size.wide, size.high, beside + frame, 1 + frame): size for size, frame in frames.items()}


def changed_squares(table: Table, before: Table | None) -> set[int]:
    """The squares with a new tile."""
    if before is None or before.grid is not table.grid:
        return set()
    return {square for square, code in enumerate(table.board) if code != before.board[square]}


def middle_of(table: Table, new: Collection[int]) -> tuple[float, float] | None:
    """The row and the column of the new tile, or else of the square before the avatar on turn."""
    ahead = faced_square(table)
    squares = [table.grid.squares[square] for square in new or ([] if ahead is None else [ahead])]
    return (squares[0][1], squares[0][0]) if squares else None


def dealt_lines(dealt: Sequence[int], width: int | None = None) -> Iterator[str]:
    """The dealt tiles at 0 degrees, with the letters of their ports around them."""
    each = LARGE.wide + 2
    most = len(dealt) if width is None else max(1, (width + len(BETWEEN)) // (each + len(BETWEEN)))
    yield "dealt"
    for start in range(0, len(dealt), most):
        drawn = [_dealt(tile) for tile in dealt[start : start + most]]
        yield from (BETWEEN.join(parts).rstrip() for parts in zip(*drawn, strict=True))


def panel_lines(
    view: View, now: str, players: Sequence[Player], legend: Sequence[str], width: int, height: int, *, colour: bool
) -> list[str]:
    """The panel beside the board: the dealt tiles, the players, and the legend if there is room."""
    brief = [player._replace(facts="") for player in players]
    if view.dealt:
        short = [player._replace(mark=player.mark.partition(" in ")[0]) for player in brief]
        panel = [*dealt_lines(view.dealt, width), now, *roster(short, colour=colour, width=width)]
    else:
        panel = [now, "", *cards(brief, colour=colour, width=width)]
    signs = ["", *wrap_items(legend, width, " ")]
    return [*panel, *signs] if len(panel) + len(signs) <= height else panel


def _dealt(tile: int) -> list[str]:
    canvas = draw_tile(4 * tile, LARGE)
    for port, (column, line) in enumerate(LARGE.ports):
        right, down = ((0, -1), (1, 0), (0, 1), (-1, 0))[port // 2]
        canvas[column + right, line + down] = PORTS[port], ""
    for column, sign in enumerate(str(tile), -1):
        canvas[column, -1] = sign, ""
    columns, lines = range(-1, LARGE.wide + 1), range(-1, LARGE.high + 1)
    return ["".join(canvas.get((column, line), BLANK)[0] for column in columns) for line in lines]


def numbers_of(code: int) -> str:
    """For each port of a tile as it lies, the number of its path.

    >>> numbers_of(4 * 2)
    '12342143'
    """
    ends = [min(port, EXITS[code << 3 | port]) for port in range(8)]
    numbers = {end: str(number) for number, end in enumerate(sorted(set(ends)), 1)}
    return "".join(numbers[end] for end in ends)


def draw_squares(table: Table, looks: Looks, size: Size, new: Collection[int]) -> Canvas:
    """All squares, with their tiles and ways."""
    canvas, seats = Canvas(), seats_by_path(table)
    for square, code in enumerate(table.board):
        x, y = table.grid.squares[square]
        left, top = x * size.wide, y * size.high
        if code == EMPTY:
            canvas[left + size.wide // 2, top + size.high // 2] = NO_TILE, DIM
            continue
        ways = {port: seats[8 * square + port] for port in range(8) if 8 * square + port in seats}
        ports = frozenset(ways) if size is SMALL else ALL
        tile = draw_tile(code, size, ports)
        routes = routes_of(code, size, ports)
        for port, here in ways.items():
            look, cells = _look(table, looks, here), [size.ports[port], size.ports[EXITS[code << 3 | port]]]
            ink, letters = INKS.get(look.letter, ""), cells if [*ways.values()].count(here) == 1 else []
            if route := routes.get(port):
                cells = [cell for cell, _ in route.cells]
                straight = [cell for cell in cells if tile[cell][0] in "│─"] or cells
                letters = [straight[len(straight) // 2]]
            tile.update({cell: (tile[cell][0], ink) for cell in cells})
            tile.update({cell: (look.letter.lower(), look.code) for cell in letters})
        if square in new:
            corners = {cell: (sign, CHANGED_COLOUR) for cell, sign in zip(size.corners, CORNERS, strict=True)}
            tile = tile | corners if size is SMALL else corners | tile
        if size is SMALL:
            tile = dict.fromkeys(product(range(size.wide), range(size.high)), (TILE, DIM)) | tile
        canvas.update({(left + column, top + line): sign for (column, line), sign in tile.items()})
    _mark(canvas, table, looks, size)
    return canvas


def seats_by_path(table: Table) -> dict[int, set[Seat]]:
    """The seats whose avatars have followed each path, by the lower of its spots."""
    seats: dict[int, set[Seat]] = {}
    for seat in range(len(table.starts)):
        for step in way_of(table, seat):
            seats.setdefault(min(step), set()).add(seat)
    return seats


def draw_tile(code: int, size: Size, ports: frozenset[int] = ALL) -> Canvas:
    """A tile with its paths, or with those that begin at some ports; with numbers, if there is no room for paths."""
    sides: dict[Cell, int] = {}
    for route in routes_of(code, size, ports).values():
        for cell, leads in route.cells:
            sides[cell] = sides.get(cell, 0) | leads
    if sides or not ports:
        return {cell: (SIGNS[leads], DIM) for cell, leads in sides.items()}
    numbers = zip(size.ports, numbers_of(code), connected_ports(code, ports), strict=True)
    return {cell: (number, DIM) for cell, number, led in numbers if led}


def connected_ports(code: int, ports: frozenset[int]) -> list[bool]:
    """Which of the eight ports are on a path that begins at one of these."""
    return [min(port, EXITS[code << 3 | port]) in ports for port in range(8)]


def _mark(canvas: Canvas, table: Table, looks: Looks, size: Size) -> None:
    """Draw the square to lay a tile on, where the avatars started, and the avatars."""

    def cell_of(spot: int) -> Cell:
        (x, y), (column, line) = table.grid.squares[spot >> 3], size.ports[spot & 7]
        return x * size.wide + column, y * size.high + line

    if (ahead := faced_square(table)) is not None:
        x, y = table.grid.squares[ahead]
        for line in {(size.high - 1) // 2, size.high // 2}:
            canvas[x * size.wide + size.wide // 2, y * size.high + line] = AHEAD, ""
    for seat, start in enumerate(table.starts):
        if start != OUT and table.fell[seat] >= 0:
            look = looks[table.colours[seat]]
            canvas[cell_of(start)] = look.letter.lower(), look.code
    for spot in {*table.avatars} - {OUT}:
        look = _look(table, looks, [seat for seat, avatar in enumerate(table.avatars) if avatar == spot])
        canvas[cell_of(spot)] = look.letter, look.code
        canvas[cell_of(table.grid.ahead[spot])] = ARROWS[spot & 7], ""


def _frame(canvas: Canvas, part: Part, count: int) -> None:
    """Draw a frame around the board, dotted where the board goes on."""
    wide, high = part.scale.wide, part.scale.high
    left, right = part.columns.start * wide - 1, part.columns.stop * wide
    top, bottom = part.rows.start * high - 1, part.rows.stop * high
    for column in range(left, right + 1):
        canvas[column, top] = ("─" if part.rows.start == 0 else "┈"), DIM
        canvas[column, bottom] = ("─" if part.rows.stop == count else "┈"), DIM
    for line in range(top, bottom + 1):
        canvas[left, line] = ("│" if part.columns.start == 0 else "┊"), DIM
        canvas[right, line] = ("│" if part.columns.stop == count else "┊"), DIM
    for (column, line), sides in zip(
        ((left, top), (right, top), (right, bottom), (left, bottom)),
        (SOUTH | EAST, SOUTH | WEST, NORTH | WEST, NORTH | EAST),
        strict=True,
    ):
        canvas[column, line] = SIGNS[sides], DIM


def _paint(signs: Sequence[tuple[str, str]]) -> str:
    runs = ((code, "".join(sign for sign, _ in run)) for code, run in groupby(signs, key=lambda cell: cell[1]))
    return "".join(add_colour(run, code) if code else run for code, run in runs)


def _look(table: Table, looks: Looks, seats: Collection[Seat]) -> Look:
    return looks[table.colours[min(seats)]] if len(seats) == 1 else SEVERAL
