"""Test questions to remote players: deadlines, old replies, and the evidence of failures."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, End, Evidence, Failed, Message, Start, TakeTurn, Tell
from fairplay.games.q import Exchange, Pass, Q
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import replies, wire
from fairplay.protocol.limits import Limits
from fairplay.protocol.replies import MAX_STALE_REPLIES
from fairplay.transport import timer as timers
from fairplay.transport.connection import ConnectionClosed, TooMuchData
from fairplay.transport.sockets import accept_tcp
from tests.players.scripted_connections import (
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
PASSES, BOWS = reply_with({"type": "pass"}), reply_with(None)


def asked(line: ScriptedConnection, *messages: Message, limits: Limits = LIMITS, **options: Any) -> list[Answer]:
    """What a player at this line answers, one question after the other, in no time."""

    async def ask(loop: VirtualTimeLoop) -> list[Answer]:
        remote = RemoteChannel(line, GAME, match_id="m", limits=limits, **options)
        return [await remote.ask(message) for message in messages]

    return run_in_virtual_time(ask)


def after(seconds: float, limits: Limits = LIMITS, **options: Any) -> Answer:
    """The answer that comes after so many seconds."""
    return asked(ScriptedConnection((seconds, PASSES), **options), TURN, limits=limits)[0]


def failed(answer: Answer) -> Failed:
    assert isinstance(answer, Failed)
    return answer


def bare(answer: Answer) -> Answered:
    assert isinstance(answer, Answered)
    return Answered(answer.value, answer.took)


OLD: Step = (0.0, reply_with(None, 0))  # a reply to the first question, once more


# The deadline.


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.05, 1.0, 4.9, 4.999])
def test_an_answer_before_the_deadline_is_in_time(seconds: float) -> None:
    answer = after(seconds)

    assert isinstance(answer, Answered)
    assert answer.value == Pass()
    assert answer.took == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize("limit", [0.3, 0.5, 1.0, 2.5, 4.75, 5.0])
def test_an_answer_at_the_deadline_is_in_time(limit: float) -> None:
    answer = after(limit, Limits(move=limit))

    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize("seconds", [5.001, 5.1, 6.0, 1e6])
def test_an_answer_after_the_deadline_is_too_late(seconds: float) -> None:
    answer = failed(after(seconds))

    assert (answer.fault, answer.why) == (Fault.TIMED_OUT, "no answer within 5 s")
    assert answer.took == pytest.approx(5.0, abs=0.002)
    assert answer.evidence == Evidence(limit=5.0, taken=5.0)


def test_every_question_has_its_own_deadline() -> None:
    line = ScriptedConnection(*[(4.9, PASSES)] * 20)

    assert all(isinstance(answer, Answered) for answer in asked(line, *[TURN] * 20))


@pytest.mark.parametrize("message", [START, TURN, TELL, END])
def test_every_message_has_to_be_answered_in_time(message: Message) -> None:
    assert failed(asked(ScriptedConnection(), message)[0]).fault is Fault.TIMED_OUT


def test_no_task_is_left_after_the_deadline() -> None:
    line = ScriptedConnection()  # and run_in_virtual_time looks for tasks that are left

    asked(line, TURN)

    assert line.cancelled == 1


def test_a_cancelled_question_leaves_no_task() -> None:
    line = ScriptedConnection()

    async def call_off(loop: VirtualTimeLoop) -> None:
        asking = asyncio.ensure_future(RemoteChannel(line, GAME).ask(TURN))
        await asyncio.sleep(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    run_in_virtual_time(call_off)

    assert line.cancelled == 1


def test_hello_may_take_as_long_as_starting_up_may() -> None:
    async def greet(loop: VirtualTimeLoop, seconds: float) -> Answer:
        return await RemoteChannel(ScriptedConnection((seconds, BOWS)), GAME, limits=LIMITS).hello()

    assert isinstance(run_in_virtual_time(lambda loop: greet(loop, 9.9)), Answered)
    assert failed(run_in_virtual_time(lambda loop: greet(loop, 10.1))).why == "no answer within 10 s"


# Our own delays.


def stalled(reply_at: float, stalls: dict[float, float], limit: float = 1.0) -> Answer:
    """The answer of a player that replies then, while the event loop is busy at these times, for so long."""

    async def ask(loop: VirtualTimeLoop) -> Answer:
        for moment, seconds in stalls.items():
            loop.call_later(moment, loop.pass_time, seconds)
        remote = RemoteChannel(ScriptedConnection((reply_at, PASSES)), GAME, limits=Limits(move=limit))
        return await remote.ask(TURN)

    return run_in_virtual_time(ask)


@pytest.mark.parametrize("stall", [0.3, 1.0, 5.0, 60.0])
def test_a_reply_that_came_in_time_counts_although_we_read_it_late(stall: float) -> None:
    answer = stalled(0.9, {0.85: stall})

    assert isinstance(answer, Answered)
    assert answer.took < 1.0


@pytest.mark.parametrize("stall", [0.3, 1.0, 5.0, 60.0])
def test_a_delay_of_the_host_is_credited(stall: float) -> None:
    answer = stalled(0.9 + stall, {0.3: stall})

    assert isinstance(answer, Answered)
    assert answer.took < 1.0


def test_no_more_than_the_delay_of_the_host_is_credited() -> None:
    answer = failed(stalled(0.3 + 1.2, {0.3: 0.3}))

    assert answer.fault is Fault.TIMED_OUT
    assert answer.took == pytest.approx(1.0, abs=0.06)
    assert 0.2 <= answer.evidence.host_delay < 0.4


def test_all_delays_of_the_host_are_credited() -> None:
    stalls = {0.1 * number: 0.2 for number in range(1, 9)}

    assert isinstance(stalled(0.8 + 8 * 0.2, stalls), Answered)


def test_a_delay_of_the_host_is_not_charged_to_the_bank() -> None:
    limits = Limits(move=5.0, bank=2.0)

    async def ask(loop: VirtualTimeLoop) -> list[Answer]:
        loop.call_later(0.5, loop.pass_time, 10.0)
        line = ScriptedConnection((1.0, PASSES), (0.8, PASSES))
        remote = RemoteChannel(line, GAME, limits=limits)
        return [await remote.ask(TURN), await remote.ask(TURN)]

    assert [type(answer) for answer in run_in_virtual_time(ask)] == [Answered, Answered]


async def over_a_socket(limit: float, talk: Callable[[socket.socket], None], stalls: dict[float, float]) -> Answer:
    """The answer of a player at a real socket in a thread, while the event loop is really stalled."""
    ours, theirs = socket.socketpair()
    line = await accept_tcp(ours)
    who = threading.Thread(target=talk, args=(theirs,), daemon=True)
    who.start()
    for moment, seconds in stalls.items():
        asyncio.get_running_loop().call_later(moment, time.sleep, seconds)
    remote = RemoteChannel(line, GAME, limits=Limits(move=limit))
    try:
        return await remote.ask(TURN)
    finally:
        await remote.close(None)
        theirs.close()
        await asyncio.to_thread(who.join)


def replying(seconds: float) -> Callable[[socket.socket], None]:
    def talk(line: socket.socket) -> None:
        question = wire.decode_line(line.makefile("rb").readline())
        time.sleep(seconds)
        line.sendall(wire.encode({"nonce": question.nonce, "answer": {"type": "pass"}}) + b"\n")

    return talk


def test_a_stalled_event_loop_with_a_waiting_reply_ejects_no_player() -> None:
    answer = asyncio.run(over_a_socket(0.3, replying(0.1), {0.02: 0.6}))

    assert isinstance(answer, Answered)


def test_a_stalled_event_loop_while_a_player_thinks_ejects_no_player() -> None:
    answer = asyncio.run(over_a_socket(0.6, replying(0.8), {0.1: 0.6}))

    assert isinstance(answer, Answered)


# Old questions, and questions that were not asked.


def test_a_reply_to_an_old_question_is_ignored() -> None:
    line = ScriptedConnection((0.0, BOWS), OLD, (1.0, PASSES))

    first, second = asked(line, START, TURN)

    assert isinstance(first, Answered)
    assert isinstance(second, Answered)
    assert second.value == Pass()
    assert second.took == pytest.approx(1.0, abs=1e-6)


def test_an_action_for_an_old_question_is_not_taken_for_this_one() -> None:
    late = (0.0, reply_with({"type": "exchange"}, 0))
    line = ScriptedConnection((0.0, PASSES), late, (0.0, PASSES))

    assert [getattr(answer, "value", None) for answer in asked(line, TURN, TURN)] == [Pass(), Pass()]


def test_old_replies_are_ignored_up_to_a_limit_and_then_a_flood() -> None:
    patient = asked(ScriptedConnection((0.0, BOWS), *[OLD] * MAX_STALE_REPLIES, (0.0, PASSES)), START, TURN)
    flooded = asked(ScriptedConnection((0.0, BOWS), *[OLD] * (MAX_STALE_REPLIES + 1), (0.0, PASSES)), START, TURN)

    assert isinstance(patient[1], Answered)
    assert failed(flooded[1]).fault is Fault.FLOOD
    assert failed(flooded[1]).why == "answered old questions again and again"


def test_old_replies_are_counted_over_the_whole_match() -> None:
    twice = [(0.0, reply_with({"type": "pass"}, number)) for number in range(30) for _ in range(2)]

    answers = asked(ScriptedConnection(*twice), *[TURN] * 30)

    good = [answer for answer in answers if isinstance(answer, Answered)]
    assert len(good) == MAX_STALE_REPLIES + 1
    assert failed(answers[len(good)]).fault is Fault.FLOOD


def test_old_replies_do_not_stop_the_clock() -> None:
    line = ScriptedConnection((0.0, BOWS), *[(0.9, OLD[1])] * 10)

    assert failed(asked(line, START, TURN)[1]).fault is Fault.TIMED_OUT


NEVER = "a reply to a question that was never asked"


def but(change: Callable[[str, str], str]) -> Step:
    """A reply with another nonce, made from the number and the rest of the first."""
    return (
        0.0,
        lambda sent: wire.encode({"nonce": change(*sent[0]["nonce"].split("-", 1)), "answer": None}),
    )


def always(made_up: str) -> Callable[[str, str], str]:
    return lambda number, rest: made_up


@pytest.mark.parametrize(
    "step",
    [
        *(but(always(made_up)) for made_up in ("", "x", "1", "-1", "0" * 64, "\u0661-x")),
        but(lambda number, rest: f"{int(number) + 1}-{rest}"),
        but(lambda number, rest: f"{int(number) + 9}-{rest}"),
        but(lambda number, rest: f"0-{rest}"),
        but(lambda number, rest: f"0{number}-{rest}"),
        but(lambda number, rest: f"-{number}-{rest}"),
        but(lambda number, rest: f"{number}-{rest.upper()}x"),
        but(lambda number, rest: number),
        but(lambda number, rest: rest),
        but(lambda number, rest: f"{number}-{rest} "),
    ],
)
def test_a_reply_to_a_question_that_was_never_asked_is_malformed(step: Step) -> None:
    answer = failed(asked(ScriptedConnection((0.0, BOWS), step, (0.0, PASSES)), START, TURN)[1])

    assert (answer.fault, answer.why) == (Fault.MALFORMED, NEVER)


def test_a_nonce_cannot_be_predicted_from_earlier_ones() -> None:
    line = ScriptedConnection(*[(0.0, PASSES)] * 20)

    asked(line, *[TURN] * 20)

    rests = [question["nonce"].split("-", 1)[1] for question in line.sent]
    assert len(set(rests)) == 20
    assert min(map(len, rests)) >= 16


def test_no_two_questions_and_no_two_players_have_the_same_nonce() -> None:
    lines = [ScriptedConnection(*[(0.0, PASSES)] * 10) for _ in range(10)]

    for line in lines:
        asked(line, *[TURN] * 10)

    assert len({question["nonce"] for line in lines for question in line.sent}) == 100


# What goes wrong.


@pytest.mark.parametrize(
    ("step", "fault", "why"),
    [
        ((0.1, ConnectionClosed(Fault.CRASHED, "the program ended")), Fault.CRASHED, "the program ended"),
        ((0.1, ConnectionClosed(Fault.GONE, "the player is gone")), Fault.GONE, "the player is gone"),
        ((0.1, TooMuchData(b"x" * 512)), Fault.FLOOD, "sent more than 8192 bytes at once"),
        ((0.1, b"hello?"), Fault.MALFORMED, "not a reply: not JSON"),
        ((0.1, reply_with({"type": "win"})), Fault.MALFORMED, "the answer is not an action of this game"),
        (
            (0.1, reply_with(None)),
            Fault.MALFORMED,
            "the answer is None (null in JSON): take_turn must return an action",
        ),
    ],
)
def test_every_failure_has_its_fault(step: Step, fault: Fault, why: str) -> None:
    answer = failed(asked(ScriptedConnection(step), TURN)[0])

    assert (answer.fault, answer.why) == (fault, why)
    assert answer.took == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("message", [START, TELL, END])
def test_an_answer_where_only_an_acknowledgement_is_due_is_malformed(message: Message) -> None:
    thanked, bowed = (asked(ScriptedConnection((0.0, reply_with(answer))), message)[0] for answer in ("thanks", None))

    assert (failed(thanked).fault, failed(thanked).why) == (
        Fault.MALFORMED,
        "answered where only an acknowledgement was due",
    )
    assert bare(bowed) == Answered(None, 0.0)


def test_evidence_is_not_repeated_in_the_reason() -> None:
    answer = failed(asked(ScriptedConnection((0.0, b'{"nonce":"n"}')), TURN)[0])

    assert answer.why.count("not a reply") == 1


def test_a_player_that_failed_is_never_asked_again() -> None:
    line = ScriptedConnection((0.0, b"junk"), (0.0, PASSES))

    answers = asked(line, TURN, TURN, END)

    assert len(line.sent) == 1
    assert answers == [answers[0]] * 3
    assert failed(answers[0]).fault is Fault.MALFORMED


def test_a_player_that_fails_at_hello_is_ejected_at_the_greeting() -> None:
    line = ScriptedConnection((0.0, b"junk"), (0.0, BOWS))

    async def greet(loop: VirtualTimeLoop) -> tuple[Answer, Answer]:
        remote = RemoteChannel(line, GAME)
        return await remote.hello(), await remote.ask(START)

    hello, start = run_in_virtual_time(greet)

    assert hello == start
    assert isinstance(hello, Failed)
    assert len(line.sent) == 1


def test_the_evidence_has_the_first_bytes_their_number_and_their_hash() -> None:
    junk = bytes(range(256)) * 8

    evidence = failed(asked(ScriptedConnection((0.5, junk), known="exit code 1"), TURN)[0]).evidence

    assert evidence.received == repr(junk[:512])
    assert (evidence.size, evidence.sha256) == (len(junk), sha256(junk).hexdigest())
    assert (evidence.limit, evidence.taken, evidence.host_delay) == (5.0, 0.5, 0.0)
    assert evidence.stderr == "exit code 1"


def test_the_evidence_says_what_was_odd_about_an_answer() -> None:
    odd = b'{"nonce":"%b","answer":{"type":"pass","type":"pass"}}'
    step: Step = (0.0, lambda sent: odd % sent[-1]["nonce"].encode())

    answer = failed(asked(ScriptedConnection(step), TURN)[0])

    assert answer.why == "the answer is not an action of this game"
    assert answer.evidence.detail == "a key occurs twice"
    assert answer.evidence.received.startswith("b'")


def test_the_evidence_of_silence_has_only_the_clocks() -> None:
    evidence = failed(asked(ScriptedConnection(), TURN)[0]).evidence

    assert evidence == Evidence(limit=5.0, taken=5.0)


# What is said to a player.


def test_questions_have_the_match_the_turn_and_the_limit() -> None:
    line = ScriptedConnection((0.0, BOWS), (0.0, PASSES), (0.0, BOWS), (0.0, PASSES), (0.0, BOWS))

    asked(line, START, TURN, TELL, TURN, END, limits=Limits(move=5.0, first_move=9.0))

    assert [question["turn"] for question in line.sent] == [0, 1, 1, 2, 2]
    assert [question["limit"] for question in line.sent] == [5.0, 9.0, 5.0, 5.0, 5.0]
    assert {question["match"] for question in line.sent} == {"m"}


def test_a_resumed_match_goes_on_counting_turns() -> None:
    line = ScriptedConnection((0.0, BOWS), (0.0, PASSES))

    asked(line, START, TURN, took=[0.0] * 7)

    assert [question["turn"] for question in line.sent] == [7, 8]


def test_hello_asks_for_a_name() -> None:
    async def greet(loop: VirtualTimeLoop, answer: Any) -> Answer:
        return await RemoteChannel(ScriptedConnection((0.0, reply_with(answer))), GAME).hello()

    named = run_in_virtual_time(lambda loop: greet(loop, {"name": "ann"}))
    nameless = run_in_virtual_time(lambda loop: greet(loop, None))

    assert isinstance(named, Answered) and named.value.name == "ann"
    assert bare(nameless) == Answered(None, 0.0)


def test_the_last_message_is_a_reason_for_the_ejected_or_a_receipt_if_there_is_one() -> None:
    ejected, receipt = Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.1: no", "3.1"), Receipt(7, "0f" * 32)
    lines = ScriptedConnection(), ScriptedConnection(), ScriptedConnection()

    async def close(loop: VirtualTimeLoop) -> None:
        await RemoteChannel(lines[0], GAME, match_id="m", limits=LIMITS).close(ejected)
        await RemoteChannel(lines[1], GAME, match_id="m", limits=LIMITS).close(None)
        await RemoteChannel(lines[2], GAME, match_id="m", limits=LIMITS).close(receipt)

    run_in_virtual_time(close)

    assert lines[0].hung_up == [(wire.encode_goodbye("m", ejected), 0.25)]
    assert lines[1].hung_up == [(b"", 0.25)]
    ((closing, within),) = lines[2].hung_up
    said = json.loads(closing)
    assert closing == wire.encode_closing(receipt, match_id="m", turn=0, nonce=said["nonce"], limit=0.25)
    assert (said["type"], said["receipt"], within) == ("closing", {"seq": 7, "head": "0f" * 32}, 0.25)


def test_answers_are_actions_of_the_game() -> None:
    (answer,) = asked(ScriptedConnection((0.0, reply_with({"type": "exchange"}))), TURN)

    assert bare(answer) == Answered(Exchange(), 0.0)


def test_a_refused_answer_has_its_evidence() -> None:
    (answer,) = asked(ScriptedConnection((0.25, reply_with({"type": "exchange"}))), TURN)

    assert isinstance(answer, Answered) and answer.evidence is not None
    evidence = answer.evidence()
    assert evidence.received.startswith('b\'{"nonce":"1-')
    assert (evidence.limit, evidence.taken) == (5.0, 0.25)


# The bank.


def test_the_bank_is_for_all_turns_together() -> None:
    limits = Limits(move=5.0, bank=6.0)
    line = ScriptedConnection((0.0, BOWS), (4.0, PASSES), (1.5, PASSES), (1.0, PASSES))

    answers = asked(line, START, TURN, TURN, TURN, limits=limits)

    assert [type(answer) for answer in answers] == [Answered, Answered, Answered, Failed]
    assert [question["limit"] for question in line.sent] == [5.0, 5.0, pytest.approx(2.0), pytest.approx(0.5)]
    assert failed(answers[3]).why == (
        "the bank of 6 s for all turns is used up: no answer within the 0.5 s that were left"
    )


def test_acknowledgements_are_not_charged_to_the_bank() -> None:
    limits = Limits(move=5.0, bank=1.0)
    line = ScriptedConnection((4.0, BOWS), (0.9, PASSES), (4.0, BOWS))

    assert all(isinstance(answer, Answered) for answer in asked(line, START, TURN, END, limits=limits))


def test_an_increment_keeps_a_steady_player_in() -> None:
    limits = Limits(move=5.0, bank=2.0, increment=1.0)
    line = ScriptedConnection(*[(1.0, PASSES)] * 30, (3.0, PASSES))

    answers = asked(line, *[TURN] * 31, limits=limits)

    assert all(isinstance(answer, Answered) for answer in answers[:30])
    assert failed(answers[30]).why == (
        "the bank of 2 s, and 1 s more for each turn, is used up: no answer within the 2 s that were left"
    )


def test_a_timeout_with_time_in_the_bank_is_described_without_it() -> None:
    answers = asked(ScriptedConnection((1.0, PASSES), (6.0, PASSES)), TURN, TURN, limits=Limits(move=5.0, bank=6.0))

    assert failed(answers[1]).why == "no answer within 5 s"


def test_a_timeout_outside_of_a_turn_is_described_without_the_bank() -> None:
    answers = asked(ScriptedConnection((0.9, PASSES), (6.0, BOWS)), TURN, END, limits=Limits(move=5.0, bank=1.0))

    assert failed(answers[1]).why == "no answer within 5 s"


def test_the_first_turn_may_use_up_a_small_bank() -> None:
    (answer,) = asked(ScriptedConnection((2.0, PASSES)), TURN, limits=Limits(move=5.0, first_move=20.0, bank=1.25))

    assert failed(answer).why == (
        "the bank of 1.25 s for all turns is used up: no answer within the 1.25 s that were left"
    )


def test_an_empty_bank_is_a_timeout() -> None:
    limits = Limits(move=5.0, bank=1.0)

    answers = asked(ScriptedConnection((1.0, PASSES), (0.1, PASSES)), TURN, TURN, limits=limits)

    assert isinstance(answers[0], Answered)
    assert failed(answers[1]).fault is Fault.TIMED_OUT


# A meter that cannot fail is no meter.


def test_a_timer_that_credits_no_delays_turns_the_meter_red(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "IGNORED_DELAY_S", 1e9)

    assert isinstance(stalled(0.9 + 5.0, {0.3: 5.0}), Failed)


def test_a_timer_that_does_not_poll_at_the_deadline_turns_the_meter_red(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "REPLY_LOOP_TURNS", 0)

    assert isinstance(after(1.0, Limits(move=1.0)), Failed)


def test_a_timer_that_credits_too_much_turns_the_meter_red(monkeypatch: pytest.MonkeyPatch) -> None:
    lost_at = timers.LoopDelay.total_delay
    monkeypatch.setattr(timers.LoopDelay, "total_delay", lambda self, now: lost_at(self, now) + 0.1 * (now - 1000.0))

    assert isinstance(stalled(0.3 + 1.2, {0.3: 0.3}), Answered)
    assert isinstance(after(5.1), Answered)


# Answers that come too late.


def closed_after(*steps: Step, wait: float = 1.0) -> tuple[float | None, float, ScriptedConnection]:
    """By how much an answer was late, how long it took to close, and the line; steps come after the deadline."""
    line = ScriptedConnection((1e9, b""), *steps)
    line.late_answer_timeout_s = wait

    async def close(loop: VirtualTimeLoop) -> tuple[float | None, float]:
        remote = RemoteChannel(line, GAME, limits=LIMITS)
        assert failed(await remote.ask(TURN)).fault is Fault.TIMED_OUT
        since = loop.time()
        assert since == pytest.approx(1005.0, abs=0.01)
        overrun = await remote.close(Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer"))
        return overrun, loop.time() - since

    overrun, took = run_in_virtual_time(close)
    return overrun, took, line


def test_a_late_answer_is_read_before_the_goodbye() -> None:
    overrun, took, line = closed_after((0.104, PASSES))

    assert overrun == pytest.approx(0.104, abs=0.002)
    assert took == pytest.approx(0.104, abs=0.01)
    assert [b'"goodbye"' in last for last, _ in line.hung_up] == [True]


@pytest.mark.parametrize("wait", [1.0, 0.1])
def test_a_late_answer_is_waited_for_only_for_a_limited_time(wait: float) -> None:
    overrun, took, line = closed_after((2.0, PASSES), wait=wait)

    assert overrun is None
    assert took == pytest.approx(wait, abs=0.01)
    assert len(line.hung_up) == 1


def test_no_late_answer_is_waited_for_on_a_lost_connection() -> None:
    overrun, took, _ = closed_after((0.3, ConnectionClosed(Fault.GONE, "lost")))

    assert overrun is None
    assert took == pytest.approx(0.3, abs=0.01)


def test_only_a_reply_to_the_last_question_counts_as_late() -> None:
    overrun, _, _ = closed_after((0.1, b"junk"), (0.1, PASSES))

    assert overrun == pytest.approx(0.2, abs=0.002)


def test_a_player_that_timed_out_but_was_not_ejected_is_closed_at_once() -> None:
    async def close(loop: VirtualTimeLoop) -> float:
        remote = RemoteChannel(ScriptedConnection(), GAME, limits=LIMITS)
        await remote.ask(TURN)
        since = loop.time()
        await remote.close(None)
        return loop.time() - since

    assert run_in_virtual_time(close) == 0.0


def test_a_remote_that_forgets_to_compare_nonces_turns_the_meter_red(monkeypatch: pytest.MonkeyPatch) -> None:
    read = wire.read_reply
    now: list[str] = []

    class Noting(ScriptedConnection):
        def send(self, text: bytes) -> None:
            now.append(wire.decode_line(text).nonce)
            super().send(text)

    def careless(line: bytes) -> Any:
        reply = read(line)
        return wire.Reply(now[-1], reply.answer) if isinstance(reply, wire.Reply) else reply

    monkeypatch.setattr(replies, "read_reply", careless)
    late = (0.0, reply_with({"type": "exchange"}, 0))

    answers = asked(Noting((0.0, PASSES), late, (0.0, PASSES)), TURN, TURN)

    assert [getattr(answer, "value", None) for answer in answers] != [Pass(), Pass()]
