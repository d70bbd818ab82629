"""Test matches that are drawn in place, on terminals of 80 and of 60 columns."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.match import Match
from fairplay.games import GAMES, game_info
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.observers.reporter import describe_event
from fairplay.render.text import strip_colours, truncate
from fairplay.terminal.live import MAX_HELD_CHARS, HeldOutput
from tests.cli.command import refusal_line, run_fairplay
from tests.cli.terminal import SHELL, Terminal
from tests.players.programs import becomes_true
from tests.python_path import python_path

OTHERS = {"fish": "greedy", "tsuro": "second", "q": "dag"}
SMALL_FISH = ("--set", "rows=3", "--set", "columns=3", "--seed", "7")
GATED = """
import os
from fairplay.games import make_game

gate = os.open(os.environ["GATE"], os.O_RDONLY)
rules = make_game(os.environ["GAME"], {})

def take_turn(view):
    print("a word from a player")
    os.read(gate, 1)
    return next(iter(rules.actions(view)))
"""
every_game = pytest.mark.parametrize("game", GAMES)


class Watched(Terminal):
    """A match on a terminal: a built-in player, one that waits at a gate on each turn, and another built-in player."""

    def __init__(self, game: str, directory: Path, *options: str, **more: Any) -> None:
        (directory / "gated.py").write_text(GATED)
        os.mkfifo(directory / "gate")
        self._gate = os.open(directory / "gate", os.O_RDWR)
        self.directory, self.game, other = directory, game, OTHERS[game]
        self.gated = {"GATE": str(directory / "gate"), "GAME": game, "PYTHONPATH": python_path(directory)}
        players = [f"Ann={other}", "Bob=in-process:gated:take_turn", f"Zoë={other}"]
        arguments = ["play", game, *players, "--seed", "30", "--journal", str(directory / "journals")]
        arguments += options or ["--pace", "0"]
        super().__init__(*arguments, environment=self.gated | more.pop("environment", {}), **more)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        os.close(self._gate)

    @property
    def recorded(self) -> RecordedMatch:
        (path,) = (self.directory / "journals").glob("*.jsonl")
        return read_journal(path)

    def let_through(self, turns: int) -> None:
        os.write(self._gate, b"." * turns)

    def see_fact(self, number: int) -> list[str]:
        """Wait until Bob is to act after so many facts, and everything about that is on the screen."""
        return self.wait_for_screen(f"{self.game} {number}: ")


def board_of(match: Match[Any, Any, Any], before: Match[Any, Any, Any], columns: int, rows: int) -> str:
    """A board on a terminal of this size."""
    text = game_info(match.game.name).text
    return text(match.view(None), match.names, width=columns, height=rows - 3, before=before.view(None))


@contextmanager
def watched(game: str, directory: Path, *options: str, **more: object) -> Iterator[Watched]:
    terminal = Watched(game, directory, *options, **more)
    with terminal:
        yield terminal
        assert not terminal.screen.has_wrapped


@pytest.mark.parametrize(
    ("game", "columns", "rows"),
    [("fish", 80, 24), ("fish", 60, 60), ("tsuro", 60, 24), ("tsuro", 80, 60), ("q", 80, 24), ("q", 60, 60)],
)
def test_the_board_is_drawn_in_place_and_at_the_end_it_stays_with_the_result(
    game: str, columns: int, rows: int, tmp_path: Path
) -> None:
    with watched(game, tmp_path, columns=columns, rows=rows) as terminal:
        for facts in (1, 4, 7):
            lines = terminal.see_fact(facts)
            recorded = terminal.recorded
            match, before = recorded.match_after(facts), recorded.match_after(facts - 1)
            assert len(recorded.entries) == facts
            words = describe_event(recorded.facts[-1], match.names)[0]
            assert lines[0] == truncate(f"{game} {facts}: {words}", columns)
            assert lines[0].startswith(f"{game} {facts}: Ann ")
            assert "\n".join(lines).split("\n", 1)[1].startswith(board_of(match, before, columns, rows))
            assert "→Bob " in terminal.text
            assert [line for line in lines if line][-1] == "a word from a player"
            terminal.let_through(1)
        terminal.let_through(1000)
        assert terminal.wait_for_exit() == 0

        final = terminal.recorded.match_after(None)
        said = strip_colours(terminal.raw.rpartition(b"\x1b[?1049l")[2].decode().replace("\r\n", "\n"))
        assert game_info(game).text(final.view(None), final.names, width=columns) in said  # all of it, for it scrolls
        assert "a word from a player\n" in said
        assert f"match: {final.id}\nat the table: Ann, Bob, Zoë\ncommitment to the deal: " in said
        assert f" {str(final.commitment)[:16]}…\n" in said
        assert f"\nseed of the deal: {str(final.result.seed)[:16]}…\n" in said
        assert "\n1. " in said
        assert said.endswith(" (covers the result)\n")
        assert f"journal: {tmp_path}/journals/" in said
        assert "places" not in said
        terminal.assert_left_as_it_was()


@pytest.mark.parametrize("how", ["SIGQUIT", "SIGHUP while it stands still", "SIGTERM", "Ctrl-C"])
def test_whatever_ends_a_match_restores_the_terminal(how: str, tmp_path: Path) -> None:
    with watched("fish", tmp_path) as terminal:
        terminal.see_fact(1)
        if "still" in how:
            terminal.press("\x13")  # Ctrl-S
        if how == "Ctrl-C":
            terminal.press("ctrl-c")
        else:
            terminal.process.send_signal(signal.Signals[how.split()[0]])

        ends = {"SIGQUIT": -signal.SIGQUIT, "SIGHUP while it stands still": -signal.SIGHUP}
        assert terminal.wait_for_exit() == ends.get(how, 130)
        assert how in ends or "fairplay: interrupted; to go on with the match in " in terminal.text
        assert "at the table" not in terminal.text
        terminal.assert_left_as_it_was()


def test_ctrl_z_releases_the_terminal_until_the_match_continues(tmp_path: Path) -> None:
    with watched("fish", tmp_path, before=SHELL) as terminal:
        board = terminal.see_fact(1)
        for _ in range(2):
            terminal.press("ctrl-z")
            terminal.wait_for_screen("stopped")
            terminal.assert_left_as_it_was()

            terminal.press("enter")
            terminal.see_fact(1)
            assert terminal.lines[:12] == board[:12]
            assert terminal.screen.is_alternate
        terminal.press("ctrl-c")
        assert terminal.wait_for_exit() == 130
        terminal.assert_left_as_it_was()


@every_game
def test_the_board_fits_a_terminal_whose_size_changes(game: str, tmp_path: Path) -> None:
    with watched(game, tmp_path, columns=120, rows=60) as terminal:
        terminal.see_fact(1)
        match, before = terminal.recorded.match_after(1), terminal.recorded.match_after(0)
        for columns, rows in ((60, 24), (100, 50), (80, 30)):
            assert not terminal.screen.has_wrapped
            terminal.resize(columns, rows)
            board = board_of(match, before, columns, rows)
            terminal.wait_for_screen(f"\n{board}\n")
            terminal.screen.has_wrapped = False  # a board of the old width may have been on its way
        terminal.press("ctrl-c")
        terminal.wait_for_exit()


@pytest.mark.parametrize("then", ["Ctrl-Q", "SIGTERM"])
def test_a_match_does_not_wait_for_a_terminal_that_stands_still(then: str, tmp_path: Path) -> None:
    with watched("fish", tmp_path) as terminal:
        terminal.see_fact(1)
        terminal.press("\x13")  # Ctrl-S
        terminal.let_through(1000)
        assert becomes_true(lambda: terminal.recorded.closing is not None)
        assert terminal.screen.is_alternate

        terminal.press("\x11") if then == "Ctrl-Q" else terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_for_exit() == (0 if then == "Ctrl-Q" else 130)
        over = "fairplay: interrupted; the match is over: fairplay replay "
        assert (over in terminal.text) == (then == "SIGTERM")
        terminal.assert_left_as_it_was()


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (["--lines"], {}),
        ([], {"environment": {"NO_COLOR": "1"}}),
        ([], {"environment": {"TERM": "dumb"}}),
        ([], {"environment": {"PYTHONIOENCODING": "latin-1"}}),
        ([], {"columns": 39}),
        ([], {"rows": 10}),
        (["--quiet"], {}),
        (["--events"], {}),
    ],
)
def test_lines_are_said_where_nothing_can_be_drawn_in_place(
    options: list[str], more: dict[str, object], tmp_path: Path
) -> None:
    terminal = Watched("fish", tmp_path, *options, **more)
    with terminal:
        terminal.let_through(1000)
        assert terminal.wait_for_exit() == 0

        said = terminal.raw.decode("latin-1").replace("\r\n", "\n")
        assert b"\x1b[?1049h" not in terminal.raw  # the other screen
        terminal.assert_left_as_it_was()
        if options in (["--quiet"], ["--events"]):
            assert ("\n1. " if options == ["--quiet"] else '{"type":"ended"') in said
            return
        assert "\nAnn places a penguin at [" in said
        assert "\nBob moves from [" in said
        assert said.index("at the table: ") < said.index("Ann places") < said.index("\n1. ")


def test_a_resumed_match_is_drawn_in_place_too(tmp_path: Path) -> None:
    with watched("fish", tmp_path) as terminal:
        terminal.see_fact(1)
        terminal.let_through(1)
        terminal.see_fact(4)
        terminal.press("ctrl-c")
        terminal.wait_for_exit()
        (path,) = (tmp_path / "journals").glob("*.jsonl")
        arguments = ["resume", str(path), "greedy", "in-process:gated:take_turn", "greedy", "--pace", "0"]
        with Terminal(*arguments, environment=terminal.gated) as resumed:
            resumed.wait_for_screen("fish 0: ")
            assert resumed.screen.is_alternate
            terminal.let_through(1000)
            assert resumed.wait_for_exit() == 0
            assert "\n1. " in resumed.text
            resumed.assert_left_as_it_was()


def test_matches_in_this_process_are_drawn_so_that_people_can_follow(tmp_path: Path) -> None:
    played = ["play", "fish", "greedy", "random", *SMALL_FISH, "--journal", str(tmp_path)]
    begun = time.monotonic()
    with Terminal(*played) as terminal:
        for fact in range(1, 8):
            terminal.wait_for_screen(f"fish {fact}: ")
            assert terminal.screen.is_alternate
        assert "space skips to the end" in terminal.text
        assert terminal.wait_for_exit() == 0
    (recorded,) = map(read_journal, tmp_path.glob("*.jsonl"))
    assert len(set(re.findall(rb"fish (\d+): ", terminal.raw))) == 1 + len(recorded.entries)
    assert time.monotonic() - begun > 0.3 * len(recorded.entries)
    assert sum(entry.took for entry in recorded.entries) < 0.3  # nobody is charged for it


def test_no_clock_runs_while_a_position_is_there_to_be_seen() -> None:
    with Terminal("play", "fish", "greedy", "random", *SMALL_FISH, "--pace", "1") as terminal:
        terminal.wait_for_screen("fish 2: ")
        terminal.press("space")
        assert terminal.wait_for_exit() == 0

    used = [float(seconds) for seconds in re.findall(rb"(\d+\.\d) s", terminal.raw)]
    assert used
    assert max(used) < 0.5


def test_a_flood_that_is_said_while_the_board_is_shown_is_kept_in_part() -> None:
    held = HeldOutput()

    for _ in range(2):
        held.write("x" * MAX_HELD_CHARS + "y")

    assert held.content() == "x" * MAX_HELD_CHARS + f"\nfairplay: {MAX_HELD_CHARS + 2} more characters were dropped\n"


@pytest.mark.parametrize("how", ["space", "q", "0"])
def test_any_pace_leads_to_the_same_match(how: str, tmp_path: Path) -> None:
    played = ["play", "fish", "greedy", "random", *SMALL_FISH, "--journal"]
    assert run_fairplay(*played, str(tmp_path / "piped"), "--pace", "1000").code == 0
    with Terminal(*played, str(tmp_path / "drawn"), "--pace", "0" if how == "0" else "1000") as terminal:
        if how != "0":
            terminal.wait_for_screen("space skips to the end")
            terminal.press(how)
        assert terminal.wait_for_exit() == 0
        assert (b"space skips to the end" in terminal.raw) == (how != "0")
        terminal.assert_left_as_it_was()

    piped, drawn = (read_journal(next((tmp_path / name).glob("*.jsonl"))) for name in ("piped", "drawn"))
    assert piped.facts == drawn.facts
    assert piped.closing is not None and drawn.closing is not None
    assert piped.closing.result.ranking == drawn.closing.result.ranking


def test_remote_players_do_not_wait_for_the_pace(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("from fairplay.games.fish import Fish\ntake_turn = lambda view: next(Fish().actions(view))\n")
    played = ["play", "fish", "greedy", str(bot), *SMALL_FISH]

    assert "--pace is for players in this process" in refusal_line(run_fairplay(*played, "--pace", "1"))
    assert run_fairplay(*played, "--pace", "0").code == 0
    with Terminal(*played) as terminal:
        assert terminal.wait_for_exit() == 0
        assert b"space skips to the end" not in terminal.raw


def test_where_no_keys_can_be_read_a_match_keeps_its_pace(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'exec "$0" "$@" < /dev/null']
    begun = time.monotonic()
    with Terminal("play", "fish", "greedy", "random", *SMALL_FISH, before=shell) as terminal:
        terminal.wait_for_screen("fish 3: ")
        assert "skips" not in terminal.text
        assert terminal.wait_for_exit() == 0
    assert time.monotonic() - begun > 2
