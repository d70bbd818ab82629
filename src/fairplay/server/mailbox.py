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
from fairplay.referee.local_channel import describe_exception
from fairplay.transport.connection import Connection, ConnectionClosed, OnReceive, Received, TooMuchData

Deliver = Callable[[bytes], object]  # takes a line
KICKED_REASON = "kicked by whoever runs the room"
TURN_TYPE = "take_turn"  # the type of what has to be answered


class QuestionHeader(msgspec.Struct, frozen=True):
    """What has to be known of a question."""

    type: str
    nonce: str


read_question = msgspec.json.Decoder(QuestionHeader).decode
read_anything = msgspec.json.Decoder().decode


class Mailbox(Connection):
    """A line to somebody who is told by a function, and answers by `put`.

    Only turns have to be answered: all else is acknowledged for it. A message is a reply as on the wire, which names
    its question by a nonce, or the bare answer to whatever is asked at the moment.
    """

    late_answer_timeout_s = 0.0  # what comes too late is not taken in

    def __init__(self, game: Game[Any, Any, Any]) -> None:
        self.deliver: Deliver | None = None  # None: nobody hears what is said
        self._decode = any_answer_decoder(type(game))
        self._open_nonce = ""  # the nonce of the turn that has to be answered; empty: none has to
        self._is_turn = False  # is the last question a turn?
        self._invalid = b""  # what came otherwise and could be no answer to anything
        self._answer = b""
        self._failed: ConnectionClosed | None = None  # what went wrong when it was told the last question
        self._kicked = False
        self._on_receive: OnReceive | None = None  # is called with the answer
        self._loop: asyncio.AbstractEventLoop

    def put(self, message: Any) -> bool:
        """Take a message, as bytes or as plain data. Is it taken for the answer?

        One that answers what is not asked now, or not any more, is discarded. One that could answer nothing gets its
        sender ejected: now if it is asked, or else when it is asked next.
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
        """Let its next answer be the last: now if it is asked, or else when it is asked next."""
        self._kicked = True
        self._wake()

    def send(self, text: bytes) -> None:
        """Say it to whoever hears."""
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
        """Have this called with the answer."""
        self._loop = asyncio.get_running_loop()
        self._on_receive = callback
        self._wake()

    def release(self) -> None:
        """Whatever comes now is too late."""
        self._open_nonce = ""

    async def close(self, last: bytes, within: float) -> None:
        """Say some last words."""
        if last:
            self._deliver(last)
        self.deliver = None

    def _take(self, text: bytes) -> None:
        self._answer, self._open_nonce = text, ""
        self._wake()

    def _wake(self) -> None:
        """Pass on what is here; an action not before others have heard what happened."""
        if self._on_receive is not None and self._is_turn:
            self._loop.call_soon(self._pass_on)
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        listener = self._on_receive
        if listener is not None and (heard := self._next()) is not None:
            self._on_receive = None
            listener(heard)

    def _next(self) -> Received | None:
        """The answer, or why there is none; None: neither is here yet."""
        if self._failed is not None or self._kicked:
            return self._failed or ConnectionClosed(Fault.GONE, KICKED_REASON)
        text, self._answer = self._answer, b""
        return TooMuchData(text) if len(text) > wire.MAX_LINE_BYTES else text or None

    def _deliver(self, text: bytes) -> ConnectionClosed | None:
        """Say it; what went wrong, if something did."""
        try:
            if self.deliver is not None:
                self.deliver(text)
        except Exception as error:
            return ConnectionClosed(Fault.CRASHED, describe_exception(error)[0])
        return None

    def _is_invalid(self, text: bytes, reply: Reply | Malformed) -> bool:
        """Could this be no answer to anything?"""
        if isinstance(reply, Malformed):
            text = as_reply(text, "")
            reply = wire.read_reply(text)
        return isinstance(reply, Malformed) or isinstance(wire.read_answer(text, reply, self._decode), Malformed)


@cache
def any_answer_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[msgspec.Raw], Any]:
    """What makes an action, or nothing, from any answer that is ever due."""
    return msgspec.json.Decoder(game.action | None).decode


def as_reply(answer: bytes, nonce: str) -> bytes:
    """An answer as the reply to a question; if it is no JSON, it is left as it is."""
    try:
        read_anything(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return answer
    return wire.encode(Reply(nonce, msgspec.Raw(answer)))


def encode_message(message: Any) -> bytes:
    """Plain data as JSON; what is none becomes a text that is none."""
    try:
        return wire.encode(message)
    except Exception as error:  # whatever a foreign object does while it is taken apart
        return f"no plain data: {describe_exception(error)[0]}".encode()
