"""Define the shapes and colours in pictures of Tsuro: skins, tiles, paths, avatars and marks."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from fairplay.games.tsuro.pieces import EXITS, PORTS
from fairplay.render.colours import letter_colour
from fairplay.render.panel import Skin
from fairplay.render.roster import Look
from fairplay.render.svg import LETTER_STYLE, Value, circle, element, gradient, number, path, rectangle, text, use

SIDE = 60.0  # of a tile
ARC = 0.5523  # of a radius: how far from its ends a quarter of a circle has its controls
BEND = 0.3  # of a side, where a path turns back to the side that it comes from
SEAM = 0.4
INK = "#2e1a0e"
PAPER = "#fbf1d8"
MARK = "#ffd23f"
LIGHT = Skin(
    ground="#f8f1e4",
    panel="#eaddc5",
    card="#fffbf2",
    lit="#fff0c4",
    letters="#3a2416",
    pale="#684c32",
    gold="#855000",
)
DARK = Skin(
    ground="#1a110a",
    panel="#281a10",
    card="#382618",
    lit="#4b3a16",
    letters="#fff3dc",
    pale="#dcc19a",
    gold="#ffcf5c",
)
FIELD = {False: ("#cfa770", "#bd915b"), True: ("#7a5a37", "#664826")}  # by darkness, from top to bottom
SHEET = {False: ("#fdf5e0", "#f3e2bd"), True: ("#e2d3ae", "#cdb98c")}
# The pattern along the middle of a way, to distinguish ways without colour; the other letters have none.
PATTERNS: Mapping[str, dict[str, Value]] = {
    "K": {"stroke_dasharray": "1.5 8"},
    "R": {"stroke_dasharray": "5 4"},
    "B": {"stroke_dasharray": "100 0"},
    "G": {"stroke_dasharray": "0.1 5", "stroke_linecap": "round"},
}


def definitions(codes: Iterable[int], looks: Iterable[Look], *, dark: bool, bold: float) -> Iterator[str]:
    """All definitions, with the tiles of these codes; `bold`: the scale of the avatars and marks."""
    yield gradient("field", *FIELD[dark])
    yield gradient("paper", *SHEET[dark])
    yield from _paths()
    for code in sorted(codes):
        yield _tile(code)
    yield from _marks(bold)
    for look in looks:
        yield from _pieces(look)


@cache
def _paths() -> tuple[str, ...]:
    """Every path across a tile, and a tile without paths."""
    curves = (path(_curve(one, other), id=PORTS[one] + PORTS[other]) for one in range(8) for other in range(one + 1, 8))
    sheet = rectangle(1, 1, SIDE - 2, SIDE - 2, rx=4.0, fill="url(#paper)", stroke="#8d6a43", stroke_width=1.0)
    return (*curves, element("g", sheet, id="sheet"))


@cache
def _tile(code: int) -> str:
    pairs = [(port, EXITS[code << 3 | port]) for port in range(8)]
    curves = (use(PORTS[one] + PORTS[other], 0, 0) for one, other in pairs if one < other)
    lines = element("g", *curves, fill="none", stroke="#ad8a5e", stroke_width=2.6)
    return element("g", use("sheet", 0, 0), lines, id=f"tile{code}")


def port_at(port: int) -> tuple[float, float]:
    """The position of a port on a tile: two ports divide each side in three."""
    near, far = SIDE / 3, SIDE * 2 / 3
    return ((near, 0), (far, 0), (SIDE, near), (SIDE, far), (far, SIDE), (near, SIDE), (0, far), (0, near))[port]


def inward(port: int) -> tuple[int, int]:
    """The direction from a port into the tile."""
    return ((0, 1), (-1, 0), (0, -1), (1, 0))[port // 2]


def along(one: int, other: int, part: float) -> tuple[float, float]:
    """The point on the path between two ports after a part of it, from 0 to 1."""
    points = [port_at(one), _control(one, other), _control(other, one), port_at(other)]
    weights = ((1 - part) ** 3, 3 * (1 - part) ** 2 * part, 3 * (1 - part) * part**2, part**3)
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, points, strict=True)) for axis in (0, 1))
    return x, y


def _curve(one: int, other: int) -> str:
    """A path across a tile that leaves both sides at right angles."""
    return f"M{_end(one)}C{at(*_control(one, other))} {at(*_control(other, one))} {_end(other)}"


def _end(port: int) -> str:
    """A path's end at a port, slightly extended so that no seam shows."""
    (x, y), (right, down) = port_at(port), inward(port)
    return at(x - right * SEAM, y - down * SEAM)


def _control(port: int, other: int) -> tuple[float, float]:
    """The control of a path beside its end at a port."""
    (x, y), (right, down) = port_at(port), inward(port)
    across = abs((port_at(other)[0] - x) * right + (port_at(other)[1] - y) * down)
    reach = ARC * across if across else BEND * SIDE
    return x + right * reach, y + down * reach


def at(x: float, y: float) -> str:
    """A point within a path."""
    return f"{number(x)} {number(y)}"


@lru_cache(maxsize=16)
def _marks(bold: float) -> tuple[str, ...]:
    start = element(
        "g",
        circle(0, 0, 6.0 * bold, fill=PAPER, stroke=INK, stroke_width=1.4 * bold),
        circle(0, 0, 3.4 * bold, stroke=INK),
        id="start",
    )
    far = number(5 * bold)
    cross = f"M-{far}-{far}L{far} {far}M{far}-{far}L-{far} {far}"
    layers = ((PAPER, 7.5 * bold), (INK, 6.0 * bold), ("currentColor", 3.0 * bold))
    crosses = (path(cross, stroke=paint, stroke_width=width) for paint, width in layers)
    end = element("g", *crosses, id="end", stroke_linecap="round")
    inside: dict[str, Value] = {"x": 2.0, "y": 2.0, "width": SIDE - 4, "height": SIDE - 4, "rx": 4.0}
    frames = ((INK, 5.5 * bold), (MARK, 3.4 * bold))
    frame = (element("rect", **inside, stroke=paint, stroke_width=width) for paint, width in frames)
    return start, end, element("g", *frame, id="last", fill="none")


@cache
def _pieces(look: Look) -> tuple[str, str]:
    """The avatar of a colour, with its tip at the origin and upwards, without its letter; and the bead on its way."""
    stone = "M0-7C3-2 9.5 1 9.5 9A9.5 9.5 0 0 1-9.5 9C-9.5 1-3-2 0-7z"
    avatar = path(stone, id=f"stone{look.letter}", fill=look.paint, stroke=INK, stroke_width=1.8)
    bead = element(
        "g",
        circle(0, 0, 5.8, fill=look.paint, stroke=INK, stroke_width=1.2),
        text(0, 3.3, look.letter, font_size=9.0, fill=letter_colour(look.paint), **LETTER_STYLE),
        id=f"bead{look.letter}",
    )
    return avatar, bead
