"""Step through a recorded match on a terminal, by keys."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from fairplay.core.events import Started
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.hosting.records import turn_times
from fairplay.journal.replay import RecordedMatch
from fairplay.observers.reporter import describe_event, format_standings
from fairplay.render.text import truncate
from fairplay.terminal.scene import DrawBoard, Scene, render_scene
from fairplay.terminal.screen import LEAVE_KEY, Screen

PLAYBACK_INTERVAL_S = 0.5  # seconds from fact to fact when it plays
RESIZE_CHECK_INTERVAL_S = 0.25  # seconds between checks of the terminal's size
PAGE_FACTS = 10  # facts per "page up" and "page down"
MAX_TYPED_DIGITS = 9
KEY_STEPS = {"left": -1, "up": -1, "right": 1, "down": 1, "page up": -PAGE_FACTS, "page down": PAGE_FACTS}
KEY_HINTS = ("q leaves", "? helps", "← → step")  # the first is the last to be left out
PLAY_HINT, PAUSE_HINT = "space plays", "playing, space pauses"
KEY_HELP = (
    "← ↑           one fact back",
    "→ ↓           one fact on",
    "Page Up/Down  ten facts back, ten facts on",
    "Home, End     to the beginning, to the end",
    "12 Enter      to where 12 facts have happened",
    "space         play, or pause",
    "?             this help, and any key away with it",
    "q             leave",
)


class Stepper:
    """The position in a recorded match, which keys change."""

    def __init__(self, recorded: RecordedMatch, draw: DrawBoard, seat: Seat | None = None) -> None:
        self._recorded = recorded
        self._seat = seat
        self._draw = draw
        self._matches = [recorded.match_after(0)]  # after each number of facts; computed on demand
        self._last = len(recorded.entries)
        self._position = 0
        self._typed = ""
        self._shows_help = False
        self._next_step_at: float | None = None  # when the next fact is shown by itself; None: it does not play
        self.is_over = False

    def press(self, key: str) -> None:
        """Handle a key; an unknown key does nothing."""
        typed, self._typed = self._typed, ""
        if self._shows_help:
            self._shows_help = False
        elif key.isdecimal() and key.isascii():
            self._typed = (typed + key)[-MAX_TYPED_DIGITS:]
        elif key == "backspace":
            self._typed = typed[:-1]
        elif key == "enter" and typed:
            self._go_to(int(typed))
        elif key in KEY_STEPS:
            self._go_to(self._position + KEY_STEPS[key])
        elif key in ("home", "end"):
            self._go_to(0 if key == "home" else self._last)
        elif key == "space":
            self._play_or_pause()
        elif key == "?":
            self._shows_help, self._next_step_at = True, None
        self.is_over = key == LEAVE_KEY

    def wait_s(self) -> float:
        """How long to wait for a key; while playing, go on to the next fact if it is time."""
        if self._next_step_at is None:
            return RESIZE_CHECK_INTERVAL_S
        now = time.monotonic()
        if now >= self._next_step_at:
            self._go_to(self._position + 1)
            self._next_step_at = now + PLAYBACK_INTERVAL_S if self._position < self._last else None
        return (
            RESIZE_CHECK_INTERVAL_S
            if self._next_step_at is None
            else min(RESIZE_CHECK_INTERVAL_S, max(0.0, self._next_step_at - now))
        )

    def frame(self, screen: Screen) -> list[str]:
        """The lines on the screen."""
        below = [*self._below(), self._footer(screen.size.columns)]
        if self._shows_help:
            return [*KEY_HELP, "", *below[-1:]]
        used = {seat: sum(turns) for seat, turns in turn_times(self._recorded.entries[: self._position]).items()}
        match = self._match_after(self._position)
        if self._position:
            heading = describe_event(self._recorded.facts[self._position - 1], match.names)[0]
            scene = Scene(f"{self._position}: {heading}", match, self._match_after(self._position - 1), self._seat)
        else:
            scene = Scene(f"0: {describe_event(Started(match.names), match.names)[0]}", match, seat=self._seat)
        return render_scene(scene, self._draw, used, below, screen.size)

    def _below(self) -> Sequence[str]:
        if self._position < self._last:
            return []
        closing = self._recorded.closing
        if closing is None:
            return [f"unfinished after fact {self._last}"]
        return format_standings(closing.result, self._recorded.names)

    def _footer(self, width: int) -> str:
        """The position, the typed number, and the keys; the key that leaves stays when there is little room."""
        footer = f"{self._position} of {self._last} facts   "
        footer += f"to {self._typed}, Enter   " if self._typed else ""
        hints = [*KEY_HINTS[:1], PLAY_HINT if self._next_step_at is None else PAUSE_HINT, *KEY_HINTS[1:]]
        while hints and len(footer) + len("   ".join(hints)) > width:
            hints.pop()
        return truncate(footer + "   ".join(reversed(hints)), width)

    def _match_after(self, facts: int) -> Match[Any, Any, Any]:
        while len(self._matches) <= facts:
            self._matches.append(self._matches[-1].after(self._recorded.facts[len(self._matches) - 1]))
        return self._matches[facts]

    def _go_to(self, facts: int) -> None:
        self._position = min(max(0, facts), self._last)

    def _play_or_pause(self) -> None:
        if self._next_step_at is not None:
            self._next_step_at = None
            return
        if self._position == self._last:
            self._position = 0
        self._next_step_at = time.monotonic() + PLAYBACK_INTERVAL_S


def step_through(recorded: RecordedMatch, draw: DrawBoard, seat: Seat | None = None) -> None:
    """Let a person step through a match, with the view of a seat; None: the spectators' view."""
    stepper, last = Stepper(recorded, draw, seat), list[str]()
    with Screen(sys.stdout) as screen:
        while not stepper.is_over:
            frame = stepper.frame(screen)
            if frame != last or screen.is_blank:
                screen.show(frame)
                last = frame
            for key in screen.keys(stepper.wait_s()):
                stepper.press(key)
