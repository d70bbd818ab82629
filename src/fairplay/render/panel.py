"""Draw the frame of every game's picture: a header, and a card or a line for each player."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from fairplay.render.font_metrics import text_width, truncate_to_width
from fairplay.render.roster import MAX_ROSTER_NAME_CHARS, Player
from fairplay.render.svg import clip, colour_definition, document, element, escape, group, rectangle, text
from fairplay.render.text import printable


class Skin(NamedTuple):
    """The colours around the board, as #rrggbb; each is a definition of the picture, by the same name."""

    ground: str
    panel: str
    card: str
    lit: str  # the card of the player on turn, or of a winner
    letters: str
    pale: str  # for less important text
    gold: str  # for more important text

    @property
    def definitions(self) -> Iterator[str]:
        """The definitions of all colours."""
        return (colour_definition(name, colour) for name, colour in self._asdict().items())


GROUND, PANEL_PAINT, CARD_PAINT, LIT, LETTERS, PALE, GOLD = (f"url(#{name})" for name in Skin._fields)


class Board(NamedTuple):
    """A drawn board, in its own units; `origin` is relative to its upper left corner."""

    content: Iterable[str]
    width: float
    height: float
    origin: tuple[float, float]


class Header(NamedTuple):
    """The header above the board: the title beside its icon, and the stages with the current one."""

    icon: str
    title: str
    stages: Sequence[str]
    now: int


class Tray(NamedTuple):
    """The drawing above the cards, in units of the panel."""

    content: Iterable[str]
    height: float


NO_TRAY = Tray((), 0.0)
VIEWED, SMALL = 1200.0, 300.0  # the usual width of a picture on a screen, and of a small one, in pixels
EDGE = 40.0  # around the board, with room for the labels
HEADER = 46.0
CARD = 66.0  # the height of a player's card
CARD_WIDTHS = (196.0, 360.0)
NAME_AT = 66.0  # from the left of the card, with the figure before it
LETTER = 6.2  # the approximate width of a letter below the name
GAP = 12.0
CORNER = 14.0
PANEL = 1500.0  # a picture wider than this has a larger panel, as it is scaled down on a screen
SLIM_EDGE, SLIM_HEADER, LINE = 6.0, 30.0, 26.0  # of a small picture


def units_per_pixel(board: float, *, small: bool) -> float:
    """How many units of a board of this width are one pixel on a screen."""
    return board / (SMALL - 2 * SLIM_EDGE) if small else (board + 2 * EDGE) / VIEWED


def picture(
    board: Board,
    players: Sequence[Player],
    figures: Sequence[Sequence[str]],
    *,
    header: Header,
    skin: Skin,
    definitions: Iterable[str],
    label: str,
    ids: str,
    unit: str = "",
    tray: Tray = NO_TRAY,
    small: bool = False,
) -> str:
    """A board with a header above it and a panel below, as an SVG document.

    Each player has a figure, at most 80 wide and high, around the origin; the unit is the shape behind scores. Pictures
    with the same `ids` have the same definitions, so that they can be on the same page; except light and dark ones.
    """
    if small:
        scale = units_per_pixel(max(board.width, board.height * 0.75), small=True)
        width, top, edge = SMALL * scale, SLIM_HEADER * scale, SLIM_EDGE * scale
        panel, panel_height = _lines(players, figures, tray)
        shapes = _slim_header(header)
    else:
        width = max(board.width + 2 * EDGE, CARD_WIDTHS[0] * 2 + GAP * 3)
        scale = max(1.0, width / PANEL)
        top, edge = HEADER * scale + EDGE / 2, EDGE / 2
        panel, panel_height = _cards(players, figures, width / scale, unit, tray)
        shapes = _header(header, width / scale)
    height = top + board.height + edge + panel_height * scale
    right, down = board.origin
    board_at = f"translate({(width - board.width) / 2 + right:.2f} {top + down:.2f})"
    panel_at = f"translate(0 {height - panel_height * scale:.2f}) scale({scale:.3f})"
    lettering = {"font_family": "sans-serif", "fill": LETTERS}
    return document(
        width,
        height,
        [*skin.definitions, *definitions],
        [
            rectangle(0, 0, width, height, rx=CORNER * scale, fill=GROUND),
            group(shapes, transform=f"scale({scale:.3f})", **lettering),
            group(board.content, id="board", transform=board_at),
            group(panel, transform=panel_at, **lettering),
        ],
        label=label,
        ids=f"{ids}_small" if small else ids,
        display_width=SMALL if small else None,
    )


def _header(header: Header, width: float) -> Iterator[str]:
    yield header.icon
    yield text(52, 30, header.title, font_size=19.0, font_weight="bold")
    now = {"fill": LETTERS, "font_weight": "bold"}
    stages = " · ".join(
        element("tspan", escape(stage), **(now if place == header.now else {}))
        for place, stage in enumerate(header.stages)
    )
    yield element("text", stages, x=width - 20, y=29.0, fill=PALE, font_size=14.0, text_anchor="end")


def _slim_header(header: Header) -> Iterator[str]:
    yield text(10, 20, header.title, font_size=15.0, font_weight="bold")
    yield text(SMALL - 10, 20, header.stages[header.now], font_size=12.0, text_anchor="end")


def _cards(
    players: Sequence[Player], figures: Sequence[Sequence[str]], width: float, unit: str, tray: Tray
) -> tuple[list[str], float]:
    """A card for each player, in as many lines as they need, and the total height."""
    if not players:
        return [], 0.0
    least, most = CARD_WIDTHS
    inside = width - GAP  # a card and the gap beside it, as often as they fit
    lines = ceil(len(players) / max(1, inside // (least + GAP)))
    across = ceil(len(players) / lines)
    pitch = min(most + GAP, inside / across)
    left = (width - across * pitch + GAP) / 2
    height = tray.height + lines * (CARD + GAP) + GAP
    panel = [rectangle(0, 0, width, height, rx=CORNER, fill=PANEL_PAINT), *tray.content]
    for seat, (player, figure) in enumerate(zip(players, figures, strict=True)):
        line, place = divmod(seat, across)
        at = f"translate({left + place * pitch:.2f} {tray.height + GAP + line * (CARD + GAP):.2f})"
        panel.append(group(_card(player, figure, pitch - GAP, unit), transform=at))
    return panel, height


def _card(player: Player, figure: Sequence[str], width: float, unit: str) -> Iterator[str]:
    taken = len(player.score) * 15 + 46 if player.score else 12
    room = max(20.0, width - NAME_AT - taken)
    caption = (
        " · ".join(filter(None, (printable(player.colour, MAX_ROSTER_NAME_CHARS), player.mark)))
        if player.name
        else player.mark
    )
    if len(caption) * LETTER > width - NAME_AT and player.mark:
        caption = player.mark  # the figure has the colour too
    yield rectangle(0, 0, width, CARD, rx=10.0, fill=LIT if player.lit else CARD_PAINT)
    if player.lit:
        yield rectangle(1, 1, width - 2, CARD - 2, rx=9.0, fill="none", stroke=GOLD, stroke_width=2.0)
    yield element("g", *figure, transform=f"translate(35 {CARD / 2 - 1:.2f}) scale(.68)", opacity=_dim(player))
    yield clip(NAME_AT, 8, room, 30, _name(player, room, 16.0, 21.0))
    yield text(NAME_AT, 50, caption, font_size=12.0, fill=GOLD if player.lit else PALE)
    if player.score:
        yield text(width - 38, 31, player.score, font_size=22.0, font_weight="bold", text_anchor="end")
        yield element("use", href=f"#{unit}", transform=f"translate({width - 22:.2f} 23.5)")


def _lines(players: Sequence[Player], figures: Sequence[Sequence[str]], tray: Tray) -> tuple[list[str], float]:
    """A line for each player of a small picture, and the total height."""
    height = tray.height + len(players) * LINE + (2 * SLIM_EDGE if players else 0.0)
    panel = [rectangle(0, 0, SMALL, height, rx=CORNER, fill=PANEL_PAINT), *tray.content]
    for seat, (player, figure) in enumerate(zip(players, figures, strict=True)):
        at = f"translate({SLIM_EDGE} {tray.height + SLIM_EDGE + seat * LINE:.2f})"
        panel.append(group(_line(player, figure), transform=at))
    return panel, height


def _line(player: Player, figure: Sequence[str]) -> Iterator[str]:
    width, right = SMALL - 2 * SLIM_EDGE, SMALL - 2 * SLIM_EDGE - 8
    yield rectangle(0, 1, width, LINE - 2, rx=6.0, fill=LIT if player.lit else CARD_PAINT)
    if player.lit:
        yield rectangle(0.75, 1.75, width - 1.5, LINE - 3.5, rx=5.5, fill="none", stroke=GOLD, stroke_width=1.5)
    yield element("g", *figure, transform=f"translate(15 {LINE / 2:.2f}) scale(.27)", opacity=_dim(player))
    if player.score:
        yield text(right, 18, player.score, font_size=14.0, font_weight="bold", text_anchor="end")
        right -= len(player.score) * 10 + 8
    fill = GOLD if player.lit else PALE
    yield text(right, 17.5, player.mark, font_size=11.0, fill=fill, text_anchor="end")
    room = right - 32 - text_width(player.mark) * 11
    yield clip(30, 2, room, LINE - 4, _name(player, room, 13.0, 15.5))


def _name(player: Player, room: float, size: float, down: float) -> str:
    """A player's name, cut with an ellipsis if there is no room; struck out if the player is out."""
    strike = {"text_decoration": "line-through"} if player.out else {}
    return text(
        0, down, truncate_to_width(player.display_name, room / size), font_size=size, font_weight="bold", **strike
    )


def _dim(player: Player) -> float:
    return 0.5 if player.out else 1.0
