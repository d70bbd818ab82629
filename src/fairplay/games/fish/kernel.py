"""Search Fish with the C kernels where they are available and support the board, else with the Python functions.

The rules import this module, too; so what only players need is imported where it is used.
"""

from typing import TYPE_CHECKING, Any

from fairplay.core.game import Seat
from fairplay.games.fish import codec
from fairplay.games.fish.actions import Move
from fairplay.games.fish.state import PLACING, State
from fairplay.kernels import kernels

if TYPE_CHECKING:
    from fairplay.games.fish.steps import Step

MAX_CELLS = 64  # of a board that the kernels support


def is_supported(state: State) -> bool:
    """Do the kernels support this board?"""
    return kernels is not None and len(state.grid.near) <= MAX_CELLS


def best_move(state: State, seat: Seat, turns: int) -> Move | None:
    """The result of `search.best_move`."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import search  # start-up: only needed without the kernels

        return search.best_move(state, seat, turns)
    grid, order = state.grid, state.order
    mover = order.index(seat)
    penguins = tuple(map(state.penguins.__getitem__, order[mover:] + order[:mover]))
    found = kernels.fish_best_move(grid.rows, grid.columns, packed_fish(state), state.free, penguins, turns)
    return None if found is None else Move(grid.positions[found[0]], grid.positions[found[1]])


def territory_step(state: State, nodes: int) -> "Step | None":
    """The result of `territory.best_step`."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import territory  # start-up: only needed without the kernels

        return territory.best_step(state, nodes)
    found: Step | None = kernels.fish_territory(*board_arguments(state), state.order, penguins_to_place(state), nodes)
    return found


def sampling_step(state: State, tries: int, seed: bytes) -> "Step | None":
    """The result of `sampling.best_step`."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import sampling  # start-up: only needed without the kernels

        return sampling.best_step(state, tries, seed)
    found: Step | None = kernels.fish_sampling(*game_arguments(state), tries, seed_number(seed))
    return found


def playouts(state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
    """The result of `Game.playouts`, on a board that the kernels support."""
    assert kernels is not None
    scores: list[tuple[int, ...]] = kernels.fish_playouts(
        *game_arguments(state), numbers.start, len(numbers), seed_number(seed)
    )
    return scores


def text(seat: Seat | None, state: State) -> bytes:
    """The result of `codec.text`."""
    grid = state.grid
    if kernels is None or len(grid.near) > MAX_CELLS:
        return codec.text(seat, state)
    written: bytes = kernels.fish_text(
        -1 if seat is None else seat,
        state.stage._value_,
        state.order,
        state.each,
        grid.rows,
        grid.columns,
        packed_fish(state),
        state.free,
        state.penguins,
        state.scores,
        state.colours,
    )
    return written


def game_arguments(state: State) -> tuple[Any, ...]:
    """The arguments of a kernel that plays on from a position."""
    return *board_arguments(state), state.scores, state.order, penguins_to_place(state)


def board_arguments(state: State) -> tuple[Any, ...]:
    """The arguments of a kernel for the board and the penguins."""
    return state.grid.rows, state.grid.columns, packed_fish(state), state.free, state.penguins


def penguins_to_place(state: State) -> int:
    """How many penguins each player places; 0: all are placed."""
    return state.each if state.stage is PLACING else 0


def packed_fish(state: State) -> bytes:
    """The fish on the board, three bits a cell."""
    return state.fish.to_bytes(state.grid.fish_bytes, "little")


def seed_number(seed: bytes) -> int:
    """The part of a seed that `Dice` use."""
    return int.from_bytes(seed[:8], "little")
