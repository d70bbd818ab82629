"""Show how far a tournament is, while it runs: a bar and the standings on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable
from typing import Any

import click

from fairplay.render.text import printable
from fairplay.render.words import LONGEST
from fairplay.tournament.events import (
    AttemptFailed,
    BotTried,
    MatchEnded,
    PlayerEjected,
    RoundBegan,
    TournamentEvent,
)

MOST_TOLD = 20  # ejections, in a line each; then they are only counted
EVERY = 10.0  # seconds between two lines where there is no terminal
REFRESH = 2.0  # seconds between two looks at the standings


class Progress:
    """An observer that tells whoever runs a tournament how it goes."""

    def __init__(self, rows: Callable[[], list[str]]) -> None:
        self._rows = rows  # the standings as lines of text
        self._round = RoundBegan(0, (), 0, 0)
        self._done = 0  # matches of this round
        self._fresh = 0  # of these: played since we began
        self._ejected = 0
        self._since = self._told = time.monotonic()

    def observe(self, event: TournamentEvent) -> None:
        match event:
            case BotTried(name, why):
                self.say(f"{short(name)} is {f'NOT READY: {why}' if why else 'ready'}")
            case RoundBegan(matches=matches, counted=counted):
                self._round, self._done, self._fresh = event, counted, 0
                self._since = time.monotonic()
                if counted:
                    self.say(f"going on: {counted} of {matches} matches of round {event.number} were played before")
            case PlayerEjected(match, name, ejected):
                self._ejected += 1
                if self._ejected <= MOST_TOLD:
                    fault = ejected.fault.value.replace("_", " ")
                    self.say(f"{short(name)} was ejected from {match}: {fault}, {ejected.why}")
                if self._ejected == MOST_TOLD:
                    self.say("more ejections are only counted")
            case AttemptFailed(match, attempt, why):
                self.say(f"attempt {attempt} at {match} does not count: {why}")
            case MatchEnded():
                self._done += 1
                self._fresh += 1
        self.show(event)

    @property
    def rate(self) -> float:
        """Matches per second in this round."""
        return self._fresh / max(1e-9, time.monotonic() - self._since)

    @property
    def line(self) -> str:
        """How far it is, in a line."""
        left = (self._round.matches - self._done) / self.rate if self._fresh else None
        parts = [
            f"round {self._round.number}",
            f"{self._done} of {self._round.matches} matches",
            f"{self.rate:.1f} per second" if self._fresh else "",
            f"{clock(left)} left" if left is not None else "",
            f"{self._ejected} ejected" if self._ejected else "",
        ]
        return ", ".join(part for part in parts if part)

    def say(self, text: str) -> None:
        """Say something that stays."""
        click.echo(f"fairplay: {printable(text, LONGEST)}", err=True)

    def show(self, event: TournamentEvent) -> None:
        """Show how far it is."""
        now = time.monotonic()
        if isinstance(event, MatchEnded) and now - self._told > EVERY:
            self._told = now
            self.say(self.line)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open."""


class Bar(Progress):
    """The same on a terminal: a bar that moves, above the standings as they are."""

    def __enter__(self) -> "Bar":
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        self._looked = 0.0
        self._standings: list[str] = []

        def picture() -> Any:
            bar = ProgressBar(total=max(1, self._round.matches), completed=self._done, width=40)
            return Group(bar, Text(self.line), Text("\n".join(self._standings)))

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, get_renderable=picture, refresh_per_second=4, transient=True)
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def say(self, text: str) -> None:
        """Say it above the bar."""
        self._console.print(f"fairplay: {printable(text, LONGEST)}", markup=False, highlight=False)

    def show(self, event: TournamentEvent) -> None:
        """Look at the standings now and then."""
        now = time.monotonic()
        if isinstance(event, MatchEnded) and now - self._looked > REFRESH:
            self._standings = self._rows()
            self._looked = time.monotonic()


def progress(rows: Callable[[], list[str]], *, quiet: bool) -> Progress:
    """What fits where we run."""
    if quiet:
        return Silent(rows)
    return Bar(rows) if sys.stderr.isatty() else Progress(rows)


class Silent(Progress):
    """Says nothing."""

    def say(self, text: str) -> None:
        """Nobody wants to hear it."""


def clock(seconds: float) -> str:
    """A time to wait, in words.

    >>> clock(5), clock(65), clock(7300)
    ('5 s', '1 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def short(name: str) -> str:
    """A name that fits into a line."""
    return printable(name, 40)
