"""Draw a match on a terminal while it is played, in a thread of its own: no match waits for a terminal.

Only one whose players are all in this process may be held up, so that people can follow it: nobody's clock runs then.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr
from io import TextIOBase
from threading import Event as Signal

from fairplay.core.events import Event, Fact, Started
from fairplay.core.game import Seat
from fairplay.core.match import Visible
from fairplay.observers.reporter import in_words
from fairplay.render.text import printable
from fairplay.terminal.scene import Draw, Scene, lines_of
from fairplay.terminal.screen import LEAVING, Screen

PAUSE = 1 / 12  # seconds from frame to frame, at least
SHARE = 20  # and so many times as long as it took to draw one: what is played is worth more than what is shown
TICK = 0.25  # seconds until clocks and the size of the terminal are looked at anyhow
MOST_HELD = 2**20  # signs of what is said while the board is shown
MOST_SAID, LONGEST = 1, 500  # lines of it on the screen, and signs of each
SKIPPING = {LEAVING, "space", "escape"}  # the keys that lead to the end
HINT = "space skips to the end"


class Live:
    """An observer that shows the board as it stands; `took` says how long each turn of each seat took.

    With a pace, whoever calls `observe` is held up until each position has been there for so many seconds.
    """

    def __init__(
        self,
        screen: Screen,
        draw: Draw,
        match: Visible,
        took: Callable[[], Mapping[Seat, Sequence[float]]],
        pace: float = 0.0,
    ) -> None:
        self._screen = screen
        self._draw = draw
        self._took = took
        self._scene = Scene(f"{match.game.name}: the players sit down", match)
        self._facts = 0
        self._since = time.monotonic()  # the last event; infinite: whoever is on turn has acted already
        self._pace = pace
        self._news, self._over = Signal(), Signal()
        self.said = Held()
        self._thread = ThreadPoolExecutor(1)
        self._painting: Future[None] | None = None

    def observe(self, event: Event, match: Visible, number: int | None = None) -> None:
        """Note what happens; it is shown when there is time. The number is that of the event, if any was missed."""
        if self._pace and not isinstance(event, Started):
            self._hold(self._since + self._pace)
        if self._painting is not None and self._painting.done():
            self._painting.result()  # which raises what went wrong
        before = self._scene.before
        if isinstance(event, Fact):
            self._facts, before = self._facts + 1, self._scene.match
        self._facts = self._facts if number is None else number
        said = f"{match.game.name} {self._facts}: {in_words(event, match.names)[0]}"
        self._scene, self._since = Scene(said, match, before), time.monotonic()
        self._news.set()

    def _hold(self, until: float) -> None:
        """Let people see what is there until then, unless they want to see the end."""
        self._since = math.inf
        while (left := until - time.monotonic()) > 0:
            if SKIPPING.intersection(self._screen.keys(left)):
                self._pace = 0.0
                return

    def __enter__(self) -> "Live":
        self._painting = self._thread.submit(self._paint)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over.set()
        self._news.set()
        if kind is not None:
            self._screen.start_again()
        self._thread.shutdown()

    def _paint(self) -> None:
        """Draw whatever is new, but not too often."""
        shown: list[str] = []
        while not self._over.is_set():
            self._news.clear()
            begun = time.monotonic()
            frame = self._frame()
            if frame != shown or self._screen.fresh:
                self._screen.show(frame)
                shown = frame
            pause = max(PAUSE, SHARE * (time.monotonic() - begun))
            self._over.wait(min(pause, self._pace / 4) if self._pace else pause)
            self._news.wait(TICK)

    def _frame(self) -> list[str]:
        scene, since, took = self._scene, self._since, self._took()
        used = {seat: sum(took.get(seat, ())) for seat in range(len(scene.match.names))}
        if self._facts and (turn := scene.match.turn) is not None:
            used[turn] += max(0.0, time.monotonic() - since)
        below = self.said.last(MOST_SAID) or ([HINT] if self._pace and self._screen.has_keys else [])
        return lines_of(scene, self._draw, used, below, self._screen.size)


class Held(TextIOBase):
    """An output that keeps what is said until nothing can be torn by it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = MOST_HELD

    def write(self, text: str) -> int:
        """Keep it, as far as there is room."""
        if self._room > 0:
            self._parts.append(text[: self._room])
        self._room -= len(text)
        return len(text)

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def last(self, most: int) -> list[str]:
        """The last lines, as a terminal can show them."""
        lines = "".join(self._parts[-2 * most :]).splitlines()  # print writes a line and its end one after the other
        return [printable(line, LONGEST) for line in lines[-most:]]

    def all(self) -> str:
        """All that was kept."""
        return "".join(self._parts) + (
            f"\nfairplay: {-self._room} more signs were said here\n" if self._room < 0 else ""
        )


@contextmanager
def live(
    draw: Draw, match: Visible, took: Callable[[], Mapping[Seat, Sequence[float]]], pace: float = 0.0
) -> Iterator[Live]:
    """Show a match on the terminal while it is played; what is said on stderr meanwhile is said behind it."""
    shown: Live | None = None
    try:
        with Screen(sys.stdout) as screen, Live(screen, draw, match, took, pace) as shown:
            if not sys.stderr.isatty():
                yield shown
                return
            with redirect_stderr(shown.said):
                yield shown
    finally:
        if shown is not None:
            sys.stderr.write(shown.said.all())
            sys.stderr.flush()
