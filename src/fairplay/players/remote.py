"""Reach a player that is not in this process: ask, wait for the reply to this very question, and judge its form."""

import re
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b, sha256
from typing import Any, Protocol

import msgspec

from fairplay.core.events import Fault, Receipt
from fairplay.core.game import Game
from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import Parting
from fairplay.players import wire
from fairplay.players.limits import Budget, Limits
from fairplay.players.timer import Timer
from fairplay.players.wire import Malformed, Reply
from fairplay.referee.changes import Change
from fairplay.referee.local import NO_ACTION
from fairplay.referee.referee import NOT_DUE

DEFAULT = Limits()
MOST_RAW = 512  # bytes of a bad answer that are kept
NO_INTRODUCTION = f"the answer to hello is neither null nor an introduction: {wire.A_NAME}"
A_TOKEN = re.compile(rb'("token"\s*:\s*)"[^"]*("|\Z)')
MOST_STALE = 16  # replies to old questions that are passed over, in a whole match


class Closed(Exception):
    """The other end has gone; `fault` is CRASHED for a program and GONE for a connection."""

    def __init__(self, fault: Fault, why: str) -> None:
        super().__init__(why)
        self.fault = fault

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fault, *self.args), self.__dict__


class Cut(Closed):
    """The other end has gone in the middle of a reply."""

    def __init__(self) -> None:
        super().__init__(Fault.MALFORMED, "the line was closed in the middle of a reply")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), self.__dict__


class TooMuch(Exception):
    """More came than anybody asked for; what came first is its text."""

    def __init__(self, text: bytes) -> None:
        super().__init__("too much")
        self.text = text


class Line(Protocol):
    """A line to somebody: bytes with an end there and back. Whatever goes wrong is `Closed` or `TooMuch`.

    Who derives from it has nothing to wake.
    """

    async def wake(self) -> None:
        """Come back when the other end can be asked: whoever waits for its turn to compute has no clock running."""
        return

    def rest(self) -> None:
        """The other end is not asked any more, until it is woken again."""
        return

    async def send(self, text: bytes) -> None:
        """Send a whole line; comes back when it is on its way."""

    async def receive(self) -> bytes:
        """The next whole line, without its end."""

    def offer(self, text: bytes) -> bool:
        """Send a line that needs no answer, unless the other end is behind with reading, or stopped: False then."""
        return False

    def when_lost(self, call: Callable[[], None]) -> None:
        """Have this called once nothing more can come, also while nobody asks; at once, if it is so already."""
        return

    async def hang_up(self, last: bytes, within: float) -> None:
        """Send some last words if that can be done in so many seconds; then let go of everything, on every path.

        Whoever waits on the line meanwhile hears that it is closed.
        """

    def evidence(self) -> str:
        """What is known of the other end when it failed: an exit code, its last words."""


class Questioner:
    """Whoever asks somebody at the other end of a line, and keeps what became of it."""

    def __init__(self, line: Line, clock: Callable[[], float]) -> None:
        self._line = line
        self._clock = clock
        self._broken: Failed | None = None  # once it failed, it is not asked again

    def _failed(self, fault: Fault, why: str, timer: Timer, received: bytes = b"", detail: str = "") -> Failed:
        """What went wrong, with all that is known about it for the record."""
        took = timer.taken
        self._broken = Failed(fault, why, took, self._known(timer, took, received, detail))
        return self._broken

    def _known(self, timer: Timer, took: float, received: bytes, detail: str = "") -> str:
        """What was received, the clocks, and what is known of the other end."""
        parts = [detail, described(received) if received else "", timer.described(took), self._line.evidence()]
        return "\n".join(part for part in parts if part)


class Nonces:
    """What ties replies to questions, for as long as a line lasts, however many matches are played over it."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(16)
        self._questions = 0

    def next(self) -> str:
        """The one for the next question."""
        self._questions += 1
        return self._nonce(self._questions)

    def is_old(self, nonce: str) -> bool:
        """Was this one of a question before?"""
        number, _, _ = nonce.partition("-")
        known = number.isascii() and number.isdigit() and int(number) < self._questions
        return known and nonce == self._nonce(int(number))

    def _nonce(self, question: int) -> str:
        """What only who heard a question knows of it: its number, and a part that nobody can guess."""
        return f"{question}-{blake2b(b'%d' % question, key=self._secret, digest_size=8).hexdigest()}"


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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(line, clock)
        self._game = game
        self._match_id = match_id
        self._limits = limits
        self._turns = 0  # that the player has had
        self._budget = Budget(limits)
        self.had_turns(took)
        self._decode_action = wire.action_decoder(type(game))
        self._nonces = Nonces() if nonces is None else nonces
        self._stale = 0
        self.changed = self._hear if changes else None  # what tells the player of changes, if it listens
        self._unheard = b""  # the newest change, if the player could not take it at once

    def had_turns(self, took: Sequence[float]) -> None:
        """The player had turns before the match was resumed, each of which took so many seconds."""
        self._turns += len(took)
        self._budget.spend_before(took)

    async def hello(self) -> Answered | Failed:
        """Wait until the player is there, which may take longer than an answer; it may say its name."""
        nonce, limit = self._nonces.next(), self._limits.start_up
        text = wire.hello(self._game, match_id=self._match_id, nonce=nonce, limit=limit)
        answer = await self._exchange(text, nonce, limit, wire.hello_decoder, NO_INTRODUCTION)
        self._broken = answer if isinstance(answer, Failed) else None
        if isinstance(answer, Answered) and answer.value is not None and answer.value.changes:
            self.changed = self._hear
        return answer

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer."""
        if self._broken is not None:
            return self._broken
        takes_turn = isinstance(message, TakeTurn)
        self._turns += takes_turn
        nonce, limit = self._nonces.next(), self._budget.allowed(message)
        text = wire.question(message, self._game, match_id=self._match_id, turn=self._turns, nonce=nonce, limit=limit)
        decode, why = (self._decode_action, NO_ACTION) if takes_turn else (wire.acknowledgement_decoder, NOT_DUE)
        answer = await self._exchange(text, nonce, limit, decode, why)
        self._budget.spend(message, answer.took)
        return answer

    async def close(self, parting: Parting | Failed) -> None:
        """Say some bounded last words and cut the line; who failed at hello and has no seat may be told why, too."""
        await self._line.hang_up(self._last_words(parting), self._limits.goodbye)

    def _last_words(self, parting: Parting | Failed) -> bytes:
        """What is said last."""
        if isinstance(parting, Receipt):
            nonce, limit = self._nonces.next(), self._limits.goodbye
            return wire.closing(parting, match_id=self._match_id, turn=self._turns, nonce=nonce, limit=limit)
        return b"" if parting is None else wire.goodbye(self._match_id, parting)

    def _hear(self, change: Change) -> None:
        """Let the player know of a change; who cannot take it now has the newest before the next question."""
        text = change.written(wire.changed)
        self._unheard = b"" if self._line.offer(text) else text

    async def _exchange(
        self, text: bytes, nonce: str, limit: float, decode: Callable[[msgspec.Raw], Any], not_due: str
    ) -> Answered | Failed:
        """Send a question, and make an answer of what comes back, or of what goes wrong."""
        await self._line.wake()
        timer = Timer(limit, self._clock)
        received = b""
        try:
            with timer:
                if self._unheard:
                    await self._line.send(self._unheard)
                    self._unheard = b""
                await self._line.send(text)
                received = await self._line.receive()
                reply = wire.read_reply(received)
                while isinstance(reply, Reply) and reply.nonce != nonce and self._nonces.is_old(reply.nonce):
                    self._stale += 1
                    if self._stale > MOST_STALE:
                        break
                    received = await self._line.receive()
                    reply = wire.read_reply(received)
        except TimeoutError:
            return self._failed(Fault.TIMED_OUT, f"no answer within {limit:g} s", timer)
        except Closed as closed:
            return self._failed(closed.fault, str(closed), timer)
        except TooMuch as much:
            return self._failed(Fault.FLOOD, f"sent more than {wire.MOST_BYTES} bytes at once", timer, much.text)
        finally:
            self._line.rest()
        if self._stale > MOST_STALE:
            return self._failed(Fault.FLOOD, "answered old questions again and again", timer, received)
        if isinstance(reply, Malformed):
            return self._failed(Fault.MALFORMED, f"not a reply: {reply.why}", timer, received)
        if reply.nonce != nonce:
            return self._failed(Fault.MALFORMED, "a reply to a question that was never asked", timer, received)
        answer = wire.read_answer(received, reply, decode)
        if isinstance(answer, Malformed):
            return self._failed(Fault.MALFORMED, not_due, timer, received, answer.why)
        took = timer.taken
        return Answered(answer, took, partial(self._known, timer, took, received))


def described(received: bytes) -> str:
    """Bytes from a stranger, for the record; but no token that somebody says, at hello or at the wrong moment."""
    shown = A_TOKEN.sub(rb'\1"..."', received)[:MOST_RAW]
    return f"received {shown!r} ({len(received)} bytes, SHA-256 {sha256(received).hexdigest()})"
