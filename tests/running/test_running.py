"""Test how tests are run: within time limits, alone if marked, excused if late, skipped with reasons, in one run."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from os import cpu_count
from pathlib import Path

import pytest

from tests.nonempty import nonempty
from tests.running import samples
from tests.running.busy import Reading, share_of_others
from tests.running.long import FIRST_TESTS, LONG_TESTS, is_left_out, kind_of

ROOT = Path(__file__).parents[2]
HOPELESS = "test_it_cannot_be_ended_by_an_exception"
SKIPPED_TITLE = "skipped tests by reason"


def run_samples(chosen: str, *options: str, code: int = 1, **variables: str) -> tuple[str, dict[str, str]]:
    """The output of a run of some samples, and how each of them ended."""
    command = [sys.executable, "-m", "pytest", "-vv", "-rA", "-p", "no:cacheprovider", *options]
    environment = {**os.environ, **variables}
    words = [*command, str(samples.__file__), "-k", chosen]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == code, done.stdout
    return done.stdout, {
        name: end for end, name in re.findall(r"^(PASSED|FAILED|ERROR) .*?::(\S+)", done.stdout, re.MULTILINE)
    }


# Time limits.


def test_a_hanging_test_fails_and_the_others_run() -> None:
    output, ends = run_samples(f"(hang or good) and not {HOPELESS}")

    good = {"test_good_it_is_slow_and_may_be", "test_good_it_does_not_hang"}
    assert {name for name, end in ends.items() if end == "PASSED"} == good
    assert len(ends) == 12
    assert output.count("TimeLimitExceeded: this took longer than 0.3 s") >= 10


def test_a_test_that_no_exception_can_end_is_ended_with_its_worker() -> None:
    _, ends = run_samples(f"good or {HOPELESS}", "-n", "1", "-o", "faulthandler_timeout=3")

    assert sorted(ends.values()) == ["FAILED", "PASSED", "PASSED"]
    assert ends[HOPELESS] == "FAILED"


def test_all_tests_have_a_limit(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("tests.running.time_limit")
    assert float(pytestconfig.getini("faulthandler_timeout")) > 0
    assert pytestconfig.getini("faulthandler_exit_on_timeout") is True


# Tests that run alone.


def test_only_marked_tests_run_alone(tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    run_samples("overlap", "-n", "2", "--dist", "load", code=0, **{samples.NOTES_VARIABLE: str(notes)})

    words = [line.split() for line in notes.read_text().splitlines()]
    spans = [(name, float(since), float(until)) for name, since, until in words]
    overlaps = [
        {one[0], other[0]} for one, other in combinations(spans, 2) if max(one[1], other[1]) < min(one[2], other[2])
    ]
    assert len(spans) == 36
    assert overlaps
    assert not any("test_overlap_alone" in names for names in overlaps)


# Late tests.


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
        output, ends = run_samples("test_late", "-p", "no:xdist")

    assert ends == {
        "test_late_and_wrong": "FAILED",
        "test_late_but_in_time": "PASSED",
        "test_late_without_a_clock": "FAILED",
    }
    assert "2 skipped" in output


@pytest.mark.alone
def test_a_late_test_fails_where_only_its_own_programs_keep_the_machine_busy() -> None:
    _, ends = run_samples("test_late", "-p", "no:xdist")

    assert ends.pop("test_late_but_in_time") == "PASSED"
    assert sorted(ends.values()) == ["FAILED"] * 4


@pytest.mark.parametrize(
    ("free", "own", "share"), [(4.0, 0.0, 0.0), (0.0, 4.0, 0.0), (1.0, 1.0, 0.5), (0.0, 0.0, 1.0), (3.0, 0.0, 0.25)]
)
def test_cpu_time_that_is_neither_idle_nor_ours_belongs_to_others(free: float, own: float, share: float) -> None:
    before, after = Reading(5.0, free=1.0, own=2.0), Reading(7.0, free=1.0 + free, own=2.0 + own)

    assert share_of_others(before, after, processors=2) == share


# Skipped tests.


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_table_at_the_end_says_why_tests_were_skipped(workers: str) -> None:
    _, _, table = run_samples("test_skipped", "-n", workers, code=0)[0].partition(SKIPPED_TITLE)

    rows = [row for row in table.splitlines()[1:] if row]
    assert rows[:2] == ["     3  there is no cake: ask the cook", "     1  there is no tea"]


def test_there_is_no_table_where_nothing_was_skipped() -> None:
    assert SKIPPED_TITLE not in run_samples("test_good_it_does_not_hang", code=0)[0]


# Quick, long and nightly tests.


def test_each_listed_file_is_there() -> None:
    assert [listed for listed in (*LONG_TESTS, *FIRST_TESTS) if not (ROOT / listed).exists()] == []


def test_each_file_is_imported_by_its_run_and_left_out_by_the_other() -> None:
    for file in nonempty((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        directories = [f"{directory.as_posix()}/" for directory in Path(name).parents if directory != Path()]
        chosen, other = ("long", "quick") if name.startswith(LONG_TESTS) else ("quick", "long")

        assert not any(is_left_out(part, run) for part in (name, *directories) for run in (chosen, "nightly", ""))
        assert is_left_out(name, other)


def test_each_test_belongs_to_one_run(request: pytest.FixtureRequest) -> None:
    for item in nonempty(request.session.items):
        assert {mark.name for mark in item.iter_markers()} & {"quick", "long", "nightly"} == {kind_of(item)}
