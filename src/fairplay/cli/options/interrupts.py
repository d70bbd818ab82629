"""Treat SIGTERM like Ctrl-C, also where Ctrl-C itself is ignored."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Let SIGTERM interrupt the `with` block, unless our parent process ignores it."""
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_IGN:
        yield
        return
    with block_ignored_sigint():
        signal.signal(signal.SIGTERM, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def block_ignored_sigint() -> Iterator[None]:
    """Block SIGINT instead if it is ignored, as in a script that starts us with &.

    It reaches us no more than before, but it now has a handler: Python's own, or that of an event loop, which cancels
    the running task and lets it clean up. SIGTERM uses that handler.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # also drops a pending SIGINT
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def interrupt(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does."""
    on_sigint = signal.getsignal(signal.SIGINT)
    if callable(on_sigint):
        on_sigint(signal.SIGINT, frame)
