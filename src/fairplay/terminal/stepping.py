"""Step through a recorded match on a terminal, by keys."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from fairplay.core.events import Started
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.hosting.records import turns_taken
from fairplay.journal.replay import Recorded
from fairplay.observers.reporter import in_words, standings
from fairplay.render.text import cut
from fairplay.terminal.scene import Draw, Scene, lines_of
from fairplay.terminal.screen import LEAVING, Screen

PACE = 0.5  # seconds from fact to fact when it plays
TICK = 0.25  # seconds until the size of the terminal is looked at anyhow
FAR = 10  # facts that "page up" and "page down" go
LONGEST_NUMBER = 9
STEPS = {"left": -1, "up": -1, "right": 1, "down": 1, "page up": -FAR, "page down": FAR}
HINTS = ("q leaves", "? helps", "← → step")  # the first is the last to be left out
PLAYS, PLAYING = "space plays", "playing, space pauses"
HELP = (
    "← ↑           one fact back",
    "→ ↓           one fact on",
    "Page Up/Down  ten facts back, ten facts on",
    "Home, End     to the beginning, to the end",
    "12 Enter      to where 12 facts have happened",
    "space         play, or pause",
    "?             this help, and any key away with it",
    "q             leave",
)


class Stepping:
    """Where somebody is in a recorded match, and what becomes of it with every key."""

    def __init__(self, recorded: Recorded, draw: Draw, seat: Seat | None = None) -> None:
        self._recorded = recorded
        self._seat = seat
        self._draw = draw
        self._matches = [recorded.at(0)]  # after each number of facts; worked out as far as somebody has been
        self._last = len(recorded.entries)
        self._at = 0
        self._typed = ""
        self._helping = False
        self._due: float | None = None  # when the next fact is shown by itself; None: it does not play
        self.over = False

    def press(self, key: str) -> None:
        """Do what a key stands for; one that stands for nothing does nothing."""
        typed, self._typed = self._typed, ""
        if self._helping:
            self._helping = False
        elif key.isdecimal() and key.isascii():
            self._typed = (typed + key)[-LONGEST_NUMBER:]
        elif key == "backspace":
            self._typed = typed[:-1]
        elif key == "enter" and typed:
            self._go(int(typed))
        elif key in STEPS:
            self._go(self._at + STEPS[key])
        elif key in ("home", "end"):
            self._go(0 if key == "home" else self._last)
        elif key == "space":
            self._play_or_pause()
        elif key == "?":
            self._helping, self._due = True, None
        self.over = key == LEAVING

    def wait(self) -> float:
        """How long nothing happens without a key, at most; when it plays, a fact may be shown now."""
        if self._due is None:
            return TICK
        now = time.monotonic()
        if now >= self._due:
            self._go(self._at + 1)
            self._due = now + PACE if self._at < self._last else None
        return TICK if self._due is None else min(TICK, max(0.0, self._due - now))

    def frame(self, screen: Screen) -> list[str]:
        """What is on the screen."""
        below = [*self._below(), self._foot(screen.size.columns)]
        if self._helping:
            return [*HELP, "", *below[-1:]]
        used = {seat: sum(turns) for seat, turns in turns_taken(self._recorded.entries[: self._at]).items()}
        match = self._match(self._at)
        if self._at:
            said = in_words(self._recorded.facts[self._at - 1], match.names)[0]
            scene = Scene(f"{self._at}: {said}", match, self._match(self._at - 1), self._seat)
        else:
            scene = Scene(f"0: {in_words(Started(match.names), match.names)[0]}", match, seat=self._seat)
        return lines_of(scene, self._draw, used, below, screen.size)

    def _below(self) -> Sequence[str]:
        if self._at < self._last:
            return []
        closing = self._recorded.closing
        if closing is None:
            return [f"unfinished after fact {self._last}"]
        return standings(closing.result, self._recorded.names)

    def _foot(self, width: int) -> str:
        """Where we are, what was typed, and what keys do: the way out stays when there is little room."""
        said = f"{self._at} of {self._last} facts   "
        said += f"to {self._typed}, Enter   " if self._typed else ""
        hints = [*HINTS[:1], PLAYS if self._due is None else PLAYING, *HINTS[1:]]
        while hints and len(said) + len("   ".join(hints)) > width:
            hints.pop()
        return cut(said + "   ".join(reversed(hints)), width)

    def _match(self, facts: int) -> Match[Any, Any, Any]:
        while len(self._matches) <= facts:
            self._matches.append(self._matches[-1].after(self._recorded.facts[len(self._matches) - 1]))
        return self._matches[facts]

    def _go(self, facts: int) -> None:
        self._at = min(max(0, facts), self._last)

    def _play_or_pause(self) -> None:
        if self._due is not None:
            self._due = None
            return
        if self._at == self._last:
            self._at = 0
        self._due = time.monotonic() + PACE


def step_through(recorded: Recorded, draw: Draw, seat: Seat | None = None) -> None:
    """Let somebody step through a match until they leave, as this seat sees it; None: as spectators do."""
    stepping, shown = Stepping(recorded, draw, seat), list[str]()
    with Screen(sys.stdout) as screen:
        while not stepping.over:
            frame = stepping.frame(screen)
            if frame != shown or screen.fresh:
                screen.show(frame)
                shown = frame
            for key in screen.keys(stepping.wait()):
                stepping.press(key)
