"""Let tests interrupt themselves and what they start, also in the background of a script, where that is ignored."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers


def pytest_configure(config: pytest.Config) -> None:
    restore(signal.SIGINT, signal.default_int_handler)
    restore(signal.SIGQUIT, signal.SIG_DFL)
    restore(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it


def restore(number: signal.Signals, handler: Handler) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
