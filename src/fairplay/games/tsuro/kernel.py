"""Choose for Tsuro: the kernel in C where it is here, else the function in Python."""

from fairplay.games.tsuro import outlook
from fairplay.games.tsuro.actions import Lay
from fairplay.games.tsuro.pieces import CODES, EXITS, TILES
from fairplay.games.tsuro.rules import LAYS
from fairplay.games.tsuro.state import View
from fairplay.kernels import kernels

TURNED = tuple(bytes(CODES[4 * tile : 4 * tile + 4]) for tile in range(TILES))  # the codes of a tile at each of DEGREES


def best_lay(view: View) -> Lay | None:
    """What `outlook.best_lay` finds."""
    if kernels is None:
        return outlook.best_lay(view)
    table, (one, other) = view.table, view.dealt
    codes = TURNED[one] if one == other else TURNED[one] + TURNED[other]
    best = kernels.tsuro_best_lay(table.grid.size, table.board, table.avatars, table.waiting[0], codes, EXITS)
    return None if best < 0 else LAYS[one if best < 4 else other][best % 4]
