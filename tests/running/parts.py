"""Print the slowest parts of the tests at the end, with --durations."""

from collections import defaultdict
from pathlib import PurePath

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("durations"):
        config.pluginmanager.register(PartDurations())


class PartDurations:
    """Adds up the seconds of every directory of tests, over all workers."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path = PurePath(report.nodeid.partition("::")[0])
        self.seconds["/".join(path.parts[:2])] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("seconds by part, over all workers")
        for part, seconds in sorted(self.seconds.items(), key=lambda entry: -entry[1]):
            terminalreporter.write_line(f"{seconds:6.1f}  {part}")
