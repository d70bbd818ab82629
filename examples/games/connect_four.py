"""Four discs in a row, where discs fall to the bottom.

- **1** The board stands upright: seven columns of six squares, or other numbers set by the parameters.
- **2** On its turn a player drops a disc into a column that is not full. It falls on top of the discs there.
- **3** A player that has four discs in a row has won: side by side, on top of one another, or in a diagonal.
- **4** If the board is full and no player has won, it is a draw.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from fairplay.kit import Action, BoardGame

Board = tuple[str, ...]  # the discs of each column from the bottom up, as signs of their players
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # to the next column, and up
IN_A_ROW = 4

Side = Annotated[int, Meta(ge=4, le=20)]


class Drop(Action, frozen=True):
    """Drop a disc into a column."""

    column: int

    def __str__(self) -> str:
        return f"drops a disc into column {self.column}"


class ConnectFour(BoardGame[Board, Drop], frozen=True):
    """Four discs in a row win."""

    name = "connect-four"
    signs, colours = "RY", ("red", "yellow")

    columns: Annotated[Side, Meta(description="of the board, 4 to 20")] = 7
    height: Annotated[Side, Meta(description="of the columns, 4 to 20")] = 6

    def start(self, seats: int) -> Board:
        """§1: an empty board."""
        return ("",) * self.columns

    def moves(self, position: Board, seat: int) -> Iterator[Drop]:
        """§2: any column that is not full."""
        return (Drop(column) for column, discs in enumerate(position) if len(discs) < self.height)

    def after(self, position: Board, seat: int, action: Drop) -> Board:
        """§2: one more disc in this column."""
        column = action.column
        return (*position[:column], position[column] + self.signs[seat], *position[column + 1 :])

    def winner(self, position: Board) -> int | None:
        """§3: the player with a row through the top disc of a column, which includes the last disc dropped."""
        for column, discs in enumerate(position):
            if discs and self.wins(position, column, len(discs) - 1):
                return self.signs.index(discs[-1])
        return None

    def wins(self, position: Board, column: int, level: int) -> bool:
        """Is the disc at this place one of four in a row?"""
        sign = position[column][level]

        def alike(right: int, up: int) -> int:
            """How many discs of the same player lie next to it in a direction."""
            for steps in range(1, IN_A_ROW):
                x, y = column + steps * right, level + steps * up
                if not (0 <= x < len(position) and 0 <= y < len(position[x]) and position[x][y] == sign):
                    return steps - 1
            return IN_A_ROW - 1

        return any(alike(right, up) + alike(-right, -up) + 1 >= IN_A_ROW for right, up in DIRECTIONS)

    def rows(self, position: Board) -> list[str]:
        """From the top down: R is the first player, Y the second."""
        columns = [discs.ljust(self.height, ".") for discs in position]
        return ["".join(column[level] for column in columns) for level in reversed(range(self.height))]
