"""Say who plays, as pictures and terminals have it in common, and list the players for a terminal."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from fairplay.core.game import Seat
from fairplay.render.text import add_colour, display_width, pad, printable, truncate

MAX_ROSTER_NAME_CHARS = 24
SHORT_NAME_CHARS = 8  # on a line that is short
BADGE = " x "  # on a line, with the letter of the player


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
    def display_name(self) -> str:
        """What to call it, by name or by colour."""
        return self.name or printable(self.colour, MAX_ROSTER_NAME_CHARS)


def seat_name(names: Sequence[str], seat: Seat) -> str:
    """The name of whoever sits there, for people to read; empty: it has none."""
    return printable(names[seat], MAX_ROSTER_NAME_CHARS) if seat < len(names) and names[seat].strip() else ""


def roster(players: Sequence[Player], *, colour: bool, width: int | None = None) -> Iterator[str]:
    """A line for each player; where there is little room, names are cut, then hues left out, then marks not aligned."""
    widest = max((display_width(player.display_name) for player in players), default=0)
    names = range(widest, min(widest, SHORT_NAME_CHARS) - 1, -1)
    for (hues, aligned), name in product(((True, True), (False, True), (False, False)), names):
        lines = [*_behind_badges(players, name, hues=hues, aligned=aligned)]
        if width is None or all(len(BADGE) + display_width(line) <= width for line in lines):
            break
    for player, line in zip(players, lines, strict=True):
        badge = BADGE.replace("x", player.look.letter)
        shown = line if width is None else truncate(line, width - len(BADGE))
        yield f"{add_colour(badge, player.look.code) if colour else badge}{shown}".rstrip()


def cards(players: Sequence[Player], *, colour: bool, width: int) -> Iterator[str]:
    """Two lines for each player, for where there is room only for narrow ones."""
    for player in players:
        badge = BADGE.replace("x", player.look.letter)
        shown = truncate(player.display_name, width - len(BADGE) - 1)
        yield f"{add_colour(badge, player.look.code) if colour else badge} {shown}"
        said = "  ".join(part for part in (player.facts.strip(), player.mark) if part)
        yield f"{'':{len(BADGE)}} {truncate(said, width - len(BADGE) - 1)}".rstrip()


def _behind_badges(players: Sequence[Player], name: int, *, hues: bool, aligned: bool) -> Iterator[str]:
    """What is said of players behind their badges, with names this wide."""
    longest = max((len(player.facts) for player in players), default=0) if aligned else 0
    for player in players:
        hue = f" {printable(player.colour, MAX_ROSTER_NAME_CHARS):5} " if hues else ""
        shown = pad(truncate(player.display_name, name), name)
        yield f"{hue} {shown} {player.facts.ljust(longest)}  {player.mark}".rstrip()
