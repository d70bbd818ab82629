"""Draw a view of Q as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from fairplay.games.q.board import position_of
from fairplay.games.q.layout import Index, extent, label_step, lines_to_label, places_of, tiles_of
from fairplay.games.q.pieces import KINDS, Position
from fairplay.games.q.roster import format_stage, players_of
from fairplay.games.q.shapes import CELL, DARK, LIGHT, PLAIN_LETTERS, definitions, shape_id
from fairplay.games.q.state import Tiles
from fairplay.games.q.view import View
from fairplay.render.font_metrics import truncate_to_width
from fairplay.render.panel import (
    CARD_WIDTHS,
    EDGE,
    GAP,
    NO_TRAY,
    PALE,
    PANEL,
    SMALL,
    Board,
    Header,
    Tray,
    picture,
    units_per_pixel,
)
from fairplay.render.roster import Player
from fairplay.render.svg import LETTER_STYLE, circle, element, group, number, path, rectangle, text, use

# The measures of the picture. A tile's centre is in the middle of its place.
MIN_CLOTH, MIN_CLOTH_SMALL = (5, 15), (5, 9)  # the fewest rows and columns of the cloth
HEM = 8.0
TOOTH = 9.0  # of a tear
DIGIT, LABEL = 7.4, 12.0  # the width of a digit in a label, and its size
OWNER, DENSE = 120.0, 0.8  # beside a hand: the room for a name, and the scale of its tiles
TEAR = "#352e4a"
ICON = KINDS["orange 8star"]


def svg(
    view: View,
    names: Sequence[str] = (),
    *,
    before: View | None = None,
    around: View | None = None,
    hands: Sequence[Tiles] = (),
    dark: bool = False,
    small: bool = False,
) -> str:
    """A picture of the map and the players, as an SVG document; what changed since `before` is marked.

    It has room for the map of `around`, a later view. It shows the hand of the view's seat, or all of `hands`.
    """
    players, cloth = players_of(view, names, len(hands)), _cloth(around or view, small=small)
    visible_hands = dict(enumerate(hands)) if hands else {view.seat: view.kinds} if view.seat is not None else {}
    tiles, places = tiles_of(view.map), () if view.done or small else places_of(view.map)
    last = () if before is None else [position_of(cell) for cell in sorted({*view.map.tiles} - {*before.map.tiles})]
    content = [
        *_linen(cloth),
        group((use("place", *cloth.centre(place)) for place in places), id="places"),
        group((use(shape_id(kind), *cloth.centre(at)) for at, kind in tiles.items()), id="tiles"),
        group((use("last", *cloth.centre(at)) for at in last), id="news"),
        *(() if small else _labels(cloth)),
    ]
    summary = ", ".join(
        " ".join(filter(None, (player.display_name, player.score, player.mark))) for player in players.values()
    )
    margin, headroom = (HEM, HEM) if small else (cloth.margin, cloth.headroom)
    width = cloth.width + 2 * margin
    letters = not small or units_per_pixel(width, small=True) <= PLAIN_LETTERS
    return picture(
        Board(content, width, cloth.height + headroom + (HEM if small else 0), origin=(margin, headroom)),
        list(players.values()),
        [_token(player) if small else _figure(player) for player in players.values()],
        header=Header(
            use(shape_id(ICON), 0, 0, transform="translate(31 24) scale(.68)"),
            "Q",
            [format_stage(view), "done"] if not view.done else ["playing", format_stage(view)],
            int(view.done),
        ),
        skin=DARK if dark else LIGHT,
        definitions=definitions(
            {ICON, *tiles.values(), *(kind for hand in visible_hands.values() for kind in hand)},
            letters=letters,
            dark=dark,
            small=small,
        ),
        label=f"Q, {format_stage(view)}: {summary}",
        ids="q" if letters else "q_plain",
        unit="point",
        tray=_tray(
            [(players[seat].display_name, hand) for seat, hand in visible_hands.items() if hand], width, small=small
        ),
        small=small,
    )


class Cloth(NamedTuple):
    """The visible part of the table."""

    rows: Sequence[Index]
    columns: Sequence[Index]
    down: Mapping[int, float]  # from a row to its middle
    right: Mapping[int, float]

    @property
    def width(self) -> float:
        """Without the hem."""
        return len(self.columns) * CELL

    @property
    def height(self) -> float:
        """Without the hem."""
        return len(self.rows) * CELL

    @property
    def scale(self) -> float:
        """The scale of labels: a picture of a large map is looked at from further away."""
        return max(1.0, min(self.width, 3 * self.height) / PANEL)

    @property
    def margin(self) -> float:
        """The additional room for the labels on the left."""
        return max(0.0, (max(map(len, map(str, self.down))) * DIGIT + 2) * self.scale + HEM + 8 - EDGE)

    @property
    def headroom(self) -> float:
        """The additional room for the labels above."""
        return max(0.0, LABEL * self.scale + HEM + 4 - EDGE / 2)

    def centre(self, position: Position) -> tuple[float, float]:
        """The middle of a place."""
        row, column = position
        return self.right[column], self.down[row]


def _cloth(view: View, *, small: bool) -> Cloth:
    rows, columns = map(_at_least, MIN_CLOTH_SMALL if small else MIN_CLOTH, extent(view.map))
    down, right = (
        {line: (place + 0.5) * CELL for place, line in enumerate(lines) if line is not None}
        for lines in (rows, columns)
    )
    return Cloth(rows, columns, down, right)


def _at_least(count: int, lines: list[Index]) -> list[Index]:
    """Lines, extended at both ends to at least this many."""
    first, last = lines[0] or 0, lines[-1] or 0
    missing = max(0, count - len(lines))
    before = missing // 2
    return [*range(first - before, first), *lines, *range(last + 1, last + 1 + missing - before)]


def _linen(cloth: Cloth) -> Iterator[str]:
    """The empty table; a tear where rows or columns are left out."""
    width, height = cloth.width, cloth.height
    yield rectangle(-HEM, -HEM, width + 2 * HEM, height + 2 * HEM, rx=10.0, fill="url(#cloth)", stroke="#8f7f60")
    # All threads of one direction are the dashes of one broad line: a pattern would take ten times as long to render.
    down, right = f"M{number(width / 2)} 0V{number(height)}", f"M0 {number(height / 2)}H{number(width)}"
    yield path(down, stroke="url(#thread)", stroke_width=width, stroke_dasharray="1 3")
    yield path(right, stroke="url(#weave)", stroke_width=height, stroke_dasharray="1 3", opacity=0.4)
    across = (f"M0 {number(place * CELL)}H{number(width)}" for place in range(len(cloth.rows) + 1))
    along = (f"M{number(place * CELL)} 0V{number(height)}" for place in range(len(cloth.columns) + 1))
    yield path("".join((*across, *along)), stroke="#bba983", stroke_width=1.0, opacity=0.4)
    tears = [path(_tear(height), transform=f"translate({x} 0)") for x in _left_out(cloth.columns)]
    tears += [path(_tear(width), transform=f"translate(0 {y}) rotate(-90)") for y in _left_out(cloth.rows)]
    yield group(tears, id="tears", fill="none", stroke=TEAR, stroke_width=TOOTH)


def _left_out(lines: Sequence[Index]) -> list[float]:
    return [(place + 0.5) * CELL for place, line in enumerate(lines) if line is None]


def _tear(length: float) -> str:
    """A tear down through the cloth, from hem to hem."""
    wave = f"q{TOOTH} {TOOTH} 0 {2 * TOOTH}t0 {2 * TOOTH}"
    return f"M0 {-HEM}{wave * ceil((length + 2 * HEM) / TOOTH / 4)}"


def _labels(cloth: Cloth) -> Iterator[str]:
    """The numbers of the columns on top, and of the rows on the left."""
    size = LABEL * cloth.scale
    longest = max(map(len, map(str, cloth.right)))
    columns = lines_to_label(cloth.columns, label_step((longest + 2) * DIGIT * cloth.scale, CELL))
    rows = lines_to_label(cloth.rows, label_step(2 * size, CELL))
    top = (text(cloth.right[column], -HEM - 5, str(column)) for _, column in columns)
    left = (text(-HEM - 6, cloth.down[row] + size * 0.36, str(row), text_anchor="end") for _, row in rows)
    yield group([*top, *left], fill=PALE, font_family="sans-serif", font_size=size, text_anchor="middle")


def _figure(player: Player) -> tuple[str, ...]:
    """A tile with the first letter of the name."""
    letter = text(0, 8.5, player.display_name[:1].upper(), font_size=24.0, fill=_on_slate(player), **LETTER_STYLE)
    return (element("g", use("blank", 0, 0), letter, transform="scale(1.5)"),)


def _token(player: Player) -> tuple[str, ...]:
    """A disc with the first letter of the name, for small pictures."""
    letter = text(0, 17, player.display_name[:1].upper(), font_size=48.0, fill=_on_slate(player), **LETTER_STYLE)
    return circle(0, 0, 38, fill="url(#slate)", stroke="url(#rim)", stroke_width=4.0), letter


def _on_slate(player: Player) -> str:
    return DARK.gold if player.lit else DARK.letters


def _tray(hands: Sequence[tuple[str, Tiles]], board: float, *, small: bool) -> Tray:
    """Hands beside each other, as many as there is room for."""
    if not hands:
        return NO_TRAY
    outside = SMALL if small else min(max(board + 2 * EDGE, CARD_WIDTHS[0] * 2 + GAP * 3), PANEL)
    owners = 8.0 if small else OWNER
    room, pitch, longest = outside - GAP, CELL * DENSE, max(len(hand) for _, hand in hands)
    across = max(1, min(len(hands), int(room / (owners + longest * pitch + GAP))))
    most = int((room / across - owners - GAP) / pitch)  # tiles in a line
    high = ceil(longest / most) * pitch
    tray = []
    for place, (owner, hand) in enumerate(hands):
        left, top = GAP + place % across * room / across, GAP + place // across * (high + GAP)
        if not small:
            tray.append(
                text(left + 4, top + pitch / 2 + 5, truncate_to_width(owner, (OWNER - 16) / 14), font_size=14.0)
            )
        wide, deep = min(most, len(hand)) * pitch, ceil(len(hand) / most) * pitch
        tray.append(rectangle(left + owners - 4, top - 3, wide + 8, deep + 6, rx=8.0, fill="url(#cloth)"))
        for turn, kind in enumerate(hand):
            x, y = left + owners + (turn % most + 0.5) * pitch, top + (turn // most + 0.5) * pitch
            tray.append(use(shape_id(kind), 0, 0, transform=f"translate({number(x)} {number(y)}) scale({DENSE})"))
    return Tray([group(tray, id="hands")], ceil(len(hands) / across) * (high + GAP) + 4)
