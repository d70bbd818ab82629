"""Wait for the clients of a course, and report the sign-ups and the remaining time."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from fairplay.course.channel.remote import CourseClient
from fairplay.course.dialects.servers import CourseServerSettings
from fairplay.course.server.sign_up import CourseSignUp

Report = Callable[[str], None]
MAX_REPORTED_REFUSALS = 20  # further refusals are only counted
ShowStatus = Callable[
    [Callable[[], str]], AbstractContextManager[object]
]  # shows a changing line within a `with` block


def show_nothing(line: Callable[[], str]) -> AbstractContextManager[object]:
    """Show no status."""
    return nullcontext()


class CourseLobby:
    """The clients that wait for the start, with reports."""

    def __init__(self, rules: CourseServerSettings, report: Report) -> None:
        self._rules = rules
        self._report = report
        self._clients = 0
        self._refused = 0
        self._deadline = time.monotonic() + rules.wait  # of this waiting period

    def add(self, client: CourseClient) -> None:
        """Report a client that signed up."""
        self._clients += 1
        self._report(f"{client.name or client.place} has signed up: {self.status_line()}")

    def refuse(self, place: str, why: str) -> None:
        """Report a connection that did not sign up, up to a limit, so that the log is not flooded."""
        self._refused += 1
        if self._refused <= MAX_REPORTED_REFUSALS:
            more = "; further ones are only counted" if self._refused == MAX_REPORTED_REFUSALS else ""
            self._report(f"{place} did not sign up: {why}{more}")

    def status_line(self) -> str:
        """The state of the sign-up as a line."""
        left = max(0.0, self._deadline - time.monotonic())
        return f"{self._clients} of {describe_player_count(self._rules)} players, {left:.0f} s left"

    async def wait_for_clients(self, listener: CourseSignUp, show: ShowStatus = show_nothing) -> list[CourseClient]:
        """Wait for all needed waiting periods, stop the sign-up, and return the clients."""
        rules = self._rules
        with show(self.status_line):
            for period in range(1, rules.waiting_periods + 1):
                self._deadline = time.monotonic() + rules.wait
                if period > 1:
                    self._report(f"waiting once more: {self.status_line()}")
                if len(clients := await listener.wait(rules.wait)) >= rules.least:
                    break
        await listener.stop_accepting()
        if self._refused > MAX_REPORTED_REFUSALS:
            self._report(f"{self._refused - MAX_REPORTED_REFUSALS} more did not sign up")
        return clients


def describe_player_count(rules: CourseServerSettings) -> str:
    """The allowed number of players as text."""
    return f"{rules.least}" if rules.least == rules.most else f"{rules.least} to {rules.most}"
