"""Measure how long a player takes, without the time in which we did not look.

Whoever waits for a reply is on a list, with one alarm for all. Our own delays are measured once for everybody on an
event loop: `Lag` has itself called every few milliseconds while somebody waits, and whatever such a call is late, the
loop was busy with something else, or the machine was. If we did not look for more than an instant, that time is taken
off everybody's.

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
from fairplay.protocol.limits import FOREVER
from fairplay.transport.event_loop import TimingEventLoop

PERIOD = 0.003  # seconds between two looks at the clock
INSTANT = 0.02  # seconds: who looks so often has looked all the time
AT_ONCE = 0.0002  # seconds in which a loop has looked at all lines, if something lies there
HANDS = 6  # turns of the loop from where a reply comes in to where it is read, and some more


class Round:
    """From when all questions count that were asked between two looks."""

    __slots__ = ("net", "since")

    def __init__(self, since: float, lost: float) -> None:
        self.since = since
        self.net = since - lost  # by a clock that stands still while time is lost


class Lag:
    """How long an event loop was kept from its work, from the first wait on it; and the alarm for all who wait there.

    There is one alarm, for whoever is due first when it is set. Most have their answer long before that, so that a wait
    takes no alarm of its own.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.waiting: set[Clock] = set()
        self.round: Round | None = None  # of those who were asked since the last look
        self.looked = 0.0  # when the last look was over
        self.alarm = inf  # when it goes off
        self._due: float | None = None  # when the next call ought to come; None: nobody waits
        self._lost = 0.0  # seconds, up to the last call
        # The last looks, from the last one that had to wait: when they were over, without what was lost by then.
        self.looks: deque[float] = deque(maxlen=HANDS)
        self._watches = isinstance(loop, TimingEventLoop)
        if isinstance(loop, TimingEventLoop):
            loop.selector.observer = self

    def begin_round(self) -> Round:
        """What counts for whoever is asked now; if looks are watched, the next one has the last word."""
        if self._due is None:
            self.looks.clear()
            self._call_again()
        loop = asyncio.get_running_loop()
        if not self._watches:
            loop.call_soon(self._end_round, loop)
        now = self.looked if self._watches else loop.time()
        self.round = begun = Round(now, self.lost_at(now))
        return begun

    def passed(self, since: Round, now: float) -> float:
        """Seconds from a question until now, but for those that were lost."""
        return now - self.lost_at(now) - since.net

    def lost_at(self, now: float) -> float:
        """Seconds that were lost up to now; of two such figures the difference counts."""
        late = 0.0 if self._due is None else now - self._due
        return self._lost + late if late > INSTANT else self._lost

    def _ring(self, alarm: float) -> None:
        """Call those who are due, and set the alarm for whoever is next."""
        if alarm != self.alarm:  # another one was set meanwhile
            return
        self.alarm = inf
        now = asyncio.get_running_loop().time()
        for clock in [clock for clock in self.waiting if clock.due <= now]:
            clock.look()
        first = min((clock.due for clock in self.waiting), default=inf)
        if first < inf:
            self.set_alarm(first)

    def set_alarm(self, due: float) -> None:
        """Have it go off then."""
        self.alarm = due
        asyncio.get_running_loop().call_at(due, self._ring, due)

    def _call(self) -> None:
        """Note how late this comes."""
        self._lost = self.lost_at(asyncio.get_running_loop().time())
        if self.waiting:
            self._call_again()
        else:
            self._due = None

    def _call_again(self) -> None:
        loop = asyncio.get_running_loop()
        self.looked = loop.time()
        self._due = self.looked + PERIOD
        loop.call_at(self._due, self._call)

    def _end_round(self, loop: asyncio.AbstractEventLoop) -> None:
        """The next turn of a loop has come that does not tell when it looks."""
        self.begin_look(loop.time())

    def begin_look(self, now: float) -> None:
        """The loop is about to look at all lines: those who were asked by now have from now on."""
        if self.round is not None:
            self.round.since, self.round.net = now, now - self.lost_at(now)
            self.round = None

    def end_look(self, since: float, now: float) -> None:
        """The loop has looked at all lines; that is noted while somebody waits."""
        if self._due is not None:
            self.looked = now
            if now - since > AT_ONCE:
                self.looks.clear()
            self.looks.append(now - self.lost_at(now))


LAGS: "WeakKeyDictionary[asyncio.AbstractEventLoop, Lag]" = WeakKeyDictionary()


def lag_on(loop: asyncio.AbstractEventLoop) -> Lag:
    """The one of this loop."""
    found = LAGS.get(loop)
    if found is None:
        found = LAGS[loop] = Lag(loop)
    return found


class Clock:
    """The time that a player has for one question after the other; somebody is called when it is up."""

    def __init__(self, up: Callable[[], None]) -> None:
        self.due = inf  # by the clock of the loop: when to look whether the time is up
        self.taken = 0.0  # seconds that the last question took, without our own delays
        self._up = up
        self._limit = 0.0
        self._over = 0.0  # when it was answered
        self._lag: Lag | None = None  # of the loop in which it is used
        self._asked = Round(0.0, 0.0)
        self._last_look: asyncio.Handle | None = None

    def begin(self, limit: float) -> None:
        """A question was asked."""
        lag = self._lag
        if lag is None:
            lag = self._lag = lag_on(asyncio.get_running_loop())
        lag.waiting.add(self)
        self._asked = asked = lag.round or lag.begin_round()
        self._limit = limit
        self.due = due = asked.since + limit
        if due < lag.alarm:
            lag.set_alarm(due)

    def cancel(self) -> None:
        """Nobody waits for the answer any more; it may never have begun."""
        if self._lag is not None:
            self._lag.waiting.discard(self)
        if self._last_look is not None:
            self._last_look.cancel()
            self._last_look = None

    def end(self, *, is_up: bool = False) -> float:
        """It was answered, or the time for that is up: how long it took."""
        lag = self._lag
        assert lag is not None
        self.cancel()
        if is_up or not lag.looks:
            self._over = now = asyncio.get_running_loop().time()
            net = lag.passed(self._asked, now)
        else:
            self._over = lag.looked
            net = lag.looks[0] - self._asked.net
        self.taken = net = net if net > 0.0 else 0.0
        return net

    def overrun(self) -> float:
        """Seconds by which an answer that comes now is too late, without our own delays."""
        assert self._lag is not None
        return max(0.0, self._lag.passed(self._asked, asyncio.get_running_loop().time()) - self._limit)

    def evidence(self, known: Evidence) -> Evidence:
        """What is known, and the clocks; but not those of a player that may take all its time."""
        if self._limit >= FOREVER:
            return known
        credited = max(0.0, self._over - self._asked.since - self.taken)
        return replace(known, limit=self._limit, taken=round(self.taken, 6), credited=round(credited, 6))

    def look(self) -> None:
        """See whether the time is really up, or only the alarm was: then it is due later."""
        assert self._lag is not None
        now = asyncio.get_running_loop().time()
        left = self._limit - self._lag.passed(self._asked, now)
        self.due = now + left if left > 0 else inf
        if left <= 0:
            self._look_again(HANDS)

    def _look_again(self, times: int) -> None:
        if times:
            self._last_look = asyncio.get_running_loop().call_soon(self._look_again, times - 1)
        else:
            self._up()


class Timer(Clock):
    """The time for whatever is awaited in a `with` statement, which raises TimeoutError when it is up.

    Like asyncio.timeout it cancels what is awaited there, and tells that from a cancellation by others.
    """

    def __init__(self, limit: float) -> None:
        super().__init__(self._cancel)
        self._limit = limit
        self._task: asyncio.Task[Any]
        self._cancelling = 0
        self._is_up = False

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        if self._lag is None:
            return self._limit
        return self._limit - self._lag.passed(self._asked, asyncio.get_running_loop().time())

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
        self.end(is_up=self._is_up)
        ours = self._is_up and self._task.uncancel() <= self._cancelling
        del self._task, self._up  # or it would be kept until garbage is collected
        if ours and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _cancel(self) -> None:
        self._is_up = True
        self._task.cancel()
