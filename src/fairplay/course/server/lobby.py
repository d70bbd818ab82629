"""Wait for clients as a course has it, and tell whoever runs the server who came and how long it still waits."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from fairplay.course.channel.remote import Client
from fairplay.course.dialects.servers import ServerRules
from fairplay.course.server.sign_up import SignUp

Tell = Callable[[str], None]
MOST_TOLD = 20  # of those who did not sign up; the others are counted
Show = Callable[[Callable[[], str]], AbstractContextManager[object]]  # what shows a line that changes, meanwhile


def unshown(line: Callable[[], str]) -> AbstractContextManager[object]:
    """Nobody looks."""
    return nullcontext()


class CourseLobby:
    """Where clients wait until it begins."""

    def __init__(self, rules: ServerRules, tell: Tell) -> None:
        self._rules = rules
        self._tell = tell
        self._here = 0
        self._refused = 0
        self._until = time.monotonic() + rules.wait  # of this period

    def sign(self, client: Client) -> None:
        """Somebody has signed up."""
        self._here += 1
        self._tell(f"{client.name or client.place} has signed up: {self.line()}")

    def refuse(self, place: str, why: str) -> None:
        """Somebody came and did not sign up; a crowd of strangers does not flood the log."""
        self._refused += 1
        if self._refused <= MOST_TOLD:
            more = "; from now on these are only counted" if self._refused == MOST_TOLD else ""
            self._tell(f"{place} did not sign up: {why}{more}")

    def line(self) -> str:
        """How it stands."""
        left = max(0.0, self._until - time.monotonic())
        return f"{self._here} here, it takes {numbers(self._rules)}, {left:.0f} s left"

    async def gathered(self, door: SignUp, show: Show = unshown) -> list[Client]:
        """Who has come when all waiting periods are over that it takes; nobody is let in any more."""
        rules = self._rules
        with show(self.line):
            for period in range(1, rules.tries + 1):
                self._until = time.monotonic() + rules.wait
                if period > 1:
                    self._tell(f"waiting once more: {self.line()}")
                if len(clients := await door.signed_up(rules.wait)) >= rules.least:
                    break
        await door.shut()
        if self._refused > MOST_TOLD:
            self._tell(f"{self._refused - MOST_TOLD} more did not sign up")
        return clients


def numbers(rules: ServerRules) -> str:
    """How many may play, in words."""
    return f"{rules.least}" if rules.least == rules.most else f"{rules.least} to {rules.most}"
