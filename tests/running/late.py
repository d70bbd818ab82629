"""Define tests that fail as if they were late, which only test_busy.py runs."""

import subprocess
import sys
import time

import pytest

DURATION_S = 0.5


@pytest.mark.alone
def test_it_is_late() -> None:
    time.sleep(DURATION_S)
    raise AssertionError("late")


@pytest.mark.alone
def test_it_is_late_by_its_own_work() -> None:
    until = f"import time\nend = time.monotonic() + {DURATION_S}\nwhile time.monotonic() < end: pass"
    for program in [subprocess.Popen([sys.executable, "-I", "-S", "-c", until]) for _ in range(4)]:
        program.wait()
    raise AssertionError("late")


@pytest.mark.alone
def test_it_fails_for_another_reason() -> None:
    time.sleep(DURATION_S)
    raise ValueError("wrong")


@pytest.mark.alone
def test_it_is_in_time() -> None:
    time.sleep(DURATION_S)


def test_it_watches_no_clock() -> None:
    time.sleep(DURATION_S)
    raise AssertionError("wrong")
