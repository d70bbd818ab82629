"""Search Tsuro with the C kernels where they are available, else with the Python functions."""

from fairplay.games.tsuro import futures, outlook
from fairplay.games.tsuro.actions import Lay
from fairplay.games.tsuro.pieces import CODES, EXITS, TILES
from fairplay.games.tsuro.rules import LAYS
from fairplay.games.tsuro.view import View
from fairplay.kernels import kernels

TURNED = tuple(bytes(CODES[4 * tile : 4 * tile + 4]) for tile in range(TILES))  # the codes of a tile at each of DEGREES


def best_lay(view: View) -> Lay | None:
    """The result of `outlook.best_lay`."""
    if kernels is None:
        return outlook.best_lay(view)
    table, (one, other) = view.table, view.dealt
    codes = TURNED[one] if one == other else TURNED[one] + TURNED[other]
    best = kernels.tsuro_best_lay(table.grid.size, table.board, table.avatars, table.waiting[0], codes, EXITS)
    return None if best < 0 else LAYS[one if best < 4 else other][best % 4]


def best_future(view: View, nodes: int, seed: bytes) -> Lay | None:
    """The result of `futures.best_lay`."""
    if kernels is None:
        return futures.best_lay(view, nodes, seed)
    table, number = view.table, int.from_bytes(seed[:8], "little")
    best = kernels.tsuro_best_future(
        table.grid.size, table.board, table.avatars, table.waiting, view.dealt, EXITS, nodes, number
    )
    return None if best < 0 else LAYS[view.dealt[best >> 2]][best & 3]
