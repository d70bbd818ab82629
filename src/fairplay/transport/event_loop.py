"""Make event loops that tell when they look at their sockets, so that no player is charged for the host's delays.

They notice every signal, too. A signal that comes right before asyncio begins to wait would not be looked at until
something else happens: a server without clients ignored one SIGTERM in a hundred.
"""

import asyncio
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Ready = list[tuple[selectors.SelectorKey, int]]


class PollObserver(Protocol):
    """What is told of each look of a loop at its sockets."""

    def begin_poll(self, now: float) -> None:
        """The loop is about to look."""

    def end_poll(self, since: float, now: float) -> None:
        """The loop has looked, since that time."""


class TimingSelector(selectors.DefaultSelector):
    """A selector that tells an observer when it begins and ends to look, by the clock of its loop."""

    clock: Callable[[], float]
    observer: PollObserver | None = None

    def select(self, timeout: float | None = None) -> Ready:
        """Wait for events, as any selector does."""
        observer = self.observer
        if observer is None:
            return super().select(timeout)
        since = self.clock()
        observer.begin_poll(since)
        ready = super().select(timeout)
        observer.end_poll(since, self.clock())
        return ready


class TimingEventLoop(asyncio.SelectorEventLoop):
    """An event loop whose looks can be observed."""

    def __init__(self, selector: TimingSelector | None = None) -> None:
        self.selector = TimingSelector() if selector is None else selector
        self.selector.clock = self.time
        super().__init__(self.selector)

    def run_forever(self) -> None:
        """Run until it is stopped, and notice signals meanwhile."""
        with wake_on_signals(self):
            super().run_forever()


@contextmanager
def wake_on_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Have each signal wake the loop, so that Python calls its handler; only the main thread has handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reads, writes = socket.socketpair()
    with reads, writes:
        reads.setblocking(False)
        writes.setblocking(False)
        loop.add_reader(reads, reads.recv, 4096)
        before = signal.set_wakeup_fd(writes.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reads)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop that measures players finely; on Windows asyncio's usual one, as others cannot start programs there."""
    return asyncio.new_event_loop() if sys.platform == "win32" else TimingEventLoop()


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on such a loop, in another thread where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(work)
    return run_in_thread(work)


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on such a loop in another thread; Ctrl-C cancels it."""
    running = Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]()

    async def work_in_task() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(1, "fairplay") as pool:
        done = pool.submit(copy_context().run, run, work_in_task())
        try:
            return done.result()
        except KeyboardInterrupt:
            loop, task = running.result()
            with suppress(RuntimeError):  # it is over already
                loop.call_soon_threadsafe(task.cancel)
            raise


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as asyncio.run does, on such a loop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
