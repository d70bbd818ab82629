"""Define tests that hang, are late, overlap or are skipped, which only test_running.py runs."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis.strategies import integers

LONG_S, LATE_S = 600.0, 0.5
NOTES_VARIABLE = "FAIRPLAY_NOTES"  # the variable that names the file in which tests that overlap log their times
hangs = pytest.mark.time_limit(0.3)


def compute() -> NoReturn:
    while True:
        pass


def hang_despite(caught: type[BaseException]) -> NoReturn:
    while True:
        with suppress(caught):
            time.sleep(LONG_S)


def hang_on_the_way_out() -> None:
    try:
        time.sleep(LONG_S)
    finally:
        time.sleep(LONG_S)


def run_a_task_that_cannot_be_cancelled() -> None:
    async def stubborn() -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(LONG_S)

    asyncio.run(stubborn())


@hangs
@pytest.mark.parametrize(
    "hang",
    [
        lambda: time.sleep(LONG_S),
        compute,
        lambda: subprocess.run(["sleep", str(LONG_S)], check=False),
        threading.Event().wait,
        lambda: hang_despite(Exception),
        hang_on_the_way_out,
        run_a_task_that_cannot_be_cancelled,
    ],
    ids=["waits", "computes", "program", "thread", "catches", "way_out", "task"],
)
def test_it_hangs(hang: Callable[[], object]) -> None:
    hang()


@hangs
def test_it_cannot_be_ended_by_an_exception() -> None:
    hang_despite(BaseException)


@hangs
@given(integers())
def test_an_example_hangs(number: int) -> None:
    time.sleep(LONG_S if number > 3 else 0)


@pytest.fixture
def slow() -> None:
    time.sleep(LONG_S)


@pytest.fixture
def tidied_up_slowly() -> Iterator[None]:
    yield
    time.sleep(LONG_S)


@hangs
def test_a_fixture_hangs(slow: None) -> None:
    pass


@hangs
def test_a_failure_hangs_when_it_is_tidied_up(tidied_up_slowly: None) -> None:
    raise AssertionError("before it hangs")


@pytest.mark.time_limit(60)
def test_good_it_is_slow_and_may_be() -> None:
    time.sleep(0.4)


@hangs
def test_good_it_does_not_hang() -> None:
    pass


@pytest.mark.alone
def test_late() -> None:
    time.sleep(LATE_S)
    raise AssertionError("late")


@pytest.mark.alone
def test_late_by_its_own_work() -> None:
    until = f"import time\nend = time.monotonic() + {LATE_S}\nwhile time.monotonic() < end: pass"
    for program in [subprocess.Popen([sys.executable, "-I", "-S", "-c", until]) for _ in range(4)]:
        program.wait()
    raise AssertionError("late")


@pytest.mark.alone
def test_late_and_wrong() -> None:
    time.sleep(LATE_S)
    raise ValueError("wrong")


@pytest.mark.alone
def test_late_but_in_time() -> None:
    time.sleep(LATE_S)


def test_late_without_a_clock() -> None:
    time.sleep(LATE_S)
    raise AssertionError("wrong")


@pytest.fixture
def note_times(request: pytest.FixtureRequest) -> Iterator[None]:
    since = time.monotonic()
    yield
    with Path(os.environ[NOTES_VARIABLE]).open("a") as file:
        file.write(f"{request.node.originalname} {since} {time.monotonic()}\n")


@pytest.mark.usefixtures("note_times")
@pytest.mark.parametrize("number", range(24))
def test_overlap_with_others(number: int) -> None:
    time.sleep(0.05)


@pytest.mark.alone
@pytest.mark.usefixtures("note_times")
@pytest.mark.parametrize("number", range(12))
def test_overlap_alone(number: int) -> None:
    time.sleep(0.05)


@pytest.mark.skipif(True, reason="there is no cake: ask the cook")
@pytest.mark.parametrize("number", range(3))
def test_skipped_by_a_mark(number: int) -> None:
    raise AssertionError("it is not run")


def test_skipped_by_itself() -> None:
    pytest.skip("there is no tea")
