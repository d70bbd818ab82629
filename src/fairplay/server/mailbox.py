"""Connect a player by function calls: messages are delivered to a function, and answers put into a mailbox."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from fairplay.core.events import Fault
from fairplay.core.game import Game
from fairplay.protocol import wire
from fairplay.protocol.wire import Malformed, Reply
from fairplay.referee.local_channel import describe_exception
from fairplay.transport.connection import Connection, ConnectionClosed, OnReceive, Received, TooMuchData

Deliver = Callable[[bytes], object]  # takes a line of text
KICKED_REASON = "kicked from the room"
TURN_TYPE = "take_turn"  # the only type of question that has to be answered


class QuestionHeader(msgspec.Struct, frozen=True):
    """The fields of a question that a mailbox reads."""

    type: str
    nonce: str


read_question = msgspec.json.Decoder(QuestionHeader).decode
read_anything = msgspec.json.Decoder().decode


class Mailbox(Connection):
    """A connection to a player whose messages go to a function, and whose answers come by `put`.

    Only turns have to be answered: the mailbox acknowledges all else. An answer is a reply as on the wire, which names
    its question by a nonce, or the bare answer to the open question.
    """

    late_answer_timeout_s = 0.0  # late answers are not recorded

    def __init__(self, game: Game[Any, Any, Any]) -> None:
        self.deliver: Deliver | None = None  # None: messages are dropped
        self._decode = any_answer_decoder(type(game))
        self._open_nonce = ""  # of the turn that has to be answered; empty: there is none
        self._is_turn = False  # the last question is a turn
        self._invalid = b""  # a message that could answer no question
        self._answer = b""
        self._failed: ConnectionClosed | None = None  # why the last question could not be delivered
        self._kicked = False
        self._on_receive: OnReceive | None = None  # is called with the answer
        self._loop: asyncio.AbstractEventLoop

    def put(self, message: Any) -> bool:
        """Take a message, as bytes or as plain data. True: it is the answer to the open question.

        An answer to another question is discarded. A message that could answer no question gets its sender ejected: now
        if a question is open, or else when the next one is asked.
        """
        text = message if isinstance(message, bytes) else encode_message(message)
        reply = wire.read_reply(text)
        meant = reply.nonce == self._open_nonce if isinstance(reply, Reply) else True
        if self._open_nonce and (meant or self._is_invalid(text, reply)):
            self._take(text if meant and isinstance(reply, Reply) else as_reply(text, self._open_nonce))
            return True
        if not self._invalid and self._is_invalid(text, reply):
            self._invalid = text[: wire.MAX_LINE_BYTES + 1]
        return False

    def kick(self) -> None:
        """Eject the player: now if a question is open, or else when the next one is asked."""
        self._kicked = True
        self._wake()

    def send(self, text: bytes) -> None:
        """Deliver a message."""
        if self._kicked:
            return
        asked = read_question(text)
        self._open_nonce, self._answer, self._is_turn = asked.nonce, b"", asked.type == TURN_TYPE
        if self._invalid:
            self._take(as_reply(self._invalid, asked.nonce))
        elif not self._is_turn:
            self._take(as_reply(b"null", asked.nonce))
        self._failed = self._deliver(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Call this with the answer."""
        self._loop = asyncio.get_running_loop()
        self._on_receive = callback
        self._wake()

    def release(self) -> None:
        """Discard whatever comes from now on."""
        self._open_nonce = ""

    async def close(self, last: bytes, within: float) -> None:
        """Deliver a last message."""
        if last:
            self._deliver(last)
        self.deliver = None

    def _take(self, text: bytes) -> None:
        self._answer, self._open_nonce = text, ""
        self._wake()

    def _wake(self) -> None:
        """Pass on what is here; an action only after spectators were told what happened."""
        if self._on_receive is not None and self._is_turn:
            self._loop.call_soon(self._pass_on)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        callback = self._on_receive
        if callback is not None and (received := self._next()) is not None:
            self._on_receive = None
            callback(received)

    def _next(self) -> Received | None:
        """The answer, or why there will be none; None: neither is known yet."""
        if self._failed is not None or self._kicked:
            return self._failed or ConnectionClosed(Fault.GONE, KICKED_REASON)
        text, self._answer = self._answer, b""
        return TooMuchData(text) if len(text) > wire.MAX_LINE_BYTES else text or None

    def _deliver(self, text: bytes) -> ConnectionClosed | None:
        """Call the function; what went wrong, if it raises."""
        try:
            if self.deliver is not None:
                self.deliver(text)
        except Exception as error:
            return ConnectionClosed(Fault.CRASHED, describe_exception(error)[0])
        return None

    def _is_invalid(self, text: bytes, reply: Reply | Malformed) -> bool:
        """Could this answer no question at all?"""
        if isinstance(reply, Malformed):
            text = as_reply(text, "")
            reply = wire.read_reply(text)
        return isinstance(reply, Malformed) or isinstance(wire.read_answer(text, reply, self._decode), Malformed)


@cache
def any_answer_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[msgspec.Raw], Any]:
    """The decoder of any answer that a game may ask for: an action, or null."""
    return msgspec.json.Decoder(game.action | None).decode


def as_reply(answer: bytes, nonce: str) -> bytes:
    """An answer as the reply to a question; text that is not JSON is left as it is."""
    try:
        read_anything(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return answer
    return wire.encode(Reply(nonce, msgspec.Raw(answer)))


def encode_message(message: Any) -> bytes:
    """Plain data as JSON; anything else becomes a text that is not JSON."""
    try:
        return wire.encode(message)
    except Exception as error:  # raised by a foreign object
        return f"not plain data: {describe_exception(error)[0]}".encode()
