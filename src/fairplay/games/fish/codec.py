"""Convert positions of Fish to JSON and back."""

from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.fish.board import Grid
from fairplay.games.fish.pieces import COLOURS, FISH_BITS, MAX_FISH, MAX_SIDE, Position
from fairplay.games.fish.state import Stage, State, state_of

Colour = Literal["red", "white", "brown", "black"]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Fishes = Annotated[int, msgspec.Meta(ge=0, le=MAX_FISH)]
Row = Annotated[tuple[Fishes, ...], msgspec.Meta(min_length=1, max_length=MAX_SIDE)]


class PlayerSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One player, in the order of the seats; ejected players included."""

    colour: Colour
    score: Count
    penguins: tuple[Position, ...]


class Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position; `seat` is whose view it is."""

    stage: Stage
    order: tuple[Seat, ...]
    each: Count
    board: Annotated[tuple[Row, ...], msgspec.Meta(min_length=1, max_length=MAX_SIDE)]
    players: Annotated[tuple[PlayerSheet, ...], msgspec.Meta(max_length=len(COLOURS))]
    seat: Seat | None = None


MAX_CACHED_TEXTS = 4096  # of rows, and of lists of penguins
VIEW_SHEET = Sheet  # the type of views in the schema of the protocol


def write(state: State) -> dict[str, Any]:
    """A state in plain lists and dictionaries."""
    position = state.grid.positions.__getitem__
    return {
        "stage": state.stage._value_,  # `value` itself takes three times as long
        "order": list(state.order),
        "each": state.each,
        "board": state.rows(),
        "players": [
            {"colour": colour, "score": score, "penguins": [*map(list, map(position, penguins))]}
            for colour, score, penguins in zip(state.colours, state.scores, state.penguins, strict=True)
        ],
    }


class Texts:
    """The JSON of rows and penguins, cached: most of it is the same on the next turn."""

    def __init__(self, grid: Grid) -> None:
        width, positions = FISH_BITS * grid.columns, [f"[{row},{column}]" for row, column in grid.positions]
        self.starts = range(0, width * grid.rows, width)  # of the rows, in bits
        self.mask = (1 << width) - 1
        self.row = lru_cache(MAX_CACHED_TEXTS)(lambda fish: ",".join(f"{fish:0{grid.columns}o}"[::-1]))
        self.penguins = lru_cache(MAX_CACHED_TEXTS)(lambda cells: ",".join([positions[cell] for cell in cells]))


texts = lru_cache(Texts)


def text(seat: Seat | None, state: State) -> bytes:
    """The JSON of the view of a seat, in half the time that an encoder takes."""
    cached, fish = texts(state.grid), state.fish
    row, mask, penguins = cached.row, cached.mask, cached.penguins
    board = "],[".join([row(fish >> start & mask) for start in cached.starts])
    players = ",".join(
        [
            f'{{"colour":"{colour}","score":{score},"penguins":[{penguins(cells)}]}}'
            for colour, score, cells in zip(state.colours, state.scores, state.penguins, strict=True)
        ]
    )
    return (
        f'{{"seat":{"null" if seat is None else seat},"stage":"{state.stage._value_}",'
        f'"order":[{",".join(map(str, state.order))}],"each":{state.each},'
        f'"board":[[{board}]],"players":[{players}]}}'
    ).encode()


def read(plain: Any) -> Sheet:
    """The sheet in plain JSON. Raises BadRequest if it is malformed."""
    try:
        return msgspec.convert(plain, Sheet)
    except (msgspec.ValidationError, UnicodeError) as error:  # half a character, as in "\\ud800", is the latter
        raise BadRequest(f"not a position of Fish: {error}") from None


def state_from_sheet(page: Sheet) -> State:
    """The state on a sheet. Raises BadRequest if there is no such state."""
    tiles = {(row, column) for row, line in enumerate(page.board) for column, fish in enumerate(line) if fish}
    standing = [position for player in page.players for position in player.penguins]
    seats = set(range(len(page.players)))
    if len({len(line) for line in page.board}) > 1:
        raise BadRequest("not a position of Fish: the rows of the board differ in length")
    if len(set(standing)) < len(standing) or not tiles.issuperset(standing):
        raise BadRequest("not a position of Fish: penguins must stand on tiles, one on each")
    if len(set(page.order)) < len(page.order) or not seats.issuperset(page.order):
        raise BadRequest("not a position of Fish: the order must name seats, each at most once")
    if page.seat is not None and page.seat not in seats:
        raise BadRequest(f"not a position of Fish: there is no seat {page.seat}")
    return state_of(
        page.board,
        [player.penguins for player in page.players],
        scores=[player.score for player in page.players],
        order=page.order,
        stage=Stage.PLACING if page.stage is Stage.PLACING else Stage.PLAYING,
        each=page.each,
        colours=[player.colour for player in page.players],
    )
