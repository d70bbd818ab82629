"""Seat scripted players at a small table of Q; each fails at the moment that a test chooses."""

from typing import Any

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, End, Failed, Message, Start, TakeTurn, Tell
from fairplay.games.q import Action, Pass, Place, Placement, State
from fairplay.testing.scripted import ScriptedChannel
from tests.games.q.positions import make_position

LEFT = Failed(Fault.GONE, "left")
MESSAGE_TYPES = {Moment.GREETING: Start, Moment.TURN: TakeTurn, Moment.NEWS: Tell, Moment.END: End}
PILE_TILES = "green star, green circle, green clover, green square, green diamond, green 8star"


def make_seat(*actions: Action, fails: Moment | None = None, after: int = 0) -> ScriptedChannel:
    """A player that does these things, passes when it has done them, and fails once at a moment if that is said."""
    todo, failures = list(actions), [None] * after + [LEFT]

    def answer(message: Message) -> Answer:
        if fails is not None and isinstance(message, MESSAGE_TYPES[fails]):
            failure = failures.pop(0)
            if failure is not None:
                return failure
        if isinstance(message, TakeTurn):
            return Answered(todo.pop(0) if todo else Pass())
        return Answered(None)

    return ScriptedChannel(answer)


def right_end_tile(column: int) -> Place:
    """A tile at the right end of the row that starts at [0, 0]."""
    return Place((Placement("red circle", (0, column)),))


def make_state(seats: int, pile: str = PILE_TILES, **more: Any) -> State:
    """Everybody has the same tiles, of which red circles always fit at the end of the row."""
    return make_position({(0, 0): "red star"}, ["red circle, blue clover, red circle"] * seats, pile, **more)


def turns_taken(channel: ScriptedChannel) -> int:
    return sum(isinstance(message, TakeTurn) for message in channel.heard)


def news_received(channel: ScriptedChannel) -> list[Any]:
    return [message.news for message in channel.heard if isinstance(message, Tell)]


def expected_ejection(seat: int, moment: Moment) -> Ejected:
    return Ejected(seat, Fault.GONE, moment, "left")
