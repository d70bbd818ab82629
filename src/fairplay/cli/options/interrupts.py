"""End on SIGTERM as on Ctrl-C, also where Ctrl-C itself is ignored."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """SIGTERM interrupts what is done here, unless whoever started us ignores it."""
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
    """Where SIGINT is ignored, as by a script that starts us with &, let it be blocked instead.

    It reaches us no more than before. But now there is what answers it: Python's own handler, and that of an event
    loop, which cancels the task that is run and lets it put things in order. SIGTERM can ask for that.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # which forgets what came meanwhile
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def interrupt(_: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do."""
    on_sigint = signal.getsignal(signal.SIGINT)
    if callable(on_sigint):
        on_sigint(signal.SIGINT, frame)
