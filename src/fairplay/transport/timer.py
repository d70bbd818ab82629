"""Measure how long a player takes, without the time in which we did not look.

Whoever waits for a reply is on a list, with one alarm for all. Our own delays are measured once for everybody on an
event loop: `LoopDelay` has itself called every few milliseconds while a reply is awaited; if such a call is late, the
loop was busy with something else, or the machine was. If the loop did not look for more than an instant, that time is
taken off every player's.

Who still thinks loses nothing by shorter delays, but an answer that lay there meanwhile would cost its player some
milliseconds, turn after turn. So a reply is charged only up to the last look at all lines before which it cannot have
come: the last one that had to wait, as then nothing lay there; or one a few looks ago, as a reply passes through a few
hands until it is read. And a question counts from the first look behind it, as others may be first. So the clock is
read at each look, and never for a single question.
Only loops of `event_loop.py` tell when they look. On any other, as in a notebook, only long delays count, and a
question counts from the next turn of the loop: an answer may be charged for some milliseconds of the host's own work.
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

LOOP_CHECK_INTERVAL_S = 0.003  # seconds between two looks at the clock
IGNORED_DELAY_S = 0.02  # seconds: who looks so often has looked all the time
NON_BLOCKING_POLL_S = 0.0002  # seconds in which a loop has looked at all lines, if something lies there
REPLY_LOOP_TURNS = 6  # turns of the loop from where a reply comes in to where it is read, and some more


class QuestionStart:
    """From when all questions count that were asked between two looks."""

    __slots__ = ("net", "since")

    def __init__(self, since: float, lost: float) -> None:
        self.since = since
        self.net = since - lost  # by a clock that stands still while time is lost


class LoopDelay:
    """How long an event loop was kept from its work, from the first wait on it; and the alarm for all who wait there.

    There is one alarm, for whoever is due first when it is set. Most have their answer long before that, so that a wait
    takes no alarm of its own.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.waiting: set[Clock] = set()
        self.current_start: QuestionStart | None = None  # of those who were asked since the last look
        self.last_poll = 0.0  # when the last look was over
        self.alarm = inf  # when it goes off
        self._next_check: float | None = None  # when the next call ought to come; None: nobody waits
        self._delay = 0.0  # seconds, up to the last call
        # The last looks, from the last one that had to wait: when they were over, without what was lost by then.
        self.poll_times: deque[float] = deque(maxlen=REPLY_LOOP_TURNS)
        self._observes_polls = isinstance(loop, TimingEventLoop)
        if isinstance(loop, TimingEventLoop):
            loop.selector.observer = self

    def begin_question(self) -> QuestionStart:
        """What counts for whoever is asked now; if looks are watched, the next one has the last word."""
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
        """Seconds from a question until now, but for those that were lost."""
        return now - self.total_delay(now) - since.net

    def total_delay(self, now: float) -> float:
        """Seconds that were lost up to now; of two such figures the difference counts."""
        late = 0.0 if self._next_check is None else now - self._next_check
        return self._delay + late if late > IGNORED_DELAY_S else self._delay

    def _run_alarm(self, alarm: float) -> None:
        """Call those who are due, and set the alarm for whoever is next."""
        if alarm != self.alarm:  # another one was set meanwhile
            return
        self.alarm = inf
        now = asyncio.get_running_loop().time()
        for clock in [clock for clock in self.waiting if clock.due <= now]:
            clock.check()
        first = min((clock.due for clock in self.waiting), default=inf)
        if first < inf:
            self.set_alarm(first)

    def set_alarm(self, due: float) -> None:
        """Have it go off then."""
        self.alarm = due
        asyncio.get_running_loop().call_at(due, self._run_alarm, due)

    def _check(self) -> None:
        """Note how late this comes."""
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
        """The next turn of a loop has come that does not tell when it looks."""
        self.begin_poll(loop.time())

    def begin_poll(self, now: float) -> None:
        """The loop is about to look at all lines: those who were asked by now have from now on."""
        if self.current_start is not None:
            self.current_start.since, self.current_start.net = now, now - self.total_delay(now)
            self.current_start = None

    def end_poll(self, since: float, now: float) -> None:
        """The loop has looked at all lines; that is noted while somebody waits."""
        if self._next_check is not None:
            self.last_poll = now
            if now - since > NON_BLOCKING_POLL_S:
                self.poll_times.clear()
            self.poll_times.append(now - self.total_delay(now))


LOOP_DELAYS: "WeakKeyDictionary[asyncio.AbstractEventLoop, LoopDelay]" = WeakKeyDictionary()


def get_loop_delay(loop: asyncio.AbstractEventLoop) -> LoopDelay:
    """The one of this loop."""
    found = LOOP_DELAYS.get(loop)
    if found is None:
        found = LOOP_DELAYS[loop] = LoopDelay(loop)
    return found


class Clock:
    """The time that a player has for one question after the other; somebody is called when it is up."""

    def __init__(self, on_timeout: Callable[[], None]) -> None:
        self.due = inf  # by the clock of the loop: when to look whether the time is up
        self.taken = 0.0  # seconds that the last question took, without our own delays
        self._on_timeout = on_timeout
        self._limit = 0.0
        self._ended_at = 0.0  # when it was answered
        self._loop_delay: LoopDelay | None = None  # of the loop in which it is used
        self._start = QuestionStart(0.0, 0.0)
        self._final_check: asyncio.Handle | None = None

    def begin(self, limit: float) -> None:
        """A question was asked."""
        lag = self._loop_delay
        if lag is None:
            lag = self._loop_delay = get_loop_delay(asyncio.get_running_loop())
        lag.waiting.add(self)
        self._start = asked = lag.current_start or lag.begin_question()
        self._limit = limit
        self.due = due = asked.since + limit
        if due < lag.alarm:
            lag.set_alarm(due)

    def cancel(self) -> None:
        """Nobody waits for the answer any more; it may never have begun."""
        if self._loop_delay is not None:
            self._loop_delay.waiting.discard(self)
        if self._final_check is not None:
            self._final_check.cancel()
            self._final_check = None

    def end(self, *, timed_out: bool = False) -> float:
        """It was answered, or the time for that is up: how long it took."""
        lag = self._loop_delay
        assert lag is not None
        self.cancel()
        if timed_out or not lag.poll_times:
            self._ended_at = now = asyncio.get_running_loop().time()
            net = lag.elapsed(self._start, now)
        else:
            self._ended_at = lag.last_poll
            net = lag.poll_times[0] - self._start.net
        self.taken = net = net if net > 0.0 else 0.0
        return net

    def overrun(self) -> float:
        """Seconds by which an answer that comes now is too late, without our own delays."""
        assert self._loop_delay is not None
        return max(0.0, self._loop_delay.elapsed(self._start, asyncio.get_running_loop().time()) - self._limit)

    def evidence(self, known: Evidence) -> Evidence:
        """What is known, and the clocks; but not those of a player that may take all its time."""
        if self._limit >= UNLIMITED_S:
            return known
        host_delay = max(0.0, self._ended_at - self._start.since - self.taken)
        return replace(known, limit=self._limit, taken=round(self.taken, 6), host_delay=round(host_delay, 6))

    def check(self) -> None:
        """See whether the time is really up, or only the alarm was: then it is due later."""
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
    """The time for whatever is awaited in a `with` statement, which raises TimeoutError when it is up.

    Like asyncio.timeout it cancels what is awaited there, and tells that from a cancellation by others.
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
        del self._task, self._on_timeout  # or it would be kept until garbage is collected
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _cancel(self) -> None:
        self._timed_out = True
        self._task.cancel()
