"""Draw a view of any game of the kit as SVG: a grid of signs."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any

from fairplay.kit.game import View
from fairplay.kit.roster import looks, players_of, sign_owners
from fairplay.kit.terminal import Place, changed_places, grid
from fairplay.render.colours import letter_colour
from fairplay.render.panel import EDGE, Board, Header, Skin, picture, units_per_pixel
from fairplay.render.roster import Look
from fairplay.render.svg import LETTER_STYLE, Value, circle, element, gradient, group, rectangle, text, use

NOTHING = ". "  # the signs of an empty place, and of no place
LIGHT = Skin(
    ground="#f4f1ea",
    panel="#e6dfd2",
    card="#fffdf8",
    lit="#fff1c9",
    letters="#2b2620",
    pale="#5f574b",
    gold="#855000",
)
DARK = Skin(
    ground="#1b1814",
    panel="#28231d",
    card="#383128",
    lit="#4a3f20",
    letters="#f6f1e8",
    pale="#c3b8a6",
    gold="#ffd166",
)
FIELD = {False: ("#dcc9a3", "#cdb689"), True: ("#6b5a3d", "#57482f")}  # by darkness, from top to bottom
SQUARE = {False: "#f6ecd8", True: "#8a7653"}
INK, MARK = "#2b2620", "#ffd23f"
SIDE = 60.0  # of a square
RADIUS = 23.0  # of a piece
STAGES = ("playing", "over")


def svg(
    view: View[Any],
    names: Sequence[str] = (),
    *,
    before: View[Any] | None = None,
    around: View[Any] | None = None,
    dark: bool = False,
    small: bool = False,
) -> str:
    """A picture of the board and the players, as an SVG document; what changed since `before` is marked.

    The board never grows, so there is always room for `around`.
    """
    signs, players = grid(view), players_of(view, names)
    rows, columns = len(signs), max(map(len, signs), default=0)
    width, height = columns * SIDE, rows * SIDE
    units = units_per_pixel(width, small=small)
    label = max(13.0, 10 * units)
    shore = 4 * units if small else label * 1.6 + 4  # around the squares, with room for the labels
    over = view.game.turn(view.state) is None
    content = [
        rectangle(-shore, -shore, width + 2 * shore, height + 2 * shore, rx=10.0, fill="url(#field)"),
        group(_squares(view, signs), id="squares"),
        group((use("last", *_corner(place)) for place in sorted(changed_places(view, before))), id="news"),
        *(() if small else [_labels(rows, columns, label)]),
    ]
    beside = 0.0 if small else max(0.0, shore - EDGE + 8)
    summary = ", ".join(f"{player.display_name} {player.score or player.mark}".strip() for player in players)
    return picture(
        Board(content, width + 2 * beside, height + 2 * shore, origin=(beside, shore)),
        players,
        [[use(f"piece{seat}", 0, 0, transform="scale(1.4)")] for seat in range(len(players))],
        header=Header(
            use("piece0", 0, 0, transform="translate(30 24) scale(.55)"),
            view.game.name.capitalize(),
            STAGES,
            int(over),
        ),
        skin=DARK if dark else LIGHT,
        definitions=_definitions(looks(view), dark=dark),
        label=f"{view.game.name}, {STAGES[over]}: {summary}",
        ids=f"{view.game.name}{view.state.seats}",
        unit="point",
        small=small,
    )


def _definitions(looks: Sequence[Look], *, dark: bool) -> Iterator[str]:
    yield gradient("field", *FIELD[dark])
    yield rectangle(-SIDE / 2 + 1.5, -SIDE / 2 + 1.5, SIDE - 3, SIDE - 3, rx=4.0, fill=SQUARE[dark], id="square")
    yield circle(0, 0, 7.0, fill=MARK, stroke=INK, stroke_width=1.5, id="point")
    rim: dict[str, Value] = {"stroke": INK, "stroke_width": 2.0}
    for seat, look in enumerate(looks):
        disc = circle(0, 0, RADIUS, fill=look.paint, **rim)
        sign = text(0, 8.5, look.letter, font_size=24.0, fill=letter_colour(look.paint), **LETTER_STYLE)
        yield element("g", disc, sign, id=f"piece{seat}")
    inside = SIDE - 6
    rings = (
        rectangle(-inside / 2, -inside / 2, inside, inside, rx=4.0, stroke=hue, stroke_width=wide)
        for hue, wide in ((INK, 6.0), (MARK, 3.5))
    )
    yield element("g", *rings, id="last", fill="none")


def _corner(place: Place) -> tuple[float, float]:
    row, column = place
    return (column + 0.5) * SIDE, (row + 0.5) * SIDE


def _squares(view: View[Any], signs: Sequence[str]) -> Iterator[str]:
    owners = sign_owners(view)
    for row, line in enumerate(signs):
        for column, sign in enumerate(line):
            x, y = _corner((row, column))
            if sign != " ":
                yield use("square", x, y)
            if sign in owners:
                yield use(f"piece{owners[sign]}", x, y)
            elif sign not in NOTHING:
                yield text(x, y + 9, sign, font_size=26.0, fill=INK, **LETTER_STYLE)


def _labels(rows: int, columns: int, size: float) -> str:
    """The numbers of the rows on the left and of the columns on top, as many as fit."""
    step = ceil(size * 1.5 / SIDE)
    left = (text(-size * 0.9, (row + 0.5) * SIDE + size / 3, str(row)) for row in range(0, rows, step))
    top = (text((column + 0.5) * SIDE, -size * 0.6, str(column)) for column in range(0, columns, step))
    return group([*left, *top], fill=INK, font_family="sans-serif", font_size=size, text_anchor="middle")
