"""Write every state of a match to files: pictures for people, JSON for programs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairplay.core.errors import HostFault
from fairplay.core.events import Event, Started
from fairplay.core.match import Match
from fairplay.games import game_info

AnyMatch = Match[Any, Any, Any]
WriteFile = Callable[[str, str], object]  # takes the name of a file and its content


class Painter:
    """An observer that writes files after each event: 0.svg, 1.svg, and so on.

    `paint` takes the match and the match before, and returns the text of each file by its ending. Events that do not
    change the state are skipped. `first` is the first number, for a resumed match; `digits` pads the numbers, so that
    the names sort in order.
    """

    def __init__(
        self,
        write: WriteFile,
        paint: Callable[[AnyMatch, AnyMatch | None], Mapping[str, str]],
        first: int = 0,
        digits: int = 1,
    ) -> None:
        self._write = write
        self._paint = paint
        self._number = first
        self._digits = digits
        self._last: AnyMatch | None = None

    def observe(self, event: Event, match: AnyMatch) -> None:
        """Write the files, if the state has changed."""
        if self._last is not None and match.state is self._last.state and not isinstance(event, Started):
            return
        for ending, text in self._paint(match, self._last).items():
            self._write(f"{self._number:0{self._digits}}.{ending}", text)
        self._number += 1
        self._last = match


def spectator_picture(match: AnyMatch, before: AnyMatch | None) -> dict[str, str]:
    """The picture of a match as spectators see it."""
    last = None if before is None else before.view(None)
    return {"svg": game_info(match.game.name).svg(match.view(None), match.names, before=last)}


def file_writer(directory: Path) -> WriteFile:
    """Return a function that writes files into a directory atomically, and creates the directory."""

    def put(name: str, text: str) -> None:
        fresh = directory / f".{name}.new"
        try:
            directory.mkdir(exist_ok=True)
            try:
                fresh.write_text(text, encoding="utf-8")
                fresh.replace(directory / name)
            finally:
                fresh.unlink(missing_ok=True)
        except OSError as error:
            raise HostFault(f"{directory / name} cannot be written: {error.strerror}") from None

    return put
