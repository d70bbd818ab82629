"""Measure how long a player takes, without the time in which we did not look.

Whoever waits for a reply sets one alarm. Our own delays are measured once for everybody on an event loop: `Lag` has
itself called every few milliseconds while somebody waits, and whatever such a call is late, the loop was busy with
something else, or the machine was. If we did not look for more than an instant, that time is taken off everybody's.

Who still thinks loses nothing by shorter delays, but an answer that lay there meanwhile would cost its player some
milliseconds, turn after turn. So a reply is charged only up to the last look at all lines before which it cannot have
come: the last one that had to wait, as then nothing lay there; or one a few looks ago, as a reply passes through a few
hands until it is read. And a question counts from the first look behind it, as others may be first.
(Loops that are not asyncio's own do not tell when they look; there, only long delays count.)
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, Self
from weakref import WeakKeyDictionary

from fairplay.players.limits import FOREVER

PERIOD = 0.003  # seconds between two looks at the clock
INSTANT = 0.02  # seconds: who looks so often has looked all the time
AT_ONCE = 0.0002  # seconds in which a loop has looked at all lines, if something lies there
HANDS = 6  # turns of the loop from where a reply comes in to where it is read, and some more


class Lag:
    """How long an event loop was kept from its work, from the first wait on it; and the alarm for all who wait there.

    There is one alarm, for whoever is due first when it is set. Most have their answer long before that, so that a wait
    takes no alarm of its own.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._waiting: set[Timer] = set()
        self._new: list[Timer] = []  # those who wait since the last look
        self._alarm = inf  # when it goes off
        self._due: float | None = None  # when the next call ought to come; None: nobody waits
        self._lost = 0.0  # seconds, up to the last call
        # The last looks, from the last one that had to wait: when they were over, and what was lost by then.
        self._looks: deque[tuple[float, float]] = deque(maxlen=HANDS)
        selector = getattr(loop, "_selector", None)
        self._watches = selector is not None
        if selector is not None:
            selector.select = self._watched(selector.select, loop.time)

    def begin(self, timer: "Timer") -> None:
        """Somebody waits from now on."""
        self._waiting.add(timer)
        if self._watches:
            self._new.append(timer)
        if self._due is None:
            self._looks.clear()
            self._call_again()
        if timer.due < self._alarm:
            self._set_alarm(timer.due)

    def end(self, timer: "Timer") -> None:
        """Somebody waits no more."""
        self._waiting.discard(timer)

    def lost_at(self, now: float) -> float:
        """Seconds that were lost up to now; of two such figures the difference counts."""
        late = 0.0 if self._due is None else now - self._due
        return self._lost + late if late > INSTANT else self._lost

    def unsure_at(self, now: float, lost: float) -> float:
        """Seconds not counted as lost, in which a reply that is read now may have lain there."""
        if not self._looks:
            return 0.0
        looked, lost_then = self._looks[0]
        return now - looked - (lost - lost_then)

    def _ring(self, alarm: float) -> None:
        """Call those who are due, and set the alarm for whoever is next."""
        if alarm != self._alarm:  # another one was set meanwhile
            return
        self._alarm = inf
        now = asyncio.get_running_loop().time()
        for timer in [timer for timer in self._waiting if timer.due <= now]:
            timer.look()
        first = min((timer.due for timer in self._waiting), default=inf)
        if first < inf:
            self._set_alarm(first)

    def _set_alarm(self, due: float) -> None:
        self._alarm = due
        asyncio.get_running_loop().call_at(due, self._ring, due)

    def _call(self) -> None:
        """Note how late this comes."""
        self._lost = self.lost_at(asyncio.get_running_loop().time())
        if self._waiting:
            self._call_again()
        else:
            self._due = None

    def _call_again(self) -> None:
        loop = asyncio.get_running_loop()
        self._due = loop.time() + PERIOD
        loop.call_at(self._due, self._call)

    def _watched(self, select: Callable[..., Any], clock: Callable[[], float]) -> Callable[..., Any]:
        """How a loop looks at all lines, noting when it did while somebody waits."""

        def watched(timeout: float | None = None) -> Any:
            since = clock()
            if self._new:
                lost = self.lost_at(since)
                for timer in self._new:
                    timer.begin_at(since, lost)
                self._new.clear()
            ready = select(timeout)
            if self._due is not None:
                now = clock()
                if now - since > AT_ONCE:
                    self._looks.clear()
                self._looks.append((now, self.lost_at(now)))
            return ready

        return watched


LAGS: "WeakKeyDictionary[asyncio.AbstractEventLoop, Lag]" = WeakKeyDictionary()


def lag_on(loop: asyncio.AbstractEventLoop) -> Lag:
    """The one of this loop."""
    found = LAGS.get(loop)
    if found is None:
        found = LAGS[loop] = Lag(loop)
    return found


class Timer:
    """The time that a player has for one question, in a `with` statement, which raises TimeoutError when it is up.

    Like asyncio.timeout it cancels what is awaited there, and tells that from a cancellation by others.
    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        self.due = now + limit  # by the clock of the loop: when to look whether the time is up
        self._began = now
        self._loop = loop
        self._limit = limit
        self._clock = clock
        self._lag = lag_on(loop)
        self._asked = clock()
        self._lost = self._lag.lost_at(now)
        self._task: asyncio.Task[Any]
        self._last_look: asyncio.Handle | None = None
        self._cancelling = 0
        self._is_up = False
        self._taken: float | None = None  # once it is over
        self._credit = 0.0

    @property
    def taken(self) -> float:
        """How long it has been, or was, without our own delays."""
        return self._net(unsure=True) if self._taken is None else self._taken

    def described(self, took: float) -> str:
        """The clocks, for the record; empty: nobody had to hurry."""
        if self._limit >= FOREVER:
            return ""
        return f"limit {self._limit:.3f} s, taken {took:.3f} s, credited for delays of the host {self._credit:.3f} s"

    def __enter__(self) -> Self:
        if self._limit <= 0:
            self._taken = 0.0
            raise TimeoutError
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._lag.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._lag.end(self)
        self._taken = taken = self._net(unsure=not self._is_up)
        self._credit = max(0.0, self._clock() - self._asked - taken)
        if self._last_look is not None:
            self._last_look.cancel()
        ours = self._is_up and self._task.uncancel() <= self._cancelling
        del self._task, self._loop  # an answer keeps its timer, and a task its answer
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _net(self, *, unsure: bool) -> float:
        lag, now = self._lag, self._loop.time()
        lost = lag.lost_at(now)
        net = self._clock() - self._asked - (lost - self._lost)
        if unsure:
            net -= lag.unsure_at(now, lost)
        return net if net > 0.0 else 0.0

    def begin_at(self, now: float, lost: float) -> None:
        """The loop got round to others only now, so the question is not older than this."""
        late = now - self._began
        self._began = now
        self._asked += late
        self._lost = lost
        self.due += late

    def look(self) -> None:
        """See whether the time is really up, or only the alarm was: then it is due later."""
        left = self._limit - self._net(unsure=False)
        self.due = self._loop.time() + left if left > 0 else inf
        if left <= 0:
            self._look_again(HANDS)

    def _look_again(self, times: int) -> None:
        if times:
            self._last_look = self._loop.call_soon(self._look_again, times - 1)
        else:
            self._is_up = True
            self._task.cancel()
