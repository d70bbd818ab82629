"""Ask no more programs at once than there are cores to give, so that nobody's clock runs while others compute."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from functools import cache


class CpuSlot:
    """The place of one program that wants to think, from when it waits for one; `call` is called once it has it."""

    def __init__(self, on_granted: Callable[[], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.on_granted = on_granted
        self.is_released = False


class CpuSlots:
    """Places for programs that think, for all event loops of this process; who comes first is served first."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiting: deque[CpuSlot] = deque()

    def acquire(self, slot: CpuSlot) -> None:
        """Take a place, or wait for one. On every path it has to be given back."""
        with self._lock:
            free = self._free > 0
            if free:
                self._free -= 1
            else:
                self._waiting.append(slot)
        if free:
            slot.on_granted()

    def release(self, slot: CpuSlot) -> None:
        """Leave the place to the program that waits longest; or wait for one no more."""
        with self._lock:
            if slot in self._waiting:
                self._waiting.remove(slot)
                return
        slot.is_released = True
        self._grant_next()

    def _grant_next(self) -> None:
        with self._lock:
            while self._waiting:
                longest = self._waiting.popleft()
                try:
                    longest.loop.call_soon_threadsafe(self._grant, longest)
                except RuntimeError:  # that loop is closed, and nobody waits there any more
                    continue
                return
            self._free += 1

    def _grant(self, slot: CpuSlot) -> None:
        if not slot.is_released:  # or it was passed on in the very moment in which it was granted
            slot.on_granted()


@cache
def get_cpu_slots() -> CpuSlots:
    """Those of this process: one for each core that it may use when it first asks a program, if it may have so many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return CpuSlots(min(cores, max_slots))


def limit_cpu_slots(count: int) -> None:
    """Have no more slots than these in this process, from the beginning."""
    global max_slots
    max_slots = count


max_slots = 1 << 16
os.register_at_fork(after_in_child=get_cpu_slots.cache_clear)  # what is taken there is the parent's
