"""Define tests that hang in every way, which only test_time_limit.py runs."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis.strategies import integers

pytestmark = pytest.mark.time_limit(0.3)
LONG = 600.0


def test_it_waits() -> None:
    time.sleep(LONG)


def test_it_computes() -> None:
    while True:
        pass


def test_it_waits_for_a_program() -> None:
    subprocess.run(["sleep", str(LONG)], check=False)


def test_it_waits_for_another_thread() -> None:
    threading.Event().wait()


def test_it_catches_what_is_raised() -> None:
    while True:
        with suppress(Exception):
            time.sleep(LONG)


def test_it_hangs_on_its_way_out() -> None:
    try:
        time.sleep(LONG)
    finally:
        time.sleep(LONG)


def test_a_task_cannot_be_cancelled() -> None:
    async def stubborn() -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(LONG)

    asyncio.run(stubborn())


@given(integers())
def test_an_example_hangs(number: int) -> None:
    time.sleep(LONG if number > 3 else 0)


@pytest.fixture
def slow() -> None:
    time.sleep(LONG)


@pytest.fixture
def tidied_up_slowly() -> Iterator[None]:
    yield
    time.sleep(LONG)


def test_a_fixture_hangs(slow: None) -> None:
    pass


def test_a_failure_hangs_when_it_is_tidied_up(tidied_up_slowly: None) -> None:
    raise AssertionError("before it hangs")


def test_it_cannot_be_ended_by_an_exception() -> None:
    while True:
        with suppress(BaseException):
            time.sleep(LONG)


@pytest.mark.time_limit(60)
def test_it_is_slow_and_may_be() -> None:
    time.sleep(0.4)


def test_it_does_not_hang() -> None:
    pass
