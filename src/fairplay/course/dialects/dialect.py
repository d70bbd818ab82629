"""Define a dialect: how our messages become calls of a course, and its replies become answers, and back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from fairplay.core.events import Result
from fairplay.core.game import Game, Seat
from fairplay.core.messages import End, Message

VOID = "void"  # the reply to every call that expects no value


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call, on the wire ["method",[argument,...]]; it is answered by exactly one JSON value."""

    method: str
    arguments: tuple[Any, ...]  # plain JSON values


class Callee(Protocol):
    """The referee's side of a player of a course in one match: it turns our messages into calls.

    It remembers earlier messages as far as later calls depend on them.
    """

    def calls(self, message: Message) -> Sequence[Call]:
        """The calls for a message; empty: the course has none for it."""
        ...

    def action(self, reply: Any) -> Any:
        """Parse the reply to the last call of a TakeTurn as an action, in plain JSON of our protocol.

        Raises BadRequest, which says why, if it is none.
        """
        ...


class Caller(Protocol):
    """Our player's side of a server of a course: it turns calls into messages."""

    warning: str
    """What is wrong with the last call, although it can be answered; empty: nothing."""

    @property
    def game(self) -> Game[Any, Any, Any]:
        """The game of the last messages; before the first, the most likely one."""
        ...

    def messages(self, call: Call) -> Sequence[Message]:
        """The messages to our player for a call; only the last one can be a TakeTurn.

        Raises BadRequest, which says why, if the call is invalid.
        """
        ...

    def reply(self, action: Any) -> Any:
        """The reply to the call of a turn, for our player's action; the reply to all other calls is VOID."""
        ...


class Dialect(msgspec.Struct, frozen=True):
    """The calls of one course."""

    game: str
    callee: Callable[[Game[Any, Any, Any], str], Callee]  # from the game and the name of the player, for one match
    caller: Callable[[str], Caller]  # from the name of our player, for all matches over a connection
    name: str | None = None  # a regular expression of valid names; None: clients send no name
    name_rule: str = ""  # the same as text
    opening: Call | None = None  # the call to each player before a tournament
    closing: str | None = (
        None  # the method of the call after a tournament that says who won; None: each match has its own
    )


def end_message(seat: Seat, won: bool) -> End:
    """The end as far as a course lets players know: is this seat among the first?

    A course does not tell the other places: the second group only means that the seat is not first, and no group names
    the other seats.
    """
    mine = frozenset({seat})
    return End(Result(ranking=(mine,) if won else (frozenset(), mine), ejected=()))
