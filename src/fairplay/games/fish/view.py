"""Define what a player sees of a position of Fish."""

from collections.abc import Iterator, Mapping

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.fish.board import cells
from fairplay.games.fish.pieces import Position
from fairplay.games.fish.state import DONE, Stage, State


class Player(msgspec.Struct, frozen=True, gc=False):
    """A player, even if it was ejected."""

    seat: Seat
    colour: str
    score: int  # how many fish it has
    penguins: tuple[Position, ...]  # in the order in which they were placed


class Board(Mapping[Position, int]):
    """How many fish are at each position, as in `board[row, column]`; 0: a hole."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.rows = state.grid.rows
        self.columns = state.grid.columns

    def __getitem__(self, position: Position) -> int:
        cell = self._state.grid.cell(position)
        if cell is None:
            raise KeyError(f"{position} is off the board, which has {self.rows} rows and {self.columns} columns")
        return self._state.fish_at(cell)

    def __iter__(self) -> Iterator[Position]:
        return iter(self._state.grid.positions)

    def __len__(self) -> int:
        return len(self._state.grid.positions)

    def __repr__(self) -> str:
        return f"{self._state.rows()}"


class View(msgspec.Struct, frozen=True, gc=False):
    """What a seat sees (None: a spectator); everything is public.

    Positions are (row, column), from the top left corner. `print(view)` draws the board.
    """

    seat: Seat | None
    state: State

    @property
    def me(self) -> Player:
        """The player that this view is for."""
        if self.seat is None:
            raise BadRequest("this is the view of a spectator, which has no player")
        return player_at(self.state, self.seat)

    @property
    def opponents(self) -> tuple[Player, ...]:
        """The other players still in, starting with the next to move."""
        return tuple(player_at(self.state, seat) for seat in self.state.order if seat != self.seat)

    @property
    def players(self) -> tuple[Player, ...]:
        """All players by seat, including the ejected."""
        return tuple(player_at(self.state, seat) for seat in range(len(self.state.scores)))

    @property
    def scores(self) -> dict[Seat, int]:
        """How many fish each seat has."""
        return dict(enumerate(self.state.scores))

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is; None: the game is over."""
        return None if self.state.stage is DONE else self.state.order[0]

    @property
    def stage(self) -> Stage:
        """The stage of the game."""
        return self.state.stage

    @property
    def board(self) -> Board:
        """How many fish are at each position."""
        return Board(self.state)

    @property
    def penguins(self) -> dict[Position, Seat]:
        """The seat of each penguin, by position."""
        positions = self.state.grid.positions
        return {positions[cell]: seat for seat, mine in enumerate(self.state.penguins) for cell in mine}

    def neighbours(self, position: Position) -> tuple[Position, ...]:
        """The free tiles beside a position."""
        cell, state = self._cell(position), self.state
        return tuple(state.grid.positions[other] for other in cells(state.grid.near[cell] & state.free))

    def reach(self, position: Position) -> tuple[Position, ...]:
        """The tiles that a penguin at this position could move to."""
        return tuple(move.to for move in self.state.grid.moves((self._cell(position),), self.state.free))

    def __repr__(self) -> str:
        standing = {player.seat: list(player.penguins) for player in self.players}
        return (
            f"View(seat={self.seat}, turn={self.turn}, stage={self.stage.value!r}, scores={self.scores}, "
            f"board={self.board}, penguins={standing})"
        )

    def __str__(self) -> str:
        from fairplay.games.fish.terminal import text  # start-up: only a drawing needs it

        return text(self)

    def _repr_svg_(self, names: tuple[str, ...] = ()) -> str:
        """The picture that Jupyter displays."""
        from fairplay.games.fish.draw import svg  # start-up: only a drawing needs it

        return svg(self, names)

    def _cell(self, position: Position) -> int:
        cell = self.state.grid.cell(position)
        if cell is None:
            raise BadRequest(f"{position} is off the board")
        return cell


def player_at(state: State, seat: Seat) -> Player:
    """The player at a seat."""
    penguins = tuple(state.grid.positions[cell] for cell in state.penguins[seat])
    return Player(seat, state.colours[seat], state.scores[seat], penguins)
