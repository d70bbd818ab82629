"""Check actions of Tsuro: the rule checker, which variants may replace."""

from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import chain

import msgspec

from fairplay.core.errors import IllegalAction
from fairplay.games.tsuro.actions import Lay, Place
from fairplay.games.tsuro.board import EMPTY, OUT, Prospect, dangers, grid, prospect
from fairplay.games.tsuro.pieces import CODES, DEGREES, PORTS, TILES, code_of
from fairplay.games.tsuro.view import View


class Kind(Enum):
    """The effect of an option for the player that lays the tile."""

    FINE = "fine"
    SUICIDE = "suicide"  # its own avatar leaves the board
    LOOP = "loop"  # an avatar loops endlessly


FINE, SUICIDE, LOOP = Kind

LAYS = tuple(tuple(Lay(tile, degrees) for degrees in DEGREES) for tile in range(TILES))  # type: ignore[arg-type]  # all of DEGREES are Degrees


class Rules(msgspec.Struct, frozen=True):
    """The rules of the rule book. A variant overrides what it changes.

    `lays` and `places` list exactly what `check_lay` and `check_place` accept.
    """

    def lays(self, view: View) -> list[Lay]:
        """The legal options of the player on turn (§4.2, §4.3, §4.4)."""
        table, options = view.table, options_of(view.dealt)
        found = dangers(table.grid.size, table.board, table.avatars, table.waiting[0], codes_of(view.dealt))
        if 0 in found:
            return [option for option, danger in zip(options, found, strict=True) if not danger]
        return list(options) if len(set(found)) == 1 else []  # §4.5: between loops and suicides there is no choice

    def check_lay(self, view: View, lay: Lay) -> None:
        """May the player on turn lay this tile? Raises IllegalAction."""
        if lay.tile not in view.dealt:
            raise IllegalAction("4.2", "this tile was not dealt to you")  # the reason is public, the number is not
        kind = kind_of(view, lay)
        if kind is FINE:
            return
        kinds = {kind_of(view, option) for option in options_of(view.dealt)}
        if FINE in kinds:
            clause, what = ("4.3", "sends an avatar into a loop") if kind is LOOP else ("4.4", "drives you off")
            raise IllegalAction(clause, f"this {what}, and there is another choice")
        if len(kinds) > 1:
            raise IllegalAction("4.5", "no legal option: some of your choices are loops, all others suicides")

    def places(self, view: View) -> Iterator[Place]:
        """The legal first placements of the player on turn (§3.2, §3.3, §3.4)."""
        tiles = sorted(set(view.dealt))
        size = view.table.grid.size
        free = (square for square in view.table.grid.rim if is_free(view, square))
        return chain.from_iterable(places_at(size, tile, square) for square in free for tile in tiles)

    def check_place(self, view: View, place: Place) -> None:
        """May the player on turn place this tile and avatar there? Raises IllegalAction."""
        grid = view.table.grid
        if place.tile not in view.dealt:
            raise IllegalAction("3.2", "this tile was not dealt to you")
        if not any(is_free(view, square) for square in grid.rim):
            raise IllegalAction("3.6", "no legal option: no square at the edge is left")
        square = grid.square(place.at)
        if square is None or square not in grid.rim:
            raise IllegalAction("3.3", f"{list(place.at)} is not at the edge of the board")
        if not is_free(view, square):
            raise IllegalAction("3.3", f"{list(place.at)} or a square beside it is taken")
        if grid.ahead[8 * square + PORTS.index(place.port)] == OUT:
            raise IllegalAction("3.4", f"port {place.port} at {list(place.at)} faces off the board")


STANDARD = Rules()


def options_of(dealt: tuple[int, ...]) -> tuple[Lay, ...]:
    """The ways to lay one of these tiles."""
    one, other = dealt
    return LAYS[one] if one == other else LAYS[one] + LAYS[other]


@cache
def codes_of(dealt: tuple[int, ...]) -> tuple[int, ...]:
    """The codes of the tiles as they would lie, one for each option."""
    return tuple(code_of(option.tile, option.degrees) for option in options_of(dealt))


@cache
def places_at(size: int, tile: int, square: int) -> tuple[Place, ...]:
    """The ways to place a tile on a square of the rim; the avatar faces a square of the board."""
    tables = grid(size)
    ports = [PORTS[port] for port in range(8) if tables.ahead[8 * square + port] != OUT]
    at = tables.squares[square]
    return tuple(Place(tile, degrees, port, at) for degrees in DEGREES for port in ports)  # type: ignore[arg-type]


def prospect_of(view: View, lay: Lay) -> Prospect:
    """The prospect of an option of the player on turn."""
    table = view.table
    square = table.grid.ahead[table.avatars[table.waiting[0]]] >> 3
    return prospect(table.grid.size, table.board, table.avatars, square, CODES[4 * lay.tile + lay.degrees // 90])


def kind_of(view: View, lay: Lay) -> Kind:
    """The kind of an option of the player on turn."""
    what = prospect_of(view, lay)
    if what.looping:
        return LOOP
    return SUICIDE if what.avatars[view.table.waiting[0]] == OUT else FINE


def is_free(view: View, square: int) -> bool:
    """Is there no tile on this square, nor beside it? Corners may touch."""
    board = view.table.board
    return board[square] == EMPTY and all(board[other] == EMPTY for other in view.table.grid.beside[square])
