"""Show a tournament: a bar and the standings on a terminal while it runs, else a line now and then; then its result."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from fairplay.app.tournaments import joining, run_tournament, write_reports
from fairplay.diagnosis.why import describe_failure
from fairplay.hosting.sitting import caution
from fairplay.render.text import printable
from fairplay.render.words import LONGEST, quoted
from fairplay.terminal.matches import naming_resumption
from fairplay.tournament.events import (
    AttemptFailed,
    BotTried,
    MatchEnded,
    PlayerEjected,
    RoundBegan,
    TournamentEnded,
    TournamentEvent,
    TrialsBegan,
)
from fairplay.tournament.notebook import exists
from fairplay.tournament.report.decision import decision
from fairplay.tournament.report.table import describe_unranked, table, told_apart
from fairplay.tournament.result import LiveResult, TournamentResult
from fairplay.tournament.settings import Duplicate, RoundRobin
from fairplay.tournament.spec import Cup

MOST_EJECTIONS = 3  # of one player, in a line each; then they are only counted
MOST_ATTEMPTS = 10  # that do not count, likewise
EVERY = 10.0  # seconds between two lines where there is no terminal
REFRESH = 2.0  # seconds between two looks at the standings
SHARE = 20  # and so many times as long as a look takes: what is played is worth more than what is shown
WIDTH = 40  # of the bar
MAX_LIVE_ROWS = 20  # of standings below it


class Progress:
    """An observer that tells whoever runs a tournament how it goes."""

    def __init__(self, rows: Callable[[], list[str]], rounds: int | None) -> None:
        self._rows = rows  # the standings as lines of text
        self._rounds = rounds  # None: nobody knows how many there will be
        self._bots = self._tried = 0
        self._round: RoundBegan | None = None
        self._over = False
        self._done = 0  # matches of this round
        self._earlier = 0  # matches of the rounds before
        self._fresh = 0  # matches that were played since we began
        self._ejected: Counter[str] = Counter()  # by name, since we began
        self._ejections = self._void = 0  # in all matches, and attempts that are void
        self._told_void = 0  # since we began
        self._since = self._told = time.monotonic()

    def observe(self, event: TournamentEvent) -> None:
        match event:
            case TrialsBegan(bots):
                self._bots = len(bots)
                if bots:
                    self.say(f"checking {several(len(bots), 'bot')} before the first match")
            case BotTried(name, why):
                self._tried += 1
                count = f"{self._tried} of {self._bots}"
                self.say(f"{short(name)} is {f'NOT READY: {why}' if why else 'ready'} ({count})")
            case RoundBegan(number, _, matches, counted, ejections, void_attempts):
                self._ejections += ejections
                self._void += void_attempts
                if self._round is None:
                    self._since = time.monotonic()
                self._earlier += self._done
                self._round, self._done = event, len(counted)
                if 0 < len(counted) < matches:
                    self.say(f"going on: {len(counted)} of {matches} matches of round {number} were played before")
            case PlayerEjected(match, name, ejected, evidence):
                self._ejections += 1
                self._ejected[name] += 1
                fault, why = ejected.fault.in_words, describe_failure(ejected, evidence)
                self._say_some(
                    self._ejected[name],
                    MOST_EJECTIONS,
                    f"{short(name)} was ejected from {match}: {fault}, {why}",
                    f"ejections of {short(name)}",
                )
            case AttemptFailed(match, attempt, why):
                self._void += 1
                self._told_void += 1
                text = f"attempt {attempt} at {match} does not count: {why}"
                self._say_some(self._told_void, MOST_ATTEMPTS, text, "attempts that do not count")
            case MatchEnded():
                self._done += 1
                self._fresh += 1
            case TournamentEnded():
                self._over = True
        self.show(event)

    @property
    def begun(self) -> bool:
        """Was there a round?"""
        return self._round is not None

    @property
    def share(self) -> float:
        """How much of it is over: of all, or of the round if nobody knows how many there will be."""
        if self._round is None:
            return self._tried / max(1, self._bots)
        earlier = self._earlier if self._rounds else 0
        return (earlier + self._done) / max(1, earlier + self._done + self._left)

    @property
    def line(self) -> str:
        """How far it is, in a line."""
        if self._over:
            return "all matches are over"
        if self._round is None:
            return f"trying out the bots, {self._tried} of {self._bots}" if self._bots else "starting"
        number, rate = self._round.number, self._fresh / max(1e-9, time.monotonic() - self._since)
        of = f" of {self._rounds}" if self._rounds else ""
        parts = [
            f"round {number}{of}" if self._rounds != 1 else "",
            f"{self._done} of {self._round.matches} matches",
            f"{rate:.1f} per second" if self._fresh else "",
            f"{clock(self._left / rate)} left{'' if self._rounds else ' of this round'}" if self._fresh else "",
            several(self._ejections, "ejection"),
            several(self._void, "void attempt"),
        ]
        return ", ".join(part for part in parts if part)

    @property
    def _left(self) -> int:
        """Matches to come, as if all rounds had as many as this one."""
        if self._round is None:
            return 0
        more = max(0, self._rounds - self._round.number) if self._rounds else 0
        return self._round.matches - self._done + more * self._round.matches

    def _say_some(self, number: int, most: int, text: str, what: str) -> None:
        """Say something of which there may be too many, until there are."""
        if number <= most:
            self.say(text)
        if number == most:
            self.say(f"more {what} are only counted")

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
        from rich.console import Console, Group  # start-up: it takes long to load
        from rich.live import Live
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        self._text = Text
        self._due = time.monotonic() + REFRESH / 2  # the first look is soon
        self._standings: list[str] = []

        def picture() -> Any:
            lines = "\n".join([self.line, *(["", *self._standings] if self._standings else [])])
            bar = Padding(ProgressBar(total=1, completed=self.share, width=WIDTH), expand=False)  # on a line of its own
            return Group(bar, Text(lines, no_wrap=True, overflow="ellipsis"))

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, get_renderable=picture, refresh_per_second=4, transient=True)
        self._live.start(refresh=True)  # so that something is seen while workers start
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Say it above the bar."""
        self._console.print(self._text(f"fairplay: {printable(text, LONGEST)}"), soft_wrap=True)

    def show(self, event: TournamentEvent) -> None:
        """Look at the standings now and then."""
        played = isinstance(event, MatchEnded) or (isinstance(event, RoundBegan) and event.counted)
        if played and (now := time.monotonic()) > self._due:
            self._standings = self._rows()
            later = time.monotonic()
            self._due = later + max(REFRESH, SHARE * (later - now))


class Silent(Progress):
    """Says nothing."""

    def say(self, text: str) -> None:
        """Nobody wants to hear it."""


def show_tournament(cup: Cup, out: str | None, *, quiet: bool, bot_logs: str | None = None, **how: Any) -> None:
    """Run a tournament as `run_tournament` is told to, show it, and keep its results if there is a directory."""
    with ExitStack() as leaving:
        directory = Path(out if out is not None else leaving.enter_context(TemporaryDirectory(prefix="fairplay-")))
        live = LiveResult(cup, directory)
        bar = "runner" in how or not joining(cup)  # whoever is to join has to be told where
        showing = progress(lambda: live_lines(live.result), rounds_of(cup), quiet=quiet, bar=bar)
        if warning := caution(cup.rules(), [player.address for player in cup.players], guessable=cup.guessable):
            click.echo(f"fairplay: {warning}", err=True)
        leaving.enter_context(naming_resumption(lambda: how_to_go_on(out)))
        with showing, redirect_stdout(sys.stderr):  # what players print in this process
            result = run_tournament(cup, directory, observers=[live, showing], report=False, bot_logs=bot_logs, **how)
        if not showing.begun:
            showing.say("it was over before, and nothing is left to be played")
        show_standings(result)
        if out is not None:
            write_reports(result)
            click.echo(f"\nresults: {out}/results.json, results.csv, report.html; matches: {out}/matches")
        elif not quiet:
            click.echo("fairplay: journals and results are not kept; --out DIR keeps them", err=True)
        if bot_logs is not None:
            click.echo(f"bot logs: {bot_logs}, with a folder for each player that is a program")


def how_to_go_on(out: str | None) -> str:
    """What to say behind an error, if there is something to go on with."""
    with suppress(OSError):
        if out is not None and exists(Path(out)):
            return f"; to go on: the same command again; so far: fairplay standings {quoted(out)}"
    return ""


def rounds_of(cup: Cup) -> int | None:
    """How many rounds a tournament will have; None: nobody knows."""
    rounds: int | None = getattr(cup.format, "rounds", None)
    return 1 if isinstance(cup.format, RoundRobin | Duplicate) else rounds


def live_lines(result: TournamentResult) -> list[str]:
    """The standings so far, as many as fit below a bar."""
    decided = decision(result.cup, result.counted)
    return [*table(result.standings)[:MAX_LIVE_ROWS], *(["", decided[0]] if decided is not None else [])]


def show_standings(result: TournamentResult) -> None:
    """Print how a tournament stands."""
    for line in table(result.standings):
        click.echo(line)
    click.echo(f"\n{told_apart([row.name for row in result.standings], result.ratings.apart)}")
    void = sum(bool(one.void) for one in result.counted)
    if void:
        click.echo(f"{void} of {len(result.counted)} matches do not count: see results.json")
    if said := describe_unranked(result.counted):
        click.echo(said)
    if (decided := decision(result.cup, result.counted)) is not None:
        click.echo(decided[0])


def progress(rows: Callable[[], list[str]], rounds: int | None, *, quiet: bool, bar: bool) -> Progress:
    """What fits where we run; no bar where workers have something to say, such as where to join."""
    if quiet:
        return Silent(rows, rounds)
    return Bar(rows, rounds) if bar and on_terminal() else Progress(rows, rounds)


def on_terminal() -> bool:
    """Is there somebody who can see something move?"""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def clock(seconds: float) -> str:
    """A time to wait, in words.

    >>> clock(5), clock(65), clock(7300)
    ('5 s', '1 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def several(number: int, what: str) -> str:
    """So many things; nothing, if there are none.

    >>> several(1, "ejection"), several(2, "ejection")
    ('1 ejection', '2 ejections')
    """
    return f"{number} {what}{'s' * (number > 1)}" if number else ""


def short(name: str) -> str:
    """A name that fits into a line."""
    return printable(name, 40)
