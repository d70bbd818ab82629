"""Speak the player's side of the protocol: read what a host says, and write replies."""

from typing import Any

from fairplay.core.errors import BadRequest
from fairplay.protocol.wire import UNREADABLE, WireMessage, decode_line, encode

MOST_SHOWN = 80  # bytes of what was not understood


class Misunderstood(BadRequest):
    """The other end says something else than we understand."""


def read_message(line: bytes) -> WireMessage:
    """What a host says on a line. Raises Misunderstood if it is no message of the protocol."""
    try:
        message: WireMessage = decode_line(line)
        return message
    except UNREADABLE as error:
        raise Misunderstood(f"what came is no message of the protocol: {error}: {line[:MOST_SHOWN]!r}") from None


def reply_to(nonce: str, answer: Any) -> bytes:
    """A reply as a line. Raises TypeError if the answer is nothing that can be written down."""
    try:
        return encode({"nonce": nonce, "answer": answer}) + b"\n"
    except TypeError:
        raise TypeError(f"what the player answered is no action, but of the type {type(answer).__name__}") from None


def introduction(**known: str | bool | None) -> dict[str, Any] | None:
    """What a player has to say about itself in its answer to hello; None: nothing."""
    return {what: it for what, it in known.items() if it} or None
