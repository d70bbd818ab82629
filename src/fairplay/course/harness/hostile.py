"""Misbehave as a client of a course: play well up to a call, and then do what no client may do."""

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
from fairplay.referee.local import Local
from fairplay.transport.dialler import MAX_HOST_LINE_BYTES

PATIENCE = 60.0  # seconds, after which even the worst client goes home
PAUSE = 0.05  # seconds in which an answer is taken and the next call may come
GOOD = "GOOD"  # where the answer stands that would be right
BLOCK = 64 * 1024  # bytes


class Called(NamedTuple):
    """A call that was made to a bad client, on its connection, and the right answer to it."""

    connection: socket.socket
    reply: Any

    @property
    def good(self) -> bytes:
        """The right answer."""
        return msgspec.json.encode(self.reply)

    def say(self, text: bytes) -> None:
        """Send some bytes."""
        self.connection.sendall(text)

    def lie_low(self) -> None:
        """Say nothing more, until the server hangs up."""
        while self.connection.recv(BLOCK):
            pass


class CourseDeed(NamedTuple):
    """What a client can do instead of an answer, and the fault that it is ejected for."""

    name: str
    fault: Fault
    do: Callable[[Called], None]
    at_next: bool = False  # nobody can know before the next call


def saying(text: str | bytes) -> Callable[[Called], None]:
    """The deed of sending this, with a newline, and nothing more."""
    raw = text.encode() if isinstance(text, str) else text

    def do(called: Called) -> None:
        called.say(raw.replace(GOOD.encode(), called.good) + b"\n")
        called.lie_low()

    return do


def endlessly(begin: bytes, block: bytes) -> Callable[[Called], None]:
    """The deed of sending this for ever."""

    def do(called: Called) -> None:
        called.say(begin)
        while True:
            called.say(block)

    return do


def dripping(begin: bytes, drop: bytes) -> Callable[[Called], None]:
    """The deed of sending this bit by bit, for ever."""

    def do(called: Called) -> None:
        called.say(begin)
        while True:
            called.say(drop)
            time.sleep(PAUSE)

    return do


def break_off(called: Called) -> None:
    """Send an answer but for its last byte, and nothing more."""
    called.say(called.good[:-1])
    called.lie_low()


def begin_a_number(called: Called) -> None:
    """Send a digit, and leave open whether it is the last one."""
    called.say(b"7")
    called.lie_low()


def break_off_and_leave(called: Called) -> None:
    """Send an answer but for its last byte, and hang up."""
    called.say(called.good[:-1])
    called.connection.shutdown(socket.SHUT_WR)
    called.lie_low()


def say_floats(called: Called) -> None:
    """Answer with numbers that are not written as whole ones."""
    floats = with_floats(called.reply)
    saying(json.dumps([1.0] if floats == called.reply == VOID else floats))(called)


def with_floats(plain: Any) -> Any:
    """The same with a float for every number, or around a text if there is none."""
    if isinstance(plain, dict):
        return {key: with_floats(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [with_floats(value) for value in plain]
    return float(plain) if isinstance(plain, int) else plain


def say_more_later(called: Called) -> None:
    """Answer, and say something that nobody asked for."""
    called.say(called.good + b"\n")
    time.sleep(PAUSE)
    called.say(b'"early"\n')
    called.lie_low()


def reset(called: Called) -> None:
    """Hang up as if the cable had been cut."""
    called.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    called.connection.close()


def stop_talking(called: Called) -> None:
    """Close the line in one direction."""
    called.connection.shutdown(socket.SHUT_WR)
    called.lie_low()


NO_ANSWERS = {
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
DEEDS: dict[str, CourseDeed] = {
    deed.name: deed
    for deed in (
        *(CourseDeed(name, Fault.MALFORMED, saying(text)) for name, text in NO_ANSWERS.items()),
        CourseDeed("is no UTF-8", Fault.MALFORMED, saying(b'"\xff\xfe"')),
        CourseDeed("begins a number", Fault.MALFORMED, begin_a_number),
        CourseDeed("says floats", Fault.MALFORMED, say_floats),
        CourseDeed("nests without end", Fault.MALFORMED, endlessly(b"", b"[" * BLOCK)),
        CourseDeed("breaks off and leaves", Fault.MALFORMED, break_off_and_leave),
        CourseDeed("says more later", Fault.MALFORMED, say_more_later, at_next=True),
        CourseDeed("breaks off and is silent", Fault.TIMED_OUT, break_off),
        CourseDeed("is silent", Fault.TIMED_OUT, Called.lie_low),
        CourseDeed("is silent in white space", Fault.TIMED_OUT, saying(" " * 5000)),
        CourseDeed("drips white space", Fault.TIMED_OUT, dripping(b"", b" ")),
        CourseDeed("drips a text", Fault.TIMED_OUT, dripping(b'"', b"x")),
        CourseDeed("drips a list", Fault.TIMED_OUT, dripping(b"[0", b",0")),
        CourseDeed("closes", Fault.GONE, lambda called: called.connection.close()),
        CourseDeed("resets", Fault.GONE, reset),
        CourseDeed("stops talking", Fault.GONE, stop_talking),
        CourseDeed("sends white space without end", Fault.FLOOD, endlessly(b"", b" " * BLOCK)),
        CourseDeed("sends newlines without end", Fault.FLOOD, endlessly(b"", b"\r\n" * BLOCK)),
        CourseDeed("sends a text without end", Fault.FLOOD, endlessly(b'"', b"x" * BLOCK)),
        CourseDeed("sends a list without end", Fault.FLOOD, endlessly(b"[", b"0," * BLOCK)),
    )
}
BAD_NAMES: dict[str, bytes] = {  # which nobody signs up with
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


def misbehave_in_course(
    host: str, port: int, dialect: Dialect, strategy: AnyStrategy, deed: CourseDeed, at: str, *, name: str = "mallory"
) -> bool:
    """Connect, play well up to the first call of a method, do the deed, and come back when the server has hung up.

    Was the method called at all?
    """
    with socket.create_connection((host, port)) as connection:
        connection.settimeout(PATIENCE)
        with suppress(ConnectionError):
            if dialect.name is not None:
                connection.sendall(msgspec.json.encode(name) + b"\n")
            for method, reply in calls_to(connection, dialect, strategy, name):
                called = Called(connection, reply)
                if method == at:
                    with suppress(ConnectionError, BrokenPipeError):
                        deed.do(called)
                    return True
                called.say(called.good + b"\n")
    return False


def calls_to(
    connection: socket.socket, dialect: Dialect, strategy: AnyStrategy, name: str
) -> Iterator[tuple[str, Any]]:
    """The methods that a server calls, each with the answer of an honest client."""
    scanner, caller = Scanner(MAX_HOST_LINE_BYTES), dialect.caller(name)
    while piece := connection.recv(BLOCK):
        for text in scanner.feed(piece):
            call = msgspec.json.decode(text, type=Call)
            reply: Any = VOID
            for message in caller.messages(call):
                answer = Local(strategy, caller.game).ask(message)
                if isinstance(message, TakeTurn) and isinstance(answer, Answered):
                    reply = caller.reply(answer.value)
            yield call.method, reply
