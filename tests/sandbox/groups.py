"""Run programs in control groups, and look at them from outside."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup
from fairplay.sandbox.cgroup import ControlGroup, cgroup_support
from tests.players.programs import PYTHON, read_proc_file

MEGABYTE = 1024 * 1024
GROUP_TIMEOUT_S = 20  # seconds
AVAILABLE_GROUPS = cgroup_support()


def require_controller(what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not getattr(AVAILABLE_GROUPS, what),
        reason=f"there is no {what} in control groups here: {AVAILABLE_GROUPS.missing}",
    )


def becomes_true(is_so: Callable[[], bool]) -> bool:
    """Does it come true? Programs take their time to start where others do so too."""
    until = time.monotonic() + GROUP_TIMEOUT_S
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return is_so()


def living_processes(numbers: Sequence[int]) -> list[int]:
    """Which of these processes have not ended; zombies have."""
    states = {
        number: read_proc_file(Path(f"/proc/{number}/stat")).rpartition(b")")[2].split()[:1] for number in numbers
    }
    return [number for number, state in states.items() if state not in ([], [b"Z"])]


def start_in_group(group: ControlGroup, text: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a program in a group, which ends when the group is closed."""
    words = [*group.enter_command(), *PYTHON, "-c", text, *arguments]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for_exit(program: "subprocess.Popen[str]") -> int:
    """The exit code of a program that ends."""
    with program:
        return program.wait(timeout=GROUP_TIMEOUT_S)


def processes_in(group: ControlGroup) -> list[int]:
    return [int(number) for number in Path(group.procs_files[0]).read_text().split()]


def cpu_seconds(group: ControlGroup) -> float:
    """The CPU seconds of all processes in a group."""
    return cgroup.read_counters(Path(group.procs_files[0]).parent / "cpu.stat")["usage_usec"] / 1e6
