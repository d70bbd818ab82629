"""Test CPU slots with more requests than slots, from one event loop and from many, and with cancellations."""

import asyncio
import os
import threading

import pytest

from fairplay.players.cpu_slots import CpuSlot, CpuSlots, get_cpu_slots


async def taken(slots: CpuSlots) -> CpuSlot:
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
        self.most = self.now = 0
        self.done: list[int] = []
        self._slots = slots
        self._lock = threading.Lock()

    async def work(self, number: int) -> None:
        slot = await taken(self._slots)
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.done.append(number)
        await asyncio.sleep(0.001)
        with self._lock:
            self.now -= 1
        self._slots.release(slot)

    async def all_work(self, count: int) -> None:
        await asyncio.gather(*(self.work(number) for number in range(count)))


@pytest.mark.parametrize("slots", [1, 3])
def test_no_more_programs_compute_than_there_are_slots_and_the_first_comes_first(slots: int) -> None:
    busy = Busy(CpuSlots(slots))

    asyncio.run(busy.all_work(50))

    assert (busy.most, busy.done) == (slots, list(range(50)))


def test_the_event_loops_of_a_process_share_its_slots() -> None:
    busy = Busy(CpuSlots(2))

    threads = [threading.Thread(target=lambda: asyncio.run(busy.all_work(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (busy.most, len(busy.done)) == (2, 80)


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


def test_a_request_from_a_closed_or_idle_event_loop_takes_no_slot() -> None:
    slots = CpuSlots(1)

    async def leave() -> CpuSlot:
        first = await taken(slots)
        slots.acquire(CpuSlot(lambda: None))
        return first

    async def give_up() -> CpuSlot:
        first = await taken(slots)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(taken(slots), 0.01)
        return first

    async def take() -> None:
        async with asyncio.timeout(5):
            slots.release(await taken(slots))

    slots.release(asyncio.run(leave()))
    asyncio.run(take())
    with asyncio.Runner() as idle:
        slots.release(idle.run(give_up()))
        asyncio.run(take())


def test_a_fork_has_its_own_slots() -> None:
    first, number = get_cpu_slots(), os.fork()
    if number == 0:
        os._exit(get_cpu_slots() is first)

    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0
    assert get_cpu_slots() is first
