"""Observe ten matches and count their events.

python examples/an_observer.py
"""

from collections import Counter
from typing import Any

import fairplay as fp
from fairplay.games.fish import Fish, View

FISH = Fish(rows=5, columns=5)


class Counting:
    """An observer has one method. Its arguments are immutable; if it raises, it is removed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def observe(self, event: fp.Event, match: Any) -> None:
        """Count the event by its type; `match` is the match after it."""
        self.counts[type(event).__name__] += 1


def first_action(view: View) -> Any:
    """The simplest strategy: the first legal action."""
    return next(FISH.actions(view))


if __name__ == "__main__":
    counting = Counting()
    for seed in range(10):
        fp.play(FISH, [first_action, first_action], seed=seed, observers=[counting])
    for kind, count in counting.counts.items():
        print(f"{kind:<10}{count:>5}")
