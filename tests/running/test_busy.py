"""Test that late tests are excused only if other processes kept the machine busy."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import cpu_count
from pathlib import Path

import pytest

from tests.running import late
from tests.running.busy import Reading, share_of_others

ROOT = Path(__file__).parents[2]
FAILED, SKIPPED, PASSED = "FAILED", "SKIPPED", "PASSED"


def ends() -> dict[str, str]:
    """How every test of a run of its own has ended."""
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-p", "no:xdist", str(late.__file__)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    return dict(re.findall(r"::(test_\w+) (\w+)", done.stdout))


@contextmanager
def busy_loops() -> Iterator[None]:
    """Programs that take all that they can get of every processor."""
    loop = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    loops = [subprocess.Popen(loop) for _ in range(cpu_count() or 1)]
    try:
        yield
    finally:
        for program in loops:
            program.kill()
            program.wait()


def test_only_a_late_test_is_skipped_where_others_keep_the_machine_busy() -> None:
    with busy_loops():
        found = ends()

    assert found == {
        "test_it_is_late": SKIPPED,
        "test_it_is_late_by_its_own_work": SKIPPED,
        "test_it_fails_for_another_reason": FAILED,
        "test_it_is_in_time": PASSED,
        "test_it_watches_no_clock": FAILED,
    }


@pytest.mark.alone
def test_a_late_test_fails_where_only_its_own_programs_keep_the_machine_busy() -> None:
    found = ends()

    assert found.pop("test_it_is_in_time") == PASSED
    assert set(found.values()) == {FAILED}


@pytest.mark.parametrize(
    ("free", "own", "share"), [(4.0, 0.0, 0.0), (0.0, 4.0, 0.0), (1.0, 1.0, 0.5), (0.0, 0.0, 1.0), (3.0, 0.0, 0.25)]
)
def test_cpu_time_that_is_neither_idle_nor_ours_belongs_to_others(free: float, own: float, share: float) -> None:
    before, after = Reading(5.0, free=1.0, own=2.0), Reading(7.0, free=1.0 + free, own=2.0 + own)

    assert share_of_others(before, after, processors=2) == share
