"""Misbehave at the far end of a line, as a program that needs nothing but this file.

    python hostile_programs.py DEED MESSAGE

plays Q well until the first MESSAGE (connect, hello, start, take_turn, tell or end; any: all of them), and then does
the deed instead. A deed is one of those below, or = and the hexadecimal digits of what is sent. Over a connection the
same is done by hostile_connections.py.
"""

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

Words = tuple[str, ...]
PROGRAM, TCP, WEBSOCKET = AWAY = ("program", "tcp", "websocket")
HELLO, START, TURN, TELL, END = EVERY = ("hello", "start", "take_turn", "tell", "end")
CONNECT, ANY = "connect", "any"
FOUND_OUT = {CONNECT: "greeting", HELLO: "greeting", START: "greeting", TURN: "turn", TELL: "news", END: "farewell"}
FOUND_OUT_NEXT = {HELLO: "greeting", START: "turn", TURN: "news", TELL: "turn"}
MOST_BYTES = 8 * 1024  # of a line, as the protocol has it
LONG = 60.0  # seconds
GOOD = b'{"nonce":@,"answer":#}'


class FarEnd:
    """The far end of a line, with a newline after each message."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = reading
        self.writing = writing
        self.received = b""

    def read(self) -> Any:
        """The next message; None: there is nobody any more."""
        while b"\n" not in self.received:
            piece = os.read(self.reading, 65536)
            if not piece:
                return None
            self.received += piece
        text, _, self.received = self.received.partition(b"\n")
        return json.loads(text)

    def write(self, data: bytes) -> None:
        """Send bytes, whatever they are."""
        while data:
            data = data[os.write(self.writing, data) :]

    def framed(self, text: bytes) -> bytes:
        """A message as it is sent."""
        return text + b"\n"

    def endless(self) -> bytes:
        """How a message begins that has no end."""
        return b""

    def lie_low(self) -> None:
        """Neither read nor write, until the other end hangs up."""
        waiting = select.poll()
        waiting.register(self.reading, select.POLLRDHUP | select.POLLHUP)
        waiting.poll(LONG * 1000)

    def half_close(self) -> None:
        """Say nothing any more."""
        os.close(self.writing)

    def close(self) -> None:
        """Leave."""
        os._exit(0)

    def reset(self) -> None:
        """The same without a goodbye, where there is one."""
        self.close()


class Turn(NamedTuple):
    """What a deed is done with."""

    line: FarEnd
    nonce: bytes  # of the question, with its quotes
    answer: bytes  # that would be good
    limit: float  # seconds for it
    question: bytes
    old: list[bytes]  # nonces of earlier questions

    def filled(self, template: bytes) -> bytes:
        """A template with the nonce for @ and the answer for #."""
        return template.replace(b"@", self.nonce).replace(b"#", self.answer)

    def say(self, template: bytes) -> None:
        """Send a template as a message."""
        self.line.write(self.line.framed(self.filled(template)))


class Deed(NamedTuple):
    """Something that nobody should do, and how that is found out."""

    name: str
    about: str  # "who ...", in one line
    fault: str  # empty: it is clumsy, but nobody is ejected for it
    do: Callable[[Turn], None]
    at: Words  # the messages at which it makes sense
    distances: Words
    found_out: dict[str, str]  # by message, the moment of the ejection


Do = Callable[[Turn], None]
DEEDS: dict[str, Deed] = {}


def deed(
    name: str, fault: str = "", at: Words = EVERY, distances: Words = AWAY, *, later: bool = False
) -> Callable[[Do], Do]:
    """Put a function among the deeds: what it does is found out at once, or when the next message comes."""
    moments = FOUND_OUT_NEXT if later else FOUND_OUT

    def keep(do: Do) -> Do:
        about = (do.__doc__ or name).rstrip(".")
        DEEDS[name] = Deed(name, about, fault, do, at, distances, {when: moments[when] for when in at if fault})
        return do

    return keep


def saying(template: bytes) -> Do:
    """The deed of sending this instead of an answer."""
    return lambda turn: turn.say(template)


# Those who say something else, or the right thing at the wrong time.


@deed("speaks UTF-16", "malformed")
def speak_utf_16(turn: Turn) -> None:
    """replies in UTF-16."""
    turn.say(turn.filled(GOOD).decode().encode("utf-16"))


@deed("echoes", "malformed")
def echo(turn: Turn) -> None:
    """sends the question back."""
    turn.say(turn.question)


@deed("talks first", "malformed", at=(CONNECT,))
def talk_first(turn: Turn) -> None:
    """prints something before anybody said hello."""
    turn.say(b"my player, version 1.0")


@deed("answers before it is asked", "malformed", at=(HELLO, START, TURN, TELL), later=True)
def answer_unasked(turn: Turn) -> None:
    """answers a question, and then one that nobody has asked."""
    turn.say(GOOD)
    turn.say(b'{"nonce":"the next one","answer":null}')


@deed("guesses what comes next", "malformed", at=(HELLO, START, TELL), later=True)
def guess(turn: Turn) -> None:
    """answers a question, and the next one with its nonce, which it has guessed."""
    turn.say(GOOD)
    number, _, rest = json.loads(turn.nonce).partition("-")
    after = f"{int(number) + 1}-{rest}"
    turn.say(b'{"nonce":"%b","answer":%b}' % (after.encode(), b'{"type":"pass"}' if turn.old else b"null"))


@deed("repeats itself", "timed_out", at=(START, TURN, TELL, END))
def repeat(turn: Turn) -> None:
    """answers an old question once more, instead of this one."""
    turn.say(GOOD.replace(b"@", turn.old[-1]))
    turn.line.lie_low()


# Those who take too long.


@deed("sleeps", "timed_out")
def sleep(turn: Turn) -> None:
    """does nothing at all, and reads nothing."""
    turn.line.lie_low()


@deed("loops", "timed_out", distances=(PROGRAM,))
def loop(turn: Turn) -> None:
    """computes for ever."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        pass


@deed("stops itself", "timed_out", distances=(PROGRAM,))
def stop(turn: Turn) -> None:
    """has itself stopped by SIGSTOP."""
    os.kill(os.getpid(), signal.SIGSTOP)


@deed("closes its pipes", "timed_out", distances=(PROGRAM,))
def close_pipes(turn: Turn) -> None:
    """can neither be told anything nor say anything any more, and stays there."""
    os.close(turn.line.writing)
    os.close(turn.line.reading)
    time.sleep(LONG)


@deed("will not go", "timed_out", distances=(PROGRAM,))
def stay(turn: Turn) -> None:
    """ignores every signal that can be ignored, and sleeps."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(LONG)


@deed("is late", "timed_out")
def be_late(turn: Turn) -> None:
    """answers well, but too late, also by a clock that does not count the delays of a busy host."""
    time.sleep(5 * turn.limit + 1)
    turn.say(GOOD)


@deed("drips", "timed_out")
def drip(turn: Turn) -> None:
    """answers well, a byte at a time, so slowly that it takes too long."""
    for byte in turn.line.framed(turn.filled(GOOD)):
        time.sleep(turn.limit / 8)
        turn.line.write(bytes([byte]))


@deed("keeps talking", "timed_out", at=(START, TURN, TELL, END))
def keep_talking(turn: Turn) -> None:
    """answers an old question once more, again and again, as if it were busy."""
    for _ in range(12):
        time.sleep(turn.limit / 8)
        turn.say(GOOD.replace(b"@", turn.old[-1]))


@deed("says half of it", "timed_out")
def say_half(turn: Turn) -> None:
    """begins to answer, and does not end."""
    turn.line.write(turn.line.framed(turn.filled(GOOD))[:-3])
    turn.line.lie_low()


@deed("complains", "timed_out", distances=(PROGRAM,))
def complain(turn: Turn) -> None:
    """writes to stderr for ever."""
    while True:
        os.write(2, b"this is not fair\n" * 1000)


# Those who say too much.


@deed("never ends", "flood")
def never_end(turn: Turn) -> None:
    """sends a line without an end."""
    turn.line.write(turn.line.endless())
    while True:
        turn.line.write(b"x" * 65536)


@deed("goes on too long", "flood")
def go_on(turn: Turn) -> None:
    """answers well, on a line that is a byte too long."""
    turn.say(turn.filled(GOOD).ljust(MOST_BYTES + 1))


@deed("babbles", "flood", at=(START, TURN, TELL, END))
def babble(turn: Turn) -> None:
    """answers an old question for ever."""
    line = turn.line.framed(GOOD.replace(b"@", turn.old[-1]).replace(b"#", b"null"))
    while True:
        turn.line.write(line * 100)


@deed("answers twenty times", "flood", at=(HELLO, START, TURN, TELL), later=True)
def answer_twenty_times(turn: Turn) -> None:
    """answers well, twenty times."""
    for _ in range(20):
        turn.say(GOOD)


# Those who leave.


@deed("hangs up", "crashed")
def hang_up(turn: Turn) -> None:
    """ends as if all were well."""
    turn.line.close()


@deed("half hangs up", "crashed", distances=(TCP, WEBSOCKET))
def half_hang_up(turn: Turn) -> None:
    """says that it will say nothing any more, and listens."""
    turn.line.half_close()
    turn.line.lie_low()


@deed("breaks off", "crashed", distances=(PROGRAM, WEBSOCKET))
def break_off(turn: Turn) -> None:
    """hangs up in the middle of a good answer."""
    turn.line.write(turn.line.framed(turn.filled(GOOD))[:-1])
    turn.line.close()


@deed("exits with 1", "crashed", distances=(PROGRAM,))
def exit_badly(turn: Turn) -> None:
    """ends with an exception."""
    raise RuntimeError("a bad day")


@deed("kills itself", "crashed", distances=(PROGRAM,))
def kill_itself(turn: Turn) -> None:
    """ends by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


@deed("leaves a child", "crashed", distances=(PROGRAM,))
def leave_a_child(turn: Turn) -> None:
    """ends, and leaves a child in a session of its own that holds the line."""
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(3)  # and not for ever, in case nobody kills it
    os._exit(0)


# Those who are clumsy, and whom nobody ejects for it.


@deed("writes CRLF", at=(ANY,))
def write_crlf(turn: Turn) -> None:
    """ends its lines as Windows does."""
    turn.say(GOOD + b"\r")


@deed("writes widely", at=(ANY,))
def write_widely(turn: Turn) -> None:
    """puts blanks everywhere, the answer first, and letters as numbers, up to the longest line there is."""
    turn.say(turn.filled(b' { "answer" :\t# , "n\\u006fnce" : @ }').ljust(MOST_BYTES))


@deed("writes in pieces", at=(ANY,))
def write_in_pieces(turn: Turn) -> None:
    """sends every byte for itself."""
    for byte in turn.line.framed(turn.filled(GOOD)):
        turn.line.write(bytes([byte]))


@deed("answers twice", at=(START,))
def answer_twice(turn: Turn) -> None:
    """sends an answer a second time."""
    turn.say(GOOD)
    turn.say(GOOD)


@deed("writes to stderr", at=(ANY,), distances=(PROGRAM,))
def write_to_stderr(turn: Turn) -> None:
    """says a lot to whoever reads its log."""
    os.write(2, b"thinking...\n" * 20_000)
    turn.say(GOOD)


def answer_to(question: dict[str, Any], turns: int) -> Any:
    """A good answer: in Q, where that is always allowed, to exchange once and then to pass."""
    if question["type"] != TURN:
        return None
    return {"type": "pass" if turns or question["view"].get("left", 0) < 6 else "exchange"}


def misbehave(line: FarEnd, do: Do, at: str) -> None:
    """Play well over a line, until it is time for the deed."""
    old: list[bytes] = []
    turns = 0
    if at == CONNECT:
        do(Turn(line, b"", b"", 0.0, b"", old))
    for question in (it for it in iter(line.read, None) if "nonce" in it):  # all else needs no answer
        nonce, answer = (json.dumps(it).encode() for it in (question["nonce"], answer_to(question, turns)))
        turn = Turn(line, nonce, answer, question["limit"], json.dumps(question).encode(), old)
        if at in (ANY, question["type"]):
            do(turn)
        else:
            turn.say(GOOD)
        turns += question["type"] == TURN
        old.append(nonce)


def main(name: str, at: str) -> None:
    """Do what the command line says."""
    do = saying(bytes.fromhex(name[1:])) if name.startswith("=") else DEEDS[name].do
    with suppress(BrokenPipeError):  # nobody is there any more
        misbehave(FarEnd(0, 1), do, at)


if __name__ == "__main__":
    main(*sys.argv[1:])
