"""Draw a running match on a terminal, in a separate thread so that no match waits for the terminal.

Only a match whose players are all in this process may be slowed down for people to follow; no clock runs meanwhile.
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
    20  # the interval is at least so many times as long as drawing a frame takes, so that playing has priority
)
CLOCK_INTERVAL_S = 0.25  # seconds between updates of the clocks and the terminal's size
MAX_HELD_CHARS = 2**20  # characters of stderr that are kept while the board is visible
MAX_STDERR_ROWS, MAX_STDERR_ROW_CHARS = 1, 500  # lines of it on the screen, and characters of each
SKIP_KEYS = {LEAVE_KEY, "space", "escape"}  # the keys that skip to the end
SKIP_HINT = "space skips to the end"


class LiveBoard:
    """An observer that draws the current board; `turn_times` are the times of each seat's turns.

    With a pace, `observe` waits until each position has been visible for so many seconds.
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
        self._since = time.monotonic()  # the last event; infinite: the player on turn has acted already
        self._pace = pace
        self._news, self._over = Signal(), Signal()
        self.stderr = HeldOutput()
        self._thread = ThreadPoolExecutor(1)
        self._painting: Future[None] | None = None

    def observe(self, event: Event, match: VisibleMatch, number: int | None = None) -> None:
        """Keep the event to be drawn. `number` is that of the event, if earlier ones were missed."""
        if self._pace and not isinstance(event, Started):
            self._wait_for_viewer(self._since + self._pace)
        if self._painting is not None and self._painting.done():
            self._painting.result()  # raises the error of the thread
        before = self._scene.before
        if isinstance(event, Fact):
            self._facts, before = self._facts + 1, self._scene.match
        self._facts = self._facts if number is None else number
        heading = f"{match.game.name} {self._facts}: {describe_event(event, match.names)[0]}"
        self._scene, self._since = Scene(heading, match, before), time.monotonic()
        self._news.set()

    def _wait_for_viewer(self, until: float) -> None:
        """Keep the position visible until then, unless a key skips to the end."""
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
        """Draw changes, but not too often."""
        last: list[str] = []
        while not self._over.is_set():
            self._news.clear()
            begun = time.monotonic()
            frame = self._frame()
            if frame != last or self._screen.is_blank:
                self._screen.show(frame)
                last = frame
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
    """An output that keeps its text until the board is gone."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._chars_left = MAX_HELD_CHARS

    def write(self, text: str) -> int:
        """Keep the text, up to a limit."""
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
        """The whole text that was kept."""
        return "".join(self._parts) + (
            f"\nfairplay: {-self._chars_left} more characters were dropped\n" if self._chars_left < 0 else ""
        )


@contextmanager
def show_live(
    draw: DrawBoard, match: VisibleMatch, turn_times: Callable[[], Mapping[Seat, Sequence[float]]], pace: float = 0.0
) -> Iterator[LiveBoard]:
    """Draw a match on the terminal while it is played; output on stderr is printed after it."""
    board: LiveBoard | None = None
    try:
        with Screen(sys.stdout) as screen, LiveBoard(screen, draw, match, turn_times, pace) as board:
            if not sys.stderr.isatty():
                yield board
                return
            with redirect_stderr(board.stderr):
                yield board
    finally:
        if board is not None:
            sys.stderr.write(board.stderr.content())
            sys.stderr.flush()
