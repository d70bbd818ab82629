"""Set up positions of Tsuro for pictures of them."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fairplay.core.game import Moment, Seat
from fairplay.games.tsuro import Lay, Place, Stage, State, Table, Tsuro, View
from fairplay.games.tsuro.board import EMPTY, OUT, grid
from fairplay.games.tsuro.pieces import COLOURS, PORTS, Square, code_of
from fairplay.games.tsuro.state import STILL_IN

SEED = bytes(range(32))
STRAIGHT = 2  # every path leads straight over
CORNERS = 4  # every path goes round the nearest corner
HOSTILE = (
    "</text><script>alert(1)</script>",
    "\x00\x1b]0;title\x07\x1b[31m\x9b2J",
    "\"'&\ud800\uffff\u202eevil",
    "a\nb\tc",
    "\r\x08\x7f\u2028",
)

SMALL = Tsuro(size=4, tiles=(STRAIGHT,) * 15 + (0, 12))
SMALL_ACTIONS = (
    Place(STRAIGHT, 0, "C", (0, 0)),
    Place(STRAIGHT, 0, "G", (3, 2)),
    Place(STRAIGHT, 0, "A", (1, 3)),
    Lay(STRAIGHT, 0),
    Lay(STRAIGHT, 0),
    Lay(STRAIGHT, 0),
)


def small_match_state(actions: Sequence[Lay | Place] = SMALL_ACTIONS) -> State:
    """Three players after a round, with tiles that are straight."""
    state = SMALL.deal(3, SEED)
    for action in actions:
        SMALL.check(SMALL.view(state, SMALL.turn(state)), action)
        state = SMALL.apply(state, action)
    return state


def play_random_steps(steps: int, *, seats: int = 4, size: int = 10, lot: int = 1) -> State:
    """A match at random; whoever has no legal option is ejected."""
    game, lots = Tsuro(size=size), random.Random(lot)
    state = game.deal(seats, bytes([lot] * 32))
    for _ in range(steps):
        seat = game.turn(state)
        if seat is None:
            break
        actions = list(game.actions(game.view(state, seat)))
        state = game.apply(state, lots.choice(actions)) if actions else game.eject(state, seat, Moment.TURN)
    return state


def make_view(state: State, seat: Seat | None = None) -> View:
    """What a seat sees, or spectators do."""
    return Tsuro().view(state, seat)


class AvatarPosition(NamedTuple):
    """Where an avatar started and where it is, each as x, y and the port."""

    start: tuple[int, int, str]
    avatar: tuple[int, int, str] | None
    fell: int = STILL_IN


def make_spectator_view(
    tiles: Mapping[Square, int], *players: AvatarPosition, size: int = 4, stage: Stage = Stage.PLAYING, round: int = 1
) -> View:
    """What spectators see of such a table; whoever has an avatar waits for its turn."""
    tables = grid(size)
    board = bytes(code_of(tiles[at], 0) if at in tiles else EMPTY for at in tables.squares)
    waiting = [seat for seat, player in enumerate(players) if player.avatar] if stage is Stage.PLAYING else []

    def spot(at: tuple[int, int, str] | None) -> int:
        return 8 * (at[1] * size + at[0]) + PORTS.index(at[2]) if at else OUT

    table = Table(
        tables,
        board,
        tuple(spot(player.avatar) for player in players),
        tuple(spot(player.start) for player in players),
        stage,
        round,
        tuple(waiting),
        tuple(player.fell for player in players),
        COLOURS[: len(players)],
    )
    return View(None, table, ())


STRAIGHT_ROW = {(0, 0): STRAIGHT, (1, 0): STRAIGHT, (2, 0): STRAIGHT}

# Black came from the east and went off in the west, white the other way round as far as there are tiles.
MEETING_AVATARS = make_spectator_view(
    STRAIGHT_ROW,
    AvatarPosition((0, 0, "C"), (2, 0, "C")),
    AvatarPosition((2, 0, "H"), None, fell=1),
    AvatarPosition((1, 0, "F"), (1, 0, "F")),
)
