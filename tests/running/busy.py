"""Skip a test that needs the whole machine if it failed while other processes kept the machine busy.

A test that passes has passed. One that fails does so unless processes outside of it, or the host of a virtual
machine, took so much of the processors meanwhile that its clock says little. What the test and its own programs
compute is no excuse.
"""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fairplay.sandbox.process_tree import descendants
from tests.running.alone import is_alone

BUSY_SHARE = 0.2  # of all processors
TOO_BUSY = f"the machine was too busy: others took more than {BUSY_SHARE:.0%} of its processors"
LATE_FAILURES = (
    AssertionError,
    TimeoutError,
    subprocess.TimeoutExpired,
    pytest.fail.Exception,
)  # how a test fails for that
PROC_STAT = Path("/proc/stat")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Reading(msgspec.Struct, frozen=True):
    """Seconds at one moment, of all processors together but for the clock."""

    clock: float
    free: float
    """Idle, or taken by processes that give way to ours."""
    own: float
    """Computed by this process and all that it has started."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if not is_alone(item) or not PROC_STAT.exists():
        return (yield)
    before = take_reading()
    try:
        return (yield)
    except LATE_FAILURES as failure:
        if share_of_others(before, take_reading(), os.cpu_count() or 1) < BUSY_SHARE:
            raise
        raise pytest.skip.Exception(TOO_BUSY) from failure


def share_of_others(before: Reading, after: Reading, processors: int) -> float:
    """The share of the processors that was neither free nor ours.

    >>> share_of_others(Reading(10.0, free=7.0, own=1.0), Reading(12.0, free=8.0, own=2.0), processors=2)
    0.5
    """
    whole = (after.clock - before.clock) * processors
    return (whole - (after.free - before.free) - (after.own - before.own)) / whole


def take_reading() -> Reading:
    _, nice, _, idle, waiting, *_ = map(int, PROC_STAT.read_text().split(maxsplit=6)[1:6])
    gives_way = nice if os.nice(0) == 0 else 0
    return Reading(time.monotonic(), (idle + waiting + gives_way) / TICKS_PER_S, computed_seconds())


def computed_seconds() -> float:
    """Seconds computed by this process, by the children that have ended, and by what still runs below it."""
    ticks = 0
    for number in descendants(os.getpid()):
        try:
            fields = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        ticks += sum(map(int, fields[11:15]))  # its own and those of its children that have ended
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return ticks / TICKS_PER_S + sum(usage.ru_utime + usage.ru_stime for usage in usages)
