"""Run a match and a background thread by turns in virtual time, so that every run is the same."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

LOCK_RETRY_S = 0.001  # virtual seconds between two tries for a lock
THREAD_TIMEOUT_S = 60  # real seconds after which two threads wait for each other


class ProcessOver(BaseException):
    """The process has ended, and its thread in the background with it."""


class VirtualClock:
    """Virtual time. Of the two threads only one ever runs, until it lets time pass."""

    def __init__(self, now: float, work: Callable[["VirtualClock"], None]) -> None:
        self.now = now
        self._wake = now  # when the thread in the background goes on
        self._work = work
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._over = False
        self._ended = False

    def __enter__(self) -> Self:
        self._thread.start()
        self._hand_over()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._go.release()
        self._thread.join(THREAD_TIMEOUT_S)

    def pass_time(self, seconds: float) -> None:
        """For whichever thread calls: come back so much later."""
        until = self.now + seconds
        if threading.current_thread() is self._thread:
            self._wake = until
            self._hand_back()
            return
        while self._wake <= until:
            self.run_background()
        self.now = until

    def run_background(self) -> None:
        """Let time pass until the thread in the background has done what it does next."""
        self.now = max(self.now, self._wake)
        self._hand_over()

    def wait_for_other_thread(self) -> None:
        """For whichever thread calls: let time pass until the other one may have done something."""
        if threading.current_thread() is self._thread:
            self.pass_time(LOCK_RETRY_S)
        else:
            self.run_background()

    def _hand_over(self) -> None:
        if self._ended:
            raise RuntimeError("the thread in the background has ended before its time")
        self._go.release()
        if not self._back.acquire(timeout=THREAD_TIMEOUT_S):
            raise TimeoutError("two threads wait for each other")

    def _hand_back(self) -> None:
        self._back.release()
        self._go.acquire()
        if self._over:
            raise ProcessOver

    def _run(self) -> None:
        self._go.acquire()
        try:
            with suppress(ProcessOver):
                self._work(self)
        finally:
            self._ended = True
            self._back.release()


class VirtualLock:
    """A lock for which a thread waits in virtual time."""

    def __init__(self, clockwork: VirtualClock) -> None:
        self._clockwork = clockwork
        self._held = False

    def __enter__(self) -> None:
        while self._held:
            self._clockwork.wait_for_other_thread()
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False
