"""Test questions to remote players, by a scripted clock: deadlines, nonces, the evidence of failures, time banks."""

import asyncio
import json
import socket
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import pytest

from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, End, Evidence, Failed, Message, Start, TakeTurn, Tell
from fairplay.games.q import Exchange, Pass, Q
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits, parse_limits
from fairplay.protocol.nonces import Nonces
from fairplay.protocol.replies import MAX_STALE_REPLIES
from fairplay.transport.connection import ConnectionClosed, TooMuchData
from fairplay.transport.sockets import accept_tcp
from tests.players.scripted_connections import (
    Question,
    ScriptedConnection,
    Step,
    VirtualTimeLoop,
    reply_with,
    run_in_virtual_time,
)

GAME = Q()
VIEW = GAME.view(GAME.deal(2, bytes(32)), 0)
TURN, START, TELL = TakeTurn(VIEW), Start(0, ("ann", "bob"), VIEW), Tell(("red star",))
END = End(Result((frozenset({0, 1}),), ()))
LIMITS = Limits(move=5.0, start_up=10.0)
PASS = {"type": "pass"}
PASSES, BOWS = reply_with(PASS), reply_with(None)
OLD: Step = (0.0, reply_with(None, 0))  # a reply to the first question, once more
NEVER = "a reply to a question that was never asked"
OUT = Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer")
TICK = 1e-6  # seconds


def asked(line: ScriptedConnection, *messages: Message, limits: Limits = LIMITS, **options: Any) -> list[Answer]:
    """What a player at this line answers, one question after the other, in no time."""

    async def ask(loop: VirtualTimeLoop) -> list[Answer]:
        remote = RemoteChannel(line, GAME, match_id="m", limits=limits, **options)
        return [await remote.ask(message) for message in messages]

    return run_in_virtual_time(ask)


def answered(answer: Answer) -> Answered:
    assert isinstance(answer, Answered), answer
    return answer


def failed(answer: Answer) -> Failed:
    assert isinstance(answer, Failed), answer
    return answer


def fault(answer: Answer) -> tuple[Fault, str]:
    return failed(answer).fault, failed(answer).why


# The deadline.


@pytest.mark.parametrize(
    ("seconds", "limit"), [(0.0, 5.0), (0.05, 5.0), (4.999, 5.0), (5.0 - TICK, 5.0), (5.0, 5.0), (0.3, 0.3), (2.5, 2.5)]
)
def test_an_answer_up_to_the_deadline_is_in_time(seconds: float, limit: float) -> None:
    (answer,) = asked(ScriptedConnection((seconds, PASSES)), TURN, limits=Limits(move=limit))

    assert answered(answer).value == Pass()
    assert answer.took == pytest.approx(seconds, abs=TICK / 10)


@pytest.mark.parametrize(
    ("message", "seconds"), [(TURN, 5.0 + TICK), (TURN, 5.001), (TURN, 1e6), (START, 6.0), (TELL, 6.0), (END, 6.0)]
)
def test_an_answer_to_any_message_after_the_deadline_is_too_late(message: Message, seconds: float) -> None:
    line = ScriptedConnection((seconds, PASSES))

    (answer,) = asked(line, message, limits=Limits(move=5.0, bank=600.0))

    assert fault(answer) == (Fault.TIMED_OUT, "no answer within 5 s")
    assert answer.took == pytest.approx(5.0, abs=0.002)
    assert failed(answer).evidence == Evidence(limit=5.0, taken=5.0)
    assert line.cancelled == 1


def said_after(seconds: float, *, twice: bool = False) -> Answer:
    """The answer of a player that writes its reply to a real socket after so many seconds, whole or in two parts."""

    async def ask(loop: VirtualTimeLoop) -> Answer:
        ours, theirs = socket.socketpair()
        remote = RemoteChannel(await accept_tcp(ours), GAME, limits=LIMITS)
        with theirs:
            asking = asyncio.ensure_future(remote.ask(TURN))
            reply = wire.encode({"nonce": wire.decode_line(await received(theirs)).nonce, "answer": PASS}) + b"\n"
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
def test_a_reply_that_is_in_the_socket_at_the_deadline_is_in_time_and_a_later_one_is_not(twice: bool) -> None:
    in_time, late = (said_after(LIMITS.move + seconds, twice=twice) for seconds in (0.0, TICK))

    assert answered(in_time).value == Pass()
    assert in_time.took == pytest.approx(LIMITS.move, abs=TICK)
    assert fault(late) == (Fault.TIMED_OUT, "no answer within 5 s")


def greeted(step: Step) -> Answer:
    """What is made of an answer to hello."""

    async def greet(loop: VirtualTimeLoop) -> Answer:
        return await RemoteChannel(ScriptedConnection(step), GAME, limits=LIMITS).hello()

    return run_in_virtual_time(greet)


def test_hello_asks_for_a_name_and_may_take_as_long_as_starting_up_may() -> None:
    assert answered(greeted((9.9, reply_with({"name": "ann"})))).value.name == "ann"
    assert answered(greeted((9.9, BOWS))).value is None
    assert failed(greeted((10.1, BOWS))).why == "no answer within 10 s"


# Our own delays.


def stalled(reply_at: float, stalls: dict[float, float]) -> Answer:
    """The answer of a player that replies then, while the event loop is busy at these times, for so long."""

    async def ask(loop: VirtualTimeLoop) -> Answer:
        for moment, seconds in stalls.items():
            loop.call_later(moment, loop.pass_time, seconds)
        remote = RemoteChannel(ScriptedConnection((reply_at, PASSES)), GAME, limits=Limits(move=1.0))
        return await remote.ask(TURN)

    return run_in_virtual_time(ask)


@pytest.mark.parametrize("stall", [0.3, 1.0, 60.0])
def test_a_delay_of_the_host_is_credited_to_a_reply_that_waits_and_to_a_player_that_thinks(stall: float) -> None:
    assert answered(stalled(0.9, {0.85: stall})).took < 1.0
    assert answered(stalled(0.9 + stall, {0.3: stall})).took < 1.0


def test_no_more_than_all_delays_of_the_host_are_credited() -> None:
    answered(stalled(0.8 + 8 * 0.2, {0.1 * number: 0.2 for number in range(1, 9)}))
    late = failed(stalled(0.3 + 1.2, {0.3: 0.3}))

    assert late.fault is Fault.TIMED_OUT
    assert late.took == pytest.approx(1.0, abs=0.06)
    assert 0.2 <= late.evidence.host_delay < 0.4


def test_a_delay_of_the_host_is_not_charged_to_the_bank() -> None:
    async def ask(loop: VirtualTimeLoop) -> None:
        loop.call_later(0.5, loop.pass_time, 10.0)
        line = ScriptedConnection((1.0, PASSES), (0.8, PASSES))
        remote = RemoteChannel(line, GAME, limits=Limits(move=5.0, bank=2.0))
        answered(await remote.ask(TURN))
        answered(await remote.ask(TURN))

    run_in_virtual_time(ask)


# Old questions, questions that were not asked, and the bank.


def describe(answer: Answer) -> str:
    if isinstance(answer, Failed):
        return f"{answer.fault.value}: {answer.why}"
    return f"{answer.value} after {answer.took:g} s"


BOW, PASSED, BOWED = (0.0, BOWS), "passes after 0 s", "None after 0 s"
LATE, FLOOD = "timed_out: no answer within 5 s", "flood: answered old questions again and again"
MANY = MAX_STALE_REPLIES
NO_TIME = "timed_out: the bank of 1 s for all turns is used up"
LITTLE_TIME = "timed_out: the bank of 6 s for all turns is used up: no answer within the 0.5 s that were left"
TALKS: dict[str, tuple[list[Step], Sequence[Message], str, list[str]]] = {
    "an old action": (
        [(0.0, PASSES), (0.0, reply_with({"type": "exchange"}, 0)), (1.0, PASSES)],
        *([TURN, TURN], "5", [PASSED, "passes after 1 s"]),
    ),
    "some old replies": ([BOW, *[OLD] * MANY, (0.0, PASSES)], [START, TURN], "5", [BOWED, PASSED]),
    "too many old replies": ([BOW, *[OLD] * (MANY + 1), (0.0, PASSES)], [START, TURN], "5", [BOWED, FLOOD]),
    "old replies now and then": (
        [(0.0, reply_with(PASS, number)) for number in range(MANY + 2) for _ in range(2)],
        *([TURN] * (MANY + 2), "5", [PASSED] * (MANY + 1) + [FLOOD]),
    ),
    "old replies stop no clock": ([BOW, *[(0.9, OLD[1])] * 10], [START, TURN], "5", [BOWED, LATE]),
    "an old reply at the deadline": ([BOW, (5.0, OLD[1]), (TICK, PASSES)], [START, TURN], "5", [BOWED, LATE]),
    "the bank is for all turns": (
        [(4.0, BOWS), (4.0, PASSES), (1.5, PASSES), (1.0, PASSES)],
        [START, TURN, TURN, TURN],
        "5,bank=6",
        ["None after 4 s", "passes after 4 s", "passes after 1.5 s", LITTLE_TIME],
    ),
    "the bank is for turns only": (
        [(4.0, BOWS), (0.9, PASSES), (6.0, BOWS)],
        [START, TURN, END],
        "5,bank=1",
        ["None after 4 s", "passes after 0.9 s", LATE],
    ),
    "an empty bank": ([(1.0, PASSES), (0.0, PASSES)], [TURN, TURN], "5,bank=1", ["passes after 1 s", NO_TIME]),
}


@pytest.mark.parametrize("talk", TALKS)
def test_old_replies_are_ignored_up_to_a_limit_and_turns_are_charged_to_the_bank(talk: str) -> None:
    steps, messages, limits, answers = TALKS[talk]

    found = asked(ScriptedConnection(*steps), *messages, limits=parse_limits(limits))

    assert [describe(answer) for answer in found] == answers


def with_nonce(nonce: Callable[[list[Question]], str]) -> Step:
    return 0.0, lambda sent: wire.encode({"nonce": nonce(sent), "answer": PASS})


@pytest.mark.parametrize(
    "nonce",
    [
        *("", "x", "1", "-1", "0" * 64, "\u0661-x", "{number}", "{rest}", "0-{rest}", "{next}-{rest}", "9-{rest}"),
        *("0{number}-{rest}", "-{number}-{rest}", "{number}-{rest} ", "{number}-{rest}x"),
    ],
)
def test_a_reply_to_a_question_that_was_never_asked_is_malformed(nonce: str) -> None:
    """Also if it is a guess that comes before its question, and the right reply follows."""

    def guess(sent: list[Question]) -> str:
        number, rest = sent[0]["nonce"].split("-", 1)
        return nonce.format(number=number, next=int(number) + 1, rest=rest)

    line = ScriptedConnection((0.0, PASSES), with_nonce(guess), (0.0, PASSES))

    first, second, third = asked(line, TURN, TURN, TURN)

    answered(first)
    assert fault(second) == (Fault.MALFORMED, NEVER)
    assert third == second
    assert len(line.sent) == 2


def test_the_nonce_of_another_seat_is_no_answer() -> None:
    first = ScriptedConnection(*[(0.0, PASSES)] * 20)
    asked(first, *[TURN] * 20)
    replayed = with_nonce(lambda sent: str(first.sent[len(sent) - 1]["nonce"]))

    assert fault(asked(ScriptedConnection(replayed, (0.0, PASSES)), TURN)[0]) == (Fault.MALFORMED, NEVER)
    later = asked(ScriptedConnection((0.0, PASSES), replayed, (0.0, PASSES)), TURN, TURN)[1]
    assert fault(later) == (Fault.MALFORMED, NEVER)


def test_the_nonce_of_an_earlier_match_over_the_same_connection_is_stale() -> None:
    nonces, before = Nonces(), ScriptedConnection((0.0, PASSES))
    asked(before, TURN, nonces=nonces)
    after = ScriptedConnection(with_nonce(lambda sent: str(before.sent[0]["nonce"])), (1.0, PASSES))

    (answer,) = asked(after, TURN, nonces=nonces)

    assert answered(answer).took == pytest.approx(1.0, abs=TICK)


def test_nonces_have_a_number_and_a_new_random_part() -> None:
    lines = [ScriptedConnection(*[(0.0, PASSES)] * 20) for _ in range(10)]
    for line in lines:
        asked(line, *[TURN] * 20)

        numbers, parts = zip(*(question["nonce"].split("-") for question in line.sent), strict=True)
        assert numbers == tuple(str(number) for number in range(1, 21))
        assert len(set(parts)) == 20
        assert {len(part) for part in parts} == {16}

    assert len({question["nonce"] for line in lines for question in line.sent}) == 200


# What goes wrong.


def odd_answer(sent: list[Question]) -> bytes:
    return b'{"nonce":"%b","answer":{"type":"pass","type":"pass"}}' % sent[-1]["nonce"].encode()


NO_ACTION = "the answer is not an action of this game"


@pytest.mark.parametrize(
    ("what", "fault", "why", "detail"),
    [
        (ConnectionClosed(Fault.CRASHED, "the program ended"), Fault.CRASHED, "the program ended", ""),
        (ConnectionClosed(Fault.GONE, "the player is gone"), Fault.GONE, "the player is gone", ""),
        (TooMuchData(b"x" * 512), Fault.FLOOD, "sent more than 8192 bytes at once", ""),
        (b"hello?", Fault.MALFORMED, "not a reply: not JSON", ""),
        (odd_answer, Fault.MALFORMED, NO_ACTION, "a key occurs twice"),
        (reply_with({"type": "win"}), Fault.MALFORMED, NO_ACTION, "Invalid value 'win' - at `$.type`"),
        (BOWS, Fault.MALFORMED, "the answer is None (null in JSON): take_turn must return an action", ""),
    ],
)
def test_every_failure_has_its_fault_and_the_player_is_never_asked_again(
    what: Any, fault: Fault, why: str, detail: str
) -> None:
    line = ScriptedConnection((0.1, what), (0.0, PASSES))

    answers = asked(line, TURN, TURN, END)

    answer = failed(answers[0])
    assert (answer.fault, answer.why) == (fault, why)
    assert detail in answer.evidence.detail
    assert answer.took == pytest.approx(0.1, abs=TICK)
    assert len(line.sent) == 1
    assert answers == [answer] * 3


@pytest.mark.parametrize("message", [START, TELL, END])
def test_an_answer_where_only_an_acknowledgement_is_due_is_malformed(message: Message) -> None:
    thanked, bowed = (asked(ScriptedConnection((0.0, reply_with(answer))), message)[0] for answer in ("thanks", None))

    assert fault(thanked) == (Fault.MALFORMED, "answered where only an acknowledgement was due")
    assert (answered(bowed).value, bowed.took) == (None, 0.0)


def test_a_player_that_fails_at_hello_is_ejected_at_the_greeting() -> None:
    line = ScriptedConnection((0.0, b"junk"), (0.0, BOWS))

    async def greet(loop: VirtualTimeLoop) -> tuple[Answer, Answer]:
        remote = RemoteChannel(line, GAME)
        hello = await remote.hello()
        assert not remote.ask_with_callback(START, print)
        return hello, await remote.ask(START)

    hello, start = run_in_virtual_time(greet)

    assert failed(hello) == start
    assert len(line.sent) == 1


def test_the_evidence_has_the_first_bytes_their_number_and_their_hash() -> None:
    junk = bytes(range(256)) * 8

    evidence = failed(asked(ScriptedConnection((0.5, junk), known="exit code 1"), TURN)[0]).evidence

    assert evidence.received == repr(junk[:512])
    assert (evidence.size, evidence.sha256) == (len(junk), sha256(junk).hexdigest())
    assert (evidence.limit, evidence.taken, evidence.host_delay) == (5.0, 0.5, 0.0)
    assert evidence.stderr == "exit code 1"


def test_an_answer_is_an_action_with_its_evidence_in_case_it_is_refused() -> None:
    (answer,) = asked(ScriptedConnection((0.25, reply_with({"type": "exchange"}))), TURN)

    assert answered(answer).value == Exchange()
    assert isinstance(answer, Answered) and answer.evidence is not None
    evidence = answer.evidence()
    assert evidence.received.startswith('b\'{"nonce":"1-')
    assert (evidence.limit, evidence.taken) == (5.0, 0.25)


# What is said to a player.


def test_questions_have_the_match_the_turn_and_the_limit() -> None:
    line = ScriptedConnection((0.0, BOWS), (0.0, PASSES), (0.0, BOWS), (0.0, PASSES), (0.0, BOWS))

    asked(line, START, TURN, TELL, TURN, END, limits=Limits(move=5.0, first_move=9.0, bank=4.0))

    assert [question["turn"] for question in line.sent] == [0, 1, 1, 2, 2]
    assert [question["limit"] for question in line.sent] == [5.0, 4.0, 5.0, 4.0, 5.0]
    assert {question["match"] for question in line.sent} == {"m"}


def test_a_resumed_match_goes_on_counting_turns() -> None:
    line = ScriptedConnection((0.0, BOWS), (0.0, PASSES))

    asked(line, START, TURN, took=[0.0] * 7)

    assert [question["turn"] for question in line.sent] == [7, 8]


def test_the_last_message_is_a_reason_for_the_ejected_or_a_receipt_if_there_is_one() -> None:
    receipt, lines = Receipt(7, "0f" * 32), [ScriptedConnection() for _ in range(3)]

    async def close(loop: VirtualTimeLoop) -> None:
        for line, reason in zip(lines, (OUT, None, receipt), strict=True):
            await RemoteChannel(line, GAME, match_id="m", limits=LIMITS).close(reason)

    run_in_virtual_time(close)

    assert lines[0].hung_up == [(wire.encode_goodbye("m", OUT), 0.25)]
    assert lines[1].hung_up == [(b"", 0.25)]
    ((closing, within),) = lines[2].hung_up
    said = json.loads(closing)
    assert closing == wire.encode_closing(receipt, match_id="m", turn=0, nonce=said["nonce"], limit=0.25)
    assert (said["type"], said["receipt"], within) == ("closing", {"seq": 7, "head": "0f" * 32}, 0.25)


# Answers that come too late.


def closed(line: ScriptedConnection, reason: Ejected | None = OUT) -> tuple[float | None, float]:
    """By how much the answer of a player was late that timed out, and how long it took to close the connection."""

    async def close(loop: VirtualTimeLoop) -> tuple[float | None, float]:
        remote = RemoteChannel(line, GAME, limits=LIMITS)
        assert failed(await remote.ask(TURN)).fault is Fault.TIMED_OUT
        since = loop.time()
        assert since == pytest.approx(1005.0, abs=0.01)
        return await remote.close(reason), loop.time() - since

    return run_in_virtual_time(close)


@pytest.mark.parametrize(
    ("steps", "late", "waited"),
    [
        ([(0.104, PASSES)], 0.104, 0.104),
        ([(2.0, PASSES)], None, 0.5),
        ([(0.3, ConnectionClosed(Fault.GONE, "lost"))], None, 0.3),
        ([(0.1, b"junk"), (0.1, PASSES)], 0.2, 0.2),
    ],
    ids=["late", "much too late", "a lost connection", "after junk"],
)
def test_a_late_answer_is_waited_for_for_a_limited_time_before_the_goodbye(
    steps: list[Step], late: float | None, waited: float
) -> None:
    line = ScriptedConnection((1e9, b""), *steps)
    line.late_answer_timeout_s = 0.5

    overrun, took = closed(line)

    assert overrun == (None if late is None else pytest.approx(late, abs=0.002))
    assert took == pytest.approx(waited, abs=0.01)
    assert [b'"goodbye"' in last for last, _ in line.hung_up] == [True]


def test_a_player_that_timed_out_but_was_not_ejected_is_closed_at_once() -> None:
    assert closed(ScriptedConnection(), None) == (None, 0.0)
