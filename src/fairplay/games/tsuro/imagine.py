"""Draw possible next tiles of Tsuro at random, as no view shows them."""

from fairplay.core.chance import SeededRandom
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import TILES
from fairplay.games.tsuro.state import Table
from fairplay.games.tsuro.view import View


def tiles_from_cycle(view: View, count: int) -> tuple[int, ...]:
    """So many tiles: those dealt now, and the next ones of the cycle."""
    following = view.dealt[-1] + 1 if view.dealt else drawn_count(view.table)
    return view.dealt + tuple((following + number) % TILES for number in range(count - len(view.dealt)))


def tiles_from_bag(view: View, count: int, seed: bytes) -> tuple[int, ...]:
    """At least so many tiles: those dealt now, the possible rest of their bag, and more whole bags.

    The board tells which tiles came out of the first bag, but not which came out of a later one.
    """
    lots, dealt, before = SeededRandom(seed), list(view.dealt), drawn_count(view.table)
    left = TILES - before % TILES - len(dealt)
    if left < 0:  # some of those dealt came from the next bag
        gone, left = set(dealt[left:]), left + TILES
    else:
        gone = {*dealt, *(() if before >= TILES else tiles_on_board(view.table))}
    rest = [tile for tile in range(TILES) if tile not in gone]
    lots.shuffle(rest)
    tiles = dealt + rest[:left]
    while len(tiles) < count:
        tiles += lots.sample(TILES, TILES)
    return tuple(tiles)


def drawn_count(table: Table) -> int:
    """How many tiles were drawn for the turns before this one, as far as the board tells.

    It does not tell of tiles that were used up without being laid, by an ejection on a turn or by a loop.
    """
    placed = sum(start != OUT for start in table.starts)
    return 3 * placed + 2 * (len(tiles_on_board(table)) - placed)


def tiles_on_board(table: Table) -> list[int]:
    """The numbers of the tiles on the board."""
    return [code >> 2 for code in table.board if code != EMPTY]
