"""Define how players are listed in pictures, and list them for a terminal."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from fairplay.core.game import Seat
from fairplay.render.text import add_colour, display_width, pad, printable, truncate

MAX_ROSTER_NAME_CHARS = 24
SHORT_NAME_CHARS = 8  # of a name on a short line
BADGE = " x "  # on a line; the x stands for the letter of the player


class Look(NamedTuple):
    """How a colour is displayed."""

    letter: str
    code: str  # on a terminal, dark or light
    paint: str  # in a picture


class Player(NamedTuple):
    """What a card or a line says about a player."""

    look: Look
    colour: str
    name: str  # empty: its colour is used instead
    mark: str = ""  # its status, such as "to move"
    lit: bool = False  # is the mark highlighted?
    out: bool = False
    facts: str = ""  # on a line: the text between the name and the mark
    score: str = ""  # on a card

    @property
    def display_name(self) -> str:
        """The name, or else the colour."""
        return self.name or printable(self.colour, MAX_ROSTER_NAME_CHARS)


def seat_name(names: Sequence[str], seat: Seat) -> str:
    """The printable name of the player at a seat; empty: it has none."""
    return printable(names[seat], MAX_ROSTER_NAME_CHARS) if seat < len(names) and names[seat].strip() else ""


def roster(players: Sequence[Player], *, colour: bool, width: int | None = None) -> Iterator[str]:
    """A line for each player; with little room, names are cut, then colours left out, then marks not aligned."""
    widest = max((display_width(player.display_name) for player in players), default=0)
    names = range(widest, min(widest, SHORT_NAME_CHARS) - 1, -1)
    for (hues, aligned), name in product(((True, True), (False, True), (False, False)), names):
        lines = [*_texts_after_badges(players, name, hues=hues, aligned=aligned)]
        if width is None or all(len(BADGE) + display_width(line) <= width for line in lines):
            break
    for player, line in zip(players, lines, strict=True):
        badge = BADGE.replace("x", player.look.letter)
        rest = line if width is None else truncate(line, width - len(BADGE))
        yield f"{add_colour(badge, player.look.code) if colour else badge}{rest}".rstrip()


def cards(players: Sequence[Player], *, colour: bool, width: int) -> Iterator[str]:
    """Two lines for each player, for a narrow panel."""
    for player in players:
        badge = BADGE.replace("x", player.look.letter)
        name = truncate(player.display_name, width - len(BADGE) - 1)
        yield f"{add_colour(badge, player.look.code) if colour else badge} {name}"
        details = "  ".join(part for part in (player.facts.strip(), player.mark) if part)
        yield f"{'':{len(BADGE)}} {truncate(details, width - len(BADGE) - 1)}".rstrip()


def _texts_after_badges(players: Sequence[Player], name: int, *, hues: bool, aligned: bool) -> Iterator[str]:
    """The text of each player's line after the badge, with names of this width."""
    longest = max((len(player.facts) for player in players), default=0) if aligned else 0
    for player in players:
        hue = f" {printable(player.colour, MAX_ROSTER_NAME_CHARS):5} " if hues else ""
        padded = pad(truncate(player.display_name, name), name)
        yield f"{hue} {padded} {player.facts.ljust(longest)}  {player.mark}".rstrip()
