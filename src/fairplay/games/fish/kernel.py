"""Choose for Fish: the kernels in C where they are here and know the board, else the functions in Python."""

from fairplay.core.game import Seat
from fairplay.games.fish import codec
from fairplay.games.fish.actions import Move
from fairplay.games.fish.state import PLACING, State
from fairplay.kernels import kernels

MOST_CELLS = 64  # of a board that the kernels know


def knows(state: State) -> bool:
    """Is there a kernel for this board?"""
    return kernels is not None and len(state.grid.near) <= MOST_CELLS


def best_move(state: State, seat: Seat, turns: int) -> Move | None:
    """What `search.best_move` finds."""
    grid, order = state.grid, state.order
    if kernels is None or len(grid.near) > MOST_CELLS:
        from fairplay.games.fish import search  # only if somebody needs it: the rules come by here, too

        return search.best_move(state, seat, turns)
    mover = order.index(seat)
    penguins = tuple(map(state.penguins.__getitem__, order[mover:] + order[:mover]))
    found = kernels.fish_best_move(grid.rows, grid.columns, fish_of(state), state.free, penguins, turns)
    return None if found is None else Move(grid.positions[found[0]], grid.positions[found[1]])


def playouts(state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
    """What `Game.playouts` comes to, on a board that a kernel knows."""
    assert kernels is not None
    grid = state.grid
    scores: list[tuple[int, ...]] = kernels.fish_playouts(
        grid.rows,
        grid.columns,
        fish_of(state),
        state.free,
        state.penguins,
        state.scores,
        state.order,
        state.each if state.stage is PLACING else 0,
        numbers.start,
        len(numbers),
        int.from_bytes(seed[:8], "little"),
    )
    return scores


def text(seat: Seat | None, state: State) -> bytes:
    """What `codec.text` writes."""
    grid = state.grid
    if kernels is None or len(grid.near) > MOST_CELLS:
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


def fish_of(state: State) -> bytes:
    """The fish on the board, three bits a cell."""
    return state.fish.to_bytes(state.grid.fish_bytes, "little")
