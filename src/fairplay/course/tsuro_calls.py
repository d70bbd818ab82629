"""Speak the calls of the course's Tsuro: our messages to its players, and its calls to ours."""

from collections.abc import Sequence
from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game, Seat
from fairplay.core.messages import Message, Start, TakeTurn
from fairplay.course.dialect import Call, Dialect, farewell
from fairplay.course.plain import action_reader, read, reader
from fairplay.course.tsuro import SIZE, Colour, Index, TilePat, board_from, place_to, places_to
from fairplay.games.tsuro.actions import Action, Place
from fairplay.games.tsuro.board import OUT, grid
from fairplay.games.tsuro.game import Tsuro
from fairplay.games.tsuro.pieces import COLOURS, Port, Tile
from fairplay.games.tsuro.state import PLACING, PLAYING, STILL_IN, Table, ejected_in
from fairplay.games.tsuro.view import View

read_first = reader(tuple[TilePat, Port, Index, Index], "a first tile of Tsuro")
read_tile = reader(TilePat, "a tile of Tsuro")
read_two = reader(tuple[Tile, Tile], "two tiles of Tsuro")
read_three = reader(tuple[Tile, Tile, Tile], "three tiles of Tsuro")
read_action = action_reader(Action, "an action of Tsuro")


class TsuroCallee:
    """A player of the course in one match of ours."""

    def __init__(self, game: Game[Any, Any, Any], name: str) -> None:
        if not isinstance(game, Tsuro) or game.size != SIZE:
            raise BadRequest(f"the course's Tsuro has a board of {SIZE} x {SIZE}")
        self._placing = True

    def calls(self, message: Message) -> Sequence[Call]:
        """The greeting is two calls; of the end of a match nobody hears, only of that of the tournament."""
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
            return Call("take-turn", (places_to(table), *view.dealt))
        placed = [(colour, spot) for colour, spot in zip(table.colours, table.starts, strict=True) if spot != OUT]
        return Call("initial", ([place_to(table.board, *one) for one in reversed(placed)], *view.dealt))

    def action(self, reply: Any) -> Any:
        """A tile with a port and a square while placing, then a tile."""
        if self._placing:
            (tile, degrees), port, x, y = read_first(reply)
            return {"type": "place", "tile": tile, "degrees": degrees, "port": port, "at": [x, y]}
        tile, degrees = read_tile(reply)
        return {"type": "lay", "tile": tile, "degrees": degrees}


class TsuroCaller:
    """A server of the course, which our player plays on; seats are those of the colours in their fixed order.

    Rounds are counted by our own turns. Why and when somebody left is not told: who should have placed before us and
    did not was ejected, all others fell in the round in which they are missed. Where avatars were first put is known
    only while they are; and whoever comes after us is thought to be there until the first turn.
    """

    def __init__(self, name: str) -> None:
        self._colour = ""  # ours
        self._table: tuple[str, ...] = ()  # the colours of a match, by seat
        self._fell: tuple[int, ...] = ()  # by seat, as in a table
        self._round = 0
        self._begun = False

    @property
    def game(self) -> Tsuro:
        """The course knows only one board, and does not say where the tiles come from."""
        return Tsuro(size=SIZE)

    def messages(self, call: Call) -> Sequence[Message]:
        """A match begins for our player when it is to place its first tile."""
        match call.method, call.arguments:
            case "take-turn", (plain, *tiles):
                return self._turn(plain, read_two(tiles))
            case "initial", (plain, *tiles):
                return self._turn(plain, read_three(tiles))
            case "playing-as", (colour,):
                self._colour = read(colour, Colour, "a colour of Tsuro")
                self._table, self._round, self._begun = (), 0, False
                return ()
            case "others", others:
                known = {self._colour, *read(others, tuple[Colour, ...], "colours of Tsuro")}
                self._table = tuple(colour for colour in COLOURS if colour in known)
                self._fell = (STILL_IN,) * len(self._table)
                return ()
            case "end-of-tournament", (bool(won),):
                return (farewell(self._table.index(self._colour), won),) if self._begun else ()
        raise BadRequest(f"not a call of Tsuro: {call.method[:20]} with {len(call.arguments)} arguments")

    def _turn(self, plain: Any, dealt: tuple[int, ...]) -> Sequence[Message]:
        placing = len(dealt) == 3
        seat, table = self._seen(*board_from(plain), placing)
        view = View(seat, table, dealt)
        turn = TakeTurn(view)
        if self._begun:
            return (turn,)
        self._begun = True
        return Start(seat, self._table, view), turn

    def _seen(self, board: bytes, spots: dict[str, int], placing: bool) -> tuple[Seat, Table]:
        """Our seat, and the table on which everybody sits where its colour does."""
        own, colours = self._colour, self._table
        if own not in colours or not set(spots) <= set(colours) or (own in spots) == placing:
            raise BadRequest(f"not a state of Tsuro for {own or 'a player without colour'}")
        seat = colours.index(own)
        avatars = tuple(spots.get(colour, OUT) for colour in colours)
        waiting = tuple(range(seat, len(colours)))
        if placing:  # those before us have placed, or failed to
            missed, fell = range(seat), ejected_in(0)
        else:
            self._round += 1
            waiting = tuple(other for other in waiting if avatars[other] != OUT)
            missed, fell = range(len(colours)), self._round
        self._fell = tuple(
            fell if avatars[other] == OUT and when == STILL_IN and other in missed else when
            for other, when in enumerate(self._fell)
        )
        nowhere = (OUT,) * len(colours)
        return seat, Table(
            grid(SIZE),
            board,
            avatars,
            avatars if placing else nowhere,
            PLACING if placing else PLAYING,
            self._round,
            waiting,
            self._fell,
            colours,
        )

    def reply(self, action: Any) -> Any:
        """A tile, while placing with a port and a square; whether it is time for that, the server says."""
        action = read_action(action)
        tile = [action.tile, action.degrees]
        return [tile, action.port, *action.at] if isinstance(action, Place) else tile


DIALECT = Dialect("tsuro", TsuroCallee, TsuroCaller, closing="end-of-tournament")
