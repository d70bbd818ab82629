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
from fairplay.transport import timer as timers
from fairplay.transport.sockets import accept_tcp
from fairplay.transport.timer import LOOP_CHECK_INTERVAL_S, LOOP_DELAYS, Timer
from tests.players.scripted_connections import ScriptedConnection, VirtualTimeLoop, reply_with, run_in_virtual_time

GAME = Fish(rows=4, columns=4)
TURN = TakeTurn(GAME.view(GAME.deal(2, bytes(32)), 0))
PLACES = reply_with({"type": "place", "at": [0, 0]})
BUSY, FREE = 0.045, 0.005  # seconds of a loop that is stalled 45 ms out of every 50


def player(*delays: float, **limits: float) -> RemoteChannel:
    """A channel to a player that answers after so many seconds each, and then never."""
    return RemoteChannel(ScriptedConnection(*[(delay, PLACES) for delay in delays]), GAME, limits=Limits(**limits))


class Stalls:
    """Keep a loop busy in pieces, with or without a pause between them, and count what was lost by it."""

    def __init__(self, loop: VirtualTimeLoop, busy: float, free: float) -> None:
        self.lost = 0.0
        self._loop, self._busy, self._free = loop, busy, free
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
async def test_an_instant_player_is_hardly_charged_on_a_loop_that_is_busy_in_pieces(
    busy: float, free: float, loop: VirtualTimeLoop
) -> None:
    remote, stalls = player(*[0.0002] * 40, bank=2.0), Stalls(loop, busy, free)
    assert charged([await remote.ask(TURN) for _ in range(40)]) < 0.050
    stalls.over()


async def test_instant_players_are_hardly_charged_for_the_work_that_each_other_makes(loop: VirtualTimeLoop) -> None:
    async def room() -> float:
        remote, answers = player(*[0.0002] * 40), []
        for _ in range(40):
            answers.append(await remote.ask(TURN))
            loop.pass_time(0.0001)  # with what follows from an answer: 4 ms for all rooms, which is no long delay
        return charged(answers)

    assert max(await asyncio.gather(*(room() for _ in range(40)))) < 0.050


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
    """The host's ends of connections to bots that answer at once, in a process of their own.

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
async def test_instant_bots_are_hardly_charged_by_a_host_that_is_busy_in_earnest(
    rooms: int, turns: int, free: float
) -> None:
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

    with bots(rooms) as (lines, told):
        others = asyncio.create_task(busy())
        found = await asyncio.gather(*map(room, lines))
        others.cancel()
        answered = map(float, told.read().split())

    took = [moments - asked for moments, (_, asked) in zip(answered, found, strict=True)]  # longer on a busy machine
    assert max(charge - own for (charge, _), own in zip(found, took, strict=True)) < 0.050


async def test_a_quick_player_is_charged_exactly_without_delays(loop: VirtualTimeLoop) -> None:
    remote = player(0.0007, 0.004)
    took = [(await remote.ask(TURN)).took for _ in range(2)]
    assert took == pytest.approx([0.0007, 0.004], abs=1e-6)


async def test_a_question_counts_from_the_next_poll_of_the_loop(loop: VirtualTimeLoop) -> None:
    remote, took = player(0.1, 0.1, 0.1), []
    for late in (0.0, 0.010, 0.015):
        asking = asyncio.ensure_future(remote.ask(TURN))
        loop.call_soon(loop.pass_time, late)  # what others do before the question goes out
        took.append((await asking).took)
    assert took == pytest.approx([0.1, 0.09, 0.085], abs=1e-6)


# Players that are slow.


@pytest.mark.parametrize(("busy", "free"), [(BUSY, 0.0), (BUSY, FREE), (0.3, 0.02), (0.004, 0.0)])
@pytest.mark.parametrize("limit", [0.2, 1.0])
async def test_a_player_that_never_answers_gains_only_the_delays_of_the_host(
    busy: float, free: float, limit: float, loop: VirtualTimeLoop
) -> None:
    stalls, since = Stalls(loop, busy, free), loop.now
    answer = await player(move=limit).ask(TURN)
    stalls.over()

    assert isinstance(answer, Failed) and answer.fault is Fault.TIMED_OUT
    assert limit <= loop.now - since <= limit + stalls.lost + (timers.REPLY_LOOP_TURNS + 1) * busy
    assert answer.took == pytest.approx(limit, abs=0.06)


async def test_short_delays_give_no_time_to_a_player_that_still_thinks(loop: VirtualTimeLoop) -> None:
    stalls, since = Stalls(loop, timers.IGNORED_DELAY_S / 2, 0.0), loop.now
    await player(move=1.0).ask(TURN)
    stalls.over()
    slack = (timers.REPLY_LOOP_TURNS + 3) * timers.IGNORED_DELAY_S / 2
    assert loop.now - since == pytest.approx(1.0, abs=slack)


async def test_a_slow_answer_is_charged_for_all_but_the_delay_in_which_it_came(loop: VirtualTimeLoop) -> None:
    loop.call_later(0.8, loop.pass_time, 0.5)
    answer = await player(0.9).ask(TURN)

    assert isinstance(answer, Answered)
    assert answer.took == pytest.approx(0.8, abs=2 * LOOP_CHECK_INTERVAL_S)
    assert answer.evidence is not None
    assert answer.evidence().host_delay == pytest.approx(0.504, abs=0.006)


async def test_a_delay_is_credited_once_to_each_waiting_player(loop: VirtualTimeLoop) -> None:
    loop.call_later(0.3, loop.pass_time, 0.5)
    since = loop.now
    answers: list[Answer] = await asyncio.gather(*(player(move=1.0).ask(TURN) for _ in range(20)))

    assert loop.now - since == pytest.approx(1.5, abs=2 * LOOP_CHECK_INTERVAL_S)
    for answer in answers:
        assert isinstance(answer, Failed)
        assert answer.evidence.taken == pytest.approx(1.0, abs=0.0005)
        assert answer.evidence.host_delay == pytest.approx(0.495, abs=0.006)


async def test_a_delay_before_the_question_is_not_given_back(loop: VirtualTimeLoop) -> None:
    before = asyncio.ensure_future(player(3.0).ask(TURN))
    await asyncio.sleep(0.5)
    loop.pass_time(1.0)  # a player waits already, and the loop is late when the question is asked
    since = loop.now
    answer = await player(0.7, move=0.5).ask(TURN)
    assert loop.now - since == pytest.approx(0.5, abs=0.001)
    await before

    assert isinstance(answer, Failed)
    assert (answer.evidence.limit, answer.evidence.host_delay) == (0.5, 0.0)
    assert answer.evidence.taken == pytest.approx(0.5, abs=0.0005)


# What it costs.


async def looks(loop: VirtualTimeLoop, work: Awaitable[Any]) -> int:
    """How often a loop looks around until some work is done."""
    before = loop.leap.looks
    await work
    return loop.leap.looks - before


async def test_many_waiting_players_cost_the_loop_no_more_than_one(loop: VirtualTimeLoop) -> None:
    one, many = [await looks(loop, asyncio.gather(*(player().ask(TURN) for _ in range(n)))) for n in (1, 300)]

    assert one < 1.1 * 5.0 / LOOP_CHECK_INTERVAL_S
    assert many < one + 50


async def test_no_callback_runs_without_waiting_players(loop: VirtualTimeLoop) -> None:
    await player(1.0).ask(TURN)
    assert await looks(loop, asyncio.sleep(5.0)) < 10


def test_measurements_do_not_keep_a_loop_alive() -> None:
    gc.collect()
    before = len(LOOP_DELAYS)

    for _ in range(5):
        run_in_virtual_time(lambda loop: player(1.0).ask(TURN))
    gc.collect()

    assert len(LOOP_DELAYS) <= before


# Cancellations: ours, and those of others.


async def test_a_timer_raises_timeout_error_and_the_task_continues(loop: VirtualTimeLoop) -> None:
    since = loop.now
    with pytest.raises(TimeoutError), Timer(1.0):
        await asyncio.sleep(5)
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0
    await asyncio.sleep(1)
    assert loop.now - since == pytest.approx(2.0, abs=0.01)
    with pytest.raises(TimeoutError), Timer(0.0):
        raise AssertionError("not reached")


async def sleep_with(timer: Timer) -> None:
    with timer:
        await asyncio.sleep(5)


async def test_a_timer_passes_on_a_cancellation_by_others(loop: VirtualTimeLoop) -> None:
    task = asyncio.ensure_future(sleep_with(Timer(1.0)))
    loop.call_later(0.5, task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancellation_at_the_moment_of_the_timeout_stays_one(loop: VirtualTimeLoop) -> None:
    def also() -> None:
        if timer._timed_out:
            timer._task.cancel()
        else:
            loop.call_soon(also)

    timer = Timer(1.0)
    loop.call_later(0.9, loop.call_at, loop.now + 1.0, also)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(sleep_with(timer))


@pytest.mark.parametrize(("outer", "inner", "said"), [(0.5, 1.0, "theirs"), (1.0, 0.5, "ours")])
async def test_an_outer_timeout_is_distinguished_from_that_of_a_timer(
    outer: float, inner: float, said: str, loop: VirtualTimeLoop
) -> None:
    found = ""
    try:
        async with asyncio.timeout(outer):
            try:
                await sleep_with(Timer(inner))
            except TimeoutError:
                found = "ours"
    except TimeoutError:
        found = "theirs"
    assert found == said


async def test_a_failure_at_the_moment_of_a_cancellation_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    there = asyncio.Event()

    async def fail() -> None:
        with Timer(5.0):
            await there.wait()
            raise ConnectionError

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    there.set()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, ConnectionError)):
        await task
    del task
    gc.collect()

    assert caplog.text == ""
