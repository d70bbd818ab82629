"""Test the table of skipped tests and their reasons at the end of a run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import hanging, skipping

ROOT = Path(__file__).parents[2]
TITLE = "skipped tests by reason"


def output(*words: str) -> str:
    """What a run of its own prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_table_at_the_end_says_why_tests_were_skipped(workers: str) -> None:
    _, _, table = output("-n", workers, str(skipping.__file__)).partition(TITLE)

    assert table.splitlines()[1:3] == ["     3  there is no cake: ask the cook", "     1  there is no tea"]


def test_there_is_no_table_where_nothing_was_skipped() -> None:
    assert TITLE not in output(f"{hanging.__file__}::test_it_does_not_hang")
