"""Define positions of Tsuro for tests and pictures, by name."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from fairplay.core.game import Seat
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.pieces import COLOURS, TILES
from fairplay.games.tsuro.state import State

Spot = tuple[int, int, str]  # x, y and the port

STRAIGHT, CORNERS, BACK = 2, 4, 34  # tiles: straight across; around the nearest corner; back to the same side

QUICK: Mapping[str, int] = {"size": 5}


def game_for_state(game: Tsuro, state: State) -> Tsuro:
    """The game on a board as large as the state's."""
    return replace(game, size=state.table.grid.size)


def position(
    tiles: Mapping[tuple[int, int], int],
    avatars: Sequence[Spot | None],
    dealt: Sequence[int],
    *,
    waiting: Sequence[Seat] | None = None,
) -> State:
    """Tiles by their squares, all at 0 degrees; avatars by seat. A seat without one fell in the first round."""
    return Tsuro().unpack_state(
        {
            "size": 10,
            "stage": "playing",
            "round": 2,
            "waiting": [seat for seat, spot in enumerate(avatars) if spot] if waiting is None else list(waiting),
            "players": [
                {"colour": colour, "avatar": spot, "start": spot, "fell": 0 if spot else 1}
                for colour, spot in zip(COLOURS, avatars, strict=False)
            ],
            "tiles": [{"tile": tile, "degrees": 0, "at": list(at)} for at, tile in tiles.items()],
            "source": [*dealt, *range(TILES)],
            "drawn": 0,
        }
    )


def corner_position(tile: int, *dealt: int) -> State:
    """White stands on this tile in the corner and faces south, along the edge; black and red are far away."""
    return position({(0, 0): tile, (5, 5): STRAIGHT, (8, 8): STRAIGHT}, [(0, 0, "F"), (5, 5, "A"), (8, 8, "A")], dealt)


EXAMPLES: Mapping[str, State] = {
    # The board is empty.
    "start": Tsuro().deal(3, bytes(32)),
    # White may lay the straight tile, but not the other, which would lead it off the board.
    "a choice": corner_position(STRAIGHT, STRAIGHT, CORNERS),
    # Both tiles lead white off the board.
    "forced suicide": corner_position(STRAIGHT, CORNERS, CORNERS),
    # Both tiles send white into an endless loop.
    "forced loop": corner_position(BACK, BACK, BACK),
    # One tile sends white into an endless loop, the other leads it off the board: no action is legal.
    "no legal option": corner_position(BACK, BACK, CORNERS),
    # White and black stand on the same port, and move together from now on.
    "together": position({(1, 1): STRAIGHT, (8, 8): STRAIGHT}, [(1, 1, "C"), (1, 1, "C"), (8, 8, "A")], (0, 1)),
    # White was led off before; black is the last one left, and still has its turn in this round.
    "the last one": position({(1, 1): STRAIGHT}, [None, (1, 1, "C"), None], (0, 1)),
}
