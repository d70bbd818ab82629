"""Translate the calls of the course's Tsuro: from our messages, and to messages for our players."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Message, Start, TakeTurn
from fairplay.course.dialects.dialect import Call, Dialect, end_message
from fairplay.course.formats.plain import action_reader, read, reader
from fairplay.course.formats.tsuro import (
    COURSE_BOARD_SIZE,
    Colour,
    Index,
    TilePat,
    format_place,
    format_places,
    parse_board,
)
from fairplay.games.tsuro.actions import Action, Place
from fairplay.games.tsuro.board import OUT, grid
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.pieces import COLOURS, Port, Tile
from fairplay.games.tsuro.state import PLACING, PLAYING, STILL_IN, Table, encode_ejection_round
from fairplay.games.tsuro.view import View

read_first = reader(tuple[TilePat, Port, Index, Index], "a first tile of Tsuro")
read_tile = reader(TilePat, "a tile of Tsuro")
read_two = reader(tuple[Tile, Tile], "two tiles of Tsuro")
read_three = reader(tuple[Tile, Tile, Tile], "three tiles of Tsuro")
read_action = action_reader(Action, "an action of Tsuro")


class TsuroCallee:
    """A player of the course in one match of ours."""

    def __init__(self, game: Game[Any, Any, Any], name: str) -> None:
        if not isinstance(game, Tsuro) or game.size != COURSE_BOARD_SIZE:
            raise BadRequest(f"the course's Tsuro has a board of {COURSE_BOARD_SIZE} x {COURSE_BOARD_SIZE}")
        self._placing = True

    def calls(self, message: Message) -> Sequence[Call]:
        """The greeting is two calls; the end of a match has none, only that of the tournament."""
        if isinstance(message, TakeTurn):
            return (self._turn(message.view),)
        if isinstance(message, Start):
            colours = message.view.table.colours
            own = colours[message.seat]
            return Call("playing-as", (own,)), Call("others", tuple(other for other in colours if other != own))
        return ()

    def _turn(self, view: View) -> Call:
        table = view.table
        self._placing = table.stage is PLACING
        if not self._placing:
            return Call("take-turn", (format_places(table), *view.dealt))
        placed = [(colour, spot) for colour, spot in zip(table.colours, table.starts, strict=True) if spot != OUT]
        return Call("initial", ([format_place(table.board, *one) for one in reversed(placed)], *view.dealt))

    def action(self, reply: Any) -> Any:
        """A tile with a port and a square while placing, then a tile."""
        if self._placing:
            (tile, degrees), port, x, y = read_first(reply)
            return {"type": "place", "tile": tile, "degrees": degrees, "port": port, "at": [x, y]}
        tile, degrees = read_tile(reply)
        return {"type": "lay", "tile": tile, "degrees": degrees}


class TsuroCaller:
    """A server of the course that our player plays at; seats follow the fixed order of the colours.

    Rounds are counted by our own turns. Why and when a player left is unknown: one that should have placed before us
    and did not was ejected, all others fell in the round in which they are first missing. The first places of avatars
    are known only during the placing; players after us count as present until the first turn. The call `others` names
    the players; if it is wrong, all colours may play, and the states tell which do.
    """

    def __init__(self, name: str) -> None:
        self.warning = ""
        self._colour = ""  # ours
        self._table: tuple[str, ...] = ()  # the colours of a match, by seat; empty: unknown
        self._eliminated: dict[str, int] = {}  # as in a Table, of colours that are out
        self._round = 0
        self._has_begun = False

    @property
    def game(self) -> Tsuro:
        """The game; the course has only one board, and does not tell where the tiles come from."""
        return Tsuro(size=COURSE_BOARD_SIZE)

    def messages(self, call: Call) -> Sequence[Message]:
        """A match starts for our player when it has to place its first tile."""
        self.warning = ""
        match call.method, call.arguments:
            case "take-turn", (plain, *tiles):
                return self._turn(plain, read_two(tiles))
            case "initial", (plain, *tiles):
                return self._turn(plain, read_three(tiles))
            case "playing-as", (colour,):
                self._colour = read(colour, Colour, "a colour of Tsuro")
                self._table, self._eliminated, self._round, self._has_begun = (), {}, 0, False
                return ()
            case "others", others:
                self._table = self._match_colours(others)
                return ()
            case "end-of-tournament", (bool(won),):
                return (end_message(self._table.index(self._colour), won),) if self._has_begun else ()
        raise BadRequest(f"not a call of Tsuro: {call.method[:20]} with {len(call.arguments)} arguments")

    def _match_colours(self, others: tuple[Any, ...]) -> tuple[str, ...]:
        """The colours of a match as `others` names them; all if that is wrong."""
        try:
            named: tuple[str, ...] = read(others, tuple[Colour, ...], "colours of Tsuro")
        except BadRequest as error:
            self.warning = str(error)
            return COLOURS
        known = {self._colour, *named}
        if not named or len(known) <= len(named):
            self.warning = f"others {msgspec.json.encode(named).decode()} does not fit {self._colour}"
            return COLOURS
        return tuple(colour for colour in COLOURS if colour in known)

    def _turn(self, plain: Any, dealt: tuple[int, ...]) -> Sequence[Message]:
        placing = len(dealt) == 3
        seat, table = self._read_position(*parse_board(plain), placing)
        view = View(seat, table, dealt)
        turn = TakeTurn(view)
        if self._has_begun:
            return (turn,)
        self._has_begun = True
        return Start(seat, self._table, view), turn

    def _read_position(self, board: bytes, spots: dict[str, int], placing: bool) -> tuple[Seat, Table]:
        """Our seat, and the table with seats in the order of the colours."""
        own = self._colour
        if not own or (own in spots) == placing:
            raise BadRequest(f"not a state of Tsuro for {own or 'a player without colour'}")
        if unknown := [colour for colour in spots if colour not in self._table]:
            self.warning = f"others did not name {', '.join(unknown)}, who is in the state"
        if not self._table:
            self.warning = "there was no call of others"
        if self.warning:
            self._table = COLOURS
        colours = self._table
        seat = colours.index(own)
        avatars = tuple(spots.get(colour, OUT) for colour in colours)
        waiting = tuple(range(seat, len(colours)))
        if placing:  # the players before us have placed, or failed to
            missed, fell = colours[:seat], encode_ejection_round(0)
        else:
            self._round += 1
            waiting = tuple(other for other in waiting if avatars[other] != OUT)
            missed, fell = colours, self._round
        for colour in missed:
            if colour not in spots:
                self._eliminated.setdefault(colour, fell)
        nowhere = (OUT,) * len(colours)
        return seat, Table(
            grid(COURSE_BOARD_SIZE),
            board,
            avatars,
            avatars if placing else nowhere,
            PLACING if placing else PLAYING,
            self._round,
            waiting,
            tuple(self._eliminated.get(colour, STILL_IN) for colour in colours),
            colours,
        )

    def reply(self, action: Any) -> Any:
        """A tile, during the placing with a port and a square; the server checks which is due."""
        action = read_action(action)
        tile = [action.tile, action.degrees]
        return [tile, action.port, *action.at] if isinstance(action, Place) else tile


DIALECT = Dialect("tsuro", TsuroCallee, TsuroCaller, closing="end-of-tournament")
