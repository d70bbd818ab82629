"""Let tests interrupt themselves and what they start, also in the background of a script, where that is ignored."""

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
