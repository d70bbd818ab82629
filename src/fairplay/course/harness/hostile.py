"""Misbehave as a client of a course: play well up to a call, then break its rules."""

import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from fairplay.core.events import Fault
from fairplay.core.messages import Answered, TakeTurn
from fairplay.core.roles import AnyStrategy
from fairplay.course.channel.values import Scanner
from fairplay.course.dialects.dialect import VOID, Call, Dialect
from fairplay.referee.local_channel import LocalChannel
from fairplay.transport.connector import MAX_HOST_LINE_BYTES

HOSTILE_TIMEOUT_S = 60.0  # ends every client
DRIP_INTERVAL_S = 0.05  # enough for an answer and the next call
VALID_ANSWER = "GOOD"  # placeholder for the correct answer
BLOCK_BYTES = 64 * 1024


class ReceivedCall(NamedTuple):
    """A call to a hostile client, with its connection and the correct answer."""

    connection: socket.socket
    reply: Any

    @property
    def valid_answer(self) -> bytes:
        """The correct answer."""
        return msgspec.json.encode(self.reply)

    def send(self, text: bytes) -> None:
        """Send bytes."""
        self.connection.sendall(text)

    def stay_silent(self) -> None:
        """Send nothing more until the server disconnects."""
        while self.connection.recv(BLOCK_BYTES):
            pass


class CourseMisbehaviour(NamedTuple):
    """What a client does instead of answering, and the fault that it is ejected for."""

    name: str
    fault: Fault
    do: Callable[[ReceivedCall], None]
    at_next: bool = False  # it is noticed only at the next call


def send_text(text: str | bytes) -> Callable[[ReceivedCall], None]:
    """Make a misbehaviour that sends this text with a newline, and nothing more."""
    raw = text.encode() if isinstance(text, str) else text

    def do(called: ReceivedCall) -> None:
        called.send(raw.replace(VALID_ANSWER.encode(), called.valid_answer) + b"\n")
        called.stay_silent()

    return do


def send_endlessly(begin: bytes, block: bytes) -> Callable[[ReceivedCall], None]:
    """Make a misbehaviour that sends data without end."""

    def do(called: ReceivedCall) -> None:
        called.send(begin)
        while True:
            called.send(block)

    return do


def send_slowly(begin: bytes, drop: bytes) -> Callable[[ReceivedCall], None]:
    """Make a misbehaviour that sends data slowly, without end."""

    def do(called: ReceivedCall) -> None:
        called.send(begin)
        while True:
            called.send(drop)
            time.sleep(DRIP_INTERVAL_S)

    return do


def send_incomplete(called: ReceivedCall) -> None:
    """Send an answer without its last byte, and nothing more."""
    called.send(called.valid_answer[:-1])
    called.stay_silent()


def send_partial_number(called: ReceivedCall) -> None:
    """Send a digit, and leave open whether more follow."""
    called.send(b"7")
    called.stay_silent()


def send_incomplete_and_close(called: ReceivedCall) -> None:
    """Send an answer without its last byte, and disconnect."""
    called.send(called.valid_answer[:-1])
    called.connection.shutdown(socket.SHUT_WR)
    called.stay_silent()


def send_floats(called: ReceivedCall) -> None:
    """Answer with numbers that are not written as whole ones."""
    floats = to_floats(called.reply)
    send_text(json.dumps([1.0] if floats == called.reply == VOID else floats))(called)


def to_floats(plain: Any) -> Any:
    """Replace every number by a float."""
    if isinstance(plain, dict):
        return {key: to_floats(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [to_floats(value) for value in plain]
    return float(plain) if isinstance(plain, int) else plain


def send_extra_value(called: ReceivedCall) -> None:
    """Answer, and send a second value."""
    called.send(called.valid_answer + b"\n")
    time.sleep(DRIP_INTERVAL_S)
    called.send(b'"early"\n')
    called.stay_silent()


def reset_connection(called: ReceivedCall) -> None:
    """Reset the connection, as if the cable were cut."""
    called.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    called.connection.close()


def close_write_side(called: ReceivedCall) -> None:
    """Close the connection in one direction."""
    called.connection.shutdown(socket.SHUT_WR)
    called.stay_silent()


INVALID_ANSWERS = {
    "answers an object of no kind": '{"type":"win"}',
    "answers null": "null",
    "answers a bare number": "7",
    "answers a bare huge number": "9" * 5000,
    "answers two numbers": "1 2",
    "answers a list of nothing": "[[]]",
    "answers an empty text": '""',
    "says void without quotes": "void",
    "misspells void": '"Void"',
    "misspells JSON": "[GOOD}",
    "answers twice": "GOOD GOOD",
    "answers twice without a gap": "GOODGOOD",
    "answers and says junk": "GOOD junk",
    "answers and begins another value": "GOOD [",
    "says NaN": "[NaN]",
    "says half a character": '"\\ud800"',
    "says a huge number": f"[{10**40}]",
    "repeats a key": '{"row":0,"row":0}',
    "nests deep": "[" * 1000 + "]" * 1000,
}
COURSE_MISBEHAVIOURS: dict[str, CourseMisbehaviour] = {
    deed.name: deed
    for deed in (
        *(CourseMisbehaviour(name, Fault.MALFORMED, send_text(text)) for name, text in INVALID_ANSWERS.items()),
        CourseMisbehaviour("is no UTF-8", Fault.MALFORMED, send_text(b'"\xff\xfe"')),
        CourseMisbehaviour("begins a number", Fault.MALFORMED, send_partial_number),
        CourseMisbehaviour("says floats", Fault.MALFORMED, send_floats),
        CourseMisbehaviour("nests without end", Fault.MALFORMED, send_endlessly(b"", b"[" * BLOCK_BYTES)),
        CourseMisbehaviour("breaks off and leaves", Fault.MALFORMED, send_incomplete_and_close),
        CourseMisbehaviour("says more later", Fault.MALFORMED, send_extra_value, at_next=True),
        CourseMisbehaviour("breaks off and is silent", Fault.TIMED_OUT, send_incomplete),
        CourseMisbehaviour("is silent", Fault.TIMED_OUT, ReceivedCall.stay_silent),
        CourseMisbehaviour("is silent in white space", Fault.TIMED_OUT, send_text(" " * 5000)),
        CourseMisbehaviour("drips white space", Fault.TIMED_OUT, send_slowly(b"", b" ")),
        CourseMisbehaviour("drips a text", Fault.TIMED_OUT, send_slowly(b'"', b"x")),
        CourseMisbehaviour("drips a list", Fault.TIMED_OUT, send_slowly(b"[0", b",0")),
        CourseMisbehaviour("closes", Fault.GONE, lambda called: called.connection.close()),
        CourseMisbehaviour("resets", Fault.GONE, reset_connection),
        CourseMisbehaviour("stops talking", Fault.GONE, close_write_side),
        CourseMisbehaviour("sends white space without end", Fault.FLOOD, send_endlessly(b"", b" " * BLOCK_BYTES)),
        CourseMisbehaviour("sends newlines without end", Fault.FLOOD, send_endlessly(b"", b"\r\n" * BLOCK_BYTES)),
        CourseMisbehaviour("sends a text without end", Fault.FLOOD, send_endlessly(b'"', b"x" * BLOCK_BYTES)),
        CourseMisbehaviour("sends a list without end", Fault.FLOOD, send_endlessly(b"[", b"0," * BLOCK_BYTES)),
    )
}
BAD_NAMES: dict[str, bytes] = {  # that cannot sign up
    "nothing": b"",
    "white space": b" " * 5000 + b"\n",
    "a number": b"42\n",
    "null": b"null\n",
    "an empty text": b'""\n',
    "a name without quotes": b"ann\n",
    "a name in a list": b'["ann"]\n',
    "half a name": b'"an',
    "two words": b'"ann bob"\n',
    "signs": b'"a-b"\n',
    "a newline in a name": b'"ann\\n"\n',
    "a long name": b'"' + b"a" * 21 + b'"\n',
    "a foreign letter": '"Zoë"\n'.encode(),
    "an endless name": b'"' + b"a" * 100_000,
    "no UTF-8": b'"\xff"\n',
}


def misbehave(
    host: str,
    port: int,
    dialect: Dialect,
    strategy: AnyStrategy,
    deed: CourseMisbehaviour,
    at: str,
    *,
    name: str = "mallory",
) -> bool:
    """Connect, play well up to the first call of a method, then misbehave until the server disconnects.

    Was the method called at all?
    """
    with socket.create_connection((host, port)) as connection:
        connection.settimeout(HOSTILE_TIMEOUT_S)
        with suppress(ConnectionError):
            if dialect.name is not None:
                connection.sendall(msgspec.json.encode(name) + b"\n")
            for method, reply in receive_calls(connection, dialect, strategy, name):
                called = ReceivedCall(connection, reply)
                if method == at:
                    with suppress(ConnectionError, BrokenPipeError):
                        deed.do(called)
                    return True
                called.send(called.valid_answer + b"\n")
    return False


def receive_calls(
    connection: socket.socket, dialect: Dialect, strategy: AnyStrategy, name: str
) -> Iterator[tuple[str, Any]]:
    """The methods that a server calls, each with the answer of an honest client."""
    scanner, caller = Scanner(MAX_HOST_LINE_BYTES), dialect.caller(name)
    while piece := connection.recv(BLOCK_BYTES):
        for text in scanner.feed(piece):
            call = msgspec.json.decode(text, type=Call)
            reply: Any = VOID
            for message in caller.messages(call):
                answer = LocalChannel(strategy, caller.game).ask(message)
                if isinstance(message, TakeTurn) and isinstance(answer, Answered):
                    reply = caller.reply(answer.value)
            yield call.method, reply
