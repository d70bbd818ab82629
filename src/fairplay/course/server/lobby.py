"""Wait for clients as a course has it, and tell whoever runs the server who came and how long it still waits."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from fairplay.course.channel.remote import CourseClient
from fairplay.course.dialects.servers import CourseServerSettings
from fairplay.course.server.sign_up import CourseSignUp

Report = Callable[[str], None]
MAX_REPORTED_REFUSALS = 20  # of those who did not sign up; the others are counted
ShowStatus = Callable[[Callable[[], str]], AbstractContextManager[object]]  # what shows a line that changes, meanwhile


def show_nothing(line: Callable[[], str]) -> AbstractContextManager[object]:
    """Nobody looks."""
    return nullcontext()


class CourseLobby:
    """Where clients wait until it begins."""

    def __init__(self, rules: CourseServerSettings, tell: Report) -> None:
        self._rules = rules
        self._report = tell
        self._clients = 0
        self._refused = 0
        self._deadline = time.monotonic() + rules.wait  # of this period

    def add(self, client: CourseClient) -> None:
        """Somebody has signed up."""
        self._clients += 1
        self._report(f"{client.name or client.place} has signed up: {self.status_line()}")

    def refuse(self, place: str, why: str) -> None:
        """Somebody came and did not sign up; a crowd of strangers does not flood the log."""
        self._refused += 1
        if self._refused <= MAX_REPORTED_REFUSALS:
            more = "; from now on these are only counted" if self._refused == MAX_REPORTED_REFUSALS else ""
            self._report(f"{place} did not sign up: {why}{more}")

    def status_line(self) -> str:
        """How it stands."""
        left = max(0.0, self._deadline - time.monotonic())
        return f"{self._clients} here, it takes {describe_player_count(self._rules)}, {left:.0f} s left"

    async def wait_for_clients(self, listener: CourseSignUp, show: ShowStatus = show_nothing) -> list[CourseClient]:
        """Who has come when all waiting periods are over that it takes; nobody is let in any more."""
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
    """How many may play, in words."""
    return f"{rules.least}" if rules.least == rules.most else f"{rules.least} to {rules.most}"
