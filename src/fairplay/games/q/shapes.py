"""Define the shapes and colours in pictures of Q: skins, cloth, tiles and marks."""

from collections.abc import Iterable, Iterator
from math import cos, pi, sin

from fairplay.games.q.pieces import COLOURS, NAMES, SHAPES, colour_of, shape_of
from fairplay.render.colours import letter_colour
from fairplay.render.panel import GOLD, Skin
from fairplay.render.svg import (
    LETTER_STYLE,
    Value,
    circle,
    colour_definition,
    element,
    gradient,
    polygon,
    rectangle,
    text,
    use,
)

# For people who do not see red or green, or blue, these differ in brightness; the letters help as well.
PAINTS = {
    "red": "#e3253c",
    "green": "#22c27e",
    "blue": "#2f6fe4",
    "yellow": "#fff583",
    "orange": "#ff8c26",
    "purple": "#c98bff",
}
CELL = 48.0
HALF = 22.0  # of a tile
POINT = 15.5  # from the centre to the tips of a shape
ASIDE = 4.0  # of a shape, with the letter beside it
INK = "#1b1822"
MARK = "#ffc21f"
LIGHT = Skin(
    ground="#f4f1f8",
    panel="#e2dcec",
    card="#fdfcff",
    lit="#fff1cc",
    letters="#282236",
    pale="#5a5070",
    gold="#855100",
)
DARK = Skin(
    ground="#15111d",
    panel="#211b2d",
    card="#2e273d",
    lit="#45391b",
    letters="#fbf6ea",
    pale="#c6bbd9",
    gold="#ffc94d",
)
LINEN = {False: ("#ece2cf", "#f5eee0", "#dccfb5"), True: ("#3d3749", "#443e51", "#322c3d")}  # by darkness: with threads
SLATE = "#2d2a37", "#1d1a26"  # of tiles, from top to bottom
GAP = {False: "#f6efe1", True: "#4a4458"}  # where a tile fits
RIM = {False: "#3b3745", True: "#7d7690"}  # around them
PLAIN_LETTERS = 3.7  # the grain above which letters are too small to read


def shape_id(kind: int) -> str:
    """The id of a kind of tile."""
    return NAMES[kind].replace(" ", "-")


def definitions(kinds: Iterable[int], *, letters: bool, dark: bool, small: bool) -> Iterator[str]:
    """All definitions, with tiles of these kinds, and letters on them if there is room."""
    ground, across, along = LINEN[dark]
    yield colour_definition("thread", across)
    yield colour_definition("rim", RIM[dark])
    yield colour_definition("weave", along)
    yield colour_definition("gap", GAP[dark])
    yield colour_definition("cloth", ground)
    yield gradient("slate", *SLATE)
    side = 2 * HALF
    yield element(
        "g",
        rectangle(-HALF, -HALF + 3, side, side, rx=7.0, fill="#000", opacity=0.3),
        rectangle(-HALF, -HALF, side, side, rx=7.0, fill="url(#slate)"),
        rectangle(-HALF + 0.7, -HALF + 0.7, side - 1.4, side - 1.4, rx=6.3, fill="none", stroke="url(#rim)"),
        id="blank",
    )
    yield from _shapes()
    for kind in sorted(kinds):
        yield element("g", *(_bold(kind, letters=letters) if small else _tile(kind)), id=shape_id(kind))
    side = CELL - 12
    yield rectangle(
        -side / 2, -side / 2, side, side, rx=6.0, id="place", fill="url(#gap)", stroke="url(#rim)", stroke_opacity=0.3
    )
    frame: dict[str, Value] = {"x": -HALF - 0.5, "y": -HALF - 0.5, "width": 2 * HALF + 1, "height": 2 * HALF + 1}
    wide = 6.0 if small else 4.0
    layers = ((INK, wide + 2.4), (MARK, wide))
    frames = (element("rect", **frame, rx=7.5, stroke=hue, stroke_width=width) for hue, width in layers)
    yield element("g", *frames, id="last", fill="none")
    yield polygon(_spikes(4, 9.5, 4.0), id="point", fill=GOLD)


def _tile(kind: int) -> tuple[str, ...]:
    """A tile: its shape, and the first letter of its colour in the corner."""
    colour = COLOURS[colour_of(kind)]
    shape = use(SHAPES[shape_of(kind)], -ASIDE, -ASIDE, fill=PAINTS[colour])
    letter = text(HALF - 8.5, HALF - 4.5, colour[0], font_size=16.0, fill="#fff", **LETTER_STYLE)
    return use("blank", 0, 0), shape, letter


def _bold(kind: int, *, letters: bool) -> tuple[str, ...]:
    """A tile for small pictures: a large shape, with the letter on it if there is room."""
    colour = COLOURS[colour_of(kind)]
    paint = PAINTS[colour]
    ground = rectangle(-CELL / 2 + 1, -CELL / 2 + 1, CELL - 2, CELL - 2, rx=5.0, fill="url(#slate)", stroke="url(#rim)")
    shape = use(SHAPES[shape_of(kind)], 0, 0, fill=paint, transform="scale(1.42)")
    if not letters:
        return ground, shape
    around: dict[str, Value] = {"stroke": paint, "stroke_width": 7.0, "stroke_linejoin": "round"}
    halo = text(0, 10, colour[0], font_size=29.0, fill=paint, **around, **LETTER_STYLE)
    return ground, shape, halo, text(0, 10, colour[0], font_size=29.0, fill=letter_colour(paint), **LETTER_STYLE)


def _shapes() -> Iterator[str]:
    yield polygon(_spikes(4, POINT + 1, 6.0), id="star")
    yield polygon(_spikes(8, POINT, 9.0), id="8star")
    yield rectangle(-12, -12, 24, 24, rx=1.5, id="square")
    yield circle(0, 0, 13.5, id="circle")
    leaves = (circle(x * 7.3, y * 7.3, 7.2) for x, y in ((0, -1), (1, 0), (0, 1), (-1, 0)))
    yield element("g", *leaves, rectangle(-5, -5, 10, 10), id="clover")
    yield polygon(((0, -POINT), (POINT, 0), (0, POINT), (-POINT, 0)), id="diamond")


def _spikes(count: int, outer: float, inner: float) -> Iterator[tuple[float, float]]:
    """The corners of a star."""
    for corner in range(2 * count):
        radius, angle = inner if corner % 2 else outer, corner * pi / count
        yield radius * sin(angle), -radius * cos(angle)
