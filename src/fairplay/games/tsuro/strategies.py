"""Define the built-in players of Tsuro: first, second, third, random, survivor, careless and foresight."""

from functools import cache
from hashlib import sha256

import msgspec

from fairplay.core.roles import BuiltInPlayer, Strategy, built_in_player, built_in_player_with_number
from fairplay.games.tsuro.actions import Action, Lay, Place
from fairplay.games.tsuro.board import OUT, Grid
from fairplay.games.tsuro.kernel import best_future, best_lay
from fairplay.games.tsuro.pieces import PORTS
from fairplay.games.tsuro.rules import FINE, LAYS, STANDARD, is_free, kind_of, options_of, places_at
from fairplay.games.tsuro.state import PLACING
from fairplay.games.tsuro.view import View

Pathfinder = Strategy[View, Action]

NODES = range(1, 100_001)  # tiles that foresight may lay in the playouts of a turn
DEFAULT_NODES = 20_000
CARELESSNESS = range(1, 100)  # random turns in a hundred
DEFAULT_CARELESSNESS = 50
BACKWARDS = "AHGFEDCB"  # the ports counter-clockwise


def first(view: View) -> Action:
    """Place the third tile on the first free square, clockwise; then lay the first tile at 0 degrees, legal or not."""
    return place_along(view, clockwise(view.table.grid), PORTS) if is_placing(view) else LAYS[view.dealt[0]][0]


def second(view: View) -> Action:
    """Place like first; then the first legal option."""
    return place_along(view, clockwise(view.table.grid), PORTS) if is_placing(view) else first_legal(view, view.dealt)


def third(view: View) -> Action:
    """Place like first, but counter-clockwise; then the first legal option, beginning with the second tile."""
    if is_placing(view):
        return place_along(view, counter_clockwise(view.table.grid), BACKWARDS)
    return first_legal(view, view.dealt[::-1])


def is_placing(view: View) -> bool:
    """Is the first tile to be placed?"""
    return view.table.stage is PLACING


def place_along(view: View, way: tuple[int, ...], ports: str) -> Place:
    """The third tile on the first free square along the way, and the first port that faces the board.

    If no square is free, it is the last one of the way, and the referee ejects for it.
    """
    grid = view.table.grid
    square = next((square for square in way if is_free(view, square)), way[-1])
    port = next(port for port in ports if grid.ahead[8 * square + PORTS.index(port)] != OUT)
    return Place(view.dealt[2], 0, port, grid.squares[square])  # type: ignore[arg-type]  # all of ports are Ports


@cache
def clockwise(grid: Grid) -> tuple[int, ...]:
    """The squares of the rim from the one beside the top left corner, which comes last."""
    size, end = grid.size, grid.size - 1
    north, east = range(1, size), range(size + end, size * size, size)
    south, west = range(size * size - 2, size * end - 1, -1), range(size * (end - 1), -1, -size)
    return (*north, *east, *south, *west)


@cache
def counter_clockwise(grid: Grid) -> tuple[int, ...]:
    """The squares of the rim counter-clockwise: the clockwise way in a mirror."""
    return tuple(square % grid.size * grid.size + square // grid.size for square in clockwise(grid))


def first_legal(view: View, dealt: tuple[int, ...]) -> Lay:
    """The first legal option, tile by tile; if there is none, the first of all."""
    for option in options_of(dealt):
        if kind_of(view, option) is FINE:
            return option
    return LAYS[dealt[0]][0]  # §4.3 to §4.5: without a fine one, either all are legal or none is


def random_strategy(key: bytes) -> Pathfinder:
    """Any legal action, each as likely as the others; the same key draws the same in the same position."""

    def choose(view: View) -> Action:
        # A seat acts once a round, so board and tiles differ between its turns.
        lot = int.from_bytes(sha256(key + bytes(view.dealt) + view.table.board).digest(), "big")
        if is_placing(view):
            return random_placement(lot, view)
        options = STANDARD.lays(view) or LAYS[view.dealt[0]]
        return options[lot * len(options) >> 256]

    return choose


def random_placement(lot: int, view: View) -> Place:
    """One of all placements, found without listing them: each square has the same ones for each of the tiles."""
    tiles, grid = sorted(set(view.dealt)), view.table.grid
    groups = [places_at(grid.size, tiles[0], square) for square in grid.rim if is_free(view, square)]
    number, tile = divmod(lot * len(tiles) * sum(map(len, groups)) >> 256, len(tiles))
    for places in groups:
        if number < len(places):
            return msgspec.structs.replace(places[number], tile=tiles[tile])
        number -= len(places)
    return place_along(view, clockwise(grid), PORTS)  # no square is free


def survivor(view: View) -> Action:
    """Place towards the middle; then the legal option that leaves the most room."""
    if is_placing(view):
        return place_inwards(view)
    return best_lay(view) or LAYS[view.dealt[0]][0]


def place_inwards(view: View) -> Place:
    """The first tile where its avatar faces nearest to the middle, and of such squares farthest from the others."""
    table, grid, end = view.table, view.table.grid, view.table.grid.size - 1
    others = [grid.squares[spot >> 3] for spot in table.avatars if spot != OUT]

    def merit(spot: int) -> tuple[int, int]:
        x, y = grid.squares[grid.ahead[spot] >> 3]
        apart = min((abs(x - left) + abs(y - top) for left, top in others), default=0)
        return -abs(2 * x - end) - abs(2 * y - end), apart

    spots = [8 * square + port for square in grid.rim if is_free(view, square) for port in range(8)]
    best = max((spot for spot in spots if grid.ahead[spot] != OUT), key=merit, default=None)
    if best is None:
        return place_along(view, clockwise(grid), PORTS)
    at, letter = grid.place(best)
    return Place(view.dealt[0], 0, letter, at)  # type: ignore[arg-type]  # a letter of PORTS is a Port


def careless(turns: int, key: bytes) -> Pathfinder:
    """Like survivor, but at random in so many turns of a hundred."""
    at_random = random_strategy(key)

    def choose(view: View) -> Action:
        lot = sha256(b"care" + key + bytes(view.dealt) + view.table.board).digest()
        return (at_random if int.from_bytes(lot, "big") * 100 >> 256 < turns else survivor)(view)

    return choose


def foresight(nodes: int, key: bytes) -> Pathfinder:
    """Place towards the middle; then the legal option with the best results in playouts."""

    def choose(view: View) -> Action:
        if is_placing(view):
            return place_inwards(view)
        seed = sha256(key + bytes(view.dealt) + view.table.board).digest()
        return best_future(view, nodes, seed) or LAYS[view.dealt[0]][0]

    return choose


BUILT_IN: dict[str, BuiltInPlayer] = {
    "first": built_in_player("first", "the course's first: the first tile unrotated, legal or not", lambda key: first),
    "second": built_in_player("second", "the course's second: the first legal option", lambda key: second),
    "third": built_in_player("third", "the course's third: like second, the second tile first", lambda key: third),
    "random": built_in_player("random", "any legal action, drawn from the seat's own key", random_strategy),
    "survivor": built_in_player("survivor", "the option that leaves the most room", lambda key: survivor),
    "careless": built_in_player_with_number(
        "careless",
        "like survivor, but at random in N turns of a hundred",
        "plays {} turns of a hundred at random",
        CARELESSNESS,
        DEFAULT_CARELESSNESS,
        careless,
    ),
    "foresight": built_in_player_with_number(
        "foresight",
        "the option with the best results after N tiles are laid in playouts",
        "lays {} tiles in playouts",
        NODES,
        DEFAULT_NODES,
        foresight,
        is_slow=True,
    ),
}
LADDER = ("third", "careless:78", "careless:44", "survivor", "foresight")  # the weakest first
