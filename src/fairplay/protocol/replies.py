"""Distinguish replies to the open question from replies to older ones and from invalid lines."""

from collections.abc import Callable
from typing import NamedTuple

from fairplay.core.events import Fault
from fairplay.protocol.wire import Malformed, Reply, read_reply

MAX_STALE_REPLIES = 16  # replies to old questions that are ignored, in a whole match


class BadReply(NamedTuple):
    """Why a line is not a valid reply to the question."""

    fault: Fault
    why: str
    detail: str = ""


class ReplyReader:
    """The replies of one player in one match."""

    def __init__(self, was_asked: Callable[[str], bool]) -> None:
        self._was_asked = was_asked  # is this the nonce of an older question?
        self._stale = 0

    def read(self, text: bytes, nonce: str) -> Reply | BadReply | None:
        """Read the reply to the question with this nonce; None: it answers an older question and is ignored."""
        reply = read_reply(text)
        if isinstance(reply, Malformed):
            return BadReply(Fault.MALFORMED, f"not a reply: {reply.why}")
        if reply.nonce == nonce:
            return reply
        if not self._was_asked(reply.nonce):
            return BadReply(Fault.MALFORMED, "a reply to a question that was never asked")
        self._stale += 1
        if self._stale > MAX_STALE_REPLIES:
            return BadReply(Fault.FLOOD, "answered old questions again and again")
        return None
