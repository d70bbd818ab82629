"""Ask no more programs at once than there are cores to give, so that nobody's clock runs while others compute."""

import asyncio
import os
import threading
from collections import deque
from functools import cache


class Slots:
    """Places for programs that think, for all event loops of this process; who comes first is served first."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def take(self) -> None:
        """Wait for a place, and take it."""
        with self._lock:
            if self._free:
                self._free -= 1
                return
            loop = asyncio.get_running_loop()
            granted: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, granted))
        try:
            await granted
        except asyncio.CancelledError:
            with self._lock:
                waits = (loop, granted) in self._waiting
                if waits:
                    self._waiting.remove((loop, granted))
            if not waits and not granted.cancelled():  # in the very moment in which it was granted
                self.give_back()
            raise

    def give_back(self) -> None:
        """Leave the place to whoever waits longest."""
        with self._lock:
            while self._waiting:
                loop, granted = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._grant, granted)
                except RuntimeError:  # that loop is closed, and nobody waits there any more
                    continue
                return
            self._free += 1

    def _grant(self, granted: "asyncio.Future[None]") -> None:
        if granted.cancelled():
            self.give_back()
        else:
            granted.set_result(None)


@cache
def slots() -> Slots:
    """Those of this process: one for each core that it may use when it first asks a program, if it may have so many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Slots(min(cores, most))


def at_most(count: int) -> None:
    """Have no more slots than these in this process, from the beginning."""
    global most
    most = count


most = 1 << 16
os.register_at_fork(after_in_child=slots.cache_clear)  # what is taken there is the parent's
