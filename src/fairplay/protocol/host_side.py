"""Implement the host's side of the protocol: write questions, and check the form of replies. No I/O, no clock."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from fairplay.core.events import Fault, Receipt
from fairplay.core.game import Game
from fairplay.core.messages import Failed, Message, TakeTurn
from fairplay.core.roles import CloseReason
from fairplay.protocol import wire
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import BadReply, ReplyReader
from fairplay.protocol.wire import Malformed, Reply
from fairplay.referee.conversation import UNEXPECTED_ANSWER
from fairplay.referee.local_channel import NO_ACTION, NO_ANSWER

BAD_INTRODUCTION = f"the answer to hello is neither null nor an introduction: {wire.NAME_RULE}"


class ExpectedAnswer(NamedTuple):
    """The type of answer that a question expects, and the error message for any other answer."""

    decode_reply: Callable[[bytes], wire.TypedReply[Any]]
    decode_answer: Callable[[msgspec.Raw], Any]
    wrong_answer: str


INTRODUCTION = ExpectedAnswer(wire.typed_reply_decoder(wire.Introduction | None), wire.hello_decoder, BAD_INTRODUCTION)
ACKNOWLEDGEMENT = ExpectedAnswer(wire.typed_reply_decoder(None), wire.acknowledgement_decoder, UNEXPECTED_ANSWER)
STALE = object()  # a reply to an earlier question


class HostSide:
    """The host's side of one match, or of a sign-in: it encodes questions and decodes replies.

    One question is open at a time. A connection transports the lines, and a channel measures the time.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any] | None,  # None: sign-in at a server
        match_id: str = "",
        *,
        nonces: Nonces | None = None,  # of a connection that was in use before
    ) -> None:
        self.turns = 0  # of the player so far
        self.is_turn = False  # is the last question a turn?
        self.nonces = Nonces() if nonces is None else nonces
        self._game = game
        self._match_id = match_id
        self._replies = ReplyReader(self.nonces.is_old)
        self._expected_action = ACKNOWLEDGEMENT  # in a turn
        if game is not None:
            self._expected_action = ExpectedAnswer(
                wire.typed_reply_decoder(game.action), wire.action_decoder(type(game)), NO_ACTION
            )
        self._nonce = ""  # of the last question
        self._expected = ACKNOWLEDGEMENT

    def hello(self, limit: float) -> bytes:
        """The line for the first question of a match; at sign-in it names no game."""
        self.is_turn, self._nonce, self._expected = False, self.nonces.next(), INTRODUCTION
        return wire.encode_hello(self._game, match_id=self._match_id, nonce=self._nonce, limit=limit)

    def ask(self, message: Message, limit: float) -> bytes:
        """The line for the next question."""
        assert self._game is not None, "no match has begun"
        self.is_turn = is_turn = isinstance(message, TakeTurn)
        if is_turn:
            self.turns += 1
        self._expected = self._expected_action if is_turn else ACKNOWLEDGEMENT
        self._nonce = nonce = self.nonces.next()
        return wire.encode_question(
            message, self._game, match_id=self._match_id, turn=self.turns, nonce=nonce, limit=limit
        )

    def receive(self, line: bytes) -> Any:
        """Decode a reply: the answer to the open question, STALE for an earlier question, or a BadReply."""
        expected = self._expected
        try:
            typed = expected.decode_reply(line)
            if typed.nonce == self._nonce and wire.encode(typed) == line:  # it is canonical
                return typed.answer
        except wire.DECODE_ERRORS:
            pass  # examined below
        reply = self._replies.read(line, self._nonce)
        if reply is None or isinstance(reply, BadReply):
            return STALE if reply is None else reply
        answer = wire.read_answer(line, reply, expected.decode_answer)
        if isinstance(answer, Malformed):
            returned_none = self.is_turn and bytes(reply.answer) == b"null"
            return BadReply(Fault.MALFORMED, NO_ANSWER if returned_none else expected.wrong_answer, answer.why)
        return answer

    def is_reply(self, line: bytes) -> bool:
        """Is this a reply to the last question, with a valid answer or not?"""
        return isinstance(self._replies.read(line, self._nonce), Reply)

    def last_message(self, reason: CloseReason | Failed, limit: float) -> bytes:
        """The line for the last message: a receipt, or why the player was ejected; empty for neither."""
        if isinstance(reason, Receipt):
            return wire.encode_closing(
                reason, match_id=self._match_id, turn=self.turns, nonce=self.nonces.next(), limit=limit
            )
        return b"" if reason is None else wire.encode_goodbye(self._match_id, reason)
