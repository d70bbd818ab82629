"""Reach a player that is not in this process: ask, wait for the reply to this very question, and judge its form."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.core.events import Ejected, Fault, Receipt
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Evidence, Failed, Message, Start, TakeTurn
from fairplay.core.roles import Parting
from fairplay.protocol import wire
from fairplay.protocol.limits import Budget, Limits
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import Replies, Wrong
from fairplay.protocol.wire import Malformed, Reply
from fairplay.referee.changes import Change
from fairplay.referee.local import NO_ACTION, NO_ANSWER
from fairplay.referee.referee import NOT_DUE
from fairplay.render.text import printable
from fairplay.transport.line import Closed, Heard, Line, TooMuch
from fairplay.transport.timer import Clock

DEFAULT = Limits()
MOST_RAW = 512  # bytes of a bad answer that are kept
NO_INTRODUCTION = f"the answer to hello is neither null nor an introduction: {wire.A_NAME}"
LOG = logging.getLogger("fairplay.players")  # at DEBUG: each question and reply, with its time
Then = Callable[[Answer | HostFault], None]


class Questioner:
    """Whoever asks somebody at the other end of a line, and keeps what became of it."""

    def __init__(self, evidence: Callable[[], Evidence]) -> None:
        self._evidence_there = evidence  # of the other end
        self._broken: Failed | None = None  # once it failed, it is not asked again

    def _failed(self, fault: Fault, why: str, clock: Clock, received: bytes = b"", detail: str = "") -> Failed:
        """What went wrong, with all that is known about it for the record."""
        self._broken = Failed(fault, why, clock.taken, self._known(clock, received, detail))
        return self._broken

    def _known(self, clock: Clock, received: bytes, detail: str = "") -> Evidence:
        """What was received, the clocks, and what is known of the other end."""
        return clock.evidence(with_received(self._evidence_there(), received, detail))


class Due(NamedTuple):
    """What kind of answer a question has, and what is said of any other."""

    decode_whole: Callable[[bytes], wire.Whole[Any]]
    decode: Callable[[msgspec.Raw], Any]
    not_due: str


INTRODUCTION = Due(wire.whole_decoder(wire.Introduction | None), wire.hello_decoder, NO_INTRODUCTION)
ACKNOWLEDGEMENT = Due(wire.whole_decoder(None), wire.acknowledgement_decoder, NOT_DUE)
OLD = object()  # a reply to a question before


class Remote(Questioner):
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
        super().__init__(line.evidence)
        self._line = line
        self._game = game
        self._match_id = match_id
        self._limits = limits
        self._turns = 0  # that the player has had
        self._budget = Budget(limits)
        self.had_turns(took)
        self._action = Due(wire.whole_decoder(game.action), wire.action_decoder(type(game)), NO_ACTION)
        self._nonces = Nonces() if nonces is None else nonces
        self.held = False  # is nothing asked any more without waiting?
        self._replies = Replies(self._nonces.is_old)
        self.changed = self._hear_of if changes else None  # what tells the player of changes, if it listens
        self._unheard = b""  # the newest change, if the player could not take it at once
        self._debug = LOG.debug if LOG.isEnabledFor(logging.DEBUG) else None  # asked once: it is off nearly always
        self._name = "player"  # until it is greeted by its own
        # Of the last question:
        self._nonce = ""
        self._limit = 0.0
        self._due = ACKNOWLEDGEMENT
        self._text = b""
        self._then: Then | None = None  # None: it is not open
        self._clock = Clock(self._time_is_up)
        self._received = b""
        self._late: asyncio.Future[float | None] | None = None  # by how much the last answer was late, if it came
        self._late_alarm: asyncio.TimerHandle

    @property
    def is_asking(self) -> bool:
        """Has the player something to answer?"""
        return self._then is not None

    def had_turns(self, took: Sequence[float]) -> None:
        """The player had turns before the match was resumed, each of which took so many seconds."""
        self._turns += len(took)
        self._budget.spend_before(took)

    async def hello(self) -> Answer:
        """Wait until the player is there, which may take longer than an answer; it may say its name."""
        self._nonce, self._limit, self._due = self._nonces.next(), self._limits.start_up, INTRODUCTION
        text = wire.hello(self._game, match_id=self._match_id, nonce=self._nonce, limit=self._limit)
        answer = await self._exchange(text)
        self._broken = answer if isinstance(answer, Failed) else None
        if isinstance(answer, Answered) and answer.value is not None and answer.value.changes:
            self.changed = self._hear_of
        return answer

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer."""
        if self._broken is not None:
            return self._broken
        return await self._exchange(self._question(message))

    def put(self, message: Message, then: Then) -> bool:
        """Say it, and call this with the answer. False: nothing is asked in this way any more, so `ask`."""
        if self.held or self._broken is not None:
            return False
        self._ask(self._question(message), then)
        return True

    def forget(self) -> None:
        """Nobody waits for an answer any more."""
        if self._then is not None:
            self._then = None
            self._clock.cancel()
            self._line.listen(None)
            self._line.release()

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
        if isinstance(parting, Receipt):
            nonce, limit = self._nonces.next(), self._limits.goodbye
            return wire.closing(parting, match_id=self._match_id, turn=self._turns, nonce=nonce, limit=limit)
        return b"" if parting is None else wire.goodbye(self._match_id, parting)

    def _hear_of(self, change: Change) -> None:
        """Let the player know of a change; who cannot take it now has the newest before the next question."""
        text = change.written(wire.changed)
        self._unheard = b"" if self._line.offer(text) else text

    def _question(self, message: Message) -> bytes:
        """The text of the next question, of which it is noted what is due, and when."""
        if isinstance(message, TakeTurn):
            self._turns += 1
            self._due = self._action
        else:
            self._due = ACKNOWLEDGEMENT
            if isinstance(message, Start):
                self._name = message.names[message.seat]
        self._nonce = nonce = self._nonces.next()
        always = self._budget.always
        self._limit = limit = self._budget.allowed(message) if always is None else always
        return wire.question(message, self._game, match_id=self._match_id, turn=self._turns, nonce=nonce, limit=limit)

    async def _exchange(self, text: bytes) -> Answer:
        """Ask a question, and wait for its answer."""
        answered: asyncio.Future[Answer | HostFault] = asyncio.get_running_loop().create_future()
        self._ask(text, lambda answer: None if answered.done() else answered.set_result(answer))
        try:
            answer = await answered
        finally:
            self.forget()
        if isinstance(answer, HostFault):
            raise answer
        return answer

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
        if self._then is None:
            return
        if not isinstance(heard, bytes):
            self._fail(heard)
            return
        self._received = heard
        value = self._judged(heard, self._nonce, self._due)
        if value is OLD:
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
        elif isinstance(self._replies.read(heard, self._nonce), Reply):
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

    def _end(self, answer: Answer | HostFault) -> None:
        """Have the answer taken, and let the player rest, unless its answer may still come."""
        if self._due is self._action and self._budget.always is None and not isinstance(answer, HostFault):
            self._budget.spend_turn(answer.took)
        then, self._then = self._then, None
        if self._late is None:
            try:
                self._line.release()
            except HostFault as fault:
                answer = fault
        if then is not None:
            then(answer)

    def _judged(self, received: bytes, nonce: str, due: Due) -> Any:
        """The value of an answer; or OLD, if it is one to a question before; or what is wrong with it."""
        try:
            whole = due.decode_whole(received)
            if whole.nonce == nonce and wire.encode(whole) == received:  # as we would have written it
                return whole.answer
        except wire.UNREADABLE:
            pass  # it is looked at more closely below
        reply = self._replies.read(received, nonce)
        if reply is None or isinstance(reply, Wrong):
            return OLD if reply is None else reply
        answer = wire.read_answer(received, reply, due.decode)
        if isinstance(answer, Malformed):
            returned_none = due is self._action and bytes(reply.answer) == b"null"
            return Wrong(Fault.MALFORMED, NO_ANSWER if returned_none else due.not_due, answer.why)
        return answer

    def _failure(self, what: Closed | TooMuch | Wrong | TimeoutError, received: bytes = b"") -> Failed:
        """What went wrong, for the record."""
        failed = self._failure_of(what, received)
        if self._debug is not None:
            self._debug("from %s after %.4f s: %s: %s", self._name, failed.took, failed.why, loggable(received))
        return failed

    def _failure_of(self, what: Closed | TooMuch | Wrong | TimeoutError, received: bytes) -> Failed:
        clock, limit = self._clock, self._limit
        match what:
            case Closed():
                return self._failed(what.fault, str(what), clock)
            case TooMuch():
                return self._failed(Fault.FLOOD, f"sent more than {wire.MOST_BYTES} bytes at once", clock, what.text)
            case Wrong():
                return self._failed(what.fault, what.why, clock, received, what.detail)
        late = self._budget.late(limit) if self._due is self._action else f"no answer within {limit:g} s"
        return self._failed(Fault.TIMED_OUT, late, clock)

    def _evidence(self) -> Evidence:
        """What is known of the last answer, for one that is refused."""
        return self._known(self._clock, self._received)


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
