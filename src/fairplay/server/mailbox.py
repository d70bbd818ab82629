"""Let somebody answer by messages that are put into a mailbox, and be judged as anybody at the end of a line is."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.protocol import wire
from fairplay.protocol.wire import Malformed, Reply
from fairplay.referee.local import describe
from fairplay.transport.line import Closed, Hear, Heard, Line, TooMuch

Tell = Callable[[bytes], object]  # takes a line
KICKED = "kicked by whoever runs the room"
TURN = "take_turn"  # the type of what has to be answered


class Asked(msgspec.Struct, frozen=True):
    """What has to be known of a question."""

    type: str
    nonce: str


read_question = msgspec.json.Decoder(Asked).decode
read_anything = msgspec.json.Decoder().decode


class Mailbox(Line):
    """A line to somebody who is told by a function, and answers by `put`.

    Only turns have to be answered: all else is acknowledged for it. A message is a reply as on the wire, which names
    its question by a nonce, or the bare answer to whatever is asked at the moment.
    """

    late_wait_s = 0.0  # what comes too late is not taken in

    def __init__(self, game: Game[Any, Any, Any]) -> None:
        self.hear: Tell | None = None  # None: nobody hears what is said
        self._decode = any_answer_decoder(type(game))
        self._open = ""  # the nonce of the turn that has to be answered; empty: none has to
        self._turn = False  # is the last question a turn?
        self._wrong = b""  # what came otherwise and could be no answer to anything
        self._answer = b""
        self._failed: Closed | None = None  # what went wrong when it was told the last question
        self._kicked = False
        self._listener: Hear | None = None  # is called with the answer
        self._loop: asyncio.AbstractEventLoop

    def put(self, message: Any) -> bool:
        """Take a message, as bytes or as plain data. Is it taken for the answer?

        One that answers what is not asked now, or not any more, is discarded. One that could answer nothing gets its
        sender ejected: now if it is asked, or else when it is asked next.
        """
        text = message if isinstance(message, bytes) else as_bytes(message)
        reply = wire.read_reply(text)
        meant = reply.nonce == self._open if isinstance(reply, Reply) else True
        if self._open and (meant or self._is_wrong(text, reply)):
            self._take(text if meant and isinstance(reply, Reply) else bare(text, self._open))
            return True
        if not self._wrong and self._is_wrong(text, reply):
            self._wrong = text[: wire.MOST_BYTES + 1]
        return False

    def kick(self) -> None:
        """Let its next answer be the last: now if it is asked, or else when it is asked next."""
        self._kicked = True
        self._wake()

    def send(self, text: bytes) -> None:
        """Say it to whoever hears."""
        if self._kicked:
            return
        asked = read_question(text)
        self._open, self._answer, self._turn = asked.nonce, b"", asked.type == TURN
        if self._wrong:
            self._take(bare(self._wrong, asked.nonce))
        elif not self._turn:
            self._take(bare(b"null", asked.nonce))
        self._failed = self._say(text)

    def listen(self, hear: Hear | None) -> None:
        """Have this called with the answer."""
        self._loop = asyncio.get_running_loop()
        self._listener = hear
        self._wake()

    def release(self) -> None:
        """Whatever comes now is too late."""
        self._open = ""

    async def hang_up(self, last: bytes, within: float) -> None:
        """Say some last words."""
        if last:
            self._say(last)
        self.hear = None

    def _take(self, text: bytes) -> None:
        self._answer, self._open = text, ""
        self._wake()

    def _wake(self) -> None:
        """Pass on what is here; an action not before others have heard what happened."""
        if self._listener is not None and self._turn:
            self._loop.call_soon(self._pass_on)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        listener = self._listener
        if listener is not None and (heard := self._next()) is not None:
            self._listener = None
            listener(heard)

    def _next(self) -> Heard | None:
        """The answer, or why there is none; None: neither is here yet."""
        if self._failed is not None or self._kicked:
            return self._failed or Closed(Fault.GONE, KICKED)
        text, self._answer = self._answer, b""
        return TooMuch(text) if len(text) > wire.MOST_BYTES else text or None

    def _say(self, text: bytes) -> Closed | None:
        """Say it; what went wrong, if something did."""
        try:
            if self.hear is not None:
                self.hear(text)
        except Exception as error:
            return Closed(Fault.CRASHED, describe(error)[0])
        return None

    def _is_wrong(self, text: bytes, reply: Reply | Malformed) -> bool:
        """Could this be no answer to anything?"""
        if isinstance(reply, Malformed):
            text = bare(text, "")
            reply = wire.read_reply(text)
        return isinstance(reply, Malformed) or isinstance(wire.read_answer(text, reply, self._decode), Malformed)


@cache
def any_answer_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[msgspec.Raw], Any]:
    """What makes an action, or nothing, from any answer that is ever due."""
    return msgspec.json.Decoder(game.action | None).decode


def bare(answer: bytes, nonce: str) -> bytes:
    """An answer as the reply to a question; if it is no JSON, it is left as it is."""
    try:
        read_anything(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return answer
    return wire.encode(Reply(nonce, msgspec.Raw(answer)))


def as_bytes(message: Any) -> bytes:
    """Plain data as JSON; what is none becomes a text that is none."""
    try:
        return wire.encode(message)
    except Exception as error:  # whatever a foreign object does while it is taken apart
        return f"no plain data: {describe(error)[0]}".encode()
