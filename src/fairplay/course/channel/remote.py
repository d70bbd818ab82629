"""Call the clients of a course: a client for a whole tournament, and a channel to it for each match."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import LastingChannel, Parting, QuickChannel
from fairplay.course.channel import values
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.values import IllFormed
from fairplay.course.dialects.dialect import VOID, Call, Callee
from fairplay.course.formats.plain import reader
from fairplay.players.remote import DEFAULT, Questioner, Then, exchanged, loggable
from fairplay.protocol import wire
from fairplay.protocol.limits import Budget, Limits
from fairplay.referee.local import NO_ACTION
from fairplay.transport.line import Closed, Heard, TooMuch

NOT_VOID = f'the answer is not "{VOID}"'
TOO_EARLY = "said something before it was called"
TOO_MANY = "answered a call by more than one value"
TOO_MUCH = f"sent more than {wire.MOST_BYTES} bytes in a value, or {values.MOST_BLANKS} of white space"
Read = Callable[[Any], Any]  # what raises BadRequest is not due


class Client(Questioner):
    """A client that has signed up; its connection outlives a match, and whoever let it in hangs up at last.

    A call is answered by exactly one value, within its time: what was said before the call was made, or besides the
    answer, is no answer. Once it has failed, it is not called again.
    """

    _line: CourseConnection

    def __init__(self, line: CourseConnection, name: str | None = None, place: str = "") -> None:
        super().__init__(line)
        self.name = name  # in a stranger's words
        self.place = place  # where it came from, as HOST:PORT
        self._name = name or place
        self._read: Read = void  # the reply to the last call
        self._not_due = NOT_VOID  # is said of any other

    @property
    def failed(self) -> Failed | None:
        """How it failed, if it did."""
        return self._broken

    async def call(self, call: Call, limit: float = DEFAULT.move) -> Answer:
        """Make a call that asks for nothing, outside of matches: the answer is None."""
        return self._broken or await exchanged(partial(self.put, call, limit, void, NOT_VOID), self.forget)

    def put(self, call: Call, limit: float, read: Read, not_due: str, then: Then) -> None:
        """Make a call, and have this called with the answer that is read from the reply."""
        self._limit, self._read, self._not_due = limit, read, not_due
        self._ask(wire.encode(call) + b"\n", then)

    async def hang_up(self) -> None:
        """Cut the line; nothing is said."""
        await self._line.hang_up(b"", 0)

    def _begin(self) -> None:
        early = self._line.surplus()
        if early and self._limit > 0:
            self._clock.begin(self._limit)
            self._clock.end()
            self._end(self._flood(early.text) if isinstance(early, TooMuch) else self._malformed(TOO_EARLY, early))
        else:
            super()._begin()

    def _hear(self, heard: Heard) -> None:
        if self._then is not None:
            self._clock.end()
            self._end(self._judged(heard) if isinstance(heard, bytes) else self._failure(heard))

    def _time_is_up(self) -> None:
        self._clock.end(is_up=True)
        self._line.listen(None)
        self._end(self._failed(Fault.TIMED_OUT, f"no answer within {self._limit:g} s", self._line.unfinished))

    def _judged(self, received: bytes) -> Answer:
        """What a reply is worth."""
        self._received = received
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s", self._name, self._clock.taken, loggable(received))
        late = self._line.surplus()
        if isinstance(late, TooMuch):
            return self._flood(received)
        if late:
            return self._malformed(TOO_MANY, received + b" " + late)
        try:
            return Answered(self._read(values.decode(received)), self._clock.taken, self._evidence)
        except BadRequest as error:
            return self._malformed(self._not_due, received, str(error))

    def _failure(self, what: Closed | TooMuch | HostFault) -> Answer | HostFault:
        """What went wrong on the line."""
        match what:
            case IllFormed():
                return self._malformed(f"not a reply: {what}", what.text)
            case TooMuch():
                return self._flood(what.text)
            case Closed():
                return self._failed(what.fault, str(what), self._line.unfinished)
        return what

    def _malformed(self, why: str, received: bytes, detail: str = "") -> Failed:
        return self._failed(Fault.MALFORMED, why, received, detail)

    def _flood(self, received: bytes) -> Failed:
        return self._failed(Fault.FLOOD, TOO_MUCH, received)


class CourseRemote(QuickChannel, LastingChannel):
    """A channel to a client for one match. Who is out is cut off; all others stay for the next match."""

    def __init__(self, client: Client, callee: Callee, game: Game[Any, Any, Any], *, limits: Limits = DEFAULT) -> None:
        self._client = client
        self._callee = callee
        self._read = actions_of(type(game))
        self._budget = Budget(limits)
        # Of the last message:
        self._message: Message
        self._calls: Sequence[Call] = ()
        self._made = 0  # of these
        self._limit = 0.0  # of each
        self._took = 0.0
        self._then: Then

    async def ask(self, message: Message) -> Answer:
        """Make the calls that say it, each with a time of its own; the first failure is the answer."""
        return await exchanged(partial(self.put, message), self.forget)

    def put(self, message: Message, then: Then) -> bool:
        """Make them, and have this called with the answer."""
        failed, budget = self._client.failed, self._budget
        if failed is not None:
            then(failed)
            return True
        self._message, self._then, self._made, self._took = message, then, 0, 0.0
        self._limit = budget.allowed(message) if budget.always is None else budget.always
        self._calls = self._callee.calls(message)
        if self._calls:
            self._call()
        else:
            then(Answered(None))
        return True

    def forget(self) -> None:
        """Nobody wants to hear the answer any more."""
        self._client.forget()

    async def close(self, parting: Parting) -> None:
        """Cut the line if the player is out. Nothing is said."""
        if not self.part(parting):
            await self._client.hang_up()

    def part(self, parting: Parting) -> bool:
        """Say nothing to who stays. False: the line has to be cut."""
        return not isinstance(parting, Ejected) and self._client.failed is None

    def _call(self) -> None:
        """Make the next call."""
        call = self._calls[self._made]
        self._made += 1
        if self._made == len(self._calls) and isinstance(self._message, TakeTurn):
            self._client.put(call, self._limit, self._action, NO_ACTION, self._go_on)
        else:
            self._client.put(call, self._limit, void, NOT_VOID, self._go_on)

    def _go_on(self, answer: Answer | HostFault) -> None:
        """Make another call, if there is one; else all of them were answered."""
        if isinstance(answer, HostFault):
            self._then(answer)
            return
        self._took += answer.took
        if self._made < len(self._calls) and isinstance(answer, Answered):
            self._call()
            return
        self._budget.spend(self._message, self._took)
        self._then(answer if self._took == answer.took else msgspec.structs.replace(answer, took=self._took))

    def _action(self, reply: Any) -> Any:
        return self._read(self._callee.action(reply))


@cache
def actions_of(game: type[Game[Any, Any, Any]]) -> Callable[[Any], Any]:
    """What reads the actions of a game, made once for all its matches."""
    return reader(game.action, f"an action of {game.name}")


def void(reply: Any) -> None:
    """Nothing, if that is what was said."""
    if reply != VOID:
        raise BadRequest(f"{wire.encode(reply)[:80]!r} is not {VOID!r}")
