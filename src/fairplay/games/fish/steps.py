"""List and apply the steps of Fish, for players that search many steps ahead."""

from collections.abc import Callable

from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.board import Grid, cells
from fairplay.games.fish.search import Search
from fairplay.games.fish.state import PLACING, State, advance_turn, move_penguin, place_penguin

Step = tuple[int, int]  # the cells from and to which a penguin moves; from NOWHERE, it is placed
Reach = Callable[[int, int], int]  # by a cell and what is free: the mask of the cells that a penguin can move to
NOWHERE = -1


def reach_function(state: State) -> Reach:
    """The reach of penguins in this position and in all that follow it."""
    return Search(state.grid, state.fish).reach


def steps(state: State, reach: Reach) -> list[Step]:
    """The steps of the seat on turn: by the fish they lead to, most first, then by penguin, then by cell."""
    if state.stage is PLACING:
        found = [(NOWHERE, to) for to in cells(state.free)]
    else:
        mine = state.penguins[state.order[0]]
        found = [(start, to) for start in mine for to in cells(reach(start, state.free))]
    return sorted(found, key=lambda step: -state.fish_at(step[1]))


def apply_step(state: State, step: Step) -> State:
    """The position after a step; the seat on turn can act, unless the game is over."""
    start, to = step
    return advance_turn(place_penguin(state, to) if start == NOWHERE else move_penguin(state, start, to))


def action_of(grid: Grid, step: Step) -> Action:
    """The step as an action."""
    start, to = step
    return Place(grid.positions[to]) if start == NOWHERE else Move(grid.positions[start], grid.positions[to])
