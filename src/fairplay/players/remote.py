"""Ask a remote player: send a question, wait for the reply with its nonce, and check its form."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Evidence, Failed, Message, Start
from fairplay.core.roles import CallbackChannel, CloseReason
from fairplay.protocol import wire
from fairplay.protocol.host_side import STALE, HostSide
from fairplay.protocol.limits import Limits, TimeBudget
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import BadReply
from fairplay.referee.changes import Change, ChangeListener
from fairplay.render.text import printable
from fairplay.transport.connection import Connection, ConnectionClosed, Received, TooMuchData
from fairplay.transport.timer import Clock

DEFAULT_LIMITS = Limits()
MAX_RECEIVED_BYTES = 512  # of a bad answer that are kept
LOG = logging.getLogger("fairplay.players")  # at DEBUG: each question and reply, with its time
OnAnswer = Callable[[Answer | HostFault], None]


class Questioner:
    """Asks the player at the other end of a connection, one question at a time, and remembers how it answered.

    A subclass reads the replies (`_handle_received`), and says what happens when the time is up (`_time_out`).
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._failed_answer: Failed | None = None  # a player that failed is not asked again
        self._debug = (
            LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None
        )  # looked up once, as it is nearly always off
        self._name = "player"  # until its name is known
        self._undelivered_change = b""  # to send before the next question
        # Of the last question:
        self._limit = 0.0
        self._text = b""
        self._on_answer: OnAnswer | None = None  # None: it is not open
        self._clock = Clock(self._time_out)
        self._received = b""

    def stop_waiting(self) -> None:
        """Stop waiting for an answer."""
        if self._on_answer is not None:
            self._on_answer = None
            self._clock.cancel()
            self._connection.on_receive(None)
            self._connection.release()

    def _ask(self, text: bytes, then: OnAnswer) -> None:
        """Ask a question as soon as the player can be asked, and call `then` with its answer."""
        self._text = text
        self._on_answer = then
        self._connection.acquire(self._begin)

    def _begin(self) -> None:
        """Start the player's clock and send the question, as the player can be asked now."""
        connection, limit = self._connection, self._limit
        self._clock.begin(limit)
        if limit <= 0:
            self._time_out()
            return
        if self._undelivered_change:
            connection.send(self._undelivered_change)
            self._undelivered_change = b""
        if self._debug is not None:
            self._debug("to %s: %s", self._name, format_for_log(self._text))
        connection.ask(self._text, self._handle_received)

    def _handle_received(self, received: Received) -> None:
        """Turn what came into an answer."""
        raise NotImplementedError

    def _time_out(self) -> None:
        """End the question, as no answer came in time."""
        raise NotImplementedError

    def _end(self, answer: Answer | HostFault, *, release: bool = True) -> None:
        """Deliver the answer, and release the player."""
        then, self._on_answer = self._on_answer, None
        if release:
            try:
                self._connection.release()
            except HostFault as fault:
                answer = fault
        if then is not None:
            then(answer)

    def _failed(self, fault: Fault, why: str, received: bytes = b"", detail: str = "") -> Failed:
        """A failure, with its evidence for the record."""
        self._failed_answer = Failed(fault, why, self._clock.taken, self._known(received, detail))
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s: %s", self._name, self._clock.taken, why, format_for_log(received))
        return self._failed_answer

    def _known(self, received: bytes, detail: str = "") -> Evidence:
        """The evidence: what was received, the clocks, and what is known of the other end."""
        return self._clock.evidence(add_received(self._connection.evidence(), received, detail))

    def _evidence(self) -> Evidence:
        """The evidence of the last answer, in case it is refused."""
        return self._known(self._received)


async def exchange(ask: Callable[[OnAnswer], object], stop_waiting: Callable[[], None]) -> Answer:
    """Ask a question, and wait for its answer."""
    answered: asyncio.Future[Answer | HostFault] = asyncio.get_running_loop().create_future()
    ask(lambda answer: None if answered.done() else answered.set_result(answer))
    try:
        answer = await answered
    finally:
        stop_waiting()
    if isinstance(answer, HostFault):
        raise answer
    return answer


class RemoteChannel(Questioner, CallbackChannel, ChangeListener):
    """A channel over a connection. One question is open at a time, and every wait has a deadline."""

    def __init__(
        self,
        connection: Connection,
        game: Game[Any, Any, Any],
        *,
        match_id: str = "",
        limits: Limits = DEFAULT_LIMITS,
        took: Sequence[float] = (),
        nonces: Nonces | None = None,  # of a connection that was used before
        changes: bool = False,  # does the player want them? It may say so in its answer to hello, too
    ) -> None:
        super().__init__(connection)
        self._side = HostSide(game, match_id, nonces=nonces)
        self._limits = limits
        self._budget = TimeBudget(limits)
        self.charge_past_turns(took)
        self.is_paused = False  # are no more questions asked by callback?
        self.on_change = self._send_change if changes else None  # sends changes to the player, if it wants them
        self._late: asyncio.Future[float | None] | None = (
            None  # by how many seconds the last answer was late, if it came
        )
        self._late_alarm: asyncio.TimerHandle

    @property
    def is_asking(self) -> bool:
        """Is a question open?"""
        return self._on_answer is not None

    def charge_past_turns(self, took: Sequence[float]) -> None:
        """Charge turns that the player had before the match was resumed; `took` has the seconds of each."""
        self._side.turns += len(took)
        self._budget.spend_turns(took)

    async def hello(self) -> Answer:
        """Wait until the player is ready, which may take longer than an answer; it may give its name."""
        self._limit = self._limits.start_up
        answer = await exchange(partial(self._ask, self._side.hello(self._limit)), self.stop_waiting)
        self._failed_answer = answer if isinstance(answer, Failed) else None
        if isinstance(answer, Answered) and answer.value is not None and answer.value.changes:
            self.on_change = self._send_change
        return answer

    async def ask(self, message: Message) -> Answer:
        """Send a message, and wait for the answer."""
        if self._failed_answer is not None:
            return self._failed_answer
        return await exchange(partial(self._ask, self._question(message)), self.stop_waiting)

    def ask_with_callback(self, message: Message, then: OnAnswer) -> bool:
        """Send a message, and call `then` with the answer. False: it was not sent, so use `ask`."""
        if self.is_paused or self._failed_answer is not None:
            return False
        self._ask(self._question(message), then)
        return True

    async def close(self, reason: CloseReason | Failed) -> float | None:
        """Send a last message, within a limit, and close the connection; one that failed at hello is told why.

        A player that was ejected for its time may still answer before that; returns by how many seconds it was late.
        """
        try:
            overrun = await self._late if self._late is not None and isinstance(reason, Ejected) else None
        finally:
            self._give_up_late()
            await self._connection.close(self._last_message(reason), self._limits.goodbye)
        return overrun

    def _last_message(self, reason: CloseReason | Failed) -> bytes:
        """The last message to the player."""
        return self._side.last_message(reason, self._limits.goodbye)

    def _send_change(self, change: Change) -> None:
        """Send a change to the player; if it is too slow to take it, it gets the newest before the next question."""
        text = change.encode_once(wire.encode_changed)
        self._undelivered_change = b"" if self._connection.offer(text) else text

    def _question(self, message: Message) -> bytes:
        """The text of the next question; sets its limit."""
        if isinstance(message, Start):
            self._name = message.names[message.seat]
        constant = self._budget.constant_limit
        self._limit = limit = self._budget.limit_for(message) if constant is None else constant
        return self._side.ask(message, limit)

    def _handle_received(self, received: Received) -> None:
        """Turn what came into an answer."""
        if self._on_answer is None:
            return
        if not isinstance(received, bytes):
            self._fail(received)
            return
        self._received = received
        value = self._side.receive(received)
        if value is STALE:
            self._connection.on_receive(self._handle_received)
        elif type(value) is BadReply:
            self._fail(value, received)
        else:
            taken = self._clock.end()
            if self._debug is not None:
                self._debug("from %s after %.4f s: %s", self._name, taken, format_for_log(received))
            self._end(Answered(value, taken, self._evidence))

    def _fail(self, what: ConnectionClosed | TooMuchData | BadReply | HostFault, received: bytes = b"") -> None:
        """End the question with a failure."""
        self._clock.end()
        self._end(what if isinstance(what, HostFault) else self._make_failure(what, received))

    def _time_out(self) -> None:
        """End the question, as no answer came in time."""
        self._clock.end(timed_out=True)
        failed = self._make_failure(TimeoutError())
        wait = self._connection.late_answer_timeout_s
        if wait:
            loop = asyncio.get_running_loop()
            self._late = loop.create_future()
            self._late_alarm = loop.call_later(wait, self._give_up_late)
            self._connection.on_receive(self._handle_late_answer)
            self._end(failed)
        else:
            self._connection.stop_receiving(lambda: self._end(failed))

    def _handle_late_answer(self, received: Received) -> None:
        """Note by how much an answer came too late, or that none will come."""
        if not isinstance(received, bytes):
            self._give_up_late()
        elif self._side.is_reply(received):
            self._give_up_late(self._clock.overrun())
        else:
            self._connection.on_receive(self._handle_late_answer)

    def _give_up_late(self, overrun: float | None = None) -> None:
        """Stop waiting for a late answer."""
        if self._late is not None and not self._late.done():
            self._late.set_result(overrun)
            self._late_alarm.cancel()
            self._connection.on_receive(None)
            with suppress(HostFault):  # which ends a match only while a question is open
                self._connection.release()

    def _end(self, answer: Answer | HostFault, *, release: bool = True) -> None:
        """Deliver the answer, and release the player, unless a late answer may still come."""
        if self._side.is_turn and self._budget.constant_limit is None and not isinstance(answer, HostFault):
            self._budget.spend_turn(answer.took)
        super()._end(answer, release=self._late is None)

    def _make_failure(
        self, what: ConnectionClosed | TooMuchData | BadReply | TimeoutError, received: bytes = b""
    ) -> Failed:
        """Describe a failure, for the record."""
        match what:
            case ConnectionClosed():
                return self._failed(what.fault, str(what))
            case TooMuchData():
                return self._failed(Fault.FLOOD, f"sent more than {wire.MAX_LINE_BYTES} bytes at once", what.text)
            case BadReply():
                return self._failed(what.fault, what.why, received, what.detail)
        late = (
            self._budget.describe_timeout(self._limit) if self._side.is_turn else f"no answer within {self._limit:g} s"
        )
        return self._failed(Fault.TIMED_OUT, late)


def add_received(known: Evidence, received: bytes, detail: str = "") -> Evidence:
    """The evidence with the bytes that came, without any token."""
    if not received:
        return replace(known, detail=detail) if detail else known
    excerpt = repr(wire.redact_token(received)[:MAX_RECEIVED_BYTES])
    digest = sha256(received).hexdigest()
    return replace(known, detail=detail, received=excerpt, size=len(received), sha256=digest)


def format_for_log(text: bytes) -> str:
    """A line for a log: complete, printable, and without tokens."""
    words = wire.redact_token(text).decode(errors="replace").rstrip("\n")
    return printable(words, len(words))
