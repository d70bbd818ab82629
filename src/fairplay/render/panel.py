"""Draw what every game has around its board: a header, and a card or a line for each player."""

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from fairplay.core.game import Seat
from fairplay.render.svg import box, document, element, escape, group, words
from fairplay.render.text import breadth, dye, pad, printable


class Look(NamedTuple):
    """What a colour looks like."""

    letter: str
    code: str  # on a terminal, be it dark or light
    paint: str  # in a picture


class Player(NamedTuple):
    """What there is to say about a player, be it on a card or on a line."""

    look: Look
    colour: str
    name: str  # empty: the colour is its name
    mark: str = ""  # its part in the game now
    lit: bool = False  # the mark is one to look at
    out: bool = False
    facts: str = ""  # on a line: what comes between the name and the mark
    score: str = ""  # on a card

    @property
    def called(self) -> str:
        """What to call it, by name or by colour."""
        return self.name or printable(self.colour, LONGEST_NAME)


class Skin(NamedTuple):
    """The colours around the board, as paints of SVG."""

    ground: str
    panel: str
    letters: str
    pale: str
    faint: str
    gold: str


class Board(NamedTuple):
    """A drawn board, in units of its own; its origin is so far from its upper left corner."""

    content: Iterable[str]
    width: float
    height: float
    origin: tuple[float, float]


class Header(NamedTuple):
    """What is said above the board: the title beside its icon, and the stages, one of which it is now."""

    icon: str
    title: str
    stages: Sequence[str]
    now: int


class Tray(NamedTuple):
    """What lies above the cards, in units of the panel."""

    content: Iterable[str]
    height: float


NO_TRAY = Tray((), 0.0)
LONGEST_NAME = 24
EDGE = 40.0  # around the board, with room for the labels
HEADER = 46.0
CARD = 66.0  # the height of a player's card
CARD_WIDTHS = (196.0, 360.0)
NAME_AT = 66.0  # from the left of the card, with the figure before it
LETTER = 6.2  # the width of one below the name, nearly
GAP = 12.0
CORNER = 14.0
PANEL = 1500.0  # a picture wider than this has a larger panel, to be read from further away


def named(names: Sequence[str], seat: Seat) -> str:
    """The name of whoever sits there, for people to read; empty: it has none."""
    return printable(names[seat], LONGEST_NAME) if seat < len(names) and names[seat].strip() else ""


def roster(players: Sequence[Player], *, colour: bool) -> Iterator[str]:
    """A line for each player."""
    widest = max((breadth(player.called) for player in players), default=0)
    longest = max((len(player.facts) for player in players), default=0)
    for player in players:
        badge = f" {player.look.letter} "
        shown = dye(badge, player.look.code) if colour else badge
        hue = printable(player.colour, LONGEST_NAME)
        facts = player.facts.ljust(longest)
        yield f"{shown} {hue:5}  {pad(player.called, widest)} {facts}  {player.mark}".rstrip()


def picture(
    board: Board,
    players: Sequence[Player],
    figures: Sequence[Sequence[str]],
    *,
    header: Header,
    skin: Skin,
    definitions: Iterable[str],
    label: str,
    unit: str = "",
    tray: Tray = NO_TRAY,
) -> str:
    """A board with a header above it and a panel below, as a document of its own.

    Each player has a figure, at most 80 wide and high, around the origin; the unit is the shape behind scores.
    """
    width = max(board.width + 2 * EDGE, CARD_WIDTHS[0] * 2 + GAP * 3)
    scale = max(1.0, width / PANEL)
    panel, panel_height = _panel(players, figures, width / scale, skin, unit, tray)
    height = HEADER * scale + board.height + EDGE + panel_height * scale
    right, down = board.origin
    board_at = f"translate({(width - board.width) / 2 + right:.2f} {HEADER * scale + EDGE / 2 + down:.2f})"
    panel_at = f"translate(0 {height - panel_height * scale:.2f}) scale({scale:.3f})"
    lettering = {"font_family": "sans-serif", "fill": skin.letters}
    return document(
        width,
        height,
        definitions,
        [
            box(0, 0, width, height, rx=CORNER * scale, fill=skin.ground),
            group(_header(header, width / scale, skin), transform=f"scale({scale:.3f})", **lettering),
            group(board.content, id="board", transform=board_at),
            group(panel, transform=panel_at, **lettering),
        ],
        label=label,
    )


def _header(header: Header, width: float, skin: Skin) -> Iterator[str]:
    yield header.icon
    yield words(52, 30, header.title, font_size=19.0, font_weight="bold")
    now = {"fill": skin.letters, "font_weight": "bold"}
    stages = " · ".join(
        element("tspan", escape(stage), **(now if place == header.now else {}))
        for place, stage in enumerate(header.stages)
    )
    yield element("text", stages, x=width - 20, y=29.0, fill=skin.faint, font_size=14.0, text_anchor="end")


def _panel(
    players: Sequence[Player], figures: Sequence[Sequence[str]], width: float, skin: Skin, unit: str, tray: Tray
) -> tuple[list[str], float]:
    """A card for each player, in as many lines as they need, and the height of it all."""
    if not players:
        return [], 0.0
    least, most = CARD_WIDTHS
    inside = width - GAP  # a card and the gap beside it, as often as they fit
    lines = ceil(len(players) / max(1, inside // (least + GAP)))
    across = ceil(len(players) / lines)
    pitch = min(most + GAP, inside / across)
    left = (width - across * pitch + GAP) / 2
    height = tray.height + lines * (CARD + GAP) + GAP
    panel = [box(0, 0, width, height, rx=CORNER, fill=skin.panel, opacity=0.4), *tray.content]
    for seat, (player, figure) in enumerate(zip(players, figures, strict=True)):
        line, place = divmod(seat, across)
        at = f"translate({left + place * pitch:.2f} {tray.height + GAP + line * (CARD + GAP):.2f})"
        panel.append(group(_card(player, figure, f"name{seat}", pitch - GAP, skin, unit), transform=at))
    return panel, height


def _card(player: Player, figure: Sequence[str], clip: str, width: float, skin: Skin, unit: str) -> Iterator[str]:
    taken = len(player.score) * 15 + 46 if player.score else 12
    room = max(20.0, width - NAME_AT - taken)
    name = printable(player.called, max(2, int(room / 11)))
    said = (
        " · ".join(filter(None, (printable(player.colour, LONGEST_NAME), player.mark))) if player.name else player.mark
    )
    if len(said) * LETTER > width - NAME_AT and player.mark:
        said = player.mark  # the figure has the colour too
    yield box(0, 0, width, CARD, rx=10.0, fill="#fff", fill_opacity=0.22 if player.lit else 0.1)
    if player.lit:
        yield box(1, 1, width - 2, CARD - 2, rx=9.0, fill="none", stroke=skin.gold, stroke_width=2.0)
    dim = 0.4 if player.out else 1.0
    yield element("g", *figure, transform=f"translate(35 {CARD / 2 - 1:.2f}) scale(.68)", opacity=dim)
    yield element("clipPath", box(NAME_AT, 0, room, CARD), id=clip)
    strike = {"text_decoration": "line-through"} if player.out else {}
    yield words(NAME_AT, 29, name, font_size=16.0, font_weight="bold", clip_path=f"url(#{clip})", **strike)
    fill = skin.gold if player.lit else skin.pale
    yield words(NAME_AT, 50, said, font_size=12.0, fill=fill)
    if player.score:
        yield words(width - 38, 31, player.score, font_size=22.0, font_weight="bold", text_anchor="end")
        yield element("use", href=f"#{unit}", transform=f"translate({width - 22:.2f} 23.5)")
