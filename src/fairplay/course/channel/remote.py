"""Call the clients of a course: a client for a whole tournament, and a channel to it for each match."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import CallbackChannel, CloseReason, PersistentChannel
from fairplay.course.channel import values
from fairplay.course.channel.connection import CourseConnection
from fairplay.course.channel.values import IllFormed
from fairplay.course.dialects.dialect import VOID, Call, Callee
from fairplay.course.formats.plain import reader
from fairplay.players.remote import DEFAULT_LIMITS, OnAnswer, Questioner, exchange, format_for_log
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits, TimeBudget
from fairplay.referee.local_channel import NO_ACTION
from fairplay.transport.connection import ConnectionClosed, Received, TooMuchData

NOT_VOID = f'the answer is not "{VOID}"'
TOO_EARLY = "sent something before it was called"
TOO_MANY = "answered a call with more than one value"
TOO_MUCH = f"sent more than {wire.MAX_LINE_BYTES} bytes in a value, or {values.MAX_BLANK_BYTES} of white space"
ReadReply = Callable[[Any], Any]  # raises BadRequest for a wrong reply


class CourseClient(Questioner):
    """A client that signed up; its connection lasts longer than a match.

    A call is answered by exactly one value within its time; a value before the call, or a second one, is a fault. A
    client that failed is not called again.
    """

    _connection: CourseConnection

    def __init__(self, connection: CourseConnection, name: str | None = None, place: str = "") -> None:
        super().__init__(connection)
        self.name = name  # as it was sent
        self.place = place  # its address, as HOST:PORT
        self._name = name or place
        self._read: ReadReply = read_void  # the reply to the last call
        self._wrong_reply = NOT_VOID  # the error for a wrong reply

    @property
    def failed(self) -> Failed | None:
        """Its failure, if it failed."""
        return self._failed_answer

    async def call(self, call: Call, limit: float = DEFAULT_LIMITS.move) -> Answer:
        """Make a call outside of matches that expects no value; the answer is None."""
        return self._failed_answer or await exchange(
            partial(self.start_call, call, limit, read_void, NOT_VOID), self.stop_waiting
        )

    def start_call(self, call: Call, limit: float, read: ReadReply, wrong_reply: str, then: OnAnswer) -> None:
        """Make a call; `then` is called with the answer that `read` makes from the reply."""
        self._limit, self._read, self._wrong_reply = limit, read, wrong_reply
        self._ask(wire.encode(call) + b"\n", then)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close(b"", 0)

    def _begin(self) -> None:
        early = self._connection.surplus()
        if early and self._limit > 0:
            self._clock.begin(self._limit)
            self._clock.end()
            self._end(self._flood(early.text) if isinstance(early, TooMuchData) else self._malformed(TOO_EARLY, early))
        else:
            super()._begin()

    def _handle_received(self, heard: Received) -> None:
        if self._on_answer is not None:
            self._clock.end()
            self._end(self._judge(heard) if isinstance(heard, bytes) else self._failure(heard))

    def _time_out(self) -> None:
        self._clock.end(timed_out=True)
        self._connection.on_receive(None)
        self._end(self._failed(Fault.TIMED_OUT, f"no answer within {self._limit:g} s", self._connection.unfinished))

    def _judge(self, received: bytes) -> Answer:
        """Judge a reply."""
        self._received = received
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s", self._name, self._clock.taken, format_for_log(received))
        late = self._connection.surplus()
        if isinstance(late, TooMuchData):
            return self._flood(received)
        if late:
            return self._malformed(TOO_MANY, received + b" " + late)
        try:
            return Answered(self._read(values.decode(received)), self._clock.taken, self._evidence)
        except BadRequest as error:
            return self._malformed(self._wrong_reply, received, str(error))

    def _failure(self, what: ConnectionClosed | TooMuchData | HostFault) -> Answer | HostFault:
        """The failure for an error of the connection."""
        match what:
            case IllFormed():
                return self._malformed(f"not a reply: {what}", what.text)
            case TooMuchData():
                return self._flood(what.text)
            case ConnectionClosed():
                return self._failed(what.fault, str(what), self._connection.unfinished)
        return what

    def _malformed(self, why: str, received: bytes, detail: str = "") -> Failed:
        return self._failed(Fault.MALFORMED, why, received, detail)

    def _flood(self, received: bytes) -> Failed:
        return self._failed(Fault.FLOOD, TOO_MUCH, received)


class CourseChannel(CallbackChannel, PersistentChannel):
    """A channel to a client for one match. An ejected client is disconnected; others stay for the next match."""

    def __init__(
        self, client: CourseClient, callee: Callee, game: Game[Any, Any, Any], *, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self._client = client
        self._callee = callee
        self._read = game_action_reader(type(game))
        self._budget = TimeBudget(limits)
        # Of the last message:
        self._message: Message
        self._calls: Sequence[Call] = ()
        self._calls_made = 0  # of these
        self._limit = 0.0  # of each
        self._took = 0.0
        self._then: OnAnswer

    async def ask(self, message: Message) -> Answer:
        """Make the calls of a message, each with its own time; the first failure is the answer."""
        return await exchange(partial(self.ask_with_callback, message), self.stop_waiting)

    def ask_with_callback(self, message: Message, then: OnAnswer) -> bool:
        """Make the calls of a message; `then` is called with the answer."""
        failed, budget = self._client.failed, self._budget
        if failed is not None:
            then(failed)
            return True
        self._message, self._then, self._calls_made, self._took = message, then, 0, 0.0
        self._limit = budget.limit_for(message) if budget.constant_limit is None else budget.constant_limit
        self._calls = self._callee.calls(message)
        if self._calls:
            self._call()
        else:
            then(Answered(None))
        return True

    def stop_waiting(self) -> None:
        """Drop the pending answer."""
        self._client.stop_waiting()

    async def close(self, reason: CloseReason) -> None:
        """Close the connection if the player was ejected."""
        if not self.try_close(reason):
            await self._client.close()

    def try_close(self, reason: CloseReason) -> bool:
        """True: the client stays. False: its connection has to be closed."""
        return not isinstance(reason, Ejected) and self._client.failed is None

    def _call(self) -> None:
        """Make the next call."""
        call = self._calls[self._calls_made]
        self._calls_made += 1
        if self._calls_made == len(self._calls) and isinstance(self._message, TakeTurn):
            self._client.start_call(call, self._limit, self._action, NO_ACTION, self._on_answer)
        else:
            self._client.start_call(call, self._limit, read_void, NOT_VOID, self._on_answer)

    def _on_answer(self, answer: Answer | HostFault) -> None:
        """Make the next call if there is one; otherwise pass on the answer."""
        if isinstance(answer, HostFault):
            self._then(answer)
            return
        self._took += answer.took
        if self._calls_made < len(self._calls) and isinstance(answer, Answered):
            self._call()
            return
        self._budget.spend(self._message, self._took)
        self._then(answer if self._took == answer.took else msgspec.structs.replace(answer, took=self._took))

    def _action(self, reply: Any) -> Any:
        return self._read(self._callee.action(reply))


@cache
def game_action_reader(game: type[Game[Any, Any, Any]]) -> Callable[[Any], Any]:
    """The converter for actions of a game, made once for all its matches."""
    return reader(game.action, f"an action of {game.name}")


def read_void(reply: Any) -> None:
    """Raise BadRequest unless the reply is VOID."""
    if reply != VOID:
        raise BadRequest(f"{wire.encode(reply)[:80]!r} is not {VOID!r}")
