"""Search Fish for the step that leaves a player furthest ahead in fish and territory, if all others play against it.

A position is evaluated by the fish of each player: those it has caught, those under its penguins that can still move,
and those on the free tiles that it reaches in fewer moves than any other player; a tie belongs to no player.

The search is alpha-beta with iterative deepening, up to a number of evaluated positions. The last iteration counts even
if it is incomplete, as it starts with the best step of the one before. The search follows all steps of the first turn
and of the last, and between them only the few that look best at once.
"""

from math import inf

from fairplay.core.game import Seat
from fairplay.games.fish.board import cells
from fairplay.games.fish.pieces import FISH_BITS
from fairplay.games.fish.state import State, fish_on_cells
from fairplay.games.fish.steps import Step, apply_step, reach_function, steps

CAUGHT, NEARER = 3, 2  # the value of a fish that a player has, and of one that it is nearest to
WIDTH = 10  # steps that are followed at a turn between the first and the last


def best_step(state: State, nodes: int) -> Step | None:
    """The best step of the seat on turn, found by evaluating so many positions; None: no step is legal."""
    search = Territory(state, nodes)
    options = search.best_first(state, steps(state, search.reach)[:nodes])
    search.more = len(options) > 1
    depth = 0
    while search.more and search.nodes > 0:
        search.more, depth, most = False, depth + 1, -inf
        for place, step in enumerate(options):
            worth = search.outlook(apply_step(state, step), depth, most, inf)
            if search.nodes <= 0:
                break
            if worth > most:
                most = worth
                options.insert(0, options.pop(place))
    return options[0] if options else None


class Territory:
    """The search for one seat: how many positions it may still evaluate, and whether its depth cut anything off."""

    def __init__(self, state: State, nodes: int) -> None:
        self.me: Seat = state.order[0]
        self.nodes = nodes
        self.more = False
        self.reach = reach_function(state)
        fish = fish_on_cells(state.fish, len(state.grid.near))
        # For each bit, the cells whose number of fish has it.
        self._fish = [sum(1 << cell for cell, n in enumerate(fish) if n >> bit & 1) for bit in range(FISH_BITS)]

    def outlook(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """How far I am ahead after so many turns, if that is between alpha and beta; else a bound of it."""
        if self.nodes <= 0:
            return 0
        options = steps(state, self.reach) if depth else []
        if not options:
            self.nodes -= 1
            self.more |= not depth
            return self.evaluate(state)
        if depth > 1:
            options = self.best_first(state, options)[:WIDTH]
        mine = state.order[0] == self.me
        best = -inf if mine else inf
        for step in options:
            worth = self.outlook(apply_step(state, step), depth - 1, alpha, beta)
            if mine:
                best = max(best, worth)
                alpha = max(alpha, best)
            else:
                best = min(best, worth)
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best

    def best_first(self, state: State, options: list[Step]) -> list[Step]:
        """The same steps, the best for the seat on turn first, without looking ahead."""
        more, mine = self.more, state.order[0] == self.me
        worth = {step: self.outlook(apply_step(state, step), 0, -inf, inf) for step in options}
        self.more = more
        return sorted(options, key=lambda step: -worth[step] if mine else worth[step])

    def evaluate(self, state: State) -> int:
        """How far I am ahead of the others, summed up; my own fish, if I am alone."""
        near, free, open_tiles = state.grid.near, state.free, state.free
        fronts = {seat: sum(1 << cell for cell in state.penguins[seat] if near[cell] & free) for seat in state.order}
        worth = {seat: CAUGHT * (state.scores[seat] + self._fish_on(front)) for seat, front in fronts.items()}
        while open_tiles:
            reached = shared = 0
            for seat, front in fronts.items():
                fronts[seat] = next_front = self._reach_from(front, free) & open_tiles
                shared |= reached & next_front
                reached |= next_front
            if not reached:
                break
            for seat, front in fronts.items():
                worth[seat] += NEARER * self._fish_on(front & ~shared)
            open_tiles &= ~reached
        mine = worth[self.me]
        return sum(mine - theirs for theirs in worth.values()) if len(worth) > 1 else mine

    def _reach_from(self, front: int, free: int) -> int:
        reached = 0
        for cell in cells(front):
            reached |= self.reach(cell, free)
        return reached

    def _fish_on(self, mask: int) -> int:
        return sum((mask & has).bit_count() << bit for bit, has in enumerate(self._fish))
