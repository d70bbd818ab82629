"""Implement the rules of Fish; § cites a clause of RULES.md."""

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadRequest, IllegalAction, NotOnTurn
from fairplay.core.game import Game, Moment, Ranking, Seat, check_seat
from fairplay.games.fish import codec, kernel
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.board import grid
from fairplay.games.fish.pieces import COLOURS, MAX_FISH, MAX_SIDE, penguins_each
from fairplay.games.fish.state import (
    DONE,
    PLACING,
    PLAYING,
    State,
    advance_turn,
    deal_position,
    move_penguin,
    place_penguin,
    remove_seat,
)
from fairplay.games.fish.view import View

Side = Annotated[int, Meta(ge=1, le=MAX_SIDE)]
Fishes = Annotated[int, Meta(ge=1, le=MAX_FISH)]
Holes = Annotated[int, Meta(ge=0, le=MAX_SIDE**2)]


class Fish(Game[State, View, Action], frozen=True, forbid_unknown_fields=True):
    """Penguins collect fish on ice that melts behind them."""

    name: ClassVar[str] = "fish"
    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(2, 5)
    youngest_first: ClassVar[bool] = True
    action: ClassVar[Any] = Action

    rows: Annotated[Side, Meta(description="of the board, 1 to 100")] = 8
    columns: Annotated[Side, Meta(description="of the board, 1 to 100")] = 8
    fish: Annotated[Literal["random"] | Fishes, Meta(description="on each tile, 1 to 5, or random")] = "random"
    holes: Annotated[Literal["random"] | Holes, Meta(description="from the start: how many, or random")] = 0
    colours: Annotated[Literal["fixed", "random"], Meta(description="in the fixed order, or random")] = "fixed"
    cramped: Annotated[bool, Meta(description="allow a board that is too small for all penguins")] = False

    def deal(self, seats: int, seed: bytes) -> State:
        """§1.1, §1.2, §2.1, §2.2: a board, and players without penguins."""
        lots = SeededRandom(seed)
        cells = self.rows * self.columns
        spare = cells - seats * penguins_each(seats)
        if spare < (0 if self.holes == "random" else self.holes) and not self.cramped:
            raise BadRequest(
                f"a board of {self.rows} x {self.columns} with {self.holes} holes is too small for "
                f"{seats} players with {penguins_each(seats)} penguins each"
            )
        fish = [1 + drawn for drawn in lots.numbers(cells, MAX_FISH)] if self.fish == "random" else [self.fish] * cells
        holes = lots.below(max(spare, 0) + 1) if self.holes == "random" else min(self.holes, cells)
        for cell in lots.sample(cells, holes) if holes else ():
            fish[cell] = 0
        colours = list(COLOURS)
        if self.colours == "random":
            lots.shuffle(colours)
        return deal_position(grid(self.rows, self.columns), fish, seats, each=penguins_each(seats), colours=colours)

    def turn(self, state: State) -> Seat | None:
        """§2.3, §5.1: the first seat in the order, until no player can move."""
        return None if state.stage is DONE else state.order[0]

    def order(self, state: State) -> tuple[Seat, ...]:
        """§2.3: one after the other, even when a player leaves."""
        return state.order

    def view(self, state: State, seat: Seat | None) -> View:
        """§2.4: everything is public."""
        return View(seat, state)

    def actions(self, view: View) -> Iterator[Action]:
        """§3 and §4: every free tile, or every line of every penguin."""
        state = view.state
        if view.seat is None or view.seat != self.turn(state):
            raise NotOnTurn(view.seat, self.turn(state))
        if state.stage is PLACING:
            return state.grid.places(state.free)
        return iter(state.grid.moves(state.penguins[view.seat], state.free))

    def imagine(self, view: View, seed: bytes = b"") -> State:
        """§2.4: nothing is hidden, so nothing is drawn."""
        return view.state

    def check(self, view: View, action: Action) -> None:
        """§2.3, §3 and §4."""
        state, seat = view.state, view.seat
        if seat is None or state.stage is DONE or seat != state.order[0]:
            raise IllegalAction("2.3", "it is not your turn")
        if isinstance(action, Move):
            check_move(state, seat, action)
        else:
            check_place(state, action)

    def apply(self, state: State, action: Action) -> State:
        """§3.1, §4.4: carry out the action; the next seat that can act is on turn."""
        columns = state.grid.columns
        if isinstance(action, Move):
            row, column = action.start
            to_row, to_column = action.to
            return advance_turn(move_penguin(state, row * columns + column, to_row * columns + to_column))
        row, column = action.at
        return advance_turn(place_penguin(state, row * columns + column))

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """§6: the same at every moment."""
        check_seat(seat, len(state.scores))
        return advance_turn(remove_seat(state, seat))

    def fits(self, state: State) -> bool:
        """§1.1: has the board the size of this game?"""
        return (state.grid.rows, state.grid.columns) == (self.rows, self.columns)

    def ranking(self, state: State) -> Ranking:
        """§5.2, §5.3: the seats still in, by their fish."""
        score = state.scores.__getitem__
        return tuple(frozenset(group) for _, group in groupby(sorted(state.order, key=score, reverse=True), key=score))

    def scores(self, state: State) -> tuple[int, ...]:
        """§4.4: the fish of each seat, including the ejected."""
        return state.scores

    def playouts(self, state: State, numbers: range, seed: bytes) -> list[tuple[int, ...]]:
        """Use the kernel, where it is available and supports the board."""
        if type(self) is Fish and kernel.is_supported(state):
            return kernel.playouts(state, numbers, seed)
        return super().playouts(state, numbers, seed)

    def pack(self, view: View) -> Any:
        """A view as plain JSON: the state and the seat."""
        return {"seat": view.seat, **codec.write(view.state)}

    def pack_text(self, view: View) -> bytes:
        return kernel.text(view.seat, view.state)

    def unpack(self, plain: Any) -> View:
        page = codec.read(plain)
        return View(page.seat, codec.state_from_sheet(page))

    def pack_state(self, state: State) -> Any:
        return codec.write(state)

    def unpack_state(self, plain: Any) -> State:
        return codec.state_from_sheet(codec.read(plain))


def check_place(state: State, place: Place) -> None:
    """§3: may the seat on turn place a penguin there? Raises IllegalAction."""
    if state.stage is not PLACING:
        raise IllegalAction("4.5", "all penguins are placed, so one of them has to move")
    if not state.free:
        raise IllegalAction("3.5", "no legal option: there is no free tile left")
    cell = state.grid.cell(place.at)
    if cell is None or not state.fish_at(cell):
        raise IllegalAction("3.2", f"there is no tile at {list(place.at)}")
    if not state.free >> cell & 1:
        raise IllegalAction("3.3", f"a penguin stands at {list(place.at)} already")


def check_move(state: State, seat: Seat, move: Move) -> None:
    """§4: may this seat make this move? Raises IllegalAction."""
    if state.stage is not PLAYING:
        raise IllegalAction("3.4", "penguins do not move before all of them are placed")
    board = state.grid
    start, to = board.cell(move.start), board.cell(move.to)
    if start is None or start not in state.penguins[seat]:
        raise IllegalAction("4.1", f"there is no penguin of yours at {list(move.start)}")
    path = 0 if to is None else board.path(start, to)
    if not path:
        raise IllegalAction("4.2", f"no straight line leads from {list(move.start)} to {list(move.to)}")
    if path & ~state.free:
        raise IllegalAction("4.3", f"a hole or a penguin is in the way from {list(move.start)} to {list(move.to)}")
