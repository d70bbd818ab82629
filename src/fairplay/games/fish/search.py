"""Search Fish for the move that brings a player the most fish if all others play against it.

The question at every node: can I still collect `need` fish in my next N turns, whatever the others do? The best move is
the first with the answer yes for the largest `need` (course: look-ahead with N turns; only own fish count).

The search is quick because free tiles only ever get fewer: a move takes the tile it lands on, and the tile it leaves
was not free and is removed (Fish §4.4). Hence
- a player that is stuck stays stuck, and can be left out;
- what I could not collect alone, I cannot collect against others;
- before my last turn, the others stop me only by taking every exit of every penguin that stands on enough fish,
  one exit with each of their moves.
"""

from collections import defaultdict
from functools import cache

from fairplay.core.game import Seat
from fairplay.games.fish.actions import Move
from fairplay.games.fish.board import Grid, cells
from fairplay.games.fish.pieces import MAX_FISH
from fairplay.games.fish.state import State, fish_on_cells

Penguins = tuple[int, ...]  # the cells they stand on
Star = tuple[int, tuple[int, ...], tuple[int, ...]]  # masks: all lines from a cell, the rising ones, the falling ones

# By the least number of fish: a digit 1 for each number that is at least as large.
AT_LEAST = [b"0" * least + b"1" * (256 - least) for least in range(MAX_FISH + 1)]


def best_move(state: State, seat: Seat, turns: int) -> Move | None:
    """The best move of a seat on turn, looking so many of its turns ahead; None: it cannot move.

    Of equal moves the first is taken, by the position it starts from and then by the one it leads to.
    """
    mover = state.order.index(seat)
    others = tuple(
        state.penguins[other]
        for other in (*state.order[mover + 1 :], *state.order[:mover])
        if state.can_move(other)  # a player that cannot move now will never move
    )
    way = best_way(state.grid, state.fish, state.free, state.penguins[seat], others, turns)
    if way is None:
        return None
    start, to = way
    return Move(state.grid.positions[start], state.grid.positions[to])


def best_way(
    grid: Grid, fish: int, free: int, mine: Penguins, others: tuple[Penguins, ...], turns: int
) -> tuple[int, int] | None:
    """The cells from and to which the best move leads; `others` are those that can move, in the order of turns."""
    search = Search(grid, fish)
    moves = [
        (slot, start, to, search.fish[start])
        for start, slot in sorted((cell, slot) for slot, cell in enumerate(mine))
        for to in cells(search.reach(start, free))
    ]
    later = MAX_FISH * (turns - 1)  # fish at most, after the first turn
    for need in range(MAX_FISH * turns, -1, -1):
        for slot, start, to, first in moves:
            left = need - first
            if left <= 0:
                return start, to
            if left <= later:
                after = (*mine[:slot], to, *mine[slot + 1 :])
                if search.withstands(free ^ 1 << to, after, others, 0, turns - 1, left):
                    return start, to
    return None


class Search:
    """The tables of one position, and the questions about what may follow.

    Penguins of others come in the order in which they move; `mover` counts through them within a round, and
    `turns` is how many turns I have left.
    """

    __slots__ = ("_reached", "at_least", "fish", "near", "stars")

    def __init__(self, grid: Grid, fish: int) -> None:
        self.near = grid.near
        self.stars = stars(grid)
        self.fish = fish_on_cells(fish, len(grid.near))
        last_first = self.fish[::-1]
        self.at_least = [int(last_first.translate(digits), 2) for digits in AT_LEAST]
        self._reached: defaultdict[int, dict[int, int]] = defaultdict(dict)

    def reach(self, cell: int, free: int) -> int:
        """The mask of the cells that a penguin can move to."""
        lines, rising, falling = self.stars[cell]
        known = self._reached[cell]
        seen = free & lines
        if seen in known:
            return known[seen]
        reached = 0
        for ray in rising:  # up to the lowest cell that is not free
            stops = ray & ~free
            reached |= ray & ((stops & -stops) - 1)
        for ray in falling:  # down to the highest
            length = (ray & ~free).bit_length()
            reached |= ray >> length << length
        known[seen] = reached
        return reached

    def withstands(
        self, free: int, mine: Penguins, others: tuple[Penguins, ...], mover: int, turns: int, need: int
    ) -> bool:
        """Can I still collect so many fish, whatever the others do before my next turn?"""
        if turns == 1:
            return self._withstands_last(free, mine, others, mover, need)
        if turns == 2 and not self._alone(free, mine, need):
            return False
        if mover == len(others):
            return self._collects(free, mine, others, turns, need)
        close = 0
        for cell in mine:
            close |= self.near[cell]
        penguins = others[mover]
        ways = [(slot, self.reach(cell, free)) for slot, cell in enumerate(penguins)]
        moved = False
        for among in (close, ~close):  # first beside my penguins, where it hurts
            for slot, reached in ways:
                targets = reached & among
                while targets:
                    to = targets.bit_length() - 1
                    targets ^= 1 << to
                    moved = True
                    there = (*penguins[:slot], to, *penguins[slot + 1 :])
                    then = (*others[:mover], there, *others[mover + 1 :])
                    if not self.withstands(free ^ 1 << to, mine, then, mover + 1, turns, need):
                        return False
        return moved or self.withstands(free, mine, others, mover + 1, turns, need)

    def _collects(self, free: int, mine: Penguins, others: tuple[Penguins, ...], turns: int, need: int) -> bool:
        """Can I collect so many fish, if it is my turn?"""
        for slot, cell in enumerate(mine):
            targets = self.reach(cell, free)
            left = need - self.fish[cell]
            if targets and left <= 0:
                return True
            while targets:
                to = targets.bit_length() - 1
                targets ^= 1 << to
                after = (*mine[:slot], to, *mine[slot + 1 :])
                if self.withstands(free ^ 1 << to, after, others, 0, turns - 1, left):
                    return True
        return False

    def _alone(self, free: int, mine: Penguins, need: int) -> bool:
        """Could I collect so many fish in two turns if no other player moved? Yes may be wrong, no is right."""
        near, fish = self.near, self.fish
        for cell in mine:
            if not near[cell] & free:
                continue
            left = need - fish[cell]
            if left <= 0:
                return True
            if left > MAX_FISH:
                continue
            if self.reach(cell, free) & self.at_least[left]:
                return True
            for other in mine:
                if fish[other] >= left and other != cell and near[other] & free:
                    return True
        return False

    def _withstands_last(self, free: int, mine: Penguins, others: tuple[Penguins, ...], mover: int, need: int) -> bool:
        """Will a penguin on so many fish still be able to move on my last turn?"""
        near, fish = self.near, self.fish
        exits = 0
        for cell in mine:
            if fish[cell] >= need:
                exits |= near[cell] & free
        return exits != 0 and not self._blocked(exits, free, others, mover)

    def _blocked(self, exits: int, free: int, others: tuple[Penguins, ...], mover: int) -> bool:
        """Can the players that have yet to move in this round take all these exits?"""
        if not exits:
            return True
        spare = len(others) - mover - exits.bit_count()
        if spare < 0:
            return False
        reached = 0
        for cell in others[mover]:
            reached |= self.reach(cell, free)
        if not reached:
            return self._blocked(exits, free, others, mover + 1)
        for targets in (reached & exits, reached & ~exits if spare else 0):
            while targets:
                target = targets & -targets
                targets ^= target
                if self._blocked(exits & ~target, free ^ target, others, mover + 1):
                    return True
        return False


class Stars(dict[int, Star]):
    """The stars of a grid by cell, each computed when it is first needed."""

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self._grid = grid

    def __missing__(self, cell: int) -> Star:
        lines = [line for line in self._grid.lines[cell] if line]
        rising = tuple(sum(1 << to for to in line) for line in lines if line[0] > cell)
        falling = tuple(sum(1 << to for to in line) for line in lines if line[0] < cell)
        self[cell] = sum(rising) + sum(falling), rising, falling
        return self[cell]


stars = cache(Stars)  # one for each grid
