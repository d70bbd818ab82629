"""Three in a row on a board of three by three.

- **1** The board has three rows of three squares. There are two players.
- **2** On its turn a player marks a square that is free.
- **3** A player that has three marks in a row, in a column or in a diagonal has won.
- **4** If all squares are marked and no player has won, it is a draw.
"""

from collections.abc import Iterator

from fairplay.kit import Action, BoardGame

Board = tuple[int | None, ...]  # the seat that has marked each square, row by row; None: it is free

LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


class Mark(Action, frozen=True):
    """Mark a square."""

    row: int
    column: int


class TicTacToe(BoardGame[Board, Mark], frozen=True):
    """Three marks in a row win."""

    name = "tic-tac-toe"

    def start(self, seats: int) -> Board:
        """§1: all squares are free."""
        return (None,) * 9

    def moves(self, position: Board, seat: int) -> Iterator[Mark]:
        """§2: any free square."""
        return (Mark(*divmod(square, 3)) for square, owner in enumerate(position) if owner is None)

    def after(self, position: Board, seat: int, action: Mark) -> Board:
        """§2: the square is marked."""
        square = 3 * action.row + action.column
        return (*position[:square], seat, *position[square + 1 :])

    def winner(self, position: Board) -> int | None:
        """§3: the player that has all three squares of a line."""
        for one, two, three in LINES:
            if position[one] is not None and position[one] == position[two] == position[three]:
                return position[one]
        return None

    def rows(self, position: Board) -> list[str]:
        """X is the first player, O the second."""
        signs = "".join("." if owner is None else self.signs[owner] for owner in position)
        return [signs[:3], signs[3:6], signs[6:]]
