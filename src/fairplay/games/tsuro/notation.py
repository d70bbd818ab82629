"""Format, parse and preview actions of Tsuro, as people type them."""

import re
from typing import cast

from fairplay.core.errors import BadRequest
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.pieces import DEGREES, PORTS, TILES, Degrees, Port
from fairplay.games.tsuro.state import PLACING, State
from fairplay.games.tsuro.view import View

HELP = """\
TILE DEGREES            lay a tile before your avatar, turned clockwise by
                        0, 90, 180 or 270 degrees, as in 12 90
TILE DEGREES X,Y PORT   place the first tile at the edge, with your avatar on a
                        port, as in 12 90 3,0 E
Ports are lettered clockwise: A B north, C D east, E F south, G H west.
X,Y is a square, counted from 0,0 at the top left: first X to the right, then Y
down."""
WORDS = re.compile(r"(\d{1,9})\s+(\d{1,9})°?(?:\s+\[?(\d{1,9})\s*,\s*(\d{1,9})\]?\s+(\w))?", re.ASCII)
EXPECTED = {
    True: "tile, degrees, square and port, as in 12 90 3,0 E",
    False: "tile and degrees, as in 12 90",
}


def format_action(action: Action) -> str:
    """An action as a person types it.

    >>> format_action(Lay(12, 90)), format_action(Place(12, 90, "E", (3, 0)))
    ('12 90', '12 90 3,0 E')
    """
    how = f"{action.tile} {action.degrees}"
    return how if isinstance(action, Lay) else f"{how} {action.at[0]},{action.at[1]} {action.port}"


def parse_action(view: View, words: str) -> Action:
    """The action that a person typed. Raises BadRequest if it is unclear."""
    found = WORDS.fullmatch(words.strip())
    if found is None:
        expected = EXPECTED[view.table.stage is PLACING]
        raise BadRequest(f"write {expected}, not {words!r}")
    tile, degrees, x, y, port = found.groups()
    if int(tile) >= TILES:
        raise BadRequest(f"there is no tile {tile}; tiles are numbered from 0 to {TILES - 1}")
    if int(degrees) not in DEGREES:
        raise BadRequest(f"a tile cannot be turned by {degrees} degrees; write 0, 90, 180 or 270")
    turned = cast(Degrees, int(degrees))
    if port is None:
        return Lay(int(tile), turned)
    if port.upper() not in PORTS:
        raise BadRequest(f"there is no port {port}; ports are lettered from A to H")
    return Place(int(tile), turned, cast(Port, port.upper()), (int(x), int(y)))


def preview(view: View, action: Action) -> View:
    """What its player would see right after a legal action, with the tiles that it could choose from."""
    return View(view.seat, Tsuro().apply(State(view.table, (), 0), action).table, view.dealt)
