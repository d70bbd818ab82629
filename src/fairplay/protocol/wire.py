"""Speak fairplay's own protocol: one JSON object per line, and whatever arrives is a reply or malformed.

docs/protocol.md describes it. What is said here is plain data: nothing in this file waits, or knows who listens.
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
MAX_JSON_DEPTH = 32  # of objects and lists in one another
MAX_NUMBER_DIGITS = 18  # of a number
MAX_NAME_CHARS = 20
MAX_TOKEN_CHARS = 64
NAME_RULE = f"a name is 1 to {MAX_NAME_CHARS} of A-Z, a-z, 0-9, _ and -"
NAME_PATTERN = f"^[A-Za-z0-9_-]{{1,{MAX_NAME_CHARS}}}(?!\\n)$"  # in Python, a $ may stand before the end of a line

Value = TypeVar("Value")
Nonce = Annotated[str, msgspec.Meta(max_length=64)]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What every message to a player has. The reply repeats the nonce."""

    match: str  # its id
    turn: int  # how many turns the player has had, this one included
    nonce: str
    limit: float  # seconds until the reply has to be here


class Hello(Question, frozen=True, kw_only=True, tag="hello", omit_defaults=True):
    """The first message: in which version of the protocol we speak, and what will be played.

    At the listener of a server nobody knows that yet, and there is no game in it; each match has a hello of its own there.
    """

    protocol: int
    game: str = ""
    parameters: dict[str, Any] = {}


class Start(Question, frozen=True, kw_only=True, tag="start"):
    """A match begins: where you sit, who plays, what you see."""

    seat: Seat
    names: tuple[str, ...]
    view: Any


class TakeTurn(Question, frozen=True, kw_only=True, tag="take_turn"):
    """It is your turn, and this is what you see."""

    view: Any


class Tell(Question, frozen=True, kw_only=True, tag="tell"):
    """What you must know before others go on."""

    news: Any


class End(Question, frozen=True, kw_only=True, tag="end"):
    """The match is over: its result. Its receipt covers what was on record by then, not this result."""

    result: Result


class Closing(Question, frozen=True, kw_only=True, tag="closing"):
    """The result is on record, and the receipt covers it too. There is nothing to reply, and a reply is not read."""

    receipt: Receipt


class Goodbye(msgspec.Struct, frozen=True, kw_only=True, tag="goodbye"):
    """You are out, and this is the last that you hear; there is nothing to reply."""

    match: str
    fault: Fault
    why: str
    clause: str


class Welcome(msgspec.Struct, frozen=True, kw_only=True, tag="welcome", omit_defaults=True):
    """A server has signed you up; there is nothing to reply. With the token you can reconnect."""

    name: str  # what you are called here
    reconnect_window: float  # seconds that a seat is kept for you
    reconnect_token: str = ""  # for a guest, which has no token of its own


class Changed(msgspec.Struct, frozen=True, kw_only=True, tag="changed"):
    """What spectators see now, for a player that asked to hear of every change; there is nothing to reply."""

    match: str
    view: Any


class Suspended(msgspec.Struct, frozen=True, kw_only=True, tag="suspended"):
    """The server lets you go, or stops for a while; the line is cut, and there is nothing to reply."""

    why: str
    retry_after: float  # seconds after which to come again, not all at the same moment; 0: there is nothing to come for


WireMessage = Hello | Welcome | Start | TakeTurn | Tell | Changed | End | Closing | Suspended | Goodbye


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a player sends: an action to take_turn, null to everything else (or its name to hello)."""

    nonce: Nonce
    answer: Raw


class TypedReply(msgspec.Struct, Generic[Value], frozen=True, forbid_unknown_fields=True):
    """A reply with its answer, where it is of the kind that is due."""

    nonce: Nonce
    answer: Value


class Introduction(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer to hello of somebody who has something to say about itself. Only a server looks at the last five."""

    name: Annotated[str, msgspec.Meta(pattern=NAME_PATTERN)] | msgspec.UnsetType = (
        msgspec.UNSET
    )  # that it wants to have
    changes: bool = False  # does it want to hear of every change?
    token: Annotated[str, msgspec.Meta(max_length=MAX_TOKEN_CHARS)] = ""  # that proves who it is
    game: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)] = ""  # that it wants to play; empty: any
    purpose: Literal["play", "watch", "status", "leave"] = "play"  # what it comes for
    room: Annotated[str, msgspec.Meta(max_length=MAX_TOKEN_CHARS)] = ""  # that it wants to watch; empty: any
    person: bool = False  # does a person play, who gets the time that the server gives people?


class Malformed(msgspec.Struct, frozen=True):
    """What arrived is no reply, and why."""

    why: str


TOKEN_PATTERN = re.compile(rb'("(?:reconnect_)?token"\s*:\s*)"[^"]*("|\Z)')
MAX_DECODE_ERROR_CHARS = 60  # characters of what a decoder says
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what decoders raise
encode = msgspec.json.Encoder().encode
decode_line = msgspec.json.Decoder(WireMessage).decode  # for the player's side
decode_reply = msgspec.json.Decoder(Reply).decode


def encode_question(
    message: messages.Message, game: Game[Any, Any, Any], *, match_id: str, turn: int, nonce: str, limit: float
) -> bytes:
    """A message as a line."""
    if isinstance(message, messages.TakeTurn):  # which most of them are
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
    """The first message as a line; without a game, the one of a server's sign-in."""
    played: dict[str, Any] = {} if game is None else {"game": game.name, "parameters": game.public_parameters()}
    return encode(Hello(match=match_id, turn=0, nonce=nonce, limit=limit, protocol=PROTOCOL_VERSION, **played)) + b"\n"


def encode_welcome(name: str, window: float, reconnect_token: str) -> bytes:
    """What a client hears that has signed in, as a line."""
    return encode(Welcome(name=name, reconnect_window=window, reconnect_token=reconnect_token)) + b"\n"


def encode_changed(change: Change) -> bytes:
    """What spectators see after a change, as a line."""
    match = change.match
    return encode(Changed(match=match.id, view=match.game.pack(change.view))) + b"\n"


def redact_token(text: bytes) -> bytes:
    """What is said, but no token in it: it may be said at hello, or at the wrong moment."""
    return TOKEN_PATTERN.sub(rb'\1"..."', text)


def check_name(text: str | None) -> None:
    """Raise BadRequest if a player cannot be called like that."""
    if text is not None and re.search(NAME_PATTERN, text) is None:
        raise BadRequest(f"{text!r} is no name: {NAME_RULE}")


def encode_closing(receipt: Receipt, *, match_id: str, turn: int, nonce: str, limit: float) -> bytes:
    """The last message, to one who stayed to the end, as a line.

    It has a nonce like all others, so that a bot that knows nothing of it and answers null does no harm to itself.
    """
    return encode(Closing(match=match_id, turn=turn, nonce=nonce, limit=limit, receipt=receipt)) + b"\n"


def encode_goodbye(match_id: str, out: Ejected | messages.Failed) -> bytes:
    """The last message, to one who is out, as a line."""
    clause = out.clause if isinstance(out, Ejected) else ""
    return encode(Goodbye(match=match_id, fault=out.fault, why=out.why, clause=clause)) + b"\n"


def encode_suspended(why: str, again: float) -> bytes:
    """The last message of a server to one who may come again, as a line; or not, if `retry_after` is 0."""
    return encode(Suspended(why=why, retry_after=again)) + b"\n"


def read_reply(line: bytes) -> Reply | Malformed:
    """The reply on a line, whatever its answer is."""
    if len(line) > MAX_LINE_BYTES:
        return Malformed(f"more than {MAX_LINE_BYTES} bytes")
    if line.count(b"[") + line.count(b"{") > MAX_JSON_DEPTH:  # before anybody nests calls for it
        odd = find_strict_json_error(line)
        if odd is not None:
            return Malformed(odd)
    try:
        return decode_reply(line)
    except DECODE_ERRORS:
        return Malformed(
            find_strict_json_error(line) or "an object with a nonce and an answer, and nothing else, was due"
        )


def read_answer(line: bytes, reply: Reply, decode: Callable[[Raw], Any]) -> Any | Malformed:
    """The answer in a reply, if it is of the kind that is due."""
    try:
        answer = decode(reply.answer)
        plain = encode(answer) == bytes(reply.answer) and encode(reply) == line.rstrip(b"\r\n")
    except DECODE_ERRORS as error:
        why = printable(str(error), MAX_DECODE_ERROR_CHARS)  # it may quote what was answered
        return Malformed(find_strict_json_error(line) or f"the answer is not what was asked for: {why}")
    if plain:  # written as we would have written it, so nothing is odd about it
        return answer
    odd = find_strict_json_error(line)
    return answer if odd is None else Malformed(odd)


@cache
def typed_reply_decoder(kind: Any) -> Callable[[bytes], TypedReply[Any]]:
    """What reads a reply whose answer is of this kind, in one go. Whatever is odd about it is not seen."""
    return msgspec.json.Decoder(TypedReply[kind]).decode


@cache
def action_decoder(game: type[Game[Any, Any, Any]]) -> Callable[[Raw], Any]:
    """What makes actions of a game from the answer in a reply."""
    return msgspec.json.Decoder(game.action).decode


acknowledgement_decoder = msgspec.json.Decoder(None).decode
hello_decoder = msgspec.json.Decoder(Introduction | None).decode

STRING_PATTERN = re.compile(
    r'"(?:[^"\\]|\\.)*"?', re.DOTALL
)  # also one that never ends, or the search would begin again


class StrictJsonError(ValueError):
    """Something that JSON allows, or that readers of JSON disagree about, and that we do not take."""


def find_strict_json_error(line: bytes) -> str | None:
    """What is odd about a line, however it would be decoded; None if nothing is."""
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
    except StrictJsonError as odd:
        return str(odd)
    except UnicodeEncodeError:
        return "half a character"
    except (ValueError, RecursionError):
        return "not JSON"
    return None


def is_too_deep(text: str) -> bool:
    """Does a text nest too deep, as far as brackets tell? Those in strings do not count."""
    level = 0
    for sign in STRING_PATTERN.sub("", text):
        if sign in "[{":
            level += 1
            if level > MAX_JSON_DEPTH:
                return True
        elif sign in "]}":
            level -= 1
    return False


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a key is in it twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StrictJsonError("a key is there twice")
    return found


def parse_bounded_int(digits: str) -> int:
    """A number, unless it is huge."""
    if len(digits.lstrip("-")) > MAX_NUMBER_DIGITS:
        raise StrictJsonError(f"a number of more than {MAX_NUMBER_DIGITS} digits")
    return int(digits)


def reject_float(digits: str) -> float:
    """All our numbers are whole."""
    raise StrictJsonError("a number that is not whole")


def reject_constant(name: str) -> float:
    """NaN and Infinity are no JSON."""
    raise StrictJsonError(f"{name}, which is no JSON")
