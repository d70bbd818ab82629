"""Show every state of a match as files: pictures for people, JSON for programs."""

from collections.abc import Callable, Mapping
from typing import Any

from fairplay.core.events import Event, Started
from fairplay.core.match import Match

AnyMatch = Match[Any, Any, Any]
Show = Callable[[str, str], object]  # is given the name of a file and what is to be in it


class Painter:
    """An observer that has the match as it stands painted after each event: 0.svg, 1.svg, and so on.

    What is painted is up to `paint`, which is given the match and what it was before, and gives the text of each file
    by its ending. The end of a match changes nothing that can be seen, so it is not painted again.
    """

    def __init__(self, show: Show, paint: Callable[[AnyMatch, AnyMatch | None], Mapping[str, str]]) -> None:
        self._show = show
        self._paint = paint
        self._number = 0
        self._last: AnyMatch | None = None

    def observe(self, event: Event, match: AnyMatch) -> None:
        """Paint it, if it has changed."""
        if self._last is not None and match.state is self._last.state and not isinstance(event, Started):
            return
        for ending, text in self._paint(match, self._last).items():
            self._show(f"{self._number}.{ending}", text)
        self._number += 1
        self._last = match
