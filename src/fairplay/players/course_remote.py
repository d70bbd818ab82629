"""Call the clients of a course: a client for a whole tournament, and a channel to it for each match."""

import logging
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Evidence, Failed, Message, TakeTurn
from fairplay.core.roles import Parting
from fairplay.course.dialect import VOID, Call, Callee
from fairplay.course.plain import reader
from fairplay.players import values
from fairplay.players.course_line import CourseLine
from fairplay.players.remote import DEFAULT, LOG, Questioner, loggable
from fairplay.players.values import IllFormed
from fairplay.protocol import wire
from fairplay.protocol.limits import Budget, Limits
from fairplay.referee.local import NO_ACTION
from fairplay.transport.line import Closed, TooMuch
from fairplay.transport.timer import Timer

NOT_VOID = f'the answer is not "{VOID}"'
TOO_EARLY = "said something before it was called"
TOO_MANY = "answered a call by more than one value"


class Client(Questioner):
    """A client that has signed up; its connection outlives a match, and whoever let it in hangs up at last.

    A call is answered by exactly one value, within its time: what was said before the call was made, or besides the
    answer, is no answer. Once it has failed, it is not called again.
    """

    def __init__(self, line: CourseLine, name: str | None = None, place: str = "") -> None:
        super().__init__(Evidence)  # nothing is known of the other end of a connection
        self._line = line
        self.name = name  # in a stranger's words
        self.place = place  # where it came from, as HOST:PORT
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None

    @property
    def failed(self) -> Failed | None:
        """How it failed, if it did."""
        return self._broken

    async def call(self, call: Call, limit: float = DEFAULT.move) -> Answered | Failed:
        """Make a call that asks for nothing, outside of matches: the answer is None."""
        return await self.answer(call, limit, void, NOT_VOID)

    async def answer(self, call: Call, limit: float, read: Callable[[Any], Any], not_due: str) -> Answered | Failed:
        """Make a call, and read the reply: whatever raises BadRequest there is not due."""
        if self._broken is not None:
            return self._broken
        line = self._line
        await line.wake()
        timer = Timer(limit)
        received, early, late = b"", b"", b""
        try:
            with timer:
                early = line.surplus()
                if not early:
                    text = wire.encode(call) + b"\n"
                    if self._debug is not None:
                        self._debug("to %s: %s", self.name or self.place, loggable(text))
                    await line.send(text)
                    received = await line.receive()
                    late = line.surplus()
        except TimeoutError:
            return self._failed(Fault.TIMED_OUT, f"no answer within {limit:g} s", timer, line.unfinished)
        except Closed as closed:
            return self._failed(closed.fault, str(closed), timer, line.unfinished)
        except TooMuch as much:
            return self._failed(Fault.FLOOD, TOO_MUCH, timer, received or much.text)
        except IllFormed as wrong:
            return self._failed(Fault.MALFORMED, f"not a reply: {wrong}", timer, wrong.text)
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s", self.name or self.place, timer.taken, loggable(received))
        if early:
            return self._failed(Fault.MALFORMED, TOO_EARLY, timer, early)
        if late:
            return self._failed(Fault.MALFORMED, TOO_MANY, timer, received + b" " + late)
        try:
            value = read(values.decode(received))
        except BadRequest as error:
            return self._failed(Fault.MALFORMED, not_due, timer, received, str(error))
        return Answered(value, timer.taken, partial(self._known, timer, received))

    async def hang_up(self) -> None:
        """Cut the line; nothing is said."""
        await self._line.hang_up(b"", 0)


TOO_MUCH = f"sent more than {wire.MOST_BYTES} bytes in a value, or {values.MOST_BLANKS} of white space"


class CourseRemote:
    """A channel to a client for one match. Who is out is cut off; all others stay for the next match."""

    def __init__(self, client: Client, callee: Callee, game: Game[Any, Any, Any], *, limits: Limits = DEFAULT) -> None:
        self._client = client
        self._callee = callee
        self._read = actions_of(type(game))
        self._budget = Budget(limits)

    async def ask(self, message: Message) -> Answer:
        """Make the calls that say it, each with a time of its own; the first failure is the answer."""
        calls = self._callee.calls(message)
        limit, took = self._budget.allowed(message), 0.0
        answer: Answer = Answered(None)
        for number, call in enumerate(calls, 1):
            if isinstance(message, TakeTurn) and number == len(calls):
                answer = await self._client.answer(call, limit, self._action, NO_ACTION)
            else:
                answer = await self._client.call(call, limit)
            took += answer.took
            if isinstance(answer, Failed):
                break
        self._budget.spend(message, took)
        return answer if took == answer.took else msgspec.structs.replace(answer, took=took)

    async def close(self, parting: Parting) -> None:
        """Cut the line if the player is out. Nothing is said."""
        if isinstance(parting, Ejected) or self._client.failed is not None:
            await self._client.hang_up()

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
