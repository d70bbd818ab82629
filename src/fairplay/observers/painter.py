"""Show every state of a match as files: pictures for people, JSON for programs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairplay.core.errors import HostFault
from fairplay.core.events import Event, Started
from fairplay.core.match import Match
from fairplay.games import game_info

AnyMatch = Match[Any, Any, Any]
WriteFile = Callable[[str, str], object]  # is given the name of a file and what is to be in it


class Painter:
    """An observer that has the match as it stands painted after each event: 0.svg, 1.svg, and so on.

    What is painted is up to `paint`, which is given the match and what it was before, and gives the text of each file
    by its ending. The end of a match changes nothing that can be seen, so it is not painted again. A match that goes on
    has had its first pictures before. Numbers have so many digits at least, so that names are in the order of pictures.
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
        """Paint it, if it has changed."""
        if self._last is not None and match.state is self._last.state and not isinstance(event, Started):
            return
        for ending, text in self._paint(match, self._last).items():
            self._write(f"{self._number:0{self._digits}}.{ending}", text)
        self._number += 1
        self._last = match


def spectator_picture(match: AnyMatch, before: AnyMatch | None) -> dict[str, str]:
    """The picture of a match that everybody may see."""
    last = None if before is None else before.view(None)
    return {"svg": game_info(match.game.name).svg(match.view(None), match.names, before=last)}


def file_writer(directory: Path) -> WriteFile:
    """Writes files into a directory, and makes it; whoever looks at one sees the old one or the new one, each whole."""

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
