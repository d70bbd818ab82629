"""Reach a player that is not in this process: ask, wait for the reply to this very question, and judge its form."""

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
from fairplay.core.roles import Parting, QuickChannel
from fairplay.protocol import wire
from fairplay.protocol.host_side import STALE, HostSide
from fairplay.protocol.limits import Budget, Limits
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import Wrong
from fairplay.referee.changes import Change, TellsChanges
from fairplay.render.text import printable
from fairplay.transport.line import Closed, Heard, Line, TooMuch
from fairplay.transport.timer import Clock

DEFAULT = Limits()
MOST_RAW = 512  # bytes of a bad answer that are kept
LOG = logging.getLogger("fairplay.players")  # at DEBUG: each question and reply, with its time
Then = Callable[[Answer | HostFault], None]


class Questioner:
    """Asks the player at the other end of a line, one question at a time, and keeps how it answered.

    A subclass reads what comes (`_hear`), and says what happens when the time is up (`_time_is_up`).
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._broken: Failed | None = None  # once it failed, it is not asked again
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None  # asked once: it is off nearly always
        self._name = "player"  # until it is known by its own
        self._unheard = b""  # what is to be said before the next question
        # Of the last question:
        self._limit = 0.0
        self._text = b""
        self._then: Then | None = None  # None: it is not open
        self._clock = Clock(self._time_is_up)
        self._received = b""

    def forget(self) -> None:
        """Nobody waits for an answer any more."""
        if self._then is not None:
            self._then = None
            self._clock.cancel()
            self._line.listen(None)
            self._line.release()

    def _ask(self, text: bytes, then: Then) -> None:
        """Ask a question, as soon as the player can be asked, and have this called with its answer."""
        self._text = text
        self._then = then
        self._line.acquire(self._begin)

    def _begin(self) -> None:
        """The player can be asked: its clock runs from now on."""
        line, limit = self._line, self._limit
        self._clock.begin(limit)
        if limit <= 0:
            self._time_is_up()
            return
        if self._unheard:
            line.send(self._unheard)
            self._unheard = b""
        if self._debug is not None:
            self._debug("to %s: %s", self._name, loggable(self._text))
        line.ask(self._text, self._hear)

    def _hear(self, heard: Heard) -> None:
        """Make an answer of what came."""
        raise NotImplementedError

    def _time_is_up(self) -> None:
        """No answer came."""
        raise NotImplementedError

    def _end(self, answer: Answer | HostFault, *, rests: bool = True) -> None:
        """Have the answer taken, and let the player rest."""
        then, self._then = self._then, None
        if rests:
            try:
                self._line.release()
            except HostFault as fault:
                answer = fault
        if then is not None:
            then(answer)

    def _failed(self, fault: Fault, why: str, received: bytes = b"", detail: str = "") -> Failed:
        """What went wrong, with all that is known about it for the record."""
        self._broken = Failed(fault, why, self._clock.taken, self._known(received, detail))
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s: %s", self._name, self._clock.taken, why, loggable(received))
        return self._broken

    def _known(self, received: bytes, detail: str = "") -> Evidence:
        """What was received, the clocks, and what is known of the other end."""
        return self._clock.evidence(with_received(self._line.evidence(), received, detail))

    def _evidence(self) -> Evidence:
        """What is known of the last answer, for one that is refused."""
        return self._known(self._received)


async def exchanged(ask: Callable[[Then], object], forget: Callable[[], None]) -> Answer:
    """Ask a question, and wait for its answer."""
    answered: asyncio.Future[Answer | HostFault] = asyncio.get_running_loop().create_future()
    ask(lambda answer: None if answered.done() else answered.set_result(answer))
    try:
        answer = await answered
    finally:
        forget()
    if isinstance(answer, HostFault):
        raise answer
    return answer


class Remote(Questioner, QuickChannel, TellsChanges):
    """A channel over a line. One question is open at a time, and every wait has a deadline."""

    def __init__(
        self,
        line: Line,
        game: Game[Any, Any, Any],
        *,
        match_id: str = "",
        limits: Limits = DEFAULT,
        took: Sequence[float] = (),
        nonces: Nonces | None = None,  # of a line that was used before
        changes: bool = False,  # does the player want to hear of them? It may say so in its answer to hello, too
    ) -> None:
        super().__init__(line)
        self._side = HostSide(game, match_id, nonces=nonces)
        self._limits = limits
        self._budget = Budget(limits)
        self.had_turns(took)
        self.held = False  # is nothing asked any more without waiting?
        self.changed = self._hear_of if changes else None  # what tells the player of changes, if it listens
        self._late: asyncio.Future[float | None] | None = None  # by how much the last answer was late, if it came
        self._late_alarm: asyncio.TimerHandle

    @property
    def is_asking(self) -> bool:
        """Has the player something to answer?"""
        return self._then is not None

    def had_turns(self, took: Sequence[float]) -> None:
        """The player had turns before the match was resumed, each of which took so many seconds."""
        self._side.turns += len(took)
        self._budget.spend_before(took)

    async def hello(self) -> Answer:
        """Wait until the player is there, which may take longer than an answer; it may say its name."""
        self._limit = self._limits.start_up
        answer = await exchanged(partial(self._ask, self._side.hello(self._limit)), self.forget)
        self._broken = answer if isinstance(answer, Failed) else None
        if isinstance(answer, Answered) and answer.value is not None and answer.value.changes:
            self.changed = self._hear_of
        return answer

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer."""
        if self._broken is not None:
            return self._broken
        return await exchanged(partial(self._ask, self._question(message)), self.forget)

    def put(self, message: Message, then: Then) -> bool:
        """Say it, and call this with the answer. False: nothing is asked in this way any more, so `ask`."""
        if self.held or self._broken is not None:
            return False
        self._ask(self._question(message), then)
        return True

    async def close(self, parting: Parting | Failed) -> float | None:
        """Say some bounded last words and cut the line; who failed at hello and has no seat may be told why, too.

        A player that is out as it took too long may still answer before that: by how many seconds was it too late?
        """
        try:
            overrun = await self._late if self._late is not None and isinstance(parting, Ejected) else None
        finally:
            self._give_up_late()
            await self._line.hang_up(self._last_words(parting), self._limits.goodbye)
        return overrun

    def _last_words(self, parting: Parting | Failed) -> bytes:
        """What is said last."""
        return self._side.last_words(parting, self._limits.goodbye)

    def _hear_of(self, change: Change) -> None:
        """Let the player know of a change; who cannot take it now has the newest before the next question."""
        text = change.written(wire.changed)
        self._unheard = b"" if self._line.offer(text) else text

    def _question(self, message: Message) -> bytes:
        """The text of the next question, of which it is noted until when the answer has to be here."""
        if isinstance(message, Start):
            self._name = message.names[message.seat]
        always = self._budget.always
        self._limit = limit = self._budget.allowed(message) if always is None else always
        return self._side.ask(message, limit)

    def _hear(self, heard: Heard) -> None:
        """Make an answer of what came."""
        if self._then is None:
            return
        if not isinstance(heard, bytes):
            self._fail(heard)
            return
        self._received = heard
        value = self._side.receive(heard)
        if value is STALE:
            self._line.listen(self._hear)
        elif type(value) is Wrong:
            self._fail(value, heard)
        else:
            taken = self._clock.end()
            if self._debug is not None:
                self._debug("from %s after %.4f s: %s", self._name, taken, loggable(heard))
            self._end(Answered(value, taken, self._evidence))

    def _fail(self, what: Closed | TooMuch | Wrong | HostFault, received: bytes = b"") -> None:
        """End the question by what went wrong."""
        self._clock.end()
        self._end(what if isinstance(what, HostFault) else self._failure(what, received))

    def _time_is_up(self) -> None:
        """No answer came."""
        self._clock.end(is_up=True)
        failed = self._failure(TimeoutError())
        wait = self._line.late_wait_s
        if wait:
            loop = asyncio.get_running_loop()
            self._late = loop.create_future()
            self._late_alarm = loop.call_later(wait, self._give_up_late)
            self._line.listen(self._hear_late)
            self._end(failed)
        else:
            self._line.stop_listening(lambda: self._end(failed))

    def _hear_late(self, heard: Heard) -> None:
        """An answer came too late, or none will come."""
        if not isinstance(heard, bytes):
            self._give_up_late()
        elif self._side.is_reply(heard):
            self._give_up_late(self._clock.overrun())
        else:
            self._line.listen(self._hear_late)

    def _give_up_late(self, overrun: float | None = None) -> None:
        """Wait no longer for an answer that comes too late."""
        if self._late is not None and not self._late.done():
            self._late.set_result(overrun)
            self._late_alarm.cancel()
            self._line.listen(None)
            with suppress(HostFault):  # which ends a match only if somebody is asked
                self._line.release()

    def _end(self, answer: Answer | HostFault, *, rests: bool = True) -> None:
        """Have the answer taken, and let the player rest, unless its answer may still come."""
        if self._side.is_turn and self._budget.always is None and not isinstance(answer, HostFault):
            self._budget.spend_turn(answer.took)
        super()._end(answer, rests=self._late is None)

    def _failure(self, what: Closed | TooMuch | Wrong | TimeoutError, received: bytes = b"") -> Failed:
        """What went wrong, for the record."""
        limit = self._limit
        match what:
            case Closed():
                return self._failed(what.fault, str(what))
            case TooMuch():
                return self._failed(Fault.FLOOD, f"sent more than {wire.MOST_BYTES} bytes at once", what.text)
            case Wrong():
                return self._failed(what.fault, what.why, received, what.detail)
        late = self._budget.late(limit) if self._side.is_turn else f"no answer within {limit:g} s"
        return self._failed(Fault.TIMED_OUT, late)


def with_received(known: Evidence, received: bytes, detail: str = "") -> Evidence:
    """What is known, and the bytes that came from a stranger; but no token."""
    if not received:
        return replace(known, detail=detail) if detail else known
    shown = repr(wire.without_token(received)[:MOST_RAW])
    digest = sha256(received).hexdigest()
    return replace(known, detail=detail, received=shown, size=len(received), sha256=digest)


def loggable(text: bytes) -> str:
    """A line as it may stand in a log: whole, printable, and without a token."""
    words = wire.without_token(text).decode(errors="replace").rstrip("\n")
    return printable(words, len(words))
