"""Choose for Fish: the kernels in C where they are here and know the board, else the functions in Python.

The rules come by here, too; so what only players need is loaded where it is asked for.
"""

from typing import TYPE_CHECKING, Any

from fairplay.core.game import Seat
from fairplay.games.fish import codec
from fairplay.games.fish.actions import Move
from fairplay.games.fish.state import PLACING, State
from fairplay.kernels import kernels

if TYPE_CHECKING:
    from fairplay.games.fish.steps import Step

MAX_CELLS = 64  # of a board that the kernels know


def is_supported(state: State) -> bool:
    """Is there a kernel for this board?"""
    return kernels is not None and len(state.grid.near) <= MAX_CELLS


def best_move(state: State, seat: Seat, turns: int) -> Move | None:
    """What `search.best_move` finds."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import search  # start-up: where there is a kernel in C, nobody needs it

        return search.best_move(state, seat, turns)
    grid, order = state.grid, state.order
    mover = order.index(seat)
    penguins = tuple(map(state.penguins.__getitem__, order[mover:] + order[:mover]))
    found = kernels.fish_best_move(grid.rows, grid.columns, fish_of(state), state.free, penguins, turns)
    return None if found is None else Move(grid.positions[found[0]], grid.positions[found[1]])


def territory_step(state: State, nodes: int) -> "Step | None":
    """What `territory.best_step` finds."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import territory  # start-up: where there is a kernel in C, nobody needs it

        return territory.best_step(state, nodes)
    found: Step | None = kernels.fish_territory(*shape_of(state), state.order, each_of(state), nodes)
    return found


def sampling_step(state: State, tries: int, seed: bytes) -> "Step | None":
    """What `sampling.best_step` finds."""
    if kernels is None or not is_supported(state):
        from fairplay.games.fish import sampling  # start-up: where there is a kernel in C, nobody needs it

        return sampling.best_step(state, tries, seed)
    found: Step | None = kernels.fish_sampling(*game_of(state), tries, number_of(seed))
    return found


def playouts(state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
    """What `Game.playouts` comes to, on a board that a kernel knows."""
    assert kernels is not None
    scores: list[tuple[int, ...]] = kernels.fish_playouts(*game_of(state), numbers.start, len(numbers), number_of(seed))
    return scores


def text(seat: Seat | None, state: State) -> bytes:
    """What `codec.text` writes."""
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
        fish_of(state),
        state.free,
        state.penguins,
        state.scores,
        state.colours,
    )
    return written


def game_of(state: State) -> tuple[Any, ...]:
    """What a kernel is told to play on from a position."""
    return *shape_of(state), state.scores, state.order, each_of(state)


def shape_of(state: State) -> tuple[Any, ...]:
    """What a kernel is told of the board and all who stand on it."""
    return state.grid.rows, state.grid.columns, fish_of(state), state.free, state.penguins


def each_of(state: State) -> int:
    """How many penguins a player places; 0: that is over."""
    return state.each if state.stage is PLACING else 0


def fish_of(state: State) -> bytes:
    """The fish on the board, three bits a cell."""
    return state.fish.to_bytes(state.grid.fish_bytes, "little")


def number_of(seed: bytes) -> int:
    """What `Dice` take of a seed."""
    return int.from_bytes(seed[:8], "little")
