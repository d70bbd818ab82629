"""Referee Fish: the rules of RULES.md, whose clauses are cited as §."""

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from fairplay.core.chance import Lots
from fairplay.core.errors import BadRequest, IllegalAction
from fairplay.core.game import Game, Moment, Ranking, Seat
from fairplay.games.fish import sheet
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.pieces import COLOURS, MOST_FISH, Position, penguins_each
from fairplay.games.fish.state import Stage, State, View, leave, move, place, settle, state_of

Side = Annotated[int, msgspec.Meta(ge=1, le=100)]


class Fish(Game[State, View, Action], frozen=True, forbid_unknown_fields=True):
    """Penguins collect fish on ice that melts behind them."""

    name: ClassVar[str] = "fish"
    version: ClassVar[str] = "1"
    seats: ClassVar[range] = range(2, 5)
    youngest_first: ClassVar[bool] = True
    action: ClassVar[Any] = Action

    rows: Side = 8
    columns: Side = 8
    fish: Literal["random"] | Annotated[int, msgspec.Meta(ge=1, le=MOST_FISH)] = "random"  # on each tile
    holes: Literal["random"] | Annotated[int, msgspec.Meta(ge=0)] = 0  # from the start
    colours: Literal["fixed", "random"] = "fixed"
    cramped: bool = False  # allow a board that is too small for all penguins

    def deal(self, seats: int, seed: bytes) -> State:
        """§1.1, §1.2, §2.1, §2.2: a board, and players without penguins."""
        lots = Lots(seed)
        cells = self.rows * self.columns
        spare = cells - seats * penguins_each(seats)
        if spare < (0 if self.holes == "random" else self.holes) and not self.cramped:
            raise BadRequest(
                f"a board of {self.rows} x {self.columns} with {self.holes} holes is too small for "
                f"{seats} players with {penguins_each(seats)} penguins each"
            )
        fish = [lots.below(MOST_FISH) + 1 if self.fish == "random" else self.fish for _ in range(cells)]
        holes = lots.below(max(spare, 0) + 1) if self.holes == "random" else min(self.holes, cells)
        for cell in lots.sample(cells, holes):
            fish[cell] = 0
        colours = list(COLOURS)
        if self.colours == "random":
            lots.shuffle(colours)
        board = [fish[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]
        return state_of(board, [()] * seats, stage=Stage.PLACING, each=penguins_each(seats), colours=colours)

    def turn(self, state: State) -> Seat | None:
        """§2.3, §5.1: whoever is first in the order, until nobody can move."""
        return None if state.stage is Stage.DONE else state.order[0]

    def order(self, state: State) -> tuple[Seat, ...]:
        """§2.3: one after the other, whoever leaves."""
        return state.order

    def view(self, state: State, seat: Seat | None) -> View:
        """§2.4: everything is public."""
        return View(seat, state)

    def actions(self, view: View) -> Iterator[Action]:
        """§3 and §4: every free tile, or every line of every penguin."""
        state = view.state
        if view.seat is None or view.seat != self.turn(state):
            return iter(())
        if state.stage is Stage.PLACING:
            return state.grid.places(state.free)
        return state.grid.moves(state.penguins[view.seat], state.free)

    def check(self, view: View, action: Action) -> None:
        """§2.3, §3 and §4."""
        state = view.state
        if view.seat is None or self.turn(state) != view.seat:
            raise IllegalAction("2.3", "it is not your turn")
        match action:
            case Move(start, to):
                check_move(state, view.seat, start, to)
            case Place(at):
                check_place(state, at)

    def apply(self, state: State, action: Action) -> State:
        """§3.1, §4.4: then the next seat that can act is on turn."""
        columns = state.grid.columns
        if isinstance(action, Move):  # not `match`, which takes three times as long to take positions apart
            row, column = action.start
            to_row, to_column = action.to
            return settle(move(state, row * columns + column, to_row * columns + to_column))
        row, column = action.at
        return settle(place(state, row * columns + column))

    def eject(self, state: State, seat: Seat, moment: Moment) -> State:
        """§6: whatever the moment."""
        return settle(leave(state, seat))

    def ranking(self, state: State) -> Ranking:
        """§5.2, §5.3: by fish, those who are still in."""
        best_first = sorted(state.order, key=lambda seat: -state.scores[seat])
        return tuple(frozenset(group) for _, group in groupby(best_first, key=lambda seat: state.scores[seat]))

    def pack(self, view: View) -> Any:
        """A view as plain JSON: the state's sheet with the seat on it."""
        return {"seat": view.seat, **sheet.write(view.state)}

    def unpack(self, plain: Any) -> View:
        """The view of a sheet."""
        page = sheet.read(plain)
        return View(page.seat, sheet.state_on(page))

    def pack_state(self, state: State) -> Any:
        """A state as a sheet of plain JSON."""
        return sheet.write(state)

    def unpack_state(self, plain: Any) -> State:
        """The state of a sheet."""
        return sheet.state_on(sheet.read(plain))


def check_place(state: State, at: Position) -> None:
    """§3: may the seat on turn put a penguin there?"""
    if state.stage is not Stage.PLACING:
        raise IllegalAction("4.5", "all penguins are placed, so one of them has to move")
    if not state.free:
        raise IllegalAction("3.5", "no legal option: there is no free tile left")
    cell = state.grid.cell(at)
    if cell is None or not state.fish_at(cell):
        raise IllegalAction("3.2", f"there is no tile at {list(at)}")
    if not state.free >> cell & 1:
        raise IllegalAction("3.3", f"a penguin stands at {list(at)} already")


def check_move(state: State, seat: Seat, start: Position, to: Position) -> None:
    """§4: may this seat move a penguin like that?"""
    if state.stage is not Stage.PLAYING:
        raise IllegalAction("3.4", "penguins do not move before all of them are placed")
    cell, target = state.grid.cell(start), state.grid.cell(to)
    if cell is None or cell not in state.penguins[seat]:
        raise IllegalAction("4.1", f"there is no penguin of yours at {list(start)}")
    path = 0 if target is None else state.grid.path(cell, target)
    if not path:
        raise IllegalAction("4.2", f"no straight line leads from {list(start)} to {list(to)}")
    if path & ~state.free:
        raise IllegalAction("4.3", f"a hole or a penguin is in the way from {list(start)} to {list(to)}")
