"""Convert the course's JSON of Fish: boards, states and actions, to and from ours."""

from typing import Annotated, Any, Literal

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.games.fish.actions import Move
from fairplay.games.fish.pieces import COLOURS, MAX_FISH, MAX_SIDE, Position
from fairplay.games.fish.state import Stage, State, state_of

Row = Annotated[tuple[Annotated[int, msgspec.Meta(ge=0, le=MAX_FISH)], ...], msgspec.Meta(max_length=MAX_SIDE)]
Board = Annotated[tuple[Row, ...], msgspec.Meta(max_length=MAX_SIDE)]  # 0: a hole; rows may differ in length
Colour = Literal["red", "white", "brown", "black"]


class CoursePlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player and its penguins, in order."""

    color: Colour
    score: Annotated[int, msgspec.Meta(ge=0)]
    places: tuple[Position, ...]


class CourseState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position; the players are in turn order, the one on turn first."""

    players: Annotated[tuple[CoursePlayer, ...], msgspec.Meta(max_length=len(COLOURS))]
    board: Board


def pad_rows(board: Board) -> list[list[int]]:
    """A board with all rows padded with holes to the longest."""
    width = max(map(len, board), default=0)
    if not width:
        raise BadRequest("not a board of Fish: there is no place on it")
    return [[*row, *[0] * (width - len(row))] for row in board]


def parse_state(course: CourseState) -> State:
    """Parse a position after the placing; the index of a player is its seat.

    The first player is on turn even if it is stuck, as in the tree.
    """
    rows = pad_rows(course.board)
    taken: set[Position] = set()
    for player in course.players:
        for place in player.places:
            row, column = place
            if not (0 <= row < len(rows) and 0 <= column < len(rows[0]) and rows[row][column]):
                raise BadRequest(f"not a state of Fish: there is no tile for the penguin at {list(place)}")
            if place in taken:
                raise BadRequest(f"not a state of Fish: two penguins stand at {list(place)}")
            taken.add(place)
    state = state_of(
        rows,
        [player.places for player in course.players],
        scores=[player.score for player in course.players],
        colours=[player.color for player in course.players],
        each=max((len(player.places) for player in course.players), default=0),
    )
    return msgspec.structs.replace(state, order=tuple(range(len(course.players))), stage=Stage.PLAYING)


def format_state(state: State) -> dict[str, Any]:
    """A position in plain JSON: the players still in, the one on turn first."""
    positions = state.grid.positions
    return {
        "players": [
            {
                "color": state.colours[seat],
                "score": state.scores[seat],
                "places": [[*positions[cell]] for cell in state.penguins[seat]],
            }
            for seat in state.order
        ],
        "board": state.rows(),
    }


def format_action(action: Move | None) -> Any:
    """A move in plain JSON; false: no action."""
    return False if action is None else [list(action.start), list(action.to)]
