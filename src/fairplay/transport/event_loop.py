"""Make event loops that report when they poll their sockets, so that no player is charged for the host's delays.

They also notice every signal at once. asyncio may overlook one that arrives just before it begins to wait: a server
without clients ignored one SIGTERM in a hundred.
"""

import asyncio
import selectors
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any, Protocol, TypeVar

CANCEL_POLL_INTERVAL_S = 0.1
T = TypeVar("T")
Ready = list[tuple[selectors.SelectorKey, int]]


class PollObserver(Protocol):
    """An observer of each poll of a loop."""

    def begin_poll(self, now: float) -> None:
        """The loop is about to poll its sockets."""

    def end_poll(self, since: float, now: float) -> None:
        """The loop has polled its sockets, from `since` to `now`."""


class TimingSelector(selectors.DefaultSelector):
    """A selector that tells an observer when each poll begins and ends, by the clock of its loop."""

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
    """An event loop whose polls can be observed."""

    def __init__(self, selector: TimingSelector | None = None) -> None:
        self.selector = TimingSelector() if selector is None else selector
        self.selector.clock = self.time
        super().__init__(self.selector)

    def run_forever(self) -> None:
        """Run until stopped; signals wake the loop meanwhile."""
        with wake_on_signals(self):
            super().run_forever()


@contextmanager
def wake_on_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Wake the loop on each signal, so that Python calls its handler; only the main thread has handlers."""
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
    """A loop that measures players precisely; on Windows the default one, as only that can start programs."""
    return asyncio.new_event_loop() if sys.platform == "win32" else TimingEventLoop()


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `run` does, in another thread if a loop is running here, as in Jupyter."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(work)
    return run_in_thread(work)


def run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on such a loop in another thread; Ctrl-C cancels it, and so does cancelling the task of ours."""
    running = Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]()
    outer = asyncio.current_task()

    async def work_in_task() -> T:
        task = asyncio.current_task()
        assert task is not None
        running.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(1, "fairplay") as pool:
        done = pool.submit(copy_context().run, run, work_in_task())
        try:
            while not wait([done], CANCEL_POLL_INTERVAL_S).done:
                if outer is not None and outer.cancelling():  # as asyncio.run does at the first Ctrl-C
                    raise asyncio.CancelledError
        except (KeyboardInterrupt, asyncio.CancelledError):
            loop, task = running.result()
            with suppress(RuntimeError):  # it is over already
                loop.call_soon_threadsafe(task.cancel)
            raise
        return done.result()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine like asyncio.run, on a TimingEventLoop."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
