"""Draw what a seat sees of Tsuro, as SVG and as text for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import EXITS, PORTS
from fairplay.games.tsuro.state import STILL_IN, Stage, Table, View
from fairplay.games.tsuro.terminal import LEGEND, board_lines, dealt_lines
from fairplay.games.tsuro.ways import Step, faced, way_of
from fairplay.render.panel import GAP, NO_TRAY, Board, Header, Look, Player, Skin, Tray, named, picture, roster
from fairplay.render.svg import Value, box, circle, element, fade, group, number, path, use, words

LOOKS = {
    "white": Look("W", "30;107", "#ffffff"),
    "black": Look("K", "97;40", "#2b2b33"),
    "red": Look("R", "97;41", "#d8343f"),
    "green": Look("G", "30;42", "#2f9e57"),
    "blue": Look("B", "97;44", "#2f6fd6"),
}

# The measures of the picture. A square's upper left corner is at (x * SIDE, y * SIDE).
SIDE = 60.0
FRAME = 7.0
TICK = 5.0  # where paths leave the board
ARC = 0.5523  # of a radius: how far from its ends a quarter of a circle has its controls
BEND = 0.3  # of a side, where a path turns back to the side that it comes from
SEAM = 0.4
QUEUE = 15.0  # between avatars on the same port
DASH = 7.0  # of each, where several have gone along the same path

ICON = 4 * 7  # the code of the tile beside the title
INK = "#3a2416"
PAPER = "#f7e9cb"
SKIN = Skin(ground="url(#wood)", panel="#1d0f07", letters="#fff3dc", pale="#e6cda6", faint="#cfa97c", gold="#ffcf5c")
LETTER: dict[str, Value] = {
    "font_family": "sans-serif",
    "font_size": 10.5,
    "font_weight": "bold",
    "text_anchor": "middle",
}


def svg(view: View, names: Sequence[str] = (), *, before: View | None = None) -> str:
    """A picture of the board and the players, as a document of its own."""
    table, players = view.table, _players(view.table, names)
    size = table.grid.size * SIDE
    ways = [way_of(table, seat) for seat in range(len(players))]
    content = [
        *_squares(table),
        group(_tiles(table), id="tiles"),
        group(_trails(table, ways), id="ways", fill="none"),
        group(_marks(table, ways), id="marks"),
        group(_avatars(table), id="avatars"),
        *_labels(table.grid.size),
    ]
    said = ", ".join(" ".join(filter(None, (player.called, player.mark))) for player in players)
    now = _now(table)
    return picture(
        Board(content, size, size, origin=(0.0, 0.0)),
        players,
        [_figure(player, fallen=fell > 0) for player, fell in zip(players, table.fell, strict=True)],
        header=Header(
            use(f"tile{ICON}", 0, 0, transform="translate(15 9) scale(.5)"),
            "Tsuro",
            [now if stage is table.stage else stage.value for stage in Stage],
            list(Stage).index(table.stage),
        ),
        skin=SKIN,
        definitions=_definitions({ICON, *table.board, *(4 * tile for tile in view.dealt)} - {EMPTY}),
        label=f"Tsuro, {now}: {said}",
        tray=_tray(view.dealt) if view.dealt else NO_TRAY,
    )


def text(view: View, names: Sequence[str] = (), *, colour: bool = False) -> str:
    """The board and the players for a terminal, without a newline at the end; `colour` adds colour and nothing else."""
    table = view.table
    board = board_lines(table, LOOKS, colour=colour)
    dealt = [*dealt_lines(view.dealt), ""] if view.dealt else []
    return "\n".join([*board, LEGEND, "", *dealt, _now(table), *roster(_players(table, names), colour=colour)])


def _players(table: Table, names: Sequence[str]) -> list[Player]:
    players = []
    for seat, colour in enumerate(table.colours):
        first = _is_first(table, seat)
        player = Player(
            LOOKS[colour],
            colour,
            named(names, seat),
            _mark(table, seat),
            lit=first or seat in table.waiting[:1],
            out=table.fell[seat] < 0,
            facts=_where(table, seat),
        )
        players.append(player)
    return players


def _mark(table: Table, seat: Seat) -> str:
    """What there is to say about a seat now."""
    fell = table.fell[seat]
    if fell < 0:
        return "ejected"
    if fell != STILL_IN:
        return f"out in round {fell}"
    if table.stage is Stage.DONE:
        return "last one left"
    if seat not in table.waiting[:1]:
        return ""
    return "to place" if table.stage is Stage.PLACING else "to lay"


def _is_first(table: Table, seat: Seat) -> bool:
    """Has it come first? With nobody left, those do who left last (Tsuro §5.2)."""
    latest = STILL_IN if table.alive else max(table.fell)
    return table.stage is Stage.DONE and table.fell[seat] == latest >= 0


def _where(table: Table, seat: Seat) -> str:
    if table.avatars[seat] == OUT:
        return ""
    (x, y), port = table.grid.place(table.avatars[seat])
    ahead = table.grid.squares[table.grid.ahead[table.avatars[seat]] >> 3]
    return f" [{x}, {y}] port {port}, faces {list(ahead)}"


def _now(table: Table) -> str:
    """The stage, and how many rounds have come to it."""
    match table.stage:
        case Stage.PLACING:
            return "placing"
        case Stage.PLAYING:
            return f"playing, round {table.round}"
        case Stage.DONE:
            return f"done in round {table.round}"


# The picture, from its shapes to its tray.


def _definitions(codes: Iterable[int]) -> Iterator[str]:
    yield fade("wood", "#8a5a34", "#4a2a16")
    yield fade("field", "#c99f69", "#b98b55")
    yield fade("paper", "#fbf1d8", "#f0dcb2")
    for one in range(8):
        for other in range(one + 1, 8):
            yield path(_curve(one, other), id=PORTS[one] + PORTS[other])
    sheet = box(1, 1, SIDE - 2, SIDE - 2, rx=4.0, fill="url(#paper)", stroke="#8d6a43", stroke_width=1.0)
    yield element("g", sheet, id="sheet")
    for code in sorted(codes):
        pairs = [(port, EXITS[code << 3 | port]) for port in range(8)]
        curves = (use(PORTS[one] + PORTS[other], 0, 0) for one, other in pairs if one < other)
        lines = element("g", *curves, fill="none", stroke="#a98458", stroke_width=2.6)
        yield element("g", use("sheet", 0, 0), lines, id=f"tile{code}")
    yield element(
        "g", circle(0, 0, 6.0, fill=PAPER, stroke=INK, stroke_width=1.4), circle(0, 0, 3.4, stroke=INK), id="start"
    )
    cross = "M-5-5L5 5M5-5L-5 5"
    layers = ((PAPER, 7.5), (INK, 6.0), ("currentColor", 3.0))
    crosses = (path(cross, stroke=paint, stroke_width=width) for paint, width in layers)
    yield element("g", *crosses, id="end", stroke_linecap="round")
    yield path("M0-7C3-2 9.5 1 9.5 9A9.5 9.5 0 0 1-9.5 9C-9.5 1-3-2 0-7z", id="stone", stroke=INK, stroke_width=1.6)


def _port(port: int) -> tuple[float, float]:
    """Where it is on a tile: two divide each side in three."""
    near, far = SIDE / 3, SIDE * 2 / 3
    return ((near, 0), (far, 0), (SIDE, near), (SIDE, far), (far, SIDE), (near, SIDE), (0, far), (0, near))[port]


def _inward(port: int) -> tuple[int, int]:
    return ((0, 1), (-1, 0), (0, -1), (1, 0))[port // 2]


def _curve(one: int, other: int) -> str:
    """A path across a tile that leaves both sides at right angles."""
    start, first = _end(one, other)
    end, second = _end(other, one)
    return f"M{start}C{first} {second} {end}"


def _end(port: int, other: int) -> tuple[str, str]:
    """A path's end at a port and the control beside it; it reaches a little further, so that no seam shows."""
    (x, y), (right, down) = _port(port), _inward(port)
    across = abs((_port(other)[0] - x) * right + (_port(other)[1] - y) * down)
    reach = ARC * across if across else BEND * SIDE
    return _at(x - right * SEAM, y - down * SEAM), _at(x + right * reach, y + down * reach)


def _at(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def _corner(table: Table, square: int) -> tuple[float, float]:
    x, y = table.grid.squares[square]
    return x * SIDE, y * SIDE


def _squares(table: Table) -> Iterator[str]:
    """The empty board: its frame, and lines between the squares."""
    size = table.grid.size * SIDE
    around = size + 2 * FRAME
    yield box(-FRAME, -FRAME, around, around, rx=8.0, fill="#5d3820", stroke="#2c180c", stroke_width=1.5)
    yield box(0, 0, size, size, fill="url(#field)")
    lines = "".join(f"M{at * SIDE} 0V{size}M0 {at * SIDE}H{size}" for at in range(1, table.grid.size))
    yield path(lines, stroke="#a5773f", stroke_width=1.0, opacity=0.7)
    ports = [third * SIDE / 3 for third in range(3 * table.grid.size) if third % 3]
    ticks = (f"M{at} 0v-{TICK}M{at} {size}v{TICK}M0 {at}h-{TICK}M{size} {at}h{TICK}" for at in ports)
    yield path("".join(ticks), stroke="#a97c4f", stroke_width=1.6)


def _tiles(table: Table) -> Iterator[str]:
    for square, code in enumerate(table.board):
        if code != EMPTY:
            yield use(f"tile{code}", *_corner(table, square))


def _trails(table: Table, ways: Sequence[Sequence[Step]]) -> Iterator[str]:
    """The ways, path by path; where several avatars have gone along one, their colours alternate."""
    walked: dict[Step, dict[Seat, None]] = {}
    for seat, way in enumerate(ways):
        for step in way:
            walked.setdefault(Step(min(step), max(step)), {})[seat] = None
    for (one, other), seats in walked.items():
        curve, (x, y) = PORTS[one & 7] + PORTS[other & 7], _corner(table, one >> 3)
        yield use(curve, x, y, stroke=INK, stroke_width=8.0)
        for place, seat in enumerate(seats):
            paint = LOOKS[table.colours[seat]].paint
            yield use(curve, x, y, stroke=paint, stroke_width=5.0, **_dashes(place, len(seats)))


def _dashes(place: int, count: int) -> dict[str, Value]:
    """Those of one of so many colours."""
    gap = DASH * (count - 1)
    return {"stroke_dasharray": f"{DASH} {gap}", "stroke_dashoffset": -DASH * place} if gap else {}


def _marks(table: Table, ways: Sequence[Sequence[Step]]) -> Iterator[str]:
    """The square to lay a tile on, where the avatars have started, and where they have been led off."""
    if (square := faced(table)) is not None:
        x, y = _corner(table, square)
        inside = box(x + 4, y + 4, SIDE - 8, SIDE - 8, rx=5.0, fill="#fff3dc", fill_opacity=0.35)
        yield element("g", inside, stroke=SKIN.gold, stroke_width=3.0, stroke_dasharray="8 5", id="ahead")
    ends: list[int] = []
    for seat, start in enumerate(table.starts):
        paint = LOOKS[table.colours[seat]].paint
        if start not in (OUT, table.avatars[seat]):
            yield use("start", *_spot(table, start), fill=paint)
        if table.fell[seat] != STILL_IN and ways[seat]:
            ends.append(ways[seat][-1].exit)
            yield use("end", *_queued(table, ends), color=paint)


def _spot(table: Table, spot: int) -> tuple[float, float]:
    (left, top), (x, y) = _corner(table, spot >> 3), _port(spot & 7)
    return left + x, top + y


def _queued(table: Table, spots: Sequence[int]) -> tuple[float, float]:
    """Where the last of these spots is, behind those before it that are the same."""
    spot = spots[-1]
    (x, y), (right, down) = _spot(table, spot), _inward(spot & 7)
    behind = QUEUE * (spots.count(spot) - 1)
    return x + right * behind, y + down * behind


def _avatars(table: Table) -> Iterator[str]:
    for seat in reversed(range(len(table.avatars))):
        spot = table.avatars[seat]
        if spot != OUT:
            (x, y), (right, down) = _queued(table, table.avatars[: seat + 1]), _inward(spot & 7)
            if seat in table.waiting[:1]:
                yield circle(x + right * 9, y + down * 9, 14.0, fill=SKIN.gold, opacity=0.55)
            yield from _stone(LOOKS[table.colours[seat]], (x, y), spot & 7)


def _stone(look: Look, at: tuple[float, float], port: int) -> Iterator[str]:
    """An avatar at a point, with its tip where the port leads to."""
    (x, y), (right, down) = at, _inward(port)
    yield use("stone", 0, 0, transform=f"translate({_at(x, y)}) rotate({port // 2 * 90})", fill=look.paint)
    fill = INK if look.letter == "W" else "#fff"
    yield words(x + right * 9, y + down * 9 + 3.8, look.letter, fill=fill, **LETTER)


def _labels(size: int) -> Iterator[str]:
    """The numbers x on top, and y on the left."""
    middles = [(index, (index + 0.5) * SIDE) for index in range(size)]
    top = (words(at, -FRAME - 5, str(index)) for index, at in middles)
    left = (words(-FRAME - 6, at + 4, str(index), text_anchor="end") for index, at in middles)
    yield group([*top, *left], fill=SKIN.pale, font_family="sans-serif", font_size=11.0, text_anchor="middle")


def _figure(player: Player, *, fallen: bool) -> tuple[str, ...]:
    sheet = use("sheet", -SIDE / 2, -SIDE / 2)
    stone = element("g", *_stone(player.look, (0.0, -9.0), 0), transform="scale(2)", opacity=0.45 if fallen else 1.0)
    return sheet, stone


def _tray(dealt: Sequence[int]) -> Tray:
    """The tiles to choose from."""
    tray = [words(16, GAP + SIDE / 2 + 5, "dealt", font_size=14.0)]
    for place, tile in enumerate(dealt):
        left = 70 + place * (SIDE + 44)
        tray.append(use(f"tile{4 * tile}", left, GAP))
        tray.append(words(left + SIDE + 8, GAP + SIDE / 2 + 4, str(tile), font_size=12.0, fill=SKIN.pale))
    return Tray(tray, SIDE + GAP)
