"""End every test that takes too long, so that a bug which hangs fails instead of blocking all tests.

An alarm raises in the test, and again and again in whatever it hangs in on its way out. What no exception can end is
ended with its whole process by pytest's faulthandler (pyproject.toml); another worker goes on with the other tests.
The alarm of pytest-timeout rings once: four kinds of tests/running/samples.py that this ends would hang on.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

TIME_LIMIT_S = 120.0  # seconds for a test, and as much for its fixtures; a marker may give another
ALARM_INTERVAL_S = 10.0  # seconds until the next alarm


class TimeLimitExceeded(BaseException):
    """The time is over. It is no Exception, which a test, hypothesis or what is tried out might take for its own."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "time_limit(seconds): how long this test may take")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with limit_time(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with limit_time(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    with limit_time(item):
        return (yield)


@contextmanager
def limit_time(item: pytest.Item) -> Iterator[None]:
    """Raise in here when the time of this test is over."""
    marker = item.get_closest_marker("time_limit")
    seconds = marker.args[0] if marker else TIME_LIMIT_S

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeLimitExceeded(f"this took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, min(seconds, ALARM_INTERVAL_S))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
