"""End on SIGTERM as on Ctrl-C, also where Ctrl-C itself is ignored."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """SIGTERM interrupts what is done here, unless whoever started us ignores it."""
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def interrupt(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do.

    A script that starts us with & lets us ignore SIGINT, and it stays ignored, so it cannot be raised here.
    """
    on_sigint = signal.getsignal(signal.SIGINT)
    if callable(on_sigint):  # Python's, or in an event loop its own, which cancels the task that is run
        on_sigint(signal.SIGINT, frame)
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        stop()
    loop.call_soon_threadsafe(stop)  # between two steps of tasks, which are all cancelled then


def stop() -> NoReturn:
    """Stop what is being done, as Ctrl-C stops it."""
    raise KeyboardInterrupt
