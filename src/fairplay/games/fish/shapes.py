"""Define the shapes and colours in pictures of Fish: skins, tiles, penguins and marks."""

from collections.abc import Iterable, Iterator
from math import sqrt

from fairplay.games.fish.pieces import MAX_FISH
from fairplay.render.colours import letter_colour
from fairplay.render.panel import Skin
from fairplay.render.roster import Look
from fairplay.render.svg import LETTER_STYLE, Value, circle, element, gradient, path, polygon, text, use

SIDE = 40.0  # of a tile
INK = "#17324a"
ORANGE = "#f59a23"
LIGHT = Skin(
    ground="#eef6fb",
    panel="#d8e9f4",
    card="#fbfdff",
    lit="#fff3d1",
    letters="#12304a",
    pale="#41607a",
    gold="#8a5300",
)
DARK = Skin(
    ground="#0c1a26",
    panel="#122737",
    card="#1b364a",
    lit="#3d3a22",
    letters="#f1f8fc",
    pale="#a9c6d9",
    gold="#ffd166",
)
SEA = {False: ("#1f6e9c", "#145079"), True: ("#164a69", "#0a2b43")}  # by darkness, from top to bottom
ICE = {False: ("#ffffff", "#d9edf7"), True: ("#dfecf3", "#b3cddc")}
TAKEN_ICE = {False: ("#c6e2f1", "#9fcae2"), True: ("#a9c9da", "#82acc4")}
FOAM = "#e3f2fa"  # for numbers in the sea
SHADES = ("#f6fafd", "#e4f0f8", "#d2e6f2", "#bfdbec", "#abd0e6")  # of plain tiles: the more fish, the darker
MARK = "#ffd23f"
FREE = {  # where the fish are on a tile
    1: ((0, 0),),
    2: ((-9, -10), (9, 10)),
    3: ((0, -16), (-13, 7), (13, 7)),
    4: ((-13, -12), (13, -12), (-13, 12), (13, 12)),
    5: ((-13, -18), (13, -18), (0, 0), (-13, 18), (13, 18)),
}
TAKEN = {  # and where, at half their size, if a penguin stands there
    1: ((0, 48),),
    2: ((-13, 48), (13, 48)),
    3: ((-26, 48), (0, 48), (26, 48)),
    4: ((-13, 42), (13, 42), (-13, 57), (13, 57)),
    5: ((-26, 42), (0, 42), (26, 42), (-13, 57), (13, 57)),
}
PLAIN_FISH, PLAIN_DIGITS = 2.0, 4.6  # the grains above which fish are too small to count, and digits to read


def definitions(looks: Iterable[Look], grain: float, *, dark: bool) -> Iterator[str]:
    """All definitions, with penguins of these looks."""
    yield gradient("sea", *SEA[dark])
    yield from _plain(grain) if grain > PLAIN_FISH else _icy(dark=dark)
    yield path(
        "M10 0C6-6-2-6-6-1.5L-11-5.5Q-9 0-11 5.5L-6 1.5C-2 6 6 6 10 0z", id="body", fill="#f2862b", stroke="#b9560d"
    )
    yield element("g", use("body", 0, 0), circle(5.5, -1.2, 1.1, fill=INK), id="fish")
    plain, radius = grain > PLAIN_FISH, max(30.0, 7.5 * grain)
    for look in sorted(looks):
        yield element("g", *(_token(look, radius) if plain else _lettered(look)), id=penguin_id(look))
    width = max(4.0, 1.6 * grain)
    yield circle(0, 0, radius * 1.3, id="around") if plain else hexagon(SIDE - 3, 0, id="around")
    layers = ((INK, width + 0.65 * max(4.0, grain)), (MARK, width))
    rings = (use("around", 0, 0, stroke=hue, stroke_width=wide) for hue, wide in layers)
    yield element("g", *rings, id="last", fill="none")
    dashes: dict[str, Value] = {"stroke_dasharray": f"{SIDE / 3:.1f} {SIDE / 6:.1f}", "stroke_linejoin": "round"}
    yield hexagon(SIDE - 8, 0, fill="none", stroke=MARK, stroke_width=width * 0.75, id="left", **dashes)


def penguin_id(look: Look) -> str:
    """The id of the penguin of a look."""
    return f"penguin{look.letter}" if look.letter.isalpha() else "penguin"


def hexagon(side: float, lower: float, **attributes: Value) -> str:
    """A tile of this size."""
    half, high = side / 2, side * sqrt(3) / 2
    points = ((side, 0), (half, high), (-half, high), (-side, 0), (-half, -high), (half, -high))
    return polygon([(x, y + lower) for x, y in points], **attributes)


def _icy(*, dark: bool) -> Iterator[str]:
    """Tiles with all their fish, and a penguin that takes any colour."""
    yield gradient("top", *ICE[dark])
    yield gradient("under", *TAKEN_ICE[dark])
    for name, top in (("ice", "top"), ("pressed", "under")):
        yield element("g", hexagon(SIDE - 2, 4.5, fill="#6fa5c4"), hexagon(SIDE - 2, 0, fill=f"url(#{top})"), id=name)
    for count in range(1, MAX_FISH + 1):
        large = (use("fish", x, y) for x, y in FREE[count])
        small = (use("fish", x, y) for x, y in TAKEN[count])
        yield element("g", use("ice", 0, 0), *large, id=f"free{count}")
        yield element("g", use("pressed", 0, 0), element("g", *small, transform="scale(.5)"), id=f"taken{count}")
    yield path("M-14-3q3.5-4 7 0t7 0M0 6q3.5-4 7 0t7 0", id="water", fill="none", stroke="#5fa9d2", stroke_width=1.6)
    yield _penguin()


def _plain(grain: float) -> Iterator[str]:
    """Tiles in shades, with the number of fish where there is room for it."""
    for count, shade in enumerate(SHADES, 1):
        digit = text(0, 15, str(count), font_size=42.0, fill=INK, **LETTER_STYLE) if grain <= PLAIN_DIGITS else ""
        tile = hexagon(SIDE - 2, 0, fill=shade)
        yield element("g", tile, digit, id=f"free{count}")
        yield element("g", tile, id=f"taken{count}")


def _penguin() -> str:
    """A penguin in the current colour, with its feet a little below the middle of the tile."""
    return element(
        "g",
        element("ellipse", cx=0.0, cy=15.0, rx=16.0, ry=3.5, fill=INK, opacity=0.3),
        path("M-11 15q1-5 6-4t4 4zM11 15q-1-5-6-4t-4 4z", fill=ORANGE, stroke=INK),
        path(
            "M0-33C7-33 10-28 10-22 10-19 12-16 13-12 19-7 20-1 18 4 16 4 15 2 14.5 1 14 9 9 14 0 14"
            "-9 14-14 9-14.5 1-15 2-16 4-18 4-20-1-19-7-13-12-12-16-10-19-10-22-10-28-7-33 0-33z",
            fill="currentColor",
            stroke=INK,
            stroke_width=2.0,
        ),
        element("ellipse", cx=0.0, cy=0.5, rx=11.0, ry=11.5, fill="#f7fafc", stroke=INK, stroke_width=0.8),
        circle(-4, -23.5, 3.4, fill="#fff", stroke=INK, stroke_width=0.5),
        circle(4, -23.5, 3.4, fill="#fff", stroke=INK, stroke_width=0.5),
        circle(-3.4, -23.2, 1.7, fill=INK),
        circle(3.4, -23.2, 1.7, fill=INK),
        path("M-4-19.5Q0-22.5 4-19.5L0-14z", fill=ORANGE, stroke=INK, stroke_width=0.8),
        id="bird",
        transform="translate(0 -6)",
    )


def _lettered(look: Look) -> tuple[str, ...]:
    """A penguin with its letter on the belly."""
    return use("bird", 0, 0, color=look.paint), text(0, 0.9, look.letter, font_size=18.0, fill=INK, **LETTER_STYLE)


def _token(look: Look, radius: float) -> tuple[str, ...]:
    """A disc instead of a penguin, large enough for its letter."""
    return (
        circle(0, 0, radius * 1.12, fill="#fff"),
        circle(0, 0, radius, fill=look.paint, stroke=INK, stroke_width=radius / 9),
        text(0, radius * 0.47, look.letter, font_size=radius * 1.3, fill=letter_colour(look.paint), **LETTER_STYLE),
    )


def figure(look: Look, grain: float, *, small: bool) -> tuple[str, ...]:
    """The figure beside a player's name."""
    if small or grain > PLAIN_FISH:
        return _token(look, 36.0)
    return use("pressed", 0, 0), use(penguin_id(look), 0, 12)
