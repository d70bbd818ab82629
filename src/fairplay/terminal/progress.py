"""Show the progress and the result of a tournament: a bar and standings on a terminal, or a line now and then."""

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

from fairplay.app.tournaments import joining_entrants, run_tournament, write_reports
from fairplay.diagnosis.ejection_explanation import describe_failure
from fairplay.hosting.prepared_match import seed_warning
from fairplay.render.formatting import MAX_PRINTED_CHARS, shell_quote
from fairplay.render.text import printable
from fairplay.terminal.matches import add_resume_hint
from fairplay.tournament.events import (
    AttemptFailed,
    BotChecked,
    BotChecksBegan,
    MatchEnded,
    PlayerEjected,
    RoundBegan,
    TournamentEnded,
    TournamentEvent,
)
from fairplay.tournament.report.decision import describe_verdict
from fairplay.tournament.report.table import describe_significance, describe_unranked, format_standings
from fairplay.tournament.result import LiveResult, TournamentResult
from fairplay.tournament.settings import Duplicate, RoundRobin
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.tournament_log import log_exists

MAX_SHOWN_EJECTIONS = 3  # of one player, one line each; later ones are only counted
MAX_SHOWN_ATTEMPTS = 10  # void attempts, likewise
REPORT_INTERVAL_S = 10.0  # seconds between two lines without a terminal
REFRESH_INTERVAL_S = 2.0  # seconds between two updates of the standings
REFRESH_COST_FACTOR = 20  # the interval is at least so many times as long as an update takes, as playing has priority
BAR_WIDTH_CHARS = 40  # of the bar
MAX_LIVE_ROWS = 20  # of standings below it


class Progress:
    """An observer that reports the progress of a tournament."""

    def __init__(self, rows: Callable[[], list[str]], rounds: int | None) -> None:
        self._rows = rows  # the standings as lines of text
        self._rounds = rounds  # None: the number is unknown
        self._bots = self._tried = 0
        self._round: RoundBegan | None = None
        self._over = False
        self._done = 0  # matches of this round
        self._earlier = 0  # matches of the rounds before
        self._played_now = 0  # matches that were played since we began
        self._ejected: Counter[str] = Counter()  # by name, since we began
        self._ejections = self._void = 0  # in all matches, and attempts that are void
        self._reported_void = 0  # since we began
        self._since = self._reported_at = time.monotonic()

    def observe(self, event: TournamentEvent) -> None:
        match event:
            case BotChecksBegan(bots):
                self._bots = len(bots)
                if bots:
                    self.say(f"checking {format_nonzero_count(len(bots), 'bot')} before the first match")
            case BotChecked(name, why):
                self._tried += 1
                count = f"{self._tried} of {self._bots}"
                self.say(f"{short_name(name)} is {f'NOT READY: {why}' if why else 'ready'} ({count})")
            case RoundBegan(number, _, matches, counted, ejections, discarded_attempts):
                self._ejections += ejections
                self._void += discarded_attempts
                if self._round is None:
                    self._since = time.monotonic()
                self._earlier += self._done
                self._round, self._done = event, len(counted)
                if 0 < len(counted) < matches:
                    self.say(f"going on: {len(counted)} of {matches} matches of round {number} were played before")
            case PlayerEjected(match, name, ejected, evidence):
                self._ejections += 1
                self._ejected[name] += 1
                fault, why = ejected.fault.description, describe_failure(ejected, evidence)
                self._say_limited(
                    self._ejected[name],
                    MAX_SHOWN_EJECTIONS,
                    f"{short_name(name)} was ejected from {match}: {fault}, {why}",
                    f"ejections of {short_name(name)}",
                )
            case AttemptFailed(match, attempt, why):
                self._void += 1
                self._reported_void += 1
                text = f"attempt {attempt} at {match} does not count: {why}"
                self._say_limited(self._reported_void, MAX_SHOWN_ATTEMPTS, text, "attempts that do not count")
            case MatchEnded():
                self._done += 1
                self._played_now += 1
            case TournamentEnded():
                self._over = True
        self.show(event)

    @property
    def has_begun(self) -> bool:
        """Was there a round?"""
        return self._round is not None

    @property
    def done_share(self) -> float:
        """The part that is over: of the tournament, or of the round if the number of rounds is unknown."""
        if self._round is None:
            return self._tried / max(1, self._bots)
        earlier = self._earlier if self._rounds else 0
        return (earlier + self._done) / max(1, earlier + self._done + self._matches_left)

    @property
    def status_line(self) -> str:
        """The progress in one line."""
        if self._over:
            return "all matches are over"
        if self._round is None:
            return f"trying out the bots, {self._tried} of {self._bots}" if self._bots else "starting"
        number, rate = self._round.number, self._played_now / max(1e-9, time.monotonic() - self._since)
        of = f" of {self._rounds}" if self._rounds else ""
        parts = [
            f"round {number}{of}" if self._rounds != 1 else "",
            f"{self._done} of {self._round.matches} matches",
            f"{rate:.1f} per second" if self._played_now else "",
            f"{format_wait(self._matches_left / rate)} left{'' if self._rounds else ' of this round'}"
            if self._played_now
            else "",
            format_nonzero_count(self._ejections, "ejection"),
            format_nonzero_count(self._void, "void attempt"),
        ]
        return ", ".join(part for part in parts if part)

    @property
    def _matches_left(self) -> int:
        """Matches to come, as if all rounds had as many as this one."""
        if self._round is None:
            return 0
        more = max(0, self._rounds - self._round.number) if self._rounds else 0
        return self._round.matches - self._done + more * self._round.matches

    def _say_limited(self, number: int, most: int, text: str, what: str) -> None:
        """Print a message, unless there were too many of its kind."""
        if number <= most:
            self.say(text)
        if number == most:
            self.say(f"further {what} are not shown")

    def say(self, text: str) -> None:
        """Print a message that stays."""
        click.echo(f"fairplay: {printable(text, MAX_PRINTED_CHARS)}", err=True)

    def show(self, event: TournamentEvent) -> None:
        """Show the progress."""
        now = time.monotonic()
        if isinstance(event, MatchEnded) and now - self._reported_at > REPORT_INTERVAL_S:
            self._reported_at = now
            self.say(self.status_line)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open."""


class BarProgress(Progress):
    """Shows the progress on a terminal: a bar above the current standings."""

    def __enter__(self) -> "BarProgress":
        from rich.console import Console, Group  # start-up: it takes long to load
        from rich.live import Live
        from rich.padding import Padding
        from rich.progress_bar import ProgressBar
        from rich.text import Text

        self._text = Text
        self._refresh_at = time.monotonic() + REFRESH_INTERVAL_S / 2  # the first look is soon
        self._standings: list[str] = []

        def picture() -> Any:
            lines = "\n".join([self.status_line, *(["", *self._standings] if self._standings else [])])
            bar = Padding(
                ProgressBar(total=1, completed=self.done_share, width=BAR_WIDTH_CHARS), expand=False
            )  # on a line of its own
            return Group(bar, Text(lines, no_wrap=True, overflow="ellipsis"))

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, get_renderable=picture, refresh_per_second=4, transient=True)
        self._live.start(refresh=True)  # so that the bar is visible while workers start
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Print a message above the bar."""
        self._console.print(self._text(f"fairplay: {printable(text, MAX_PRINTED_CHARS)}"), soft_wrap=True)

    def show(self, event: TournamentEvent) -> None:
        """Update the standings now and then."""
        played = isinstance(event, MatchEnded) or (isinstance(event, RoundBegan) and event.counted)
        if played and (now := time.monotonic()) > self._refresh_at:
            self._standings = self._rows()
            later = time.monotonic()
            self._refresh_at = later + max(REFRESH_INTERVAL_S, REFRESH_COST_FACTOR * (later - now))


class SilentProgress(Progress):
    """Prints nothing."""

    def say(self, text: str) -> None:
        """Ignore the message."""


def show_tournament(
    spec: TournamentSpec, out: str | None, *, quiet: bool, bot_logs: str | None = None, **how: Any
) -> None:
    """Run a tournament with `run_tournament`, show it, and write its results if there is a directory."""
    with ExitStack() as leaving:
        directory = Path(out if out is not None else leaving.enter_context(TemporaryDirectory(prefix="fairplay-")))
        live = LiveResult(spec, directory)
        bar = "runner" in how or not joining_entrants(spec)  # players that join need the messages that say where
        showing = make_progress(lambda: live_standings(live.result), round_count(spec), quiet=quiet, bar=bar)
        if warning := seed_warning(spec.rules(), [player.address for player in spec.players], guessable=spec.guessable):
            click.echo(f"fairplay: {warning}", err=True)
        leaving.enter_context(add_resume_hint(lambda: tournament_resume_hint(out)))
        with showing, redirect_stdout(sys.stderr):  # what players print in this process
            result = run_tournament(
                spec, directory=directory, observers=[live, showing], report=False, bot_logs=bot_logs, **how
            )
        if not showing.has_begun:
            showing.say("it was over before, and nothing is left to be played")
        show_standings(result)
        if out is not None:
            write_reports(result)
            click.echo(f"\nresults: {out}/results.json, results.csv, report.html; matches: {out}/matches")
        elif not quiet:
            click.echo("fairplay: journals and results are not kept; --out DIR keeps them", err=True)
        if bot_logs is not None:
            click.echo(f"bot logs: {bot_logs}, with a directory for each player that is a program")


def tournament_resume_hint(out: str | None) -> str:
    """The hint after an error: how to resume the tournament, if it can be resumed."""
    with suppress(OSError):
        if out is not None and log_exists(Path(out)):
            return f"; to go on: the same command again; so far: fairplay standings {shell_quote(out)}"
    return ""


def round_count(tournament: TournamentSpec) -> int | None:
    """The number of rounds of a tournament; None: it is unknown."""
    rounds: int | None = getattr(tournament.format, "rounds", None)
    return 1 if isinstance(tournament.format, RoundRobin | Duplicate) else rounds


def live_standings(result: TournamentResult) -> list[str]:
    """The standings so far, as many as fit below a bar."""
    decided = describe_verdict(result.spec, result.counted)
    return [*format_standings(result.standings)[:MAX_LIVE_ROWS], *(["", decided[0]] if decided is not None else [])]


def show_standings(result: TournamentResult) -> None:
    """Print the standings of a tournament."""
    for line in format_standings(result.standings):
        click.echo(line)
    click.echo(f"\n{describe_significance([row.name for row in result.standings], result.ratings.significant_pairs)}")
    void = sum(bool(one.void) for one in result.counted)
    if void:
        click.echo(f"{void} of {len(result.counted)} matches do not count: see results.json")
    if said := describe_unranked(result.counted):
        click.echo(said)
    if (decided := describe_verdict(result.spec, result.counted)) is not None:
        click.echo(decided[0])


def make_progress(rows: Callable[[], list[str]], rounds: int | None, *, quiet: bool, bar: bool) -> Progress:
    """The progress display for this terminal; no bar if workers print messages, such as where to join."""
    if quiet:
        return SilentProgress(rows, rounds)
    return BarProgress(rows, rounds) if bar and is_interactive() else Progress(rows, rounds)


def is_interactive() -> bool:
    """Can the terminal show a moving bar?"""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def format_wait(seconds: float) -> str:
    """A time to wait, in words.

    >>> format_wait(5), format_wait(65), format_wait(7300)
    ('5 s', '1 min 5 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def format_nonzero_count(number: int, what: str) -> str:
    """So many things; nothing, if there are none.

    >>> format_nonzero_count(1, "ejection"), format_nonzero_count(2, "ejection")
    ('1 ejection', '2 ejections')
    """
    return f"{number} {what}{'s' * (number > 1)}" if number else ""


def short_name(name: str) -> str:
    """A name that fits into a line."""
    return printable(name, 40)
