"""Encode and decode the messages of fairplay's protocol: one JSON object per line.

docs/protocol.md describes it. A line from a player is a reply or malformed.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Raw

from fairplay.core import messages
from fairplay.core.errors import BadRequest
from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Game, Seat
from fairplay.referee.changes import Change
from fairplay.render.text import printable

PROTOCOL_VERSION = 2
MAX_LINE_BYTES = 8 * 1024  # of a line from a player
MAX_JSON_DEPTH = 32  # of nested objects and lists
MAX_NUMBER_DIGITS = 18  # of a number
MAX_NAME_CHARS = 20
MAX_TOKEN_CHARS = 64
NAME_RULE = f"a name is 1 to {MAX_NAME_CHARS} of A-Z, a-z, 0-9, _ and -"
NAME_PATTERN = f"^[A-Za-z0-9_-]{{1,{MAX_NAME_CHARS}}}(?!\\n)$"  # in Python, $ also matches before a final newline

Value = TypeVar("Value")
Nonce = Annotated[str, msgspec.Meta(max_length=64)]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of every message that has a nonce. The reply repeats the nonce."""

    match: str  # its id
    turn: int  # the number of turns of the player so far, this one included
    nonce: str
    limit: float  # seconds until the reply has to arrive


class Hello(Question, frozen=True, kw_only=True, tag="hello", omit_defaults=True):
    """The first message: the version of the protocol, and the game.

    A server says hello without a game when a client connects, and with a game before each match.
    """

    protocol: int
    game: str = ""
    parameters: dict[str, Any] = {}


class Start(Question, frozen=True, kw_only=True, tag="start"):
    """A match begins: your seat, the names, your view."""

    seat: Seat
    names: tuple[str, ...]
    view: Any


class TakeTurn(Question, frozen=True, kw_only=True, tag="take_turn"):
    """It is your turn; here is your view."""

    view: Any


class Tell(Question, frozen=True, kw_only=True, tag="tell"):
    """News for you alone, before the match goes on."""

    news: Any


class End(Question, frozen=True, kw_only=True, tag="end"):
    """The match is over: its result. The receipt covers the record before the result."""

    result: Result


class Closing(Question, frozen=True, kw_only=True, tag="closing"):
    """The result is recorded, and the receipt covers it. Needs no reply; a reply is ignored."""

    receipt: Receipt


class Goodbye(msgspec.Struct, frozen=True, kw_only=True, tag="goodbye"):
    """You were ejected, and this is the last message. Needs no reply."""

    match: str
    fault: Fault
    why: str
    clause: str


class Welcome(msgspec.Struct, frozen=True, kw_only=True, tag="welcome", omit_defaults=True):
    """You are signed in at a server. Needs no reply."""

    name: str  # your name at this server
    reconnect_window: float  # seconds for which your seat is reserved after a lost connection
    reconnect_token: str = ""  # for a guest, which has no token of its own


class Changed(msgspec.Struct, frozen=True, kw_only=True, tag="changed"):
    """The current view of spectators, for players that asked for changes. Needs no reply."""

    match: str
    view: Any


class Suspended(msgspec.Struct, frozen=True, kw_only=True, tag="suspended"):
    """The server dismisses you, or stops for a while, and closes the connection. Needs no reply."""

    why: str
    retry_after: float  # seconds to wait before reconnecting, plus a random time; 0: do not reconnect


WireMessage = Hello | Welcome | Start | TakeTurn | Tell | Changed | End | Closing | Suspended | Goodbye


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a player sends: an action for take_turn, null or an introduction for hello, null for everything else."""

    nonce: Nonce
    answer: Raw


class TypedReply(msgspec.Struct, Generic[Value], frozen=True, forbid_unknown_fields=True):
    """A reply whose answer has the expected type."""

    nonce: Nonce
    answer: Value


class Introduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An answer to hello with details about the player. Only servers use the last five."""

    name: Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)] | msgspec.UnsetType = (
        msgspec.UNSET
    )  # the name that the player asks for
    changes: bool = False  # does it want to be told of every change?
    token: Annotated[str, msgspec.Meta(max_length=MAX_TOKEN_CHARS)] = ""  # the proof of its name
    game: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""  # the game to play; empty: any
    purpose: Literal["play", "watch", "status", "leave"] = "play"  # of the connection
    room: Annotated[str, msgspec.Meta(max_length=MAX_TOKEN_CHARS)] = ""  # the room to watch; empty: any
    person: bool = False  # is it a person, with the limits for people?


class Malformed(msgspec.Struct, frozen=True):
    """Why a line is not a reply."""

    why: str


TOKEN_PATTERN = re.compile(rb'("(?:reconnect_)?token"\s*:\s*)"[^"]*("|\Z)')
MAX_DECODE_ERROR_CHARS = 60  # of the message of a decoder
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # that decoders raise
encode = msgspec.json.Encoder().encode
decode_line = msgspec.json.Decoder(WireMessage).decode  # for the player's side
decode_reply = msgspec.json.Decoder(Reply).decode


def encode_question(
    message: messages.Message, game: Game[Any, Any, Any], *, match_id: str, turn: int, nonce: str, limit: float
) -> bytes:
    """Encode a message as a line."""
    if isinstance(message, messages.TakeTurn):  # the most frequent one
        view = Raw(game.pack_text(message.view))
        return encode(TakeTurn(match=match_id, turn=turn, nonce=nonce, limit=limit, view=view)) + b"\n"
    common: dict[str, Any] = {"match": match_id, "turn": turn, "nonce": nonce, "limit": limit}
    line: WireMessage
    match message:
        case messages.Start(seat, names, view):
            line = Start(seat=seat, names=names, view=Raw(game.pack_text(view)), **common)
        case messages.Tell(news):
            line = Tell(news=news, **common)
        case messages.End(result):
            line = End(result=result, **common)
    return encode(line) + b"\n"


def encode_hello(game: Game[Any, Any, Any] | None, *, match_id: str, nonce: str, limit: float) -> bytes:
    """Encode hello as a line; without a game it is the one of a server's sign-in."""
    played: dict[str, Any] = {} if game is None else {"game": game.name, "parameters": game.public_parameters()}
    return encode(Hello(match=match_id, turn=0, nonce=nonce, limit=limit, protocol=PROTOCOL_VERSION, **played)) + b"\n"


def encode_welcome(name: str, window: float, reconnect_token: str) -> bytes:
    """Encode welcome as a line."""
    return encode(Welcome(name=name, reconnect_window=window, reconnect_token=reconnect_token)) + b"\n"


def encode_changed(change: Change) -> bytes:
    """Encode changed as a line."""
    match = change.match
    return encode(Changed(match=match.id, view=match.game.pack(change.view))) + b"\n"


def redact_token(text: bytes) -> bytes:
    """Replace tokens in a message, for logs and records."""
    return TOKEN_PATTERN.sub(rb'\1"..."', text)


def check_name(text: str | None) -> None:
    """Raise BadRequest unless the text is a valid name of a player."""
    if text is not None and re.search(NAME_PATTERN, text) is None:
        raise BadRequest(f"{text!r} is not a valid name: {NAME_RULE}")


def encode_closing(receipt: Receipt, *, match_id: str, turn: int, nonce: str, limit: float) -> bytes:
    """Encode closing as a line.

    It has a nonce, so that a bot that does not know it and answers null does itself no harm.
    """
    return encode(Closing(match=match_id, turn=turn, nonce=nonce, limit=limit, receipt=receipt)) + b"\n"


def encode_goodbye(match_id: str, failure: Ejected | messages.Failed) -> bytes:
    """Encode goodbye as a line, for an ejected player."""
    clause = failure.clause if isinstance(failure, Ejected) else ""
    return encode(Goodbye(match=match_id, fault=failure.fault, why=failure.why, clause=clause)) + b"\n"


def encode_suspended(why: str, retry_after: float) -> bytes:
    """Encode suspended as a line."""
    return encode(Suspended(why=why, retry_after=retry_after)) + b"\n"


def read_reply(line: bytes) -> Reply | Malformed:
    """Read the reply on a line; its answer is not decoded yet."""
    if len(line) > MAX_LINE_BYTES:
        return Malformed(f"more than {MAX_LINE_BYTES} bytes")
    if line.count(b"[") + line.count(b"{") > MAX_JSON_DEPTH:  # before a decoder recurses into it
        error = find_strict_json_error(line)
        if error is not None:
            return Malformed(error)
    try:
        return decode_reply(line)
    except DECODE_ERRORS:
        return Malformed(
            find_strict_json_error(line) or "an object with a nonce and an answer, and nothing else, was expected"
        )


def read_answer(line: bytes, reply: Reply, decode: Callable[[Raw], Any]) -> Any | Malformed:
    """Decode the answer of a reply, or return what is malformed about it."""
    try:
        answer = decode(reply.answer)
        is_canonical = encode(answer) == bytes(reply.answer) and encode(reply) == line.rstrip(b"\r\n")
    except DECODE_ERRORS as error:
        why = printable(str(error), MAX_DECODE_ERROR_CHARS)  # it may quote what was answered
        return Malformed(find_strict_json_error(line) or f"the answer is not what was asked for: {why}")
    if is_canonical:  # exactly as msgspec writes it, so it is strict JSON
        return answer
    error_text = find_strict_json_error(line)
    return answer if error_text is None else Malformed(error_text)


@cache
def typed_reply_decoder(kind: Any) -> Callable[[bytes], TypedReply[Any]]:
    """A decoder for replies whose answer has this type; it is not strict about JSON."""
    return msgspec.json.Decoder(TypedReply[kind]).decode


@cache
def action_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[Raw], Any]:
    """The decoder of a game's actions from the answer in a reply."""
    return msgspec.json.Decoder(game.action).decode


acknowledgement_decoder = msgspec.json.Decoder(None).decode
hello_decoder = msgspec.json.Decoder(Introduction | None).decode

STRING_PATTERN = re.compile(
    r'"(?:[^"\\]|\\.)*"?', re.DOTALL
)  # also an unterminated string, or the search would take quadratic time


class StrictJsonError(ValueError):
    """Something that JSON parsers treat differently, or that the protocol forbids."""


def find_strict_json_error(line: bytes) -> str | None:
    """What is not strict JSON about a line; None: nothing."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    if text.count("[") + text.count("{") > MAX_JSON_DEPTH and is_too_deep(text):
        return f"nested more than {MAX_JSON_DEPTH} deep"
    try:
        value = json.loads(
            text,
            object_pairs_hook=reject_duplicate_keys,
            parse_int=parse_bounded_int,
            parse_float=reject_float,
            parse_constant=reject_constant,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except StrictJsonError as error:
        return str(error)
    except UnicodeEncodeError:
        return "half a character"
    except (ValueError, RecursionError):
        return "not JSON"
    return None


def is_too_deep(text: str) -> bool:
    """Are objects and lists nested too deep? Brackets in strings do not count."""
    level = 0
    for character in STRING_PATTERN.sub("", text):
        if character in "[{":
            level += 1
            if level > MAX_JSON_DEPTH:
                return True
        elif character in "]}":
            level -= 1
    return False


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; raise StrictJsonError if a key occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StrictJsonError("a key occurs twice")
    return found


def parse_bounded_int(digits: str) -> int:
    """Make a number; raise StrictJsonError if it has too many digits."""
    if len(digits.lstrip("-")) > MAX_NUMBER_DIGITS:
        raise StrictJsonError(f"a number of more than {MAX_NUMBER_DIGITS} digits")
    return int(digits)


def reject_float(digits: str) -> float:
    """Raise StrictJsonError: all numbers of the protocol are integers."""
    raise StrictJsonError("a number that is not an integer")


def reject_constant(name: str) -> float:
    """Raise StrictJsonError: NaN and Infinity are not JSON."""
    raise StrictJsonError(f"{name}, which is not JSON")
