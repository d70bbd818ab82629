"""Make illegal actions, one for each clause of the rules that an action can break."""

from collections.abc import Mapping

from fairplay.core.roles import Cheat
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.board import OUT
from fairplay.games.tsuro.pieces import PORTS, TILES
from fairplay.games.tsuro.rules import FINE, LOOP, SUICIDE, Kind, is_free, kind_of, options_of
from fairplay.games.tsuro.state import PLACING
from fairplay.games.tsuro.view import View

FAR = (10**6, -(10**6))


def place_far_away(view: View) -> Action | None:
    """§3.3: the first tile off the board."""
    return Place(view.dealt[0], 0, "A", FAR) if fine_place(view) else None


def lay_first(view: View) -> Action | None:
    """§3.1: the first tile without an avatar."""
    return Lay(view.dealt[0], 0) if is_placing(view) else None


def place_undealt(view: View) -> Action | None:
    """§3.2: a first tile that was not dealt, on a legal square."""
    found = fine_place(view)
    return None if found is None else Place(undealt_tile(view), found.degrees, found.port, found.at)


def place_inside(view: View) -> Action | None:
    """§3.3: the first tile in the middle of the board."""
    return Place(view.dealt[0], 0, "C", (1, 1)) if fine_place(view) else None


def place_beside_a_tile(view: View) -> Action | None:
    """§3.3: the first tile on a square of the rim that is taken, or beside one."""
    grid = view.table.grid
    taken = next((square for square in grid.rim if not is_free(view, square)), None)
    if taken is None or not fine_place(view):
        return None
    port = next(port for port in PORTS if grid.ahead[8 * taken + PORTS.index(port)] != OUT)
    return Place(view.dealt[0], 0, port, grid.squares[taken])  # type: ignore[arg-type]  # a letter of PORTS


def face_outside(view: View) -> Action | None:
    """§3.4: the avatar on a port at the rim."""
    found, grid = fine_place(view), view.table.grid
    if found is None:
        return None
    square = grid.square(found.at) or 0
    port = next(port for port in PORTS if grid.ahead[8 * square + PORTS.index(port)] == OUT)
    return Place(found.tile, 0, port, found.at)  # type: ignore[arg-type]  # a letter of PORTS


def place_again(view: View) -> Action | None:
    """§4.1: one more first tile."""
    return None if is_placing(view) else Place(view.dealt[0], 0, "C", (0, 0))


def lay_undealt(view: View) -> Action | None:
    """§4.2: a tile that was not dealt."""
    return None if is_placing(view) else Lay(undealt_tile(view), 0)


def lay_loop(view: View) -> Action | None:
    """§4.3: a tile that sends an avatar into an endless loop, although there is another choice."""
    return option_of(view, LOOP)


def lay_suicide(view: View) -> Action | None:
    """§4.4: a tile that drives the player off the board, although there is another choice."""
    return option_of(view, SUICIDE)


def is_placing(view: View) -> bool:
    """Is the first tile to be placed?"""
    return view.table.stage is PLACING


def fine_place(view: View) -> Place | None:
    """A first placement that is legal."""
    free = (square for square in view.table.grid.rim if is_placing(view) and is_free(view, square))
    grid = view.table.grid
    for square in free:
        port = next(port for port in PORTS if grid.ahead[8 * square + PORTS.index(port)] != OUT)
        return Place(view.dealt[0], 0, port, grid.squares[square])  # type: ignore[arg-type]  # a letter of PORTS
    return None


def undealt_tile(view: View) -> int:
    """A tile that was not dealt."""
    return next(tile for tile in range(TILES) if tile not in view.dealt)


def option_of(view: View, kind: Kind) -> Lay | None:
    """A way of this kind to lay a dealt tile, if another way is fine."""
    if is_placing(view):
        return None
    kinds = {option: kind_of(view, option) for option in options_of(view.dealt)}
    return next((option for option, is_ in kinds.items() if is_ is kind), None) if FINE in kinds.values() else None


CHEATS: Mapping[str, Cheat] = {
    "places far away in tsuro": place_far_away,
    "lays the first tile": lay_first,
    "places a tile not dealt": place_undealt,
    "places inside": place_inside,
    "places beside a tile": place_beside_a_tile,
    "faces outside": face_outside,
    "places again": place_again,
    "lays a tile not dealt": lay_undealt,
    "sends an avatar into a loop": lay_loop,
    "drives itself off": lay_suicide,
}
RARE_CHEATS = frozenset(
    {"places beside a tile", "sends an avatar into a loop"}
)  # impossible for the first player, and in most positions
