"""Make illegal actions, one for each clause of the rules that an action can break."""

from collections.abc import Iterator, Mapping

from fairplay.core.roles import Cheat
from fairplay.games.fish.actions import Action, Move, Place
from fairplay.games.fish.board import cells
from fairplay.games.fish.state import PLACING
from fairplay.games.fish.view import View

FAR = (10**6, -(10**6))


def place_off_the_board(view: View) -> Action | None:
    """§3.2: a penguin off the board."""
    return Place(FAR) if view.state.stage is PLACING and view.state.free else None


def place_on_a_penguin(view: View) -> Action | None:
    """§3.3: a penguin where another one stands."""
    state = view.state
    taken = [cell for penguins in state.penguins for cell in penguins]
    if state.stage is not PLACING or not taken or not state.free:
        return None
    return Place(state.grid.positions[taken[0]])


def move_too_soon(view: View) -> Action | None:
    """§3.4: a move before all penguins are placed."""
    state = view.state
    placing = state.stage is PLACING and state.free
    return Move(state.grid.positions[0], state.grid.positions[-1]) if placing else None


def move_of_another(view: View) -> Action | None:
    """§4.1: a move that would be legal for another player."""
    state = view.state
    if state.stage is PLACING:
        return None
    others = (cell for seat, penguins in enumerate(state.penguins) if seat != view.seat for cell in penguins)
    return next(iter(state.grid.moves(others, state.free)), None)


def bent_move(view: View) -> Action | None:
    """§4.2: a move to a free tile that is on no line."""
    path, free = view.state.grid.path, view.state.free
    return next((move for start, to, move in leaps(view) if not path(start, to) and free >> to & 1), None)


def null_move(view: View) -> Action | None:
    """§4.2: a move to the tile where the penguin stands."""
    return next((move for start, to, move in leaps(view) if start == to), None)


def move_through_a_penguin(view: View) -> Action | None:
    """§4.3: a move over a penguin to a free tile."""
    return next((move for move, blocks in jumps(view) if any(map(view.state.fish_at, blocks))), None)


def move_through_a_hole(view: View) -> Action | None:
    """§4.3: a move over a hole to a free tile."""
    return next((move for move, blocks in jumps(view) if not all(map(view.state.fish_at, blocks))), None)


def move_into_a_hole(view: View) -> Action | None:
    """§4.3: a move that ends on a hole."""
    path, fish_at = view.state.grid.path, view.state.fish_at
    return next((move for start, to, move in leaps(view) if path(start, to) and not fish_at(to)), None)


def place_too_late(view: View) -> Action | None:
    """§4.5: one more penguin after all are placed."""
    state = view.state
    return None if state.stage is PLACING else next(state.grid.places(state.free), None)


def leaps(view: View) -> Iterator[tuple[int, int, Move]]:
    """Every pair of a penguin of this seat and a cell, as a move."""
    state, places = view.state, view.state.grid.positions
    if view.seat is not None and state.stage is not PLACING:
        for start in state.penguins[view.seat]:
            yield from ((start, to, Move(places[start], places[to])) for to in range(len(places)))


def jumps(view: View) -> Iterator[tuple[Move, list[int]]]:
    """Moves along a line to a free tile, and the cells on the way that are not free."""
    state = view.state
    for start, to, move in leaps(view):
        blocked = state.grid.path(start, to) & ~state.free
        if blocked and state.free >> to & 1:
            yield move, list(cells(blocked))


CHEATS: Mapping[str, Cheat] = {
    "places far away in fish": place_off_the_board,
    "places on a penguin": place_on_a_penguin,
    "moves too soon": move_too_soon,
    "moves another's penguin": move_of_another,
    "moves off the lines": bent_move,
    "moves nowhere": null_move,
    "moves through a penguin": move_through_a_penguin,
    "moves through a hole": move_through_a_hole,
    "moves into a hole": move_into_a_hole,
    "places too late": place_too_late,
}
