"""Say what a dialect is: how our messages become the calls of a course, and its replies become answers; and back."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from fairplay.core.events import Result
from fairplay.core.game import Game, Seat
from fairplay.core.messages import End, Message

VOID = "void"  # the reply to every call that asks for nothing


class Call(msgspec.Struct, frozen=True, array_like=True):
    """A call, on the wire ["method",[argument,...]]; it is answered by exactly one JSON value."""

    method: str
    arguments: tuple[Any, ...]  # plain JSON values


class Callee(Protocol):
    """A player of a course, as the referee sees it in one match: our messages go out as calls.

    It remembers what it has said, as far as later calls depend on it.
    """

    def calls(self, message: Message) -> Sequence[Call]:
        """What is said for a message, call by call; none: the course says nothing at this point."""
        ...

    def action(self, reply: Any) -> Any:
        """The action that a reply to the last call of a TakeTurn means, as plain JSON of our own protocol.

        Raises BadRequest, which says why, if it means none.
        """
        ...


class Caller(Protocol):
    """A server of a course, as one of our players sees it: its calls come in, and messages come of them."""

    remark: str
    """What is wrong with the last call, although it can be answered; empty: nothing."""

    @property
    def game(self) -> Game[Any, Any, Any]:
        """The game as far as it is known from what was said; for the last messages it is known, before it is likely."""
        ...

    def messages(self, call: Call) -> Sequence[Message]:
        """What our player is told because of a call; only the last of them can be a TakeTurn.

        Raises BadRequest, which says why, if nobody could make sense of the call.
        """
        ...

    def reply(self, action: Any) -> Any:
        """The reply to the call of a turn, for an action of our player; all other calls are answered by VOID."""
        ...


class Dialect(msgspec.Struct, frozen=True):
    """What one course speaks."""

    game: str
    callee: Callable[[Game[Any, Any, Any], str], Callee]  # from the game and the name of the player, for one match
    caller: Callable[[str], Caller]  # from the name of our player, for all matches over a connection
    name: str | None = None  # what a name has to be like, as a regular expression; None: no name is sent at sign-up
    name_in_words: str = ""  # the same for people
    opening: Call | None = None  # what a tournament says to each of its players before its first match
    closing: str | None = None  # the method that says at its end who won; None: every match says so itself


def end_message(seat: Seat, won: bool) -> End:
    """The end as far as a course lets players know: is this seat among the first?

    The others are in no group, and where it came if not first nobody says: in the second group it is not first.
    """
    mine = frozenset({seat})
    return End(Result(ranking=(mine,) if won else (frozenset(), mine), ejected=()))
