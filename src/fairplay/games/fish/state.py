"""Define a position of Fish, and how placing, moving, skipping and ejecting change it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, cast

import msgspec

from fairplay.core.enums import immutable
from fairplay.core.game import Seat
from fairplay.games.fish.board import Grid, grid
from fairplay.games.fish.pieces import COLOURS, FISH_BITS, Position

FISH_MASK = 0b111
DIGITS = bytes(sign & FISH_MASK for sign in range(256))  # the value of an ASCII digit
OCTAL = bytes(ord("0") + (count & FISH_MASK) for count in range(256))  # the digit for a number of fish
BINARY = b"0" + b"1" * 255  # is there a tile?


@immutable
class Stage(StrEnum):
    """The stage of a game."""

    PLACING = "placing"
    PLAYING = "playing"
    DONE = "done"


PLACING, PLAYING, DONE = Stage  # looked up as `Stage.DONE` each takes as long as two calls


class State(msgspec.Struct, frozen=True, gc=False):
    """The whole position, all of it public. Cells are those of the grid."""

    grid: Grid
    fish: int  # three bits a cell; 0: a hole
    free: int  # the mask of the tiles without a penguin
    penguins: tuple[tuple[int, ...], ...]  # by seat
    scores: tuple[int, ...]  # by seat; those of the ejected are kept
    order: tuple[Seat, ...]  # the seats still in, starting with the next to move
    stage: Stage
    each: int  # how many penguins a player places
    colours: tuple[str, ...]  # by seat

    def fish_at(self, cell: int) -> int:
        """How many fish are on the tile; 0: it is a hole."""
        return self.fish >> FISH_BITS * cell & FISH_MASK

    def fish_on(self, position: Position) -> int:
        """How many fish are at a position; 0: there is no tile."""
        cell = self.grid.cell(position)
        return 0 if cell is None else self.fish_at(cell)

    def rows(self) -> list[list[int]]:
        """The fish on the board, row by row; 0: a hole."""
        rows, columns = self.grid.rows, self.grid.columns
        table: Any = memoryview(fish_on_cells(self.fish, rows * columns)).cast("B", (rows, columns))
        return cast(list[list[int]], table.tolist())

    def can_move(self, seat: Seat) -> bool:
        """Has this seat a penguin with a free tile beside it?"""
        near, free = self.grid.near, self.free
        return any(near[cell] & free for cell in self.penguins[seat])


def fish_on_cells(fish: int, cells: int) -> bytes:
    """The fish on each of so many cells, cell by cell.

    >>> list(fish_on_cells(0o531, 4))
    [1, 3, 5, 0]
    """
    return f"{fish:0{cells}o}".encode().translate(DIGITS)[::-1]  # three bits are an octal digit, the last cell's first


def state_of(
    board: Sequence[Sequence[int]],
    penguins: Sequence[Sequence[Position]],
    *,
    scores: Sequence[int] | None = None,
    order: Sequence[Seat] | None = None,
    stage: Stage = PLAYING,
    each: int = 0,
    colours: Sequence[str] = COLOURS,
) -> State:
    """A position from rows of fish (0: a hole) and the positions of each seat's penguins, with its turn advanced.

    >>> state_of([[1, 2], [3, 0]], [[(0, 0)], [(0, 1)]]).stage
    <Stage.PLAYING: 'playing'>
    """
    size = grid(len(board), len(board[0]))
    start = deal_position(size, [count for row in board for count in row], len(penguins), each=each, colours=colours)
    standing = tuple(tuple(row * size.columns + column for row, column in places) for places in penguins)
    return advance_turn(
        msgspec.structs.replace(
            start,
            free=start.free & ~sum(1 << cell for cells in standing for cell in cells),
            penguins=standing,
            scores=tuple(scores or start.scores),
            order=start.order if order is None else tuple(order),
            stage=stage,
        )
    )


def deal_position(size: Grid, fish: Sequence[int], seats: int, *, each: int, colours: Sequence[str]) -> State:
    """A position with so many fish on each cell (0: a hole), and no penguins."""
    last_first = bytes(fish)[::-1]
    return State(
        grid=size,
        fish=int(last_first.translate(OCTAL), 8),  # three bits are an octal digit
        free=int(last_first.translate(BINARY), 2),
        penguins=((),) * seats,
        scores=(0,) * seats,
        order=tuple(range(seats)),
        stage=PLACING,
        each=each,
        colours=tuple(colours[:seats]),
    )


def place_penguin(state: State, cell: int) -> State:
    """The seat on turn places a penguin there, and the next seat follows."""
    order, penguins = state.order, list(state.penguins)
    penguins[order[0]] += (cell,)
    return State(
        state.grid,
        state.fish,
        state.free ^ 1 << cell,
        tuple(penguins),
        state.scores,
        order[1:] + order[:1],
        state.stage,
        state.each,
        state.colours,
    )


def move_penguin(state: State, start: int, to: int) -> State:
    """The seat on turn moves a penguin and takes the tile that it left, and the next seat follows."""
    order, shift = state.order, FISH_BITS * start
    seat, fish = order[0], state.fish >> shift & FISH_MASK
    penguins, scores = list(state.penguins), list(state.scores)
    mine = list(penguins[seat])
    mine[mine.index(start)] = to
    penguins[seat] = tuple(mine)
    scores[seat] += fish
    return State(
        state.grid,
        state.fish - (fish << shift),
        state.free ^ 1 << to,  # the tile left behind was not free, and now it is a hole
        tuple(penguins),
        tuple(scores),
        order[1:] + order[:1],
        state.stage,
        state.each,
        state.colours,
    )


def skip_turn(state: State) -> State:
    """Pass the turn to the next seat."""
    return msgspec.structs.replace(state, order=(*state.order[1:], state.order[0]))


def remove_seat(state: State, seat: Seat) -> State:
    """Take a seat out: its penguins go, the tiles under them stay, the order of the others does not change."""
    vacated = sum(1 << cell for cell in state.penguins[seat])
    return msgspec.structs.replace(
        state,
        free=state.free | vacated,
        penguins=(*state.penguins[:seat], (), *state.penguins[seat + 1 :]),
        order=tuple(other for other in state.order if other != seat),
    )


def advance_turn(state: State) -> State:
    """End the placing if all penguins are placed, skip seats that are stuck, and end the game if all are."""
    if state.stage is PLACING and state.order:
        if len(state.penguins[state.order[0]]) < state.each:
            return state
        state = msgspec.structs.replace(state, stage=PLAYING)
    near, free, penguins, order = state.grid.near, state.free, state.penguins, state.order
    for seat in order:
        for cell in penguins[seat]:  # `can_move`, written out: this is asked after every action
            if near[cell] & free:
                if seat == order[0]:
                    return state
                skips = order.index(seat)
                return msgspec.structs.replace(state, order=order[skips:] + order[:skips])
    return msgspec.structs.replace(state, stage=DONE)
