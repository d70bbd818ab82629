"""Test that each test that hangs fails at its time limit, and the others run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import hanging

ROOT = Path(__file__).parents[2]
GOOD = {"test_it_is_slow_and_may_be", "test_it_does_not_hang"}
HOPELESS = "test_it_cannot_be_ended_by_an_exception"
BAD = {name for name in vars(hanging) if name.startswith("test_")} - GOOD
WITHOUT_MERCY = ("-n", "1", "-o", "faulthandler_timeout=3")


def run(*options: str) -> tuple[int, dict[str, str], str]:
    """The exit code, how every test ended, and the output of a run of its own of those that hang."""
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *options, str(hanging.__file__)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    ends = re.findall(r"^(PASSED|FAILED|ERROR) .*::(\w+)", done.stdout, re.MULTILINE)
    return done.returncode, {name: end for end, name in ends}, done.stdout


def test_a_hanging_test_fails_and_the_others_run() -> None:
    code, ends, output = run("-rA", "-k", f"not {HOPELESS}")

    assert code == 1, output
    assert ends.keys() == (BAD | GOOD) - {HOPELESS}
    assert {name for name, end in ends.items() if end == "PASSED"} == GOOD
    assert output.count("TimeLimitExceeded: this took longer than 0.3 s") >= len(BAD) - 1


def test_a_test_that_no_exception_can_end_is_ended_with_its_worker() -> None:
    code, ends, output = run("-rA", *WITHOUT_MERCY, "-k", " or ".join({HOPELESS, *GOOD}))

    assert code == 1, output
    assert ends == {HOPELESS: "FAILED", **dict.fromkeys(GOOD, "PASSED")}


def test_all_tests_have_a_limit(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("tests.running.time_limit")
    assert float(pytestconfig.getini("faulthandler_timeout")) > 0
    assert pytestconfig.getini("faulthandler_exit_on_timeout") is True
