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
from fairplay.core.match import VisibleMatch
from fairplay.observers.reporter import describe_event
from fairplay.render.text import printable
from fairplay.terminal.scene import DrawBoard, Scene, render_scene
from fairplay.terminal.screen import LEAVE_KEY, Screen

MIN_FRAME_INTERVAL_S = 1 / 12  # seconds from frame to frame, at least
FRAME_COST_FACTOR = (
    20  # and so many times as long as it took to draw one: what is played is worth more than what is shown
)
CLOCK_INTERVAL_S = 0.25  # seconds until clocks and the size of the terminal are looked at anyhow
MAX_HELD_CHARS = 2**20  # signs of what is said while the board is shown
MAX_STDERR_ROWS, MAX_STDERR_ROW_CHARS = 1, 500  # lines of it on the screen, and signs of each
SKIP_KEYS = {LEAVE_KEY, "space", "escape"}  # the keys that lead to the end
SKIP_HINT = "space skips to the end"


class LiveBoard:
    """An observer that shows the board as it stands; `took` says how long each turn of each seat took.

    With a pace, whoever calls `observe` is held up until each position has been there for so many seconds.
    """

    def __init__(
        self,
        screen: Screen,
        draw: DrawBoard,
        match: VisibleMatch,
        turn_times: Callable[[], Mapping[Seat, Sequence[float]]],
        pace: float = 0.0,
    ) -> None:
        self._screen = screen
        self._draw = draw
        self._turn_times = turn_times
        self._scene = Scene(f"{match.game.name}: the players sit down", match)
        self._facts = 0
        self._since = time.monotonic()  # the last event; infinite: whoever is on turn has acted already
        self._pace = pace
        self._news, self._over = Signal(), Signal()
        self.stderr = HeldOutput()
        self._thread = ThreadPoolExecutor(1)
        self._painting: Future[None] | None = None

    def observe(self, event: Event, match: VisibleMatch, number: int | None = None) -> None:
        """Note what happens; it is shown when there is time. The number is that of the event, if any was missed."""
        if self._pace and not isinstance(event, Started):
            self._wait_for_viewer(self._since + self._pace)
        if self._painting is not None and self._painting.done():
            self._painting.result()  # which raises what went wrong
        before = self._scene.before
        if isinstance(event, Fact):
            self._facts, before = self._facts + 1, self._scene.match
        self._facts = self._facts if number is None else number
        said = f"{match.game.name} {self._facts}: {describe_event(event, match.names)[0]}"
        self._scene, self._since = Scene(said, match, before), time.monotonic()
        self._news.set()

    def _wait_for_viewer(self, until: float) -> None:
        """Let people see what is there until then, unless they want to see the end."""
        self._since = math.inf
        while (left := until - time.monotonic()) > 0:
            if SKIP_KEYS.intersection(self._screen.keys(left)):
                self._pace = 0.0
                return

    def __enter__(self) -> "LiveBoard":
        self._painting = self._thread.submit(self._paint)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over.set()
        self._news.set()
        if kind is not None:
            self._screen.resume_output()
        self._thread.shutdown()

    def _paint(self) -> None:
        """Draw whatever is new, but not too often."""
        shown: list[str] = []
        while not self._over.is_set():
            self._news.clear()
            begun = time.monotonic()
            frame = self._frame()
            if frame != shown or self._screen.is_blank:
                self._screen.show(frame)
                shown = frame
            pause = max(MIN_FRAME_INTERVAL_S, FRAME_COST_FACTOR * (time.monotonic() - begun))
            self._over.wait(min(pause, self._pace / 4) if self._pace else pause)
            self._news.wait(CLOCK_INTERVAL_S)

    def _frame(self) -> list[str]:
        scene, since, took = self._scene, self._since, self._turn_times()
        used = {seat: sum(took.get(seat, ())) for seat in range(len(scene.match.names))}
        if self._facts and (turn := scene.match.turn) is not None:
            used[turn] += max(0.0, time.monotonic() - since)
        below = self.stderr.last_lines(MAX_STDERR_ROWS) or ([SKIP_HINT] if self._pace and self._screen.has_keys else [])
        return render_scene(scene, self._draw, used, below, self._screen.size)


class HeldOutput(TextIOBase):
    """An output that keeps what is said until nothing can be torn by it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._chars_left = MAX_HELD_CHARS

    def write(self, text: str) -> int:
        """Keep it, as far as there is room."""
        if self._chars_left > 0:
            self._parts.append(text[: self._chars_left])
        self._chars_left -= len(text)
        return len(text)

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def last_lines(self, most: int) -> list[str]:
        """The last lines, as a terminal can show them."""
        lines = "".join(self._parts[-2 * most :]).splitlines()  # print writes a line and its end one after the other
        return [printable(line, MAX_STDERR_ROW_CHARS) for line in lines[-most:]]

    def content(self) -> str:
        """All that was kept."""
        return "".join(self._parts) + (
            f"\nfairplay: {-self._chars_left} more signs were said here\n" if self._chars_left < 0 else ""
        )


@contextmanager
def show_live(
    draw: DrawBoard, match: VisibleMatch, turn_times: Callable[[], Mapping[Seat, Sequence[float]]], pace: float = 0.0
) -> Iterator[LiveBoard]:
    """Show a match on the terminal while it is played; what is said on stderr meanwhile is said behind it."""
    shown: LiveBoard | None = None
    try:
        with Screen(sys.stdout) as screen, LiveBoard(screen, draw, match, turn_times, pace) as shown:
            if not sys.stderr.isatty():
                yield shown
                return
            with redirect_stderr(shown.stderr):
                yield shown
    finally:
        if shown is not None:
            sys.stderr.write(shown.stderr.content())
            sys.stderr.flush()
