"""Draw a view of Tsuro as SVG."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import PORTS
from fairplay.games.tsuro.roster import LOOKS, format_stage, players_of
from fairplay.games.tsuro.shapes import (
    DARK,
    INK,
    LIGHT,
    MARK,
    PATTERNS,
    SIDE,
    along,
    at,
    definitions,
    inward,
    port_at,
)
from fairplay.games.tsuro.state import STILL_IN, Stage, Table
from fairplay.games.tsuro.view import View
from fairplay.games.tsuro.ways import Step, faced_square, way_of
from fairplay.render.colours import letter_colour
from fairplay.render.font_metrics import truncate_to_width
from fairplay.render.panel import GAP, NO_TRAY, PALE, Board, Header, Tray, picture, units_per_pixel
from fairplay.render.roster import Look, Player
from fairplay.render.svg import LETTER_STYLE, Value, circle, element, group, path, rectangle, text, use

# The measures of the picture. A square's upper left corner is at (x * SIDE, y * SIDE).
FRAME = 7.0
TICK = 5.0  # where paths leave the board
QUEUE = 15.0  # between avatars on the same port
OWNER = 78.0  # beside the dealt tiles: room for a name
DASH = 7.0  # of each colour, where several avatars have followed the same path
READABLE = 1.1  # the grain up to which the letters on the ways are readable
ICON = 4 * 7  # the code of the tile beside the title


def svg(
    view: View,
    names: Sequence[str] = (),
    *,
    before: View | None = None,
    around: View | None = None,
    dark: bool = False,
    small: bool = False,
) -> str:
    """A picture of the board and the players, as an SVG document; what changed since `before` is marked.

    The board never grows, so there is always room for `around`.
    """
    owner = view.seat if view.dealt else None  # the other views are all the same
    return _picture(
        view.table, view.dealt, owner, tuple(names), None if before is None else before.table, dark=dark, small=small
    )


@lru_cache(maxsize=4)
def _picture(
    table: Table,
    dealt: tuple[int, ...],
    owner: Seat | None,
    names: tuple[str, ...],
    before: Table | None,
    *,
    dark: bool,
    small: bool,
) -> str:
    """The picture, with these tiles dealt to their owner."""
    players = players_of(table, names)
    size = table.grid.size * SIDE
    bold = _bold(size, small=small)
    summary = ", ".join(" ".join(filter(None, (player.display_name, player.mark))) for player in players)
    now = format_stage(table)
    frame = FRAME if small else 0.0  # else it overlaps the panels around the board
    return picture(
        Board(_board(table, before, small=small), size + 2 * frame, size + 2 * frame, origin=(frame, frame)),
        players,
        [_figure(player, small=small) for player in players],
        header=Header(
            use(f"tile{ICON}", 0, 0, transform="translate(15 9) scale(.5)"),
            "Tsuro",
            [now if stage is table.stage else stage.value for stage in Stage],
            list(Stage).index(table.stage),
        ),
        skin=DARK if dark else LIGHT,
        definitions=definitions(
            {ICON, *table.board, *(4 * tile for tile in dealt)} - {EMPTY},
            [player.look for player in players],
            dark=dark,
            bold=bold,
        ),
        label=f"Tsuro, {now}: {summary}",
        ids=f"tsuro{table.grid.size}",
        tray=_tray(dealt, None if owner is None else players[owner].display_name, small=small),
        small=small,
    )


def _bold(size: float, *, small: bool) -> float:
    """The scale of avatars and marks, which are larger on large boards."""
    return max(1.0, units_per_pixel(size, small=small) * 0.75)


@lru_cache(maxsize=4)
def _board(table: Table, before: Table | None, *, small: bool) -> tuple[str, ...]:
    """The board, which is the same in all views, light and dark."""
    size = table.grid.size * SIDE
    ways = [way_of(table, seat) for seat in range(len(table.colours))]
    units, bold = units_per_pixel(size, small=small), _bold(size, small=small)
    return (
        *_squares(table),
        group(_tiles(table), id="tiles"),
        group(_news(table, before, ways), id="news", fill="none"),
        group(_trails(table, ways, bold), id="ways", fill="none"),
        group(_beads(table, ways) if units < READABLE else (), id="beads"),
        group(_marks(table, ways, bold), id="marks"),
        group(_avatars(table, bold), id="avatars"),
        *(() if small else _labels(table.grid.size, max(12.0, 9 * units))),
    )


def _corner(table: Table, square: int) -> tuple[float, float]:
    x, y = table.grid.squares[square]
    return x * SIDE, y * SIDE


def _squares(table: Table) -> Iterator[str]:
    """The empty board: its frame, and lines between the squares."""
    size = table.grid.size * SIDE
    around = size + 2 * FRAME
    yield rectangle(-FRAME, -FRAME, around, around, rx=8.0, fill="#5d3820", stroke="#2c180c", stroke_width=1.5)
    yield rectangle(0, 0, size, size, fill="url(#field)")
    lines = "".join(f"M{at * SIDE} 0V{size}M0 {at * SIDE}H{size}" for at in range(1, table.grid.size))
    yield path(lines, stroke="#a5773f", stroke_width=1.0, opacity=0.7)
    ports = [third * SIDE / 3 for third in range(3 * table.grid.size) if third % 3]
    ticks = (f"M{at} 0v-{TICK}M{at} {size}v{TICK}M0 {at}h-{TICK}M{size} {at}h{TICK}" for at in ports)
    yield path("".join(ticks), stroke="#a97c4f", stroke_width=1.6)


def _tiles(table: Table) -> Iterator[str]:
    for square, code in enumerate(table.board):
        if code != EMPTY:
            yield use(f"tile{code}", *_corner(table, square))


def _news(table: Table, before: Table | None, ways: Sequence[Sequence[Step]]) -> Iterator[str]:
    """The new tiles, and the paths of avatars since `before`."""
    if before is None:
        return
    for square, (now, then) in enumerate(zip(table.board, before.board, strict=True)):
        if now != then:
            yield use("last", *_corner(table, square))
    for seat, way in enumerate(ways):
        for one, other in way[len(way_of(before, seat)) :]:
            yield use(_path(one, other), *_corner(table, one >> 3), stroke=MARK, stroke_width=15.0)


def _path(one: int, other: int) -> str:
    """The shape between two ports."""
    first, second = sorted((one & 7, other & 7))
    return PORTS[first] + PORTS[second]


def _seats_by_path(ways: Sequence[Sequence[Step]]) -> dict[Step, list[Seat]]:
    """The seats whose avatars have followed each path, in either direction."""
    walked: dict[Step, dict[Seat, None]] = {}
    for seat, way in enumerate(ways):
        for step in way:
            walked.setdefault(Step(min(step), max(step)), {})[seat] = None
    return {step: [*seats] for step, seats in walked.items()}


def _trails(table: Table, ways: Sequence[Sequence[Step]], bold: float) -> Iterator[str]:
    """The ways, path by path; where several avatars have followed one, their colours alternate."""
    for (one, other), seats in _seats_by_path(ways).items():
        curve, (x, y) = _path(one, other), _corner(table, one >> 3)
        yield use(curve, x, y, stroke=INK, stroke_width=7.0 + 2 * bold)
        for place, seat in enumerate(seats):
            look = LOOKS[table.colours[seat]]
            yield use(curve, x, y, stroke=look.paint, stroke_width=6.0 + bold, **_dashes(place, len(seats)))
        if len(seats) == 1 and look.letter in PATTERNS:
            yield use(curve, x, y, stroke=letter_colour(look.paint), stroke_width=1.2 + bold, **PATTERNS[look.letter])


def _dashes(place: int, count: int) -> dict[str, Value]:
    """The dashes of one of so many colours."""
    gap = DASH * (count - 1)
    return {"stroke_dasharray": f"{DASH} {gap}", "stroke_dashoffset": -DASH * place} if gap else {}


def _beads(table: Table, ways: Sequence[Sequence[Step]]) -> Iterator[str]:
    """On each path, the letters of the avatars that have followed it."""
    for (one, other), seats in _seats_by_path(ways).items():
        left, top = _corner(table, one >> 3)
        for place, seat in enumerate(seats, 1):
            x, y = along(one & 7, other & 7, place / (len(seats) + 1))
            yield use(f"bead{LOOKS[table.colours[seat]].letter}", left + x, top + y)


def _marks(table: Table, ways: Sequence[Sequence[Step]], bold: float) -> Iterator[str]:
    """The square to lay a tile on, and where the avatars have started and left the board."""
    if (square := faced_square(table)) is not None:
        x, y = _corner(table, square)
        inside = rectangle(x + 4, y + 4, SIDE - 8, SIDE - 8, rx=5.0, fill="#fff3dc", fill_opacity=0.35)
        yield element("g", inside, stroke=MARK, stroke_width=3.0, stroke_dasharray="8 5", id="ahead")
    ends: list[int] = []
    for seat, start in enumerate(table.starts):
        paint = LOOKS[table.colours[seat]].paint
        if start not in (OUT, table.avatars[seat]):
            yield use("start", *_spot(table, start), fill=paint)
        if table.fell[seat] != STILL_IN and ways[seat]:
            ends.append(ways[seat][-1].exit)
            yield use("end", *_queue_position(table, ends, bold), color=paint)


def _spot(table: Table, spot: int) -> tuple[float, float]:
    (left, top), (x, y) = _corner(table, spot >> 3), port_at(spot & 7)
    return left + x, top + y


def _queue_position(table: Table, spots: Sequence[int], bold: float) -> tuple[float, float]:
    """The position of the last of these spots, in a queue behind the same spots before it."""
    spot = spots[-1]
    (x, y), (right, down) = _spot(table, spot), inward(spot & 7)
    behind = QUEUE * bold * (spots.count(spot) - 1)
    return x + right * behind, y + down * behind


def _avatars(table: Table, bold: float) -> Iterator[str]:
    for seat in reversed(range(len(table.avatars))):
        spot = table.avatars[seat]
        if spot != OUT:
            (x, y), (right, down) = _queue_position(table, table.avatars[: seat + 1], bold), inward(spot & 7)
            if seat in table.waiting[:1]:
                yield circle(x + right * 9 * bold, y + down * 9 * bold, 14.0 * bold, fill=MARK, opacity=0.7)
            yield from _stone(LOOKS[table.colours[seat]], (x, y), spot & 7, bold)


def _stone(look: Look, point: tuple[float, float], port: int, bold: float = 1.0) -> Iterator[str]:
    """An avatar at a point, with its tip where the port leads to."""
    (x, y), (right, down) = point, inward(port)
    turned = f"translate({at(x, y)}) rotate({port // 2 * 90}) scale({bold:.3g})"
    yield use(f"stone{look.letter}", 0, 0, transform=turned)
    middle = y + down * 9 * bold + 4.2 * bold
    yield text(
        x + right * 9 * bold,
        middle,
        look.letter,
        fill=letter_colour(look.paint),
        font_size=11.5 * bold,
        **LETTER_STYLE,
    )


def _labels(size: int, large: float) -> Iterator[str]:
    """The numbers x on top, and y on the left."""
    middles = [(index, (index + 0.5) * SIDE) for index in range(size)]
    top = (text(at, -FRAME - 5, str(index)) for index, at in middles)
    left = (text(-FRAME - 6, at + large / 3, str(index), text_anchor="end") for index, at in middles)
    yield group([*top, *left], fill=PALE, font_family="sans-serif", font_size=large, text_anchor="middle")


def _figure(player: Player, *, small: bool) -> tuple[str, ...]:
    sheet = circle(0, 0, 40.0, fill="url(#paper)") if small else use("sheet", -SIDE / 2, -SIDE / 2)
    scale = 2.6 if small else 2.2
    dim = 0.5 if player.mark.startswith("out") else 1.0
    return sheet, element("g", *_stone(player.look, (0.0, -6.0), 0), transform=f"scale({scale})", opacity=dim)


def _tray(dealt: Sequence[int], owner: str | None, *, small: bool) -> Tray:
    """A key of the ports, and the dealt tiles with the name of their player."""
    if small and not dealt:
        return NO_TRAY
    tray, left = [], GAP
    if not small:
        tray.append(text(left + 4, GAP + SIDE / 2 + 5, "ports", font_size=14.0))
        tray.append(_ports(left + 50))
        left += 124
    if owner is not None:
        tray.append(text(left + 4, GAP + SIDE / 2 - 4, "dealt to", font_size=14.0))
        tray.append(
            text(
                left + 4,
                GAP + SIDE / 2 + 14,
                truncate_to_width(owner, (OWNER - 8) / 13),
                font_size=13.0,
                font_weight="bold",
            )
        )
        left += OWNER
    for tile in dealt:
        tray.append(use(f"tile{4 * tile}", left, GAP))
        tray.append(text(left + SIDE / 2, GAP + SIDE + 15, str(tile), font_size=13.0, text_anchor="middle"))
        left += SIDE + GAP
    return Tray([group(tray, id="tray")], SIDE + GAP + 20)


@cache
def _ports(left: float) -> str:
    """A tile with the letters of its ports."""
    shapes = [use("sheet", 0, 0)]
    for port, letter in enumerate(PORTS):
        (x, y), (right, down) = port_at(port), inward(port)
        shapes.append(path(f"M{at(x, y)}l{at(right * 5, down * 5)}", stroke=INK, stroke_width=2.6))
        shapes.append(text(x + right * 12, y + down * 12 + 4, letter, font_size=11.5, fill=INK, **LETTER_STYLE))
    return group(shapes, transform=f"translate({left} {GAP})")
