"""Find the paths that avatars have taken, for pictures."""

from typing import NamedTuple

from fairplay.core.game import Seat
from fairplay.games.tsuro.board import EMPTY, OUT
from fairplay.games.tsuro.pieces import EXITS
from fairplay.games.tsuro.state import Table


class Step(NamedTuple):
    """A part of a way: over one tile, from a spot to another."""

    entry: int
    exit: int


def way_of(table: Table, seat: Seat) -> tuple[Step, ...]:
    """The way of an avatar from its start to where it stands, or to where it left the board.

    It is empty for an ejected player: later tiles may have extended its path.
    """
    ahead, way = table.grid.ahead, list[Step]()
    start = spot = table.starts[seat]
    if start == OUT or table.fell[seat] < 0:
        return ()
    while (entry := ahead[spot]) != OUT and (code := table.board[entry >> 3]) != EMPTY:
        spot = entry & -8 | EXITS[code << 3 | entry & 7]
        way.append(Step(entry, spot))
        if spot == start:
            break
    return tuple(way) if table.avatars[seat] in (OUT, spot) else ()


def faced_square(table: Table) -> int | None:
    """The square before the avatar on turn, if there is one."""
    spot = table.avatars[table.waiting[0]] if table.waiting else OUT
    return None if spot == OUT else table.grid.ahead[spot] >> 3
