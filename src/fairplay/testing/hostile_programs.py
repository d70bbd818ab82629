"""Misbehave as a program that plays over its pipes, and needs nothing but this file.

    python hostile_programs.py MISBEHAVIOUR MESSAGE

plays Q well until the first MESSAGE (connect, hello, start, take_turn, tell or end; any: all of them), and then
misbehaves, by a name below or by = and the hexadecimal digits of a reply. See hostile_connections.py for TCP.
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
PROGRAM, TCP, WEBSOCKET = REMOTE_DISTANCES = ("program", "tcp", "websocket")
HELLO, START, TURN, TELL, END = ALL_MESSAGES = ("hello", "start", "take_turn", "tell", "end")
CONNECT, ANY = "connect", "any"
EJECTION_MOMENTS = {CONNECT: "greeting", HELLO: "greeting", START: "greeting", TURN: "turn", TELL: "news", END: "end"}
LATER_EJECTION_MOMENTS = {HELLO: "greeting", START: "turn", TURN: "news", TELL: "turn"}
MAX_LINE_BYTES = 8 * 1024  # as in the protocol
SLEEP_S = 60.0
GOOD_REPLY = b'{"nonce":@,"answer":#}'


class RawConnection:
    """The player's end of a connection, with a newline after each message."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = reading
        self.writing = writing
        self.received = b""

    def read(self) -> Any:
        """The next message; None: the other end is closed."""
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

    def frame(self, text: bytes) -> bytes:
        """A message as it is sent."""
        return text + b"\n"

    def endless_message(self) -> bytes:
        """The beginning of a message without end."""
        return b""

    def wait_for_close(self) -> None:
        """Neither read nor write until the other end is closed."""
        waiting = select.poll()
        waiting.register(self.reading, select.POLLRDHUP | select.POLLHUP)
        waiting.poll(SLEEP_S * 1000)

    def half_close(self) -> None:
        """Close the sending side."""
        os.close(self.writing)

    def close(self) -> None:
        """Exit."""
        os._exit(0)

    def reset(self) -> None:
        """Close without the usual end of a connection, where there is one."""
        self.close()


class Question(NamedTuple):
    """A question to a player, with what its misbehaviour needs."""

    connection: RawConnection
    nonce: bytes  # of the question, with its quotes
    answer: bytes  # a good one
    limit_s: float  # for the answer
    question: bytes
    old_nonces: list[bytes]  # nonces of earlier questions

    def fill(self, template: bytes) -> bytes:
        """A template with the nonce for @ and the answer for #."""
        return template.replace(b"@", self.nonce).replace(b"#", self.answer)

    def send(self, template: bytes) -> None:
        """Send a template as a message."""
        self.connection.write(self.connection.frame(self.fill(template)))


class Misbehaviour(NamedTuple):
    """A misbehaviour of a player, and its verdict."""

    name: str
    about: str  # "a player that ...", in one line
    fault: str  # empty: it is clumsy, but no reason for an ejection
    behaviour: Callable[[Question], None]
    messages: Words  # the messages at which it makes sense
    distances: Words
    ejection_moments: dict[str, str]  # by message, the moment of the ejection


Behaviour = Callable[[Question], None]
MISBEHAVIOURS: dict[str, Misbehaviour] = {}


def misbehaviour(
    name: str, fault: str = "", at: Words = ALL_MESSAGES, distances: Words = REMOTE_DISTANCES, *, later: bool = False
) -> Callable[[Behaviour], Behaviour]:
    """Register a misbehaviour, for which a player is ejected at once, or at the next message (`later`)."""
    moments = LATER_EJECTION_MOMENTS if later else EJECTION_MOMENTS

    def register(behaviour: Behaviour) -> Behaviour:
        about = (behaviour.__doc__ or name).rstrip(".")
        ejections = {when: moments[when] for when in at if fault}
        MISBEHAVIOURS[name] = Misbehaviour(name, about, fault, behaviour, at, distances, ejections)
        return behaviour

    return register


def send_template(template: bytes) -> Behaviour:
    """A behaviour that sends this instead of an answer."""
    return lambda turn: turn.send(template)


# Wrong replies, or right ones at the wrong time.


@misbehaviour("speaks UTF-16", "malformed")
def speak_utf_16(turn: Question) -> None:
    """replies in UTF-16."""
    turn.send(turn.fill(GOOD_REPLY).decode().encode("utf-16"))


@misbehaviour("echoes", "malformed")
def echo(turn: Question) -> None:
    """sends the question back."""
    turn.send(turn.question)


@misbehaviour("talks first", "malformed", at=(CONNECT,))
def talk_first(turn: Question) -> None:
    """prints something before the hello."""
    turn.send(b"my player, version 1.0")


@misbehaviour("answers before it is asked", "malformed", at=(HELLO, START, TURN, TELL), later=True)
def answer_unasked(turn: Question) -> None:
    """answers a question, and then one that was not asked."""
    turn.send(GOOD_REPLY)
    turn.send(b'{"nonce":"the next one","answer":null}')


@misbehaviour("guesses what comes next", "malformed", at=(HELLO, START, TELL), later=True)
def guess_next_nonce(turn: Question) -> None:
    """answers a question, and the next one with a guessed nonce."""
    turn.send(GOOD_REPLY)
    number, _, rest = json.loads(turn.nonce).partition("-")
    guessed = f"{int(number) + 1}-{rest}"
    turn.send(b'{"nonce":"%b","answer":%b}' % (guessed.encode(), b'{"type":"pass"}' if turn.old_nonces else b"null"))


@misbehaviour("repeats itself", "timed_out", at=(START, TURN, TELL, END))
def repeat_old_answer(turn: Question) -> None:
    """answers an old question once more, instead of this one."""
    turn.send(GOOD_REPLY.replace(b"@", turn.old_nonces[-1]))
    turn.connection.wait_for_close()


# Too slow.


@misbehaviour("sleeps", "timed_out")
def sleep(turn: Question) -> None:
    """does nothing at all, and reads nothing."""
    turn.connection.wait_for_close()


@misbehaviour("loops", "timed_out", distances=(PROGRAM,))
def loop_forever(turn: Question) -> None:
    """computes for ever."""
    until = time.monotonic() + SLEEP_S
    while time.monotonic() < until:
        pass


@misbehaviour("stops itself", "timed_out", distances=(PROGRAM,))
def stop_itself(turn: Question) -> None:
    """stops itself by SIGSTOP."""
    os.kill(os.getpid(), signal.SIGSTOP)


@misbehaviour("closes its pipes", "timed_out", distances=(PROGRAM,))
def close_pipes(turn: Question) -> None:
    """closes both pipes, and keeps running."""
    os.close(turn.connection.writing)
    os.close(turn.connection.reading)
    time.sleep(SLEEP_S)


@misbehaviour("will not go", "timed_out", distances=(PROGRAM,))
def ignore_signals(turn: Question) -> None:
    """ignores every signal that can be ignored, and sleeps."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(SLEEP_S)


@misbehaviour("is late", "timed_out")
def answer_late(turn: Question) -> None:
    """answers well, but too late, also by a clock that does not count the delays of a busy host."""
    time.sleep(5 * turn.limit_s + 1)
    turn.send(GOOD_REPLY)


@misbehaviour("drips", "timed_out")
def answer_byte_by_byte(turn: Question) -> None:
    """answers well, a byte at a time, so slowly that it takes too long."""
    for byte in turn.connection.frame(turn.fill(GOOD_REPLY)):
        time.sleep(turn.limit_s / 8)
        turn.connection.write(bytes([byte]))


@misbehaviour("keeps talking", "timed_out", at=(START, TURN, TELL, END))
def repeat_old_answers(turn: Question) -> None:
    """answers an old question once more, again and again, as if it were busy."""
    for _ in range(12):
        time.sleep(turn.limit_s / 8)
        turn.send(GOOD_REPLY.replace(b"@", turn.old_nonces[-1]))


@misbehaviour("says half of it", "timed_out")
def send_half_answer(turn: Question) -> None:
    """begins to answer, and does not end."""
    turn.connection.write(turn.connection.frame(turn.fill(GOOD_REPLY))[:-3])
    turn.connection.wait_for_close()


@misbehaviour("complains", "timed_out", distances=(PROGRAM,))
def flood_stderr(turn: Question) -> None:
    """writes to stderr for ever."""
    while True:
        os.write(2, b"this is not fair\n" * 1000)


# Too much data.


@misbehaviour("never ends", "flood")
def send_endless_line(turn: Question) -> None:
    """sends a line without an end."""
    turn.connection.write(turn.connection.endless_message())
    while True:
        turn.connection.write(b"x" * 65536)


@misbehaviour("goes on too long", "flood")
def send_oversized_line(turn: Question) -> None:
    """answers well, on a line that is a byte too long."""
    turn.send(turn.fill(GOOD_REPLY).ljust(MAX_LINE_BYTES + 1))


@misbehaviour("babbles", "flood", at=(START, TURN, TELL, END))
def flood_with_old_answers(turn: Question) -> None:
    """answers an old question for ever."""
    line = turn.connection.frame(GOOD_REPLY.replace(b"@", turn.old_nonces[-1]).replace(b"#", b"null"))
    while True:
        turn.connection.write(line * 100)


@misbehaviour("answers twenty times", "flood", at=(HELLO, START, TURN, TELL), later=True)
def answer_twenty_times(turn: Question) -> None:
    """answers well, twenty times."""
    for _ in range(20):
        turn.send(GOOD_REPLY)


# Disconnecting.


@misbehaviour("hangs up", "crashed")
def exit_cleanly(turn: Question) -> None:
    """exits as after a match."""
    turn.connection.close()


@misbehaviour("half hangs up", "crashed", distances=(TCP, WEBSOCKET))
def close_stdout(turn: Question) -> None:
    """closes its sending side, and keeps reading."""
    turn.connection.half_close()
    turn.connection.wait_for_close()


@misbehaviour("breaks off", "crashed", distances=(PROGRAM, WEBSOCKET))
def exit_mid_answer(turn: Question) -> None:
    """closes the connection in the middle of a good answer."""
    turn.connection.write(turn.connection.frame(turn.fill(GOOD_REPLY))[:-1])
    turn.connection.close()


@misbehaviour("exits with 1", "crashed", distances=(PROGRAM,))
def exit_badly(turn: Question) -> None:
    """ends with an exception."""
    raise RuntimeError("a bad day")


@misbehaviour("kills itself", "crashed", distances=(PROGRAM,))
def kill_itself(turn: Question) -> None:
    """ends by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


@misbehaviour("leaves a child", "crashed", distances=(PROGRAM,))
def leave_child(turn: Question) -> None:
    """exits, and leaves a child in a session of its own that holds the pipes."""
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(3)  # not for ever, in case it is not killed
    os._exit(0)


# Clumsy, but no reason for an ejection.


@misbehaviour("writes CRLF", at=(ANY,))
def write_crlf(turn: Question) -> None:
    """ends its lines as Windows does."""
    turn.send(GOOD_REPLY + b"\r")


@misbehaviour("writes widely", at=(ANY,))
def write_with_padding(turn: Question) -> None:
    """puts blanks everywhere, the answer first, and escapes letters, up to the longest line allowed."""
    turn.send(turn.fill(b' { "answer" :\t# , "n\\u006fnce" : @ }').ljust(MAX_LINE_BYTES))


@misbehaviour("writes in pieces", at=(ANY,))
def write_bytewise(turn: Question) -> None:
    """sends every byte on its own."""
    for byte in turn.connection.frame(turn.fill(GOOD_REPLY)):
        turn.connection.write(bytes([byte]))


@misbehaviour("answers twice", at=(START,))
def answer_twice(turn: Question) -> None:
    """sends an answer twice."""
    turn.send(GOOD_REPLY)
    turn.send(GOOD_REPLY)


@misbehaviour("writes to stderr", at=(ANY,), distances=(PROGRAM,))
def write_to_stderr(turn: Question) -> None:
    """writes a lot to its log."""
    os.write(2, b"thinking...\n" * 20_000)
    turn.send(GOOD_REPLY)


def good_answer(question: dict[str, Any], turns: int) -> Any:
    """A good answer: in Q, where that is always allowed, to exchange once and then to pass."""
    if question["type"] != TURN:
        return None
    return {"type": "pass" if turns or question["view"].get("left", 0) < 6 else "exchange"}


def play_then_misbehave(connection: RawConnection, behaviour: Behaviour, at: str) -> None:
    """Play well over a connection until the message `at`, and then misbehave."""
    old: list[bytes] = []
    turns = 0
    if at == CONNECT:
        behaviour(Question(connection, b"", b"", 0.0, b"", old))
    for question in (it for it in iter(connection.read, None) if "nonce" in it):  # other messages need no answer
        nonce, answer = (json.dumps(it).encode() for it in (question["nonce"], good_answer(question, turns)))
        turn = Question(connection, nonce, answer, question["limit"], json.dumps(question).encode(), old)
        if at in (ANY, question["type"]):
            behaviour(turn)
        else:
            turn.send(GOOD_REPLY)
        turns += question["type"] == TURN
        old.append(nonce)


def main(name: str, at: str) -> None:
    """Run the misbehaviour that the command line names."""
    behaviour = send_template(bytes.fromhex(name[1:])) if name.startswith("=") else MISBEHAVIOURS[name].behaviour
    with suppress(BrokenPipeError):  # the other end is closed
        play_then_misbehave(RawConnection(0, 1), behaviour, at)


if __name__ == "__main__":
    main(*sys.argv[1:])
