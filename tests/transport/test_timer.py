"""Test the time that players are charged while the host is late: no host delay, and no player gains more."""

import asyncio
import gc
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Answer, Answered, Failed, TakeTurn
from fairplay.games.fish import Fish
from fairplay.players.remote import RemoteChannel
from fairplay.protocol.limits import Limits
from fairplay.transport import event_loop
from fairplay.transport import timer as timers
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.timer import LOOP_CHECK_INTERVAL_S, LOOP_DELAYS, Timer
from tests.players.scripted_connections import ScriptedConnection, VirtualTimeLoop, reply_with, run_in_virtual_time

GAME = Fish(rows=4, columns=4)
TURN = TakeTurn(GAME.view(GAME.deal(2, bytes(32)), 0))
PLACES = reply_with({"type": "place", "at": [0, 0]})
BUSY, FREE = 0.045, 0.005  # seconds of a loop that is stalled 45 ms out of every 50


class Stalls:
    """Keep a loop busy in pieces, with or without a pause between them, and count what was lost by it."""

    def __init__(self, loop: VirtualTimeLoop, busy: float, free: float) -> None:
        self.lost = 0.0
        self._loop = loop
        self._busy = busy
        self._free = free
        self._next = loop.call_soon(self._stall)

    def _stall(self) -> None:
        self._loop.pass_time(self._busy)
        self.lost += self._busy
        call = self._loop.call_soon if not self._free else lambda stall: self._loop.call_later(self._free, stall)
        self._next = call(self._stall)

    def over(self) -> None:
        self._next.cancel()


def charged(answers: list[Answer]) -> float:
    """What many answers cost together; none of them failed."""
    assert all(isinstance(answer, Answered) for answer in answers), answers
    return sum(answer.took for answer in answers)


# Players that are quick.


@pytest.mark.parametrize(("busy", "free"), [(BUSY, 0.0), (BUSY, FREE), (0.010, 0.0), (0.3, 0.001)])
def test_an_instant_player_is_hardly_charged_on_a_loop_that_is_busy_in_pieces(busy: float, free: float) -> None:
    async def turns(loop: VirtualTimeLoop) -> list[Answer]:
        line = ScriptedConnection(*[(0.0002, PLACES)] * 40)
        remote = RemoteChannel(line, GAME, limits=Limits(bank=2.0))
        stalls = Stalls(loop, busy, free)
        answers = [await remote.ask(TURN) for _ in range(40)]
        stalls.over()
        return answers

    assert charged(run_in_virtual_time(turns)) < 0.050


def test_instant_players_are_hardly_charged_for_the_work_that_each_other_makes() -> None:
    async def room(loop: VirtualTimeLoop) -> float:
        remote = RemoteChannel(ScriptedConnection(*[(0.0002, PLACES)] * 40), GAME)
        answers = []
        for _ in range(40):
            answers.append(await remote.ask(TURN))
            loop.pass_time(0.0001)  # with what follows from an answer: 4 ms for all rooms, which is no long delay
        return charged(answers)

    async def rooms(loop: VirtualTimeLoop) -> list[float]:
        return await asyncio.gather(*(room(loop) for _ in range(40)))

    assert max(run_in_virtual_time(rooms)) < 0.050


BOTS = r"""
import re, selectors, socket, sys, time
nonce = re.compile(rb'"nonce":("[^"]*")')
with selectors.DefaultSelector() as waiting:
    for number in sys.argv[1:]:
        waiting.register(socket.socket(fileno=int(number)), selectors.EVENT_READ)
    answered = dict.fromkeys(sys.argv[1:], 0.0)
    while waiting.get_map():
        for key, _ in waiting.select():
            text = key.fileobj.recv(65536)
            if text:
                answer = b',"answer":{"type":"place","at":[0,0]}}'
                answered[str(key.fd)] += time.monotonic()
                key.fileobj.sendall(b'{"nonce":' + nonce.search(text)[1] + answer + b"\n")
            else:
                waiting.unregister(key.fileobj)
print(*answered.values())
"""


@contextmanager
def bots(count: int) -> Iterator[tuple[list[socket.socket], IO[str]]]:
    """The host's ends of lines to bots that answer at once, in a process of their own.

    At the end it prints for each bot the moments of its answers, added up.
    """
    pairs = [socket.socketpair() for _ in range(count)]
    numbers = [theirs.fileno() for _, theirs in pairs]
    command = [sys.executable, "-I", "-S", "-c", BOTS, *map(str, numbers)]
    with subprocess.Popen(command, pass_fds=numbers, stdout=subprocess.PIPE, text=True) as process:
        for _, theirs in pairs:
            theirs.close()
        assert process.stdout is not None
        yield [ours for ours, _ in pairs], process.stdout


@pytest.mark.alone  # the bots have a process of their own, which another worker would slow down in earnest
@pytest.mark.parametrize(("rooms", "turns", "free"), [(1, 20, 0.0), (40, 40, FREE)])
def test_instant_bots_are_hardly_charged_by_a_host_that_is_busy_in_earnest(rooms: int, turns: int, free: float) -> None:
    async def busy() -> None:
        while True:
            time.sleep(BUSY)
            await asyncio.sleep(free)

    async def room(line: socket.socket) -> tuple[float, float]:
        remote = RemoteChannel(await accept_tcp(line), GAME, limits=Limits(bank=60.0))
        asked, answers = 0.0, []
        try:
            for _ in range(turns):
                asked += time.monotonic()
                answers.append(await remote.ask(TURN))
            return charged(answers), asked
        finally:
            await remote.close(None)

    async def all_rooms(lines: list[socket.socket]) -> list[tuple[float, float]]:
        others = asyncio.create_task(busy())
        try:
            return await asyncio.gather(*map(room, lines))
        finally:
            others.cancel()

    with bots(rooms) as (lines, told):
        found = event_loop.run(all_rooms(lines))
        answered = map(float, told.read().split())

    took = [moments - asked for moments, (_, asked) in zip(answered, found, strict=True)]  # longer on a busy machine
    assert max(charge - own for (charge, _), own in zip(found, took, strict=True)) < 0.050


def test_a_quick_player_is_charged_exactly_without_delays() -> None:
    async def turns(loop: VirtualTimeLoop) -> list[Answer]:
        remote = RemoteChannel(ScriptedConnection((0.0007, PLACES), (0.004, PLACES)), GAME)
        return [await remote.ask(TURN), await remote.ask(TURN)]

    assert [answer.took for answer in run_in_virtual_time(turns)] == pytest.approx([0.0007, 0.004], abs=1e-6)


def test_a_question_counts_from_the_next_poll_of_the_loop() -> None:
    async def turns(loop: VirtualTimeLoop) -> list[Answer]:
        remote = RemoteChannel(ScriptedConnection(*[(0.1, PLACES)] * 3), GAME)
        answers = []
        for late in (0.0, 0.010, 0.015):
            asking = asyncio.ensure_future(remote.ask(TURN))
            loop.call_soon(loop.pass_time, late)  # what others do before the question goes out
            answers.append(await asking)
        return answers

    assert [answer.took for answer in run_in_virtual_time(turns)] == pytest.approx([0.1, 0.09, 0.085], abs=1e-6)


# Players that are slow.


@pytest.mark.parametrize(("busy", "free"), [(BUSY, 0.0), (BUSY, FREE), (0.3, 0.02), (0.004, 0.0)])
@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_a_player_that_never_answers_gains_only_the_delays_of_the_host(busy: float, free: float, limit: float) -> None:
    async def wait(loop: VirtualTimeLoop) -> tuple[Answer, float, float]:
        stalls = Stalls(loop, busy, free)
        since = loop.now
        answer = await RemoteChannel(ScriptedConnection(), GAME, limits=Limits(move=limit)).ask(TURN)
        stalls.over()
        return answer, loop.now - since, stalls.lost

    answer, waited, lost = run_in_virtual_time(wait)

    assert isinstance(answer, Failed) and answer.fault is Fault.TIMED_OUT
    assert limit <= waited <= limit + lost + (timers.REPLY_LOOP_TURNS + 1) * busy
    assert answer.took == pytest.approx(limit, abs=0.06)


def test_short_delays_give_no_time_to_a_player_that_still_thinks() -> None:
    async def wait(loop: VirtualTimeLoop) -> float:
        stalls = Stalls(loop, timers.IGNORED_DELAY_S / 2, 0.0)
        since = loop.now
        await RemoteChannel(ScriptedConnection(), GAME, limits=Limits(move=1.0)).ask(TURN)
        stalls.over()
        return loop.now - since

    assert run_in_virtual_time(wait) == pytest.approx(
        1.0, abs=(timers.REPLY_LOOP_TURNS + 3) * timers.IGNORED_DELAY_S / 2
    )


def test_a_late_answer_times_out_on_a_busy_loop_too() -> None:
    async def wait() -> Answer:
        async def busy() -> None:
            while True:
                time.sleep(0.02)
                await asyncio.sleep(0.02)

        ours, theirs = socket.socketpair()
        others = asyncio.create_task(busy())
        with theirs:
            remote = RemoteChannel(await accept_tcp(ours), GAME, limits=Limits(move=0.2))
            since = time.monotonic()
            answer = await remote.ask(TURN)
            assert time.monotonic() - since >= 0.2
            await remote.close(None)
        others.cancel()
        return answer

    answer = asyncio.run(wait())

    assert isinstance(answer, Failed) and answer.fault is Fault.TIMED_OUT


def test_a_slow_answer_is_charged_for_all_but_the_delay_in_which_it_came() -> None:
    async def turn(loop: VirtualTimeLoop) -> Answer:
        loop.call_later(0.8, loop.pass_time, 0.5)
        return await RemoteChannel(ScriptedConnection((0.9, PLACES)), GAME).ask(TURN)

    answer = run_in_virtual_time(turn)

    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(0.8, abs=2 * LOOP_CHECK_INTERVAL_S)
    assert answer.evidence is not None
    assert answer.evidence().host_delay == pytest.approx(0.504, abs=0.006)


def test_a_delay_is_credited_once_to_each_waiting_player() -> None:
    async def wait(loop: VirtualTimeLoop) -> list[Answer]:
        loop.call_later(0.3, loop.pass_time, 0.5)
        remotes = [RemoteChannel(ScriptedConnection(), GAME, limits=Limits(move=1.0)) for _ in range(20)]
        answers: list[Answer] = await asyncio.gather(*(remote.ask(TURN) for remote in remotes))
        assert loop.now == pytest.approx(1000.0 + 1.5, abs=2 * LOOP_CHECK_INTERVAL_S)
        return answers

    for answer in run_in_virtual_time(wait):
        assert isinstance(answer, Failed)
        assert answer.evidence.taken == pytest.approx(1.0, abs=0.0005)
        assert answer.evidence.host_delay == pytest.approx(0.495, abs=0.006)


def test_a_delay_before_the_question_is_not_given_back() -> None:
    async def wait(loop: VirtualTimeLoop) -> Answer:
        before = asyncio.ensure_future(RemoteChannel(ScriptedConnection((3.0, PLACES)), GAME).ask(TURN))
        await asyncio.sleep(0.5)
        loop.pass_time(1.0)  # a player waits already, and the loop is late when the question is asked
        since = loop.now
        answer = await RemoteChannel(ScriptedConnection((0.7, PLACES)), GAME, limits=Limits(move=0.5)).ask(TURN)
        assert loop.now - since == pytest.approx(0.5, abs=0.001)
        await before
        return answer

    answer = run_in_virtual_time(wait)

    assert isinstance(answer, Failed)
    assert (answer.evidence.limit, answer.evidence.host_delay) == (0.5, 0.0)
    assert answer.evidence.taken == pytest.approx(0.5, abs=0.0005)


# What it costs.


async def looks(loop: VirtualTimeLoop, work: Awaitable[Any]) -> int:
    """How often a loop looks around until some work is done."""
    before = loop.leap.looks
    await work
    return loop.leap.looks - before


def test_many_waiting_players_cost_the_loop_no_more_than_one() -> None:
    async def wait(loop: VirtualTimeLoop, seats: int) -> int:
        remotes = [RemoteChannel(ScriptedConnection(), GAME) for _ in range(seats)]
        return await looks(loop, asyncio.gather(*(remote.ask(TURN) for remote in remotes)))

    one, many = (run_in_virtual_time(lambda loop, seats=seats: wait(loop, seats)) for seats in (1, 300))  # type: ignore[misc]

    assert one < 1.1 * 5.0 / LOOP_CHECK_INTERVAL_S
    assert many < one + 50


def test_no_callback_runs_without_waiting_players() -> None:
    async def idle(loop: VirtualTimeLoop) -> int:
        await RemoteChannel(ScriptedConnection((1.0, PLACES)), GAME).ask(TURN)
        return await looks(loop, asyncio.sleep(5.0))

    assert run_in_virtual_time(idle) < 10


def test_measurements_do_not_keep_a_loop_alive() -> None:
    gc.collect()
    before = len(LOOP_DELAYS)

    for _ in range(5):
        run_in_virtual_time(lambda loop: RemoteChannel(ScriptedConnection((1.0, PLACES)), GAME).ask(TURN))
    gc.collect()

    assert len(LOOP_DELAYS) <= before


# Cancellations: ours, and those of others.


def test_a_timer_raises_timeout_error_and_the_task_continues() -> None:
    async def work(loop: VirtualTimeLoop) -> float:
        with pytest.raises(TimeoutError), Timer(1.0):
            await asyncio.sleep(5)
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0
        await asyncio.sleep(1)
        return loop.now

    assert run_in_virtual_time(work) == pytest.approx(1002.0, abs=0.01)


def test_a_timer_passes_on_a_cancellation_by_others() -> None:
    async def wait(loop: VirtualTimeLoop) -> None:
        with Timer(1.0):
            await asyncio.sleep(5)

    async def cancel(loop: VirtualTimeLoop, after: float) -> None:
        task = asyncio.ensure_future(wait(loop))
        loop.call_later(after, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    run_in_virtual_time(lambda loop: cancel(loop, 0.5))


def test_a_cancellation_at_the_moment_of_the_timeout_stays_one() -> None:
    async def wait(loop: VirtualTimeLoop) -> None:
        timer = Timer(1.0)
        loop.call_later(0.9, loop.call_at, loop.now + 1.0, also, timer)
        with timer:
            await asyncio.sleep(5)

    def also(timer: Timer) -> None:
        if timer._timed_out:
            timer._task.cancel()
        else:
            asyncio.get_running_loop().call_soon(also, timer)

    async def cancel(loop: VirtualTimeLoop) -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.ensure_future(wait(loop))

    run_in_virtual_time(cancel)


def test_an_outer_timeout_is_distinguished_from_that_of_a_timer() -> None:
    async def work(loop: VirtualTimeLoop) -> list[str]:
        said = []
        for outer, inner in ((0.5, 1.0), (1.0, 0.5)):
            try:
                async with asyncio.timeout(outer):
                    try:
                        with Timer(inner):
                            await asyncio.sleep(5)
                    except TimeoutError:
                        said.append("ours")
            except TimeoutError:
                said.append("theirs")
        return said

    assert run_in_virtual_time(work) == ["theirs", "ours"]


def test_a_failure_at_the_moment_of_a_cancellation_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(there: asyncio.Event) -> None:
        with Timer(5.0):
            await there.wait()
            raise ConnectionError

    async def cancel() -> None:
        there = asyncio.Event()
        task = asyncio.create_task(fail(there))
        await asyncio.sleep(0)
        there.set()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises((asyncio.CancelledError, ConnectionError)):
            await task

    asyncio.run(cancel())
    gc.collect()

    assert caplog.text == ""


def test_a_timer_without_time_raises_at_once() -> None:
    async def ask(loop: VirtualTimeLoop) -> None:
        with pytest.raises(TimeoutError), Timer(0.0):
            raise AssertionError("not reached")

    run_in_virtual_time(ask)
