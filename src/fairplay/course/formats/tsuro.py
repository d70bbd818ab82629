"""Convert the course's JSON of Tsuro: boards, actions and turns, to and from ours."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from fairplay.core.errors import BadRequest
from fairplay.course.formats.plain import read, reader
from fairplay.games.tsuro.actions import Lay
from fairplay.games.tsuro.board import BYTES, EMPTY, OUT, grid
from fairplay.games.tsuro.pieces import COLOURS, PORTS, Degrees, Port, Tile, code_of
from fairplay.games.tsuro.state import PLAYING, STILL_IN, Table

COURSE_BOARD_SIZE = 10
Colour = Literal["white", "black", "red", "green", "blue"]
Index = Annotated[int, Meta(ge=0, le=COURSE_BOARD_SIZE - 1)]
TilePat = tuple[Tile, Degrees]
ActionPat = tuple[Colour, TilePat]
TurnPat = tuple[ActionPat, Tile, Tile]  # with the two tiles that were dealt
read_places = reader(list[list[Any]], "a state of Tsuro")
read_initial = reader(tuple[TilePat, Colour, Port, Index, Index], "a place of Tsuro")  # a tile with an avatar on it
read_intermediate = reader(tuple[TilePat, Index, Index], "a place of Tsuro")


def parse_board(plain: Any) -> tuple[bytes, dict[str, int]]:
    """A board, and the spot of each colour on it. Raises BadRequest unless every avatar faces an empty square."""
    board = bytearray(BYTES[EMPTY] * COURSE_BOARD_SIZE**2)
    spots: dict[str, int] = {}
    for place in read_places(plain):
        with_avatar = len(place) == 5
        tile, *colour, x, y = read_initial(place) if with_avatar else read_intermediate(place)
        square, code = y * COURSE_BOARD_SIZE + x, code_of(*tile)
        if board[square] not in (EMPTY, code):  # one tile is listed for each avatar on it
            raise BadRequest(f"not a state of Tsuro: two tiles lie at {[x, y]}")
        board[square] = code
        if with_avatar:
            if colour[0] in spots:
                raise BadRequest(f"not a state of Tsuro: {colour[0]} is in two places")
            spots[colour[0]] = 8 * square + PORTS.index(colour[1])
    ahead = grid(COURSE_BOARD_SIZE).ahead
    for colour, spot in spots.items():
        if ahead[spot] == OUT or board[ahead[spot] >> 3] != EMPTY:
            raise BadRequest(f"not a state of Tsuro: {colour} does not face an empty square")
    return bytes(board), spots


def parse_table(plain: Any) -> tuple[Table, dict[str, int]]:
    """Parse a board after the placing, and the seat of each colour, in the order of the colours."""
    board, spots = parse_board(plain)
    colours = tuple(colour for colour in COLOURS if colour in spots)
    avatars = tuple(spots[colour] for colour in colours)
    seats = tuple(range(len(colours)))
    table = Table(
        grid(COURSE_BOARD_SIZE),
        board,
        avatars,
        (OUT,) * len(colours),  # their first places are unknown
        PLAYING,
        1,
        seats,
        (STILL_IN,) * len(colours),
        colours,
    )
    return table, {colour: seat for seat, colour in enumerate(colours)}


def parse_action(plain: Any) -> tuple[str, Lay]:
    """Parse an action: the colour, and the laid tile."""
    colour, tile = read(plain, ActionPat, "an action of Tsuro")
    return colour, Lay(*tile)


def parse_turn(plain: Any) -> tuple[str, Lay, tuple[int, int]]:
    """Parse a turn: the colour, the laid tile, and the dealt tiles."""
    (colour, tile), one, other = read(plain, TurnPat, "a turn of Tsuro")
    return colour, Lay(*tile), (one, other)


def format_place(board: bytes, colour: str, spot: int) -> list[Any]:
    """An avatar and the tile below it in plain JSON."""
    (x, y), port = grid(COURSE_BOARD_SIZE).place(spot)
    code = board[spot >> 3]
    return [[code // 4, code % 4 * 90], colour, port, x, y]


def format_places(table: Table) -> list[Any]:
    """A board in plain JSON, row by row; a tile is listed once for each avatar on it, in the order of the seats."""
    standing: dict[int, list[Any]] = {}
    for colour, spot in zip(table.colours, table.avatars, strict=True):
        if spot != OUT:
            standing.setdefault(spot >> 3, []).append(format_place(table.board, colour, spot))
    found = list[Any]()
    for square, code in enumerate(table.board):
        if square in standing:
            found += standing[square]
        elif code != EMPTY:
            found.append([[code // 4, code % 4 * 90], *table.grid.squares[square]])
    return found
