"""Convert the course's JSON of Q: maps, states, views and choices, to and from ours."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from fairplay.core.errors import BadRequest
from fairplay.course.formats.frame import IDENTITY_FRAME, Frame, make_frame
from fairplay.games.q.actions import Action, Exchange, Pass, Place, Placement
from fairplay.games.q.board import Map, map_of, position_of
from fairplay.games.q.pieces import KINDS, NAMES
from fairplay.games.q.state import State, Tiles
from fairplay.games.q.view import View

Natural = Annotated[int, Meta(ge=0)]
PASS, REPLACE = "pass", "replace"
TILES_AS_JSON = tuple({"color": colour, "shape": shape} for colour, shape in map(str.split, NAMES))  # by kind


class CourseTile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tile."""

    color: Literal["red", "green", "blue", "yellow", "orange", "purple"]
    shape: Literal["star", "8star", "square", "circle", "clover", "diamond"]


class CourseCoordinate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place on the map; the numbers may be of any size."""

    row: int
    column: int


class CoursePlacement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"tile": "1tile"}):
    """A tile on a place."""

    coordinate: CourseCoordinate
    tile: CourseTile


# A row of the map is an array: its number, then for each tile an array of the column and the tile.
CourseRow = Annotated[tuple[int | tuple[int, CourseTile], ...], Meta(min_length=2)]
CourseMap = Annotated[tuple[CourseRow, ...], Meta(min_length=1)]


class CoursePlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"tiles": "tile*"}):
    """A player with its hand; early editions of the course have no names."""

    score: Natural
    tiles: tuple[CourseTile, ...]
    name: str | UnsetType = UNSET


class CourseState(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"tiles": "tile*"}):
    """A position; the players are in turn order, the one on turn first."""

    map: CourseMap
    players: Annotated[tuple[CoursePlayer, ...], Meta(min_length=1)]
    tiles: tuple[CourseTile, ...]  # the first is drawn next


class CourseView(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"tiles": "tile*"}):
    """The view of a player: itself, then the scores of the others in turn order."""

    map: CourseMap
    players: Annotated[tuple[CoursePlayer | Natural, ...], Meta(min_length=1)]
    tiles: Natural


Choice = Literal["pass", "replace"] | tuple[CoursePlacement, ...]


def frame_for(course: CourseMap, placements: Iterable[CoursePlacement] = ()) -> Frame:
    """The frame for a map and placements on it."""
    placed = ((one.coordinate.row, one.coordinate.column) for one in placements)
    return make_frame([*((row, column) for row, column, _ in _cells(course)), *placed])


def parse_map(course: CourseMap, frame: Frame = IDENTITY_FRAME) -> Map:
    """A map; where two tiles lie on one place, the later one counts."""
    return map_of({frame.to_ours(row, column): parse_kind(tile) for row, column, tile in _cells(course)}.items())


def format_map(shown: Map, frame: Frame = IDENTITY_FRAME) -> list[Any]:
    """A map in plain JSON, by rows and then by columns."""
    rows: dict[int, list[Any]] = {}
    for cell, kind in sorted(shown.tiles.items()):
        row, column = position_of(cell) if frame is IDENTITY_FRAME else frame.to_theirs(position_of(cell))
        rows.setdefault(row, [row]).append([column, TILES_AS_JSON[kind]])
    return list(rows.values())


def parse_state(course: CourseState, frame: Frame = IDENTITY_FRAME) -> State:
    """Parse a position at the start of a round; the index of a player is its seat."""
    seats = len(course.players)
    return State(
        map=parse_map(course.map, frame),
        hands=tuple(parse_kinds(player.tiles) for player in course.players),
        scores=tuple(player.score for player in course.players),
        pile=parse_kinds(course.tiles),
        order=tuple(range(seats)),
        to_act=seats,
    )


def format_state(state: State, names: Sequence[str], frame: Frame = IDENTITY_FRAME) -> dict[str, Any]:
    """A position in plain JSON, without the round: the players still in, the one on turn first."""
    return {
        "map": format_map(state.map, frame),
        "players": [format_player(names[seat], state.scores[seat], state.hands[seat]) for seat in state.order],
        "tile*": [format_tile(kind) for kind in state.pile],
    }


def parse_view(course: CourseView, frame: Frame = IDENTITY_FRAME) -> View:
    """Parse the view of the first player, which is on turn."""
    first, *others = course.players
    if not isinstance(first, CoursePlayer) or any(isinstance(other, CoursePlayer) for other in others):
        raise BadRequest("not a public state of Q: the first player is an object, the others are scores")
    scores = (first.score, *(other for other in others if isinstance(other, int)))
    return View(
        0, parse_map(course.map, frame), parse_kinds(first.tiles), tuple(range(len(scores))), scores, course.tiles
    )


def parse_choice(course: Choice, frame: Frame = IDENTITY_FRAME) -> Action:
    """Parse a choice; an empty list of placements is one too, though illegal."""
    if isinstance(course, str):
        return Pass() if course == PASS else Exchange()
    return Place(
        tuple(
            Placement(NAMES[parse_kind(one.tile)], frame.to_ours(one.coordinate.row, one.coordinate.column))
            for one in course
        )
    )


def format_choice(action: Action, frame: Frame = IDENTITY_FRAME) -> Any:
    """A choice in plain JSON."""
    match action:
        case Pass():
            return PASS
        case Exchange():
            return REPLACE
        case Place(tiles):
            return [
                {"coordinate": format_coordinate(one.at, frame), "1tile": format_tile(KINDS[one.tile])} for one in tiles
            ]


def format_coordinate(position: tuple[int, int], frame: Frame = IDENTITY_FRAME) -> dict[str, int]:
    """A position in plain JSON."""
    row, column = frame.to_theirs(position)
    return {"row": row, "column": column}


def format_player(name: str, score: int, hand: Tiles) -> dict[str, Any]:
    """A player in plain JSON."""
    return {"name": name, "score": score, "tile*": [format_tile(kind) for kind in hand]}


def format_tile(kind: int) -> dict[str, str]:
    """A tile in plain JSON, always the same object, as a turn shows hundreds of them."""
    return TILES_AS_JSON[kind]


def parse_kind(tile: CourseTile) -> int:
    """Our number for a tile."""
    return KINDS[f"{tile.color} {tile.shape}"]


def parse_kinds(tiles: Iterable[CourseTile]) -> Tiles:
    """Our numbers for tiles, in their order."""
    return tuple(parse_kind(tile) for tile in tiles)


def _cells(course: CourseMap) -> Iterable[tuple[int, int, CourseTile]]:
    """Row, column and tile of every cell."""
    for row, *cells in course:
        for cell in cells:
            if not isinstance(row, int) or not isinstance(cell, tuple):
                raise BadRequest("not a map of Q: a row is its number, then the cells, each a column and a tile")
            yield row, *cell
