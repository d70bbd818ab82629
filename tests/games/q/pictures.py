"""Set up positions of Q for pictures of them."""

import random
from itertools import islice

from fairplay.core.game import Seat
from fairplay.games.q import Pass, Q, State, View
from fairplay.games.q.board import Map, map_of
from fairplay.games.q.pieces import KINDS
from fairplay.games.q.state import Tiles

GAME = Q()
HOSTILE = (
    "</text><script>alert(1)</script>",
    "\x00\x1b]0;title\x07\x1b[31m\x9b2J",
    "\"'&\ud800\uffff\u202eevil",
    "a\nb\tc",
)
MAX_COORDINATE = 2**31 - 1  # no place is further away


def tile_kinds(*names: str) -> Tiles:
    """Tiles by their names."""
    return tuple(KINDS[name] for name in names)


def parse_map(**rows: str) -> Map:
    """A map from `r0="0 red star, 1 red circle"`; m is a minus in the number of a row."""
    placed = []
    for row, line in rows.items():
        for tile in line.split(","):
            column, name = tile.strip().split(" ", 1)
            placed.append(((int(row[1:].replace("m", "-")), int(column)), KINDS[name]))
    return map_of(placed)


SMALL_VIEW = View(
    seat=1,
    map=parse_map(rm1="0 purple clover", r0="-1 red star, 0 red clover, 1 red 8star", r1="1 blue 8star"),
    kinds=tile_kinds("yellow square", "green diamond", "orange circle"),
    order=(1, 3, 0),
    points=(12, 1, 104),
    left=1041,
)
DISCONNECTED_MAP = map_of(
    [((0, 0), 0), ((1, 0), 1), ((-3, MAX_COORDINATE), 2), ((-MAX_COORDINATE - 1, -MAX_COORDINATE - 1), 3)]
)


def make_view(shown: Map, *, seat: Seat | None = None, hand: Tiles = (), done: bool = False) -> View:
    """What is seen of a map by three players."""
    return View(seat, shown, hand, order=(2, 0, 1), points=(7, 9, 9), left=20, done=done)


def random_map(count: int, lot: int = 1) -> Map:
    """A map of so many tiles, each of which fits."""
    lots = random.Random(lot)
    shown = map_of([((0, 0), lots.randrange(36))])
    while len(shown.tiles) < count:
        cell, fits = lots.choice([place for place in sorted(shown.frontier.items()) if place[1]])
        shown = shown.with_tiles([(cell, lots.choice([kind for kind in range(36) if fits >> kind & 1]))])
    return shown


def row_map(count: int) -> Map:
    """A map of one row."""
    return map_of([((0, column - count // 2), 0) for column in range(count)])


def column_map(count: int) -> Map:
    """A map of one column."""
    return map_of([((row - count // 2, 0), 0) for row in range(count)])


def play_random_steps(steps: int, *, seats: int = 3, lot: int = 1) -> State:
    """A match at random."""
    state, lots = GAME.deal(seats, bytes([lot] * 32)), random.Random(lot)
    for _ in range(steps):
        seat = GAME.turn(state)
        if seat is None:
            break
        actions = list(islice(GAME.actions(GAME.view(state, seat)), 2, 60))
        state = GAME.apply(state, lots.choice(actions) if actions else Pass())
    return state
