"""Measure how long players take, without the delays of the host.

All pending questions share one alarm. The delays of an event loop are measured once for all players on it: `LoopDelay`
schedules a callback every few milliseconds while a reply is awaited; if that is called late, the loop or the machine
was busy. A delay of more than an instant is not charged to any player.

Shorter delays do not matter to a player that is still thinking, but a reply that waits in a socket would be charged for
them, a few milliseconds in each turn. So a reply is charged only up to the last poll before which it cannot have
arrived: the last poll that had to wait, as the sockets were empty then; or the poll a few turns ago, as it takes the
loop some turns until a reply is read. And a question counts from the first poll after it, as other questions may be
sent first. So the clock is read at each poll, and never for a single question.
Only loops of `event_loop.py` report their polls. On others, as in Jupyter, only long delays count, and a question
counts from the next turn of the loop: a reply may be charged for some milliseconds of the host's own work.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, Self
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from fairplay.core.messages import Evidence
from fairplay.protocol.limits import UNLIMITED_S
from fairplay.transport.event_loop import TimingEventLoop

LOOP_CHECK_INTERVAL_S = 0.003  # between two measurements of the delay
IGNORED_DELAY_S = 0.02  # shorter delays are charged to players
NON_BLOCKING_POLL_S = 0.0002  # the time of a poll that finds data and does not wait
REPLY_LOOP_TURNS = 6  # turns of the loop until a reply that has arrived is read, with a margin


class QuestionStart:
    """The start of the time for all questions that were asked between two polls."""

    __slots__ = ("net", "since")

    def __init__(self, since: float, lost: float) -> None:
        self.since = since
        self.net = since - lost  # by a clock that stands still during delays


class LoopDelay:
    """The delays of an event loop, and the alarm for all pending questions on it.

    The alarm is set for the question that is due first. Most are answered long before, so that a question needs no
    alarm of its own.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.waiting: set[Clock] = set()
        self.current_start: QuestionStart | None = None  # of the questions since the last poll
        self.last_poll = 0.0  # when the last poll ended
        self.alarm = inf  # when the alarm goes off
        self._next_check: float | None = None  # when the next check is due; None: no question is pending
        self._delay = 0.0  # in total, up to the last check
        # The ends of the last polls, from the last one that had to wait, without the delays before.
        self.poll_times: deque[float] = deque(maxlen=REPLY_LOOP_TURNS)
        self._observes_polls = isinstance(loop, TimingEventLoop)
        if isinstance(loop, TimingEventLoop):
            loop.selector.observer = self

    def begin_question(self) -> QuestionStart:
        """The start of a question that is asked now; the next poll corrects it, if polls are observed."""
        if self._next_check is None:
            self.poll_times.clear()
            self._schedule_check()
        loop = asyncio.get_running_loop()
        if not self._observes_polls:
            loop.call_soon(self._end_turn, loop)
        now = self.last_poll if self._observes_polls else loop.time()
        self.current_start = begun = QuestionStart(now, self.total_delay(now))
        return begun

    def elapsed(self, since: QuestionStart, now: float) -> float:
        """Seconds from a question until now, without delays."""
        return now - self.total_delay(now) - since.net

    def total_delay(self, now: float) -> float:
        """The seconds of all delays up to now; only differences of it have a meaning."""
        late = 0.0 if self._next_check is None else now - self._next_check
        return self._delay + late if late > IGNORED_DELAY_S else self._delay

    def _run_alarm(self, alarm: float) -> None:
        """Check the questions that are due, and set the alarm for the next."""
        if alarm != self.alarm:  # an earlier alarm was set meanwhile
            return
        self.alarm = inf
        now = asyncio.get_running_loop().time()
        for clock in [clock for clock in self.waiting if clock.due <= now]:
            clock.check()
        first = min((clock.due for clock in self.waiting), default=inf)
        if first < inf:
            self.set_alarm(first)

    def set_alarm(self, due: float) -> None:
        """Set the alarm."""
        self.alarm = due
        asyncio.get_running_loop().call_at(due, self._run_alarm, due)

    def _check(self) -> None:
        """Add how late this call is to the delay."""
        self._delay = self.total_delay(asyncio.get_running_loop().time())
        if self.waiting:
            self._schedule_check()
        else:
            self._next_check = None

    def _schedule_check(self) -> None:
        loop = asyncio.get_running_loop()
        self.last_poll = loop.time()
        self._next_check = self.last_poll + LOOP_CHECK_INTERVAL_S
        loop.call_at(self._next_check, self._check)

    def _end_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """On a loop that does not report polls, its next turn stands for a poll."""
        self.begin_poll(loop.time())

    def begin_poll(self, now: float) -> None:
        """A poll begins: the time of all questions since the last poll starts now."""
        if self.current_start is not None:
            self.current_start.since, self.current_start.net = now, now - self.total_delay(now)
            self.current_start = None

    def end_poll(self, since: float, now: float) -> None:
        """A poll has ended; that is noted while a question is pending."""
        if self._next_check is not None:
            self.last_poll = now
            if now - since > NON_BLOCKING_POLL_S:
                self.poll_times.clear()
            self.poll_times.append(now - self.total_delay(now))


LOOP_DELAYS: "WeakKeyDictionary[asyncio.AbstractEventLoop, LoopDelay]" = WeakKeyDictionary()


def get_loop_delay(loop: asyncio.AbstractEventLoop) -> LoopDelay:
    """The LoopDelay of this loop."""
    found = LOOP_DELAYS.get(loop)
    if found is None:
        found = LOOP_DELAYS[loop] = LoopDelay(loop)
    return found


class Clock:
    """The time of a player for one question after the other, with a callback when it is up."""

    def __init__(self, on_timeout: Callable[[], None]) -> None:
        self.due = inf  # by the clock of the loop: when to check the time
        self.taken = 0.0  # seconds for the last question, without delays
        self._on_timeout = on_timeout
        self._limit = 0.0
        self._ended_at = 0.0  # when the question was answered
        self._loop_delay: LoopDelay | None = None  # of the current loop
        self._start = QuestionStart(0.0, 0.0)
        self._final_check: asyncio.Handle | None = None

    def begin(self, limit: float) -> None:
        """Start the time of a question."""
        delay = self._loop_delay
        if delay is None:
            delay = self._loop_delay = get_loop_delay(asyncio.get_running_loop())
        delay.waiting.add(self)
        self._start = asked = delay.current_start or delay.begin_question()
        self._limit = limit
        self.due = due = asked.since + limit
        if due < delay.alarm:
            delay.set_alarm(due)

    def cancel(self) -> None:
        """Stop waiting for the answer; may be called before `begin`."""
        if self._loop_delay is not None:
            self._loop_delay.waiting.discard(self)
        if self._final_check is not None:
            self._final_check.cancel()
            self._final_check = None

    def end(self, *, timed_out: bool = False) -> float:
        """The question was answered, or timed out; return how long it took."""
        delay = self._loop_delay
        assert delay is not None
        self.cancel()
        if timed_out or not delay.poll_times:
            self._ended_at = now = asyncio.get_running_loop().time()
            net = delay.elapsed(self._start, now)
        else:
            self._ended_at = delay.last_poll
            net = delay.poll_times[0] - self._start.net
        self.taken = net = net if net > 0.0 else 0.0
        return net

    def overrun(self) -> float:
        """Seconds by which an answer that arrives now is late, without delays."""
        assert self._loop_delay is not None
        return max(0.0, self._loop_delay.elapsed(self._start, asyncio.get_running_loop().time()) - self._limit)

    def evidence(self, evidence: Evidence) -> Evidence:
        """Add the times to the evidence, unless the player has no limit."""
        if self._limit >= UNLIMITED_S:
            return evidence
        host_delay = max(0.0, self._ended_at - self._start.since - self.taken)
        return replace(evidence, limit=self._limit, taken=round(self.taken, 6), host_delay=round(host_delay, 6))

    def check(self) -> None:
        """Check whether the time is up; if delays are the reason for the alarm, it is due later."""
        assert self._loop_delay is not None
        now = asyncio.get_running_loop().time()
        left = self._limit - self._loop_delay.elapsed(self._start, now)
        self.due = now + left if left > 0 else inf
        if left <= 0:
            self._wait_loop_turns(REPLY_LOOP_TURNS)

    def _wait_loop_turns(self, times: int) -> None:
        if times:
            self._final_check = asyncio.get_running_loop().call_soon(self._wait_loop_turns, times - 1)
        else:
            self._on_timeout()


class Timer(Clock):
    """A time limit for the body of a `with` statement, which raises TimeoutError.

    Like asyncio.timeout it cancels the task, and distinguishes that from a cancellation by others.
    """

    def __init__(self, limit: float) -> None:
        super().__init__(self._cancel)
        self._limit = limit
        self._task: asyncio.Task[Any]
        self._cancelling = 0
        self._timed_out = False

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        if self._loop_delay is None:
            return self._limit
        return self._limit - self._loop_delay.elapsed(self._start, asyncio.get_running_loop().time())

    def __enter__(self) -> Self:
        if self._limit <= 0:
            raise TimeoutError
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self.begin(self._limit)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.end(timed_out=self._timed_out)
        ours = self._timed_out and self._task.uncancel() <= self._cancelling
        del self._task, self._on_timeout  # a cycle, which only the garbage collector would free
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _cancel(self) -> None:
        self._timed_out = True
        self._task.cancel()
