"""Run a match with a referee, and keep all that an observer hears of it."""

from typing import Any

from fairplay import Event
from fairplay.referee.referee import Referee

NAMES = ("ann", "bob", "cyd", "dan", "eve")
SEED = bytes(range(32))


class Story:
    """An observer that keeps every event, with the match after it."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, Any]] = []
        self.match: Any = None  # as the referee returned it

    def observe(self, event: Event, match: Any) -> None:
        self.heard.append((event, match))

    @property
    def events(self) -> list[Any]:
        return [event for event, _ in self.heard]

    @property
    def states(self) -> list[Any]:
        return [match.state for _, match in self.heard]

    def the_only(self, kind: type[Any]) -> tuple[int, Any]:
        """The only event of its kind, and where it is."""
        ((number, event),) = ((number, event) for number, event in enumerate(self.events) if isinstance(event, kind))
        return number, event


def watch_match(game: Any, table: list[Any], story: Story | None = None, **options: Any) -> Story:
    """Play a match with these players; its story."""
    referee, story = Referee(), story or Story()
    referee.subscribe(story)
    story.match = referee.run(game, table, **{"names": NAMES[: len(table)], "seed": SEED, **options})
    return story
