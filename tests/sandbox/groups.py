"""Run programs in control groups, and look at them from outside."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fairplay.sandbox import cgroup
from fairplay.sandbox.cgroup import Group, available
from tests.players.programs import PYTHON, content

MEGABYTE = 1024 * 1024
PATIENCE = 20  # seconds
HERE = available()


def needs(what: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not getattr(HERE, what), reason=f"there is no {what} in control groups here: {HERE.why}")


def at_last(is_so: Callable[[], bool]) -> bool:
    """Does it come true? Programs take their time to start where others do so too."""
    until = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return is_so()


def living(numbers: Sequence[int]) -> list[int]:
    """Which of these processes have not ended; those that nobody has buried yet have."""
    states = {number: content(Path(f"/proc/{number}/stat")).rpartition(b")")[2].split()[:1] for number in numbers}
    return [number for number, state in states.items() if state not in ([], [b"Z"])]


def start(group: Group, text: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a program in a group; whoever closes that ends it."""
    words = [*group.enter(), *PYTHON, "-c", text, *arguments]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ended(program: "subprocess.Popen[str]") -> int:
    """The exit code of a program that ends."""
    with program:
        return program.wait(timeout=PATIENCE)


def inside(group: Group) -> list[int]:
    return [int(number) for number in Path(group.entrances[0]).read_text().split()]


def computed(group: Group) -> float:
    """The seconds that everybody in a group has computed."""
    return cgroup.numbers(Path(group.entrances[0]).parent / "cpu.stat")["usage_usec"] / 1e6
