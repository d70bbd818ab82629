"""Test CPU slots with more requests than slots, from one event loop and from many, and with cancellations."""

import asyncio
import os
import threading

import pytest

from fairplay.players.cpu_slots import CpuSlot, CpuSlots, get_cpu_slots


async def taken(slots: CpuSlots) -> CpuSlot:
    """Wait for a place."""
    free = asyncio.Event()
    slot = CpuSlot(free.set)
    slots.acquire(slot)
    try:
        await free.wait()
    except BaseException:
        slots.release(slot)
        raise
    return slot


class Busy:
    """Counts how many are at work at once."""

    def __init__(self, slots: CpuSlots) -> None:
        self.most = self.done = 0
        self._slots = slots
        self._now = 0
        self._lock = threading.Lock()

    async def work(self, seconds: float = 0.001) -> None:
        slot = await taken(self._slots)
        try:
            with self._lock:
                self._now += 1
                self.most = max(self.most, self._now)
            await asyncio.sleep(seconds)
            with self._lock:
                self._now -= 1
                self.done += 1
        finally:
            self._slots.release(slot)


def test_no_more_programs_compute_than_there_are_slots() -> None:
    async def all_of_them() -> Busy:
        busy = Busy(CpuSlots(3))
        await asyncio.gather(*(busy.work() for _ in range(50)))
        return busy

    busy = asyncio.run(all_of_them())

    assert (busy.most, busy.done) == (3, 50)


def test_slots_are_granted_first_come_first_served() -> None:
    async def in_order() -> list[int]:
        slots, served = CpuSlots(1), list[int]()

        async def one(number: int) -> None:
            slot = await taken(slots)
            served.append(number)
            await asyncio.sleep(0)
            slots.release(slot)

        await asyncio.gather(*(one(number) for number in range(20)))
        return served

    assert asyncio.run(in_order()) == list(range(20))


def test_the_event_loops_of_a_process_share_its_slots() -> None:
    slots = CpuSlots(2)
    busy = Busy(slots)

    async def many() -> None:
        await asyncio.gather(*(busy.work() for _ in range(20)))

    threads = [threading.Thread(target=lambda: asyncio.run(many())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (busy.most, busy.done) == (2, 80)


@pytest.mark.parametrize("later", range(6))
def test_a_cancellation_at_any_moment_loses_no_slot(later: int) -> None:
    async def cancelled() -> None:
        slots = CpuSlots(1)
        first = await taken(slots)
        waiting = [asyncio.create_task(taken(slots)) for _ in range(3)]
        await asyncio.sleep(0)
        slots.release(first)
        for _ in range(later):
            await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        for found in await asyncio.gather(*waiting, return_exceptions=True):
            if isinstance(found, CpuSlot):
                slots.release(found)
        async with asyncio.timeout(5):
            await taken(slots)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await taken(slots)

    asyncio.run(cancelled())


def test_a_request_from_a_closed_event_loop_takes_no_slot() -> None:
    slots = CpuSlots(1)

    async def leave() -> CpuSlot:
        first = await taken(slots)
        slots.acquire(CpuSlot(lambda: None))
        return first

    slots.release(asyncio.run(leave()))

    async def take() -> None:
        async with asyncio.timeout(5):
            await taken(slots)

    asyncio.run(take())


def test_a_cancelled_request_from_an_idle_event_loop_takes_no_slot() -> None:
    slots = CpuSlots(1)

    async def give_up() -> CpuSlot:
        first = await taken(slots)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(taken(slots), 0.01)
        return first

    async def take() -> None:
        async with asyncio.timeout(5):
            await taken(slots)

    with asyncio.Runner() as kept:
        slots.release(kept.run(give_up()))
        asyncio.run(take())


def test_a_fork_has_its_own_slots() -> None:
    first, number = get_cpu_slots(), os.fork()
    if number == 0:
        os._exit(get_cpu_slots() is first)

    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0
    assert get_cpu_slots() is first
