"""Evaluate the tiles of a turn of Tsuro for a player that wants to survive."""

from fairplay.games.tsuro.actions import Lay
from fairplay.games.tsuro.board import EMPTY, OUT, Grid, Prospect
from fairplay.games.tsuro.rules import STANDARD, prospect_of
from fairplay.games.tsuro.view import View

TURNS_AHEAD = 2
PER_SQUARE = 0.05  # the value of each square that no rival reaches sooner, compared with one turn survived
PER_STEP = 0.25  # the value of each step away from the rim
CHOSEN = (15 / 21, 5 / 21, 1 / 21)  # the chance that the best exit, the next best ... is the best of five out of seven
DRIVEN = (1 / 7,) * 7  # if another player lays the tile, all exits are equally likely


def best_lay(view: View) -> Lay | None:
    """The first of the legal options with the highest value; None: none is legal."""
    grid, me = view.table.grid, view.table.waiting[0]
    return max(STANDARD.lays(view), key=lambda lay: worth(grid, prospect_of(view, lay), me), default=None)


def worth(grid: Grid, what: Prospect, me: int) -> float:
    """The value of a prospect for a seat: expected turns, squares that it reaches first, and distance from the rim."""
    if what.looping:  # §4.7: a loop that takes only others
        return float(me not in what.looping)
    spot = what.avatars[me]
    if spot == OUT:
        return 0.0
    mine = grid.ahead[spot] >> 3
    rivals = [grid.ahead[other] >> 3 for seat, other in enumerate(what.avatars) if seat != me and other != OUT]
    x, y = grid.squares[mine]
    inward = min(x, y, grid.size - 1 - x, grid.size - 1 - y)
    turns = expected_turns(grid, what.board, spot, TURNS_AHEAD, DRIVEN if mine in rivals else CHOSEN)
    return turns + PER_SQUARE * territory(grid, what.board, mine, rivals) + PER_STEP * inward


def expected_turns(grid: Grid, board: bytes, spot: int, turns: int, odds: tuple[float, ...] = CHOSEN) -> float:
    """How many of so many turns an avatar can expect to survive on a board that does not change otherwise."""
    if not turns:
        return 0.0
    entry = grid.ahead[spot]
    ends = (grid.follow(board, entry & -8 | port) for port in range(8) if port != entry & 7)
    lives = sorted((1 + expected_turns(grid, board, end, turns - 1) if end >= 0 else 0.0 for end in ends), reverse=True)
    total = 0.0
    for chance, life in zip(odds, lives, strict=False):  # the odds of the last may be none
        total += chance * life  # not by sum(), which rounds differently from Python 3.12 on
    return total


def territory(grid: Grid, board: bytes, mine: int, rivals: list[int]) -> int:
    """How many empty squares are reached step by step from mine sooner than from any rival's."""
    claimed = dict.fromkeys(rivals, False)
    claimed.setdefault(mine, True)
    frontier = list(claimed)  # rivals first, so that a tie goes to them
    for square in frontier:
        for beside in grid.beside[square]:
            if board[beside] == EMPTY and beside not in claimed:
                claimed[beside] = claimed[square]
                frontier.append(beside)
    return sum(claimed.values())
