"""Translate the calls of the course's Q: from our messages, and to messages for our players."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.game import Game
from fairplay.core.messages import End, Message, Start, TakeTurn, Tell
from fairplay.course.dialects.dialect import Call, Dialect, end_message
from fairplay.course.formats.frame import IDENTITY_FRAME
from fairplay.course.formats.plain import action_reader, read, reader
from fairplay.course.formats.q import (
    Choice,
    CourseTile,
    CourseView,
    format_choice,
    format_map,
    format_player,
    format_tile,
    frame_for,
    parse_choice,
    parse_kinds,
    parse_view,
)
from fairplay.games.q.actions import Action
from fairplay.games.q.game import Q
from fairplay.games.q.pieces import KINDS, NAMES
from fairplay.games.q.view import View

read_choice = reader(Choice, "a choice of Q")
read_tiles = reader(tuple[CourseTile, ...], "tiles of Q")
read_action = action_reader(Action, "an action of Q")


class QCallee:
    """A player of the course in one match of ours."""

    def __init__(self, game: Game[Any, Any, Any], name: str) -> None:
        self._name = name
        self._seat = 0

    def calls(self, message: Message) -> Sequence[Call]:
        """One call for each message; the first group of the ranking has won."""
        match message:
            case TakeTurn(view):
                return (Call("take-turn", (self._public(view),)),)
            case Tell(news):
                return (Call("new-tiles", ([format_tile(KINDS[name]) for name in news],)),)
            case Start(seat, _, view):
                self._seat = seat
                return (Call("setup", (self._public(view), [format_tile(kind) for kind in view.kinds])),)
            case End(result):
                return (Call("win", (self._seat in frozenset().union(*result.ranking[:1]),)),)

    def _public(self, view: View) -> dict[str, Any]:
        """The public state for the player: itself first, then the others in turn order."""
        place = view.order.index(self._seat)
        own, *others = view.points[place:] + view.points[:place]
        return {
            "map": format_map(view.map),
            "players": [format_player(self._name, own, view.kinds), *others],
            "tile*": view.left,
        }

    def action(self, reply: Any) -> Any:
        """A word, or placements; an empty list is a placement too, and breaks our rules."""
        return msgspec.to_builtins(parse_choice(read_choice(reply)))


class QCaller:
    """A server of the course that our player plays at.

    Seats are unknown: ours is 0, and the k-th player after us has seat k as long as no player leaves; leaving is not
    announced. The greeting shows the state as if it were our turn. The bonuses are unknown, so the usual ones apply.
    """

    def __init__(self, name: str) -> None:
        self.warning = ""
        self._name = name
        self._frame = IDENTITY_FRAME
        self._has_begun = False

    @property
    def game(self) -> Q:
        """The game with the usual bonuses."""
        return Q()

    def messages(self, call: Call) -> Sequence[Message]:
        """One message for each call."""
        match call.method, call.arguments:
            case "take-turn", (plain,) if self._has_begun:
                return (TakeTurn(self._view(plain)),)
            case "new-tiles", (plain,) if self._has_begun:
                tiles = parse_kinds(read_tiles(plain))
                return (Tell(tuple(NAMES[kind] for kind in tiles)),)
            case "setup", (plain, tiles):
                read_tiles(tiles)  # they are in the view already
                view = self._view(plain)
                self._has_begun = True
                others = (f"player {place}" for place in range(1, len(view.order)))
                return (Start(0, (self._name, *others), view),)
            case "win", (bool(won),) if self._has_begun:
                return (end_message(0, won),)
        raise BadRequest(f"not a call of Q at this time: {call.method[:20]} with {len(call.arguments)} arguments")

    def _view(self, plain: Any) -> View:
        shown: CourseView = read(plain, CourseView, "a public state of Q")
        self._frame = frame_for(shown.map)
        return parse_view(shown, self._frame)

    def reply(self, action: Any) -> Any:
        """A word, or placements in the coordinates of the server."""
        return format_choice(read_action(action), self._frame)


DIALECT = Dialect("q", QCallee, QCaller, name=r"\A[a-zA-Z0-9]{1,20}\Z", name_rule="1 to 20 letters and digits")
