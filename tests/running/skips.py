"""Print at the end why tests were skipped, and with --durations the slowest parts of the tests."""

from collections import Counter, defaultdict
from pathlib import PurePath

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reasons = Counter(skip_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped tests by reason")
        for why, tests in reasons.most_common():
            terminalreporter.write_line(f"{tests:6}  {why}")
    if config.getoption("durations"):
        terminalreporter.section("seconds by part, over all workers")
        seconds: dict[str, float] = defaultdict(float)
        for report in (report for reports in terminalreporter.stats.values() for report in reports):
            if isinstance(report, pytest.TestReport):
                seconds["/".join(PurePath(report.nodeid.partition("::")[0]).parts[:2])] += report.duration
        for part, spent in sorted(seconds.items(), key=lambda entry: -entry[1]):
            terminalreporter.write_line(f"{spent:6.1f}  {part}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test, or a whole file, was skipped."""
    assert isinstance(report.longrepr, tuple)  # a place and a text, of whatever was skipped
    return report.longrepr[2].removeprefix("Skipped: ")
