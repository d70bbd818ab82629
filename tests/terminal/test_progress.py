"""Test the progress of a tournament: the bar on a terminal, and the lines where there is none."""

import os
import pty
import re
import signal
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from fairplay.core.events import Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Evidence
from fairplay.hosting.spec import Entrant
from fairplay.terminal import progress
from fairplay.terminal.progress import MAX_SHOWN_ATTEMPTS, MAX_SHOWN_EJECTIONS, BarProgress, Progress, SilentProgress
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.events import (
    AttemptFailed,
    BotChecked,
    BotChecksBegan,
    MatchEnded,
    PlayerEjected,
    RoundBegan,
    TournamentEnded,
)
from tests.cli.command import INSTALLED_COMMAND
from tests.cli.tournament_files import SLOW_KEYS, TIMEOUT_S, install_napping_player, write_tournament_file

PLAYERS = ("ann", "bob")
ENDED = MatchEnded(CountedMatch(match="m1", deal=0, names=PLAYERS))


def ejected(name: str) -> PlayerEjected:
    return PlayerEjected("m00001", name, Ejected(0, Fault.TIMED_OUT, Moment.TURN, "no answer within 1 s"))


def began(number: int, matches: int, before: int, ejections: int = 0, discarded_attempts: int = 0) -> RoundBegan:
    """A round, so many of whose matches were played before."""
    players = tuple(Entrant("random", name) for name in PLAYERS)
    return RoundBegan(number, players, matches, (ENDED.counted,) * before, ejections, discarded_attempts)


def make_progress(rounds: int | None = 1) -> Progress:
    """The progress of a tournament that began at 0."""
    with patch.object(time, "monotonic", lambda: 0.0):
        return Progress(list, rounds)


def observe(watcher: Progress, *events: object, at: float = 0.0, after: float = 2.0) -> str:
    """The line after some events that happened at one moment."""
    with patch.object(time, "monotonic", lambda: at):
        for event in events:
            watcher.observe(event)  # type: ignore[arg-type]
    with patch.object(time, "monotonic", lambda: after):
        return watcher.status_line


def test_it_says_what_is_waited_for_before_the_first_match() -> None:
    watcher = make_progress()

    assert (watcher.status_line, watcher.done_share) == ("starting", 0)
    assert observe(watcher, BotChecksBegan(PLAYERS), BotChecked("ann", "")) == "trying out the bots, 1 of 2"
    assert watcher.done_share == 0.5
    assert observe(watcher, BotChecked("bob", ""), began(1, 40, 0)) == "0 of 40 matches"
    assert watcher.done_share == 0


def test_the_line_has_the_rate_and_the_time_that_is_left() -> None:
    watcher = make_progress()

    line = observe(watcher, began(1, 400, 40), *[ENDED] * 10, ejected("ann"))

    assert line == "50 of 400 matches, 5.0 per second, 1 min 10 s left, 1 ejection"
    assert watcher.done_share == 0.125
    assert observe(watcher, TournamentEnded(())) == "all matches are over"


def test_a_round_is_said_to_go_on_only_if_some_of_it_was_played_before(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = make_progress()

    observe(watcher, began(1, 10, 10), began(2, 10, 0), began(3, 10, 4))

    assert capsys.readouterr().err == "fairplay: going on: 4 of 10 matches of round 3 were played before\n"


def test_ejections_and_void_attempts_before_an_interruption_are_counted() -> None:
    watcher = make_progress(2)

    line = observe(watcher, began(1, 9, 9, 4, 1), began(2, 9, 3, 2, 1), ejected("ann"))

    assert line == "round 2 of 2, 3 of 9 matches, 7 ejections, 2 void attempts"


def test_a_crash_is_told_with_the_error_that_the_program_named(capsys: pytest.CaptureFixture[str]) -> None:
    crash = Ejected(0, Fault.CRASHED, Moment.GREETING, "the program ended with exit code 1")
    evidence = Evidence(exit_code=1, stderr="  File x\nSyntaxError: '(' was never closed\n")

    observe(make_progress(), PlayerEjected("m00001", "ann", crash, evidence))

    line = "fairplay: ann was ejected from m00001: crashed, the program ended with exit code 1"
    assert capsys.readouterr().err == f"{line}: SyntaxError: '(' was never closed\n"


def test_where_the_number_of_rounds_is_known_all_of_them_are_meant() -> None:
    swiss, knock_out = make_progress(4), make_progress(None)
    events = [began(1, 10, 0), *[ENDED] * 10, began(2, 10, 0), *[ENDED] * 5]

    assert observe(swiss, *events, after=3) == "round 2 of 4, 5 of 10 matches, 5.0 per second, 5 s left"
    assert swiss.done_share == 15 / 40
    assert observe(knock_out, *events, after=3) == "round 2, 5 of 10 matches, 5.0 per second, 1 s left of this round"
    assert knock_out.done_share == 0.5


def test_the_rate_is_that_since_the_first_round_began() -> None:
    watcher = make_progress(2)

    observe(watcher, began(1, 10, 0), at=10.0)
    observe(watcher, *[ENDED] * 10, at=11.0)
    line = observe(watcher, began(2, 10, 0), at=12.0, after=12.0)

    assert line == "round 2 of 2, 0 of 10 matches, 5.0 per second, 2 s left"


def test_a_round_more_than_was_thought_has_matches_left() -> None:
    line = observe(make_progress(2), began(3, 10, 0), *[ENDED] * 5, after=1)

    assert line == "round 3 of 2, 5 of 10 matches, 5.0 per second, 1 s left"


def test_repeated_failures_of_one_player_hide_no_other_player(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = make_progress()

    line = observe(watcher, began(1, 40, 0), *[ejected("b\x1b[2Jad")] * 9, ejected("x" * 99))

    assert capsys.readouterr().err.splitlines() == [
        *["fairplay: b�[2Jad was ejected from m00001: timed out, no answer within 1 s"] * MAX_SHOWN_EJECTIONS,
        "fairplay: further ejections of b�[2Jad are not shown",
        f"fairplay: {'x' * 39}… was ejected from m00001: timed out, no answer within 1 s",
    ]
    assert line == "0 of 40 matches, 10 ejections"


def test_attempts_are_told_of_until_there_are_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = make_progress()

    line = observe(watcher, began(1, 40, 0), *[AttemptFailed("m1", 1, "played again")] * 30)

    assert capsys.readouterr().err.splitlines() == [
        *["fairplay: attempt 1 at m1 does not count: played again"] * MAX_SHOWN_ATTEMPTS,
        "fairplay: further attempts that do not count are not shown",
    ]
    assert line == "0 of 40 matches, 30 void attempts"


def test_without_a_terminal_there_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = make_progress()
    observe(watcher, began(1, 40, 0))

    for now in range(1, 26):
        observe(watcher, ENDED, at=now)

    assert capsys.readouterr().err.splitlines() == [
        "fairplay: 11 of 40 matches, 1.0 per second, 29 s left",
        "fairplay: 22 of 40 matches, 1.0 per second, 18 s left",
    ]


@pytest.mark.parametrize(
    ("term", "terminal", "bar", "quiet", "kind"),
    [
        ("xterm", True, True, False, BarProgress),
        ("dumb", True, True, False, Progress),
        ("unknown", True, True, False, Progress),
        ("xterm", False, True, False, Progress),
        ("xterm", True, False, False, Progress),
        ("xterm", True, True, True, SilentProgress),
    ],
)
def test_a_bar_is_shown_where_it_can_move(
    term: str, terminal: bool, bar: bool, quiet: bool, kind: type[Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)

    assert type(progress.make_progress(list, 1, quiet=quiet, bar=bar)) is kind


class Clock:
    """A time that passes when the test says so; each look at the standings takes so much of it."""

    def __init__(self, look: float) -> None:
        self.now = 0.0
        self.looks: list[float] = []
        self._look = look

    def rows(self) -> list[str]:
        self.looks.append(self.now)
        self.now += self._look
        return []


def test_standings_that_take_long_are_looked_at_the_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(look=1.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)

    with BarProgress(clock.rows, 1) as bar:
        bar.observe(began(1, 100, 0))
        for _ in range(50):
            clock.now += 1.0
            bar.observe(ENDED)

    assert clock.looks == [2.0, 24.0, 46.0]


@pytest.mark.parametrize(("counted", "looks"), [(0, []), (7, [5.0])])
def test_a_tournament_that_goes_on_shows_the_standings_before_its_next_match_is_over(
    counted: int, looks: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(look=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)

    with BarProgress(clock.rows, 1) as bar:
        clock.now = 5.0
        bar.observe(began(1, 40, counted))

    assert clock.looks == looks


def test_the_bar_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_napping_player(tmp_path, monkeypatch)
    path = write_tournament_file(tmp_path, **SLOW_KEYS)
    pid, terminal = pty.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        env = {**os.environ, "NAP": "0.03", "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
        os.execve(INSTALLED_COMMAND, ["fairplay", "tournament", str(path), "--jobs", "1"], env)
    shown, deadline = "", time.monotonic() + TIMEOUT_S
    while not re.search(r"\d of 24 matches, .*\r\n.*\r\n#  name .*rating", shown):
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 65536).decode()
    os.write(terminal, b"\x03")  # Ctrl-C
    try:
        while more := os.read(terminal, 65536):
            shown += more.decode()
    except OSError:  # nobody has it open any more
        os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert code == 130
    assert re.match(r"(\x1b\[\?25l)?starting", shown)
    assert re.search(r"\x1b\[2K[━╸ ]{40}\r\n\d+ of 24 matches, \d+\.\d per second, (\d+ min )?\d+ s left\r\n", shown)
    assert set(re.findall(r"\x1b\[[?0-9;]*([A-Za-z])", shown)) <= set("AKhl")  # the cursor moves, without colours
    assert shown.rstrip().endswith(
        f"fairplay: interrupted; to go on: the same command again; so far: fairplay standings {tmp_path / 'cup'}"
    )
    assert "\x1b[?25h" in shown  # the cursor is back
