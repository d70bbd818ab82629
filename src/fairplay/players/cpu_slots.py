"""Limit how many programs are asked at once to the number of cores, so that no clock runs while others compute."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable
from functools import cache


class CpuSlot:
    """The request of one program for a core; `on_granted` is called once it has one."""

    def __init__(self, on_granted: Callable[[], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.on_granted = on_granted
        self.is_released = False


class CpuSlots:
    """Cores for the programs that are asked by all event loops of this process; first come, first served."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiting: deque[CpuSlot] = deque()

    def acquire(self, slot: CpuSlot) -> None:
        """Take a core, or wait for one. It has to be released on every path."""
        with self._lock:
            free = self._free > 0
            if free:
                self._free -= 1
            else:
                self._waiting.append(slot)
        if free:
            slot.on_granted()

    def release(self, slot: CpuSlot) -> None:
        """Give the core to the program that waits longest, or stop waiting for one."""
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
                except RuntimeError:  # that loop is closed
                    continue
                return
            self._free += 1

    def _grant(self, slot: CpuSlot) -> None:
        if not slot.is_released:  # or it was released at the moment when it was granted
            slot.on_granted()


@cache
def get_cpu_slots() -> CpuSlots:
    """The slots of this process: one for each core that it may use, or fewer if they are limited."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return CpuSlots(min(cores, max_slots))


def limit_cpu_slots(count: int) -> None:
    """Limit the slots of this process; call it before the first program is asked."""
    global max_slots
    max_slots = count


max_slots = 1 << 16
os.register_at_fork(after_in_child=get_cpu_slots.cache_clear)  # its slots are the parent's
