"""Print why tests were skipped at the end: a table of reasons, with the number of tests for each."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(skip_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if not reasons:
        return
    terminalreporter.section("skipped tests by reason")
    for why, tests in reasons.most_common():
        terminalreporter.write_line(f"{tests:6}  {why}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test, or a whole file, was skipped."""
    assert isinstance(report.longrepr, tuple)  # a place and a text, of whatever was skipped
    return report.longrepr[2].removeprefix("Skipped: ")
