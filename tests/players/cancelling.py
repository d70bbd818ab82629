"""Cancel a piece of work at the n-th await of it, counted over all tasks that it starts."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from enum import Enum
from typing import Any


class CancelTime(Enum):
    """When the work is cancelled, seen from one of its awaits."""

    WHILE_WAITING = "while it waits"
    WHEN_READY = "when what it waits for is there"
    REPEATEDLY = "while it waits, and at the next few awaits again"


REPEATS = 5


class CountedWork(Coroutine[Any, Any, Any]):
    """Some work, with a call for every await at which it comes to a stop."""

    def __init__(self, work: Coroutine[Any, Any, Any], count: Callable[[asyncio.Future[Any] | None], None]) -> None:
        self._work = work
        self._count = count

    def send(self, value: Any) -> Any:
        future = self._work.send(value)
        self._count(future)
        return future

    def throw(self, *error: Any) -> Any:
        future = self._work.throw(*error)
        self._count(future)
        return future

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._work.__await__()


class Canceller:
    """Counts the awaits of all tasks on a loop that begin from now on, and cancels one of them at the n-th."""

    def __init__(self, at: int, when: CancelTime) -> None:
        self.left = at
        self._when = when
        self._target: asyncio.Task[Any] | None = None

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """The work as a task, which is the one that will be cancelled."""
        asyncio.get_running_loop().set_task_factory(self._task)
        self._target = asyncio.ensure_future(work)
        return self._target

    def _task(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(CountedWork(work, self._count), loop=loop, **options)

    def _count(self, future: asyncio.Future[Any] | None) -> None:
        self.left -= 1
        often = self._when is CancelTime.REPEATEDLY and -REPEATS < self.left < 0
        if self._target is None or self._target.done() or (self.left != 0 and not often):
            return
        if self._when is CancelTime.WHEN_READY and future is not None:
            future.add_done_callback(lambda _: self._target and self._target.cancel())
        else:
            self._target.cancel()


async def cancel_at(at: int, when: CancelTime, work: Coroutine[Any, Any, Any]) -> bool:
    """Was the work cancelled at its n-th await, or were there fewer? It has come to its end in any case."""
    canceller = Canceller(at, when)
    task = canceller.start(work)
    try:
        await asyncio.wait((task,))
    finally:
        asyncio.get_running_loop().set_task_factory(None)
    if not task.cancelled():
        task.result()
    return canceller.left <= 0
