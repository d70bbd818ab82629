"""Watch matches: count what happens in ten of them.

python examples/an_observer.py
"""

from collections import Counter
from typing import Any

from fairplay import Event
from fairplay.core.match import Match
from fairplay.games.fish import Fish, View
from fairplay.referee.referee import Referee


class Counting:
    """An observer has one method. What it is given is immutable; if it raises, it is dropped."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Count the event by its kind."""
        self.seen[type(event).__name__] += 1


def first_action(view: View) -> Any:
    """The simplest strategy of all."""
    return next(Fish().actions(view))


if __name__ == "__main__":
    referee, counting = Referee(), Counting()
    referee.subscribe(counting)
    for number in range(10):
        referee.run(Fish(rows=5, columns=5), [first_action, first_action], seed=bytes([number]) * 32)
    for kind, count in counting.seen.items():
        print(f"{kind:<10}{count:>5}")
