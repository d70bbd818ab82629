"""Run tests with two workers, or twice at once: those which want to be alone are, and the others are not."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.running import overlapping

ROOT = Path(__file__).parents[2]


class Span(NamedTuple):
    """From when to when a test lasted."""

    name: str
    since: float
    until: float


@pytest.mark.parametrize(("workers", "runs"), [(2, 1), (0, 2)], ids=["two workers", "two runs with one room"])
def test_who_wants_to_be_alone_is_and_the_others_are_not(workers: int, runs: int, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    env = {**os.environ, overlapping.NOTES: str(notes), **({"FAIRPLAY_ROOM": str(tmp_path)} if runs > 1 else {})}
    command = [sys.executable, "-m", "pytest", "-n", str(workers), "--dist", "load", "-p", "no:cacheprovider"]

    begun = [subprocess.Popen([*command, str(overlapping.__file__)], cwd=ROOT, env=env) for _ in range(runs)]

    assert [one.wait() for one in begun] == [0] * runs
    words = [line.split() for line in notes.read_text().splitlines()]
    spans = [Span(name, float(since), float(until)) for name, since, until in words]
    overlaps = [
        {one.name, other.name} for one, other in combinations(spans, 2) if max(one[1], other[1]) < min(one[2], other[2])
    ]
    assert len(spans) == 36 * runs
    assert overlaps
    assert not any("test_alone" in names for names in overlaps)
