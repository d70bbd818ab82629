"""Let tests interrupt themselves and their processes, even where a background script ignores interrupts."""

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

Handler = Callable[[int, FrameType | None], Any] | signal.Handlers


def pytest_configure(config: pytest.Config) -> None:
    restore_handler(signal.SIGINT, signal.default_int_handler)
    restore_handler(signal.SIGQUIT, signal.SIG_DFL)
    restore_handler(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it


def restore_handler(number: signal.Signals, handler: Handler) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
