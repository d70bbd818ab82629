"""Draw the tiles of Tsuro that nobody has seen, as they may come."""

from fairplay.core.chance import SeededRandom
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import TILES
from fairplay.games.tsuro.state import Table
from fairplay.games.tsuro.view import View


def tiles_from_cycle(view: View, count: int) -> tuple[int, ...]:
    """So many tiles: those that are dealt now, and how the cycle goes on behind them."""
    following = view.dealt[-1] + 1 if view.dealt else drawn_count(view.table)
    return view.dealt + tuple((following + number) % TILES for number in range(count - len(view.dealt)))


def tiles_from_bag(view: View, count: int, seed: bytes) -> tuple[int, ...]:
    """At least so many tiles: those that are dealt now, what may be left of their bag, and whole bags.

    Of a bag that has been filled again, what came out cannot be told from the board; of the first one it can.
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

    Somebody may have used up tiles that lie nowhere: whoever was ejected on its turn, or went round for ever.
    """
    placed = sum(start != OUT for start in table.starts)
    return 3 * placed + 2 * (len(tiles_on_board(table)) - placed)


def tiles_on_board(table: Table) -> list[int]:
    """The numbers of the tiles that lie there."""
    return [code >> 2 for code in table.board if code != EMPTY]
