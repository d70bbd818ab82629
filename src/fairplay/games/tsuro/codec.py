"""Convert positions of Tsuro to JSON and back."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from fairplay.core.errors import BadRequest
from fairplay.core.game import Seat
from fairplay.games.tsuro.board import BYTES, EMPTY, OUT, grid
from fairplay.games.tsuro.pieces import COLOURS, PORTS, Degrees, Port, Tile, code_of
from fairplay.games.tsuro.state import DONE, PLACING, STILL_IN, Stage, State, Table, tiles_at
from fairplay.games.tsuro.view import View

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Spot = tuple[Count, Count, Port]  # (x, y, port)


class PlayerSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One player, in the order of the seats.

    `fell`: the round in which it left the board; 0: it is still in; minus one minus the round, if it was ejected.
    """

    colour: Literal["white", "black", "red", "green", "blue"]
    avatar: Spot | None
    start: Spot | None
    fell: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]


class TileSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tile as it lies."""

    tile: Tile
    degrees: Degrees
    at: tuple[Count, Count]


class Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table."""

    size: Annotated[int, Meta(ge=3, le=30)]
    stage: Stage
    round: Count
    waiting: tuple[Seat, ...]
    players: Annotated[tuple[PlayerSheet, ...], Meta(max_length=len(COLOURS))]
    tiles: tuple[TileSheet, ...]


class ViewSheet(Sheet, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A view: the table, with the seat and the tiles dealt to it."""

    seat: Seat | None
    dealt: tuple[Tile, ...]


class StateSheet(Sheet, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A state: the table, with all tiles."""

    source: tuple[Tile, ...]
    drawn: Count


VIEW_SHEET = ViewSheet  # the type of views in the schema of the protocol

AnySheet = TypeVar("AnySheet", bound=Sheet)


def write(table: Table) -> dict[str, Any]:
    """A table in plain lists and dictionaries."""
    return {
        "size": table.grid.size,
        "stage": table.stage.value,
        "round": table.round,
        "waiting": list(table.waiting),
        "players": [
            {"colour": colour, "avatar": _spot(table, avatar), "start": _spot(table, start), "fell": fell}
            for colour, avatar, start, fell in zip(table.colours, table.avatars, table.starts, table.fell, strict=True)
        ],
        "tiles": [
            {"tile": code // 4, "degrees": code % 4 * 90, "at": list(table.grid.squares[square])}
            for square, code in enumerate(table.board)
            if code != EMPTY
        ],
    }


def _spot(table: Table, spot: int) -> list[Any] | None:
    if spot == OUT:
        return None
    (x, y), port = table.grid.place(spot)
    return [x, y, port]


def read(plain: Any, kind: type[AnySheet]) -> AnySheet:
    """The sheet in plain JSON. Raises BadRequest if it is malformed."""
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.ValidationError, UnicodeError) as error:  # half a character, as in "\\ud800", is the latter
        raise BadRequest(f"not a position of Tsuro: {error}") from None


def state_from_sheet(page: StateSheet) -> State:
    """The state on a sheet. Raises BadRequest if there is no such state."""
    return State(table_from_sheet(page), page.source, page.drawn)


def view_from_sheet(page: ViewSheet) -> View:
    """The view on a sheet. Raises BadRequest if there is no such view."""
    table = table_from_sheet(page)
    if page.seat is not None and page.seat not in range(len(page.players)):
        raise BadRequest(f"not a position of Tsuro: there is no seat {page.seat}")
    if page.dealt and (table.waiting[:1] != (page.seat,) or len(page.dealt) != tiles_at(table.stage)):
        raise BadRequest("not a position of Tsuro: only the player on turn has tiles, three to place or two to lay")
    return View(page.seat, table, page.dealt)


def table_from_sheet(page: Sheet) -> Table:
    """The table on a sheet. Raises BadRequest if there is no such table."""
    size = page.size
    board = [EMPTY] * (size * size)
    for lying in page.tiles:
        x, y = lying.at
        if x >= size or y >= size or board[y * size + x] != EMPTY:
            raise BadRequest(f"not a position of Tsuro: {list(lying.at)} is off the board, or has two tiles")
        board[y * size + x] = code_of(lying.tile, lying.degrees)
    table = Table(
        grid(size),
        b"".join(BYTES[code] for code in board),
        tuple(_number(player.avatar, board, size) for player in page.players),
        tuple(_number(player.start, board, size) for player in page.players),
        page.stage,
        page.round,
        page.waiting,
        tuple(player.fell for player in page.players),
        tuple(player.colour for player in page.players),
    )
    check_players(table)
    return table


def check_players(table: Table) -> None:
    """Raise BadRequest unless the avatars, the waiting seats and the rounds fit together."""
    for avatar in table.avatars:
        ahead = OUT if avatar == OUT else table.grid.ahead[avatar]
        if avatar != OUT and (ahead == OUT or table.board[ahead >> 3] != EMPTY):
            raise BadRequest("not a position of Tsuro: every avatar must face an empty square")
    waiting = set(table.waiting)
    if len(waiting) < len(table.waiting) or not waiting.issubset(table.alive):
        raise BadRequest("not a position of Tsuro: the waiting seats must still be in, each named once")
    if bool(waiting) == (table.stage is DONE):
        raise BadRequest("not a position of Tsuro: a seat must be waiting, until the game is over")
    yet_to_place = waiting if table.stage is PLACING else set[Seat]()
    for seat, (avatar, fell) in enumerate(zip(table.avatars, table.fell, strict=True)):
        if table.survived_to(seat) > table.round or (avatar != OUT) != (fell == STILL_IN and seat not in yet_to_place):
            raise BadRequest("not a position of Tsuro: exactly the players that are in and have placed have avatars")
    if len(set(table.colours)) < len(table.colours):
        raise BadRequest("not a position of Tsuro: each player must have another colour")


def _number(spot: Spot | None, board: list[int], size: int) -> int:
    if spot is None:
        return OUT
    x, y, port = spot
    if x >= size or y >= size or board[y * size + x] == EMPTY:
        raise BadRequest(f"not a position of Tsuro: an avatar must stand on a tile, and there is none at {[x, y]}")
    return 8 * (y * size + x) + PORTS.index(port)
