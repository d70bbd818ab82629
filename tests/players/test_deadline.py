"""Test answers at the deadline, and nonces that are old, guessed, or of others, by a scripted clock."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed
from fairplay.games.q import Pass
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.protocol.nonces import Nonces
from fairplay.transport.sockets import accept_tcp
from tests.players.scripted_connections import (
    Question,
    ScriptedConnection,
    VirtualTimeLoop,
    reply_with,
    run_in_virtual_time,
)
from tests.players.test_remote import BOWS, GAME, NEVER, PASSES, START, TURN

TICK = 1e-6  # seconds
LIMITS = Limits(move=5.0)
PASS = {"type": "pass"}


# Bytes in a socket.


def said_after(seconds: float, *, twice: bool = False) -> Answer:
    """The answer of a player that writes its reply to a real socket after so many seconds, whole or in two parts."""

    async def ask(loop: VirtualTimeLoop) -> Answer:
        ours, theirs = socket.socketpair()
        line = await accept_tcp(ours)
        remote = RemoteChannel(line, GAME, limits=LIMITS)
        with theirs:
            asking = asyncio.ensure_future(remote.ask(TURN))
            question = await received(theirs)
            reply = wire.encode({"nonce": wire.decode_line(question).nonce, "answer": PASS}) + b"\n"
            if twice:
                theirs.sendall(reply[:9])
                reply = reply[9:]
            loop.call_later(seconds, theirs.sendall, reply)
            try:
                return await asking
            finally:
                await remote.close(None)

    return run_in_virtual_time(ask)


async def received(sock: socket.socket) -> bytes:
    """The line that lies in a socket, once it is there."""
    sock.setblocking(False)
    text = b""
    while not text.endswith(b"\n"):
        await asyncio.sleep(0)
        try:
            text += sock.recv(65536)
        except BlockingIOError:
            continue
    sock.setblocking(True)
    return text


@pytest.mark.parametrize("twice", [False, True], ids=["whole", "in two parts"])
def test_a_reply_that_is_in_the_socket_at_the_deadline_is_in_time(twice: bool) -> None:
    answer = said_after(LIMITS.move, twice=twice)

    assert isinstance(answer, Answered), answer
    assert answer.value == Pass()
    assert answer.took == pytest.approx(LIMITS.move, abs=TICK)


@pytest.mark.parametrize("twice", [False, True], ids=["whole", "in two parts"])
def test_a_reply_that_is_written_after_the_deadline_is_too_late(twice: bool) -> None:
    answer = said_after(LIMITS.move + TICK, twice=twice)

    assert isinstance(answer, Failed), answer
    assert (answer.fault, answer.why) == (Fault.TIMED_OUT, "no answer within 5 s")


# Replies of a script.


def asked(line: ScriptedConnection, *messages: Any, nonces: Nonces | None = None) -> list[Answer]:
    """The answers of a scripted player to one question after the other."""

    async def ask(loop: VirtualTimeLoop) -> list[Answer]:
        remote = RemoteChannel(line, GAME, limits=LIMITS, nonces=nonces)
        return [await remote.ask(message) for message in messages]

    return run_in_virtual_time(ask)


@pytest.mark.parametrize("early", [1.0, 0.001, TICK, 0.0])
def test_an_answer_up_to_the_deadline_is_in_time(early: float) -> None:
    (answer,) = asked(ScriptedConnection((LIMITS.move - early, PASSES)), TURN)

    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(LIMITS.move - early, abs=TICK / 10)


@pytest.mark.parametrize("late", [TICK, 0.001, 1.0])
def test_an_answer_a_tick_after_the_deadline_is_too_late(late: float) -> None:
    (answer,) = asked(ScriptedConnection((LIMITS.move + late, PASSES)), TURN)

    assert isinstance(answer, Failed)
    assert answer.fault is Fault.TIMED_OUT


def test_an_old_reply_at_the_deadline_gains_no_time() -> None:
    line = ScriptedConnection((0.0, BOWS), (LIMITS.move, reply_with(None, 0)), (TICK, PASSES))

    answer = asked(line, START, TURN)[1]

    assert isinstance(answer, Failed)
    assert answer.fault is Fault.TIMED_OUT


# Nonces.


def with_nonce(nonce: Callable[[list[Question]], str]) -> Callable[[list[Question]], bytes]:
    return lambda sent: wire.encode({"nonce": nonce(sent), "answer": PASS})


def is_refused(answer: Answer) -> bool:
    return isinstance(answer, Failed) and (answer.fault, answer.why) == (Fault.MALFORMED, NEVER)


def test_the_nonce_of_another_seat_is_no_answer() -> None:
    """Both are asked their first question, and the second seat replies with what the first one heard."""
    first = ScriptedConnection((0.0, PASSES))
    asked(first, TURN)
    second = ScriptedConnection((0.0, with_nonce(lambda sent: str(first.sent[0]["nonce"]))), (0.0, PASSES))

    (answer,) = asked(second, TURN)

    assert is_refused(answer)


def test_the_nonce_of_another_connection_is_no_answer() -> None:
    before = ScriptedConnection(*[(0.0, PASSES)] * 20)
    asked(before, *[TURN] * 20)
    replayed = ScriptedConnection((0.0, PASSES), (0.0, with_nonce(lambda sent: str(before.sent[0]["nonce"]))))

    first, second = asked(replayed, TURN, TURN)

    assert isinstance(first, Answered)
    assert is_refused(second)


def test_the_nonce_of_an_earlier_match_over_the_same_connection_is_stale() -> None:
    nonces = Nonces()
    before, after = ScriptedConnection((0.0, PASSES)), ScriptedConnection()
    asked(before, TURN, nonces=nonces)
    after.steps = [(0.0, with_nonce(lambda sent: str(before.sent[0]["nonce"]))), (1.0, PASSES)]

    (answer,) = asked(after, TURN, nonces=nonces)

    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(1.0, abs=TICK)


@pytest.mark.parametrize("heard", range(1, 18))
def test_nonces_have_a_number_and_a_new_random_part(heard: int) -> None:
    """However many were heard: of the next one the number is known, and of its other part nothing was heard before."""
    line = ScriptedConnection(*[(0.0, PASSES)] * heard)
    asked(line, *[TURN] * (heard + 1))

    numbers, parts = zip(*(question["nonce"].split("-") for question in line.sent), strict=True)

    assert numbers == tuple(str(number + 1) for number in range(heard + 1))
    assert len(set(parts)) == heard + 1
    assert all(len(part) == 16 for part in parts)


def test_the_same_question_has_another_nonce_on_every_connection() -> None:
    connections = [Nonces() for _ in range(50)]

    assert len({nonces.next() for nonces in connections for _ in range(9)}) == 50 * 9


def test_a_wrong_guess_of_the_next_nonce_is_a_fault() -> None:
    """A guess that was sent ahead of its question ends the match for its player, though the right reply follows."""
    guess = with_nonce(lambda sent: f"2-{sent[0]['nonce'].split('-')[1]}")
    line = ScriptedConnection((0.0, PASSES), (0.0, guess), (0.0, PASSES))

    first, second, third = asked(line, TURN, TURN, TURN)

    assert isinstance(first, Answered)
    assert is_refused(second)
    assert third == second
    assert len(line.sent) == 2
