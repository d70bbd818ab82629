"""List what can be done in a position of Fish, and do it, for players who think many steps ahead."""

from collections.abc import Callable

from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.board import Grid, cells
from fairplay.games.fish.search import Search
from fairplay.games.fish.state import PLACING, State, advance_turn, move_penguin, place_penguin

Step = tuple[int, int]  # the cells from and to which a penguin moves; from NOWHERE, it is placed
Reach = Callable[[int, int], int]  # by a cell and what is free: the mask of the cells that a penguin can move to
NOWHERE = -1


def reach_in(state: State) -> Reach:
    """How far penguins get, in this position and all that follow it."""
    return Search(state.grid, state.fish).reach


def steps(state: State, reach: Reach) -> list[Step]:
    """What whoever is on turn can do: first where most fish are, then penguin by penguin, then cell by cell."""
    if state.stage is PLACING:
        found = [(NOWHERE, to) for to in cells(state.free)]
    else:
        mine = state.penguins[state.order[0]]
        found = [(start, to) for start in mine for to in cells(reach(start, state.free))]
    return sorted(found, key=lambda step: -state.fish_at(step[1]))


def apply_step(state: State, step: Step) -> State:
    """The position after a step, with somebody on turn who can act, if there is anybody."""
    start, to = step
    return advance_turn(place_penguin(state, to) if start == NOWHERE else move_penguin(state, start, to))


def action_of(grid: Grid, step: Step) -> Action:
    """The step as an action."""
    start, to = step
    return Place(grid.positions[to]) if start == NOWHERE else Move(grid.positions[start], grid.positions[to])
