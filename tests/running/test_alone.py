"""Test that, with two workers, only marked tests run alone."""

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from tests.running import overlapping

ROOT = Path(__file__).parents[2]


class Span(NamedTuple):
    """From when to when a test lasted."""

    name: str
    since: float
    until: float


def test_only_marked_tests_run_alone(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "load", "-p", "no:cacheprovider"]

    subprocess.run(
        [*command, str(overlapping.__file__)],
        cwd=ROOT,
        env={**os.environ, overlapping.NOTES_VARIABLE: str(notes)},
        check=True,
    )

    words = [line.split() for line in notes.read_text().splitlines()]
    spans = [Span(name, float(since), float(until)) for name, since, until in words]
    overlaps = [
        {one.name, other.name} for one, other in combinations(spans, 2) if max(one[1], other[1]) < min(one[2], other[2])
    ]
    assert len(spans) == 36
    assert overlaps
    assert not any("test_alone" in names for names in overlaps)
