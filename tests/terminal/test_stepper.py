"""Test stepping through recorded matches by keys, on terminals of 80 and of 60 columns."""

import os
import pty
import re
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Any, TextIO

import pytest
from msgspec.structs import replace

from fairplay.games import game_info
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.observers.reporter import describe_event
from fairplay.render.text import truncate
from fairplay.terminal.output import MIN_TERMINAL_SIZE
from fairplay.terminal.screen import LEAVE_KEY, Screen
from fairplay.terminal.stepper import Stepper
from tests.cli.command import damage_journal, refusal_line, run_fairplay
from tests.cli.terminal import Terminal

PLAYERS = {"fish": ("greedy", "random"), "tsuro": ("second", "third", "second"), "q": ("dag", "ldasg", "dag")}
OTHER_SCREEN = b"\x1b[?1049h"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("matches")


@cache
def recorded(game: str, directory: Path) -> Path:
    """A match of more than 12 facts."""
    path = directory / game
    assert run_fairplay("play", game, *PLAYERS[game], "--seed", "30", "--journal", str(path)).code == 0
    (file,) = path.glob("*.jsonl")
    return file


def is_found(what: re.Pattern[str], text: str) -> bool:
    return what.search(text) is not None


@contextmanager
def replay(file: Path, *options: str, first: str = "0 of ", **more: Any) -> Iterator[Terminal]:
    """Replay a match on a terminal, from its first screen on."""
    with Terminal("replay", str(file), *options, **more) as terminal:
        terminal.wait_for_screen(first)
        yield terminal


@pytest.mark.parametrize(("game", "columns", "rows"), [("fish", 80, 24), ("tsuro", 60, 24), ("q", 80, 60)])
def test_every_key_leads_to_its_place(game: str, columns: int, rows: int, directory: Path) -> None:
    file = recorded(game, directory)
    match = read_journal(file)
    last = len(match.entries)
    presses = [
        (("right",), 1), (("down",), 2), (("left",), 1), (("up",), 0), (("left",), 0), (("1", "2", "enter"), 12),
        (("page down",), min(last, 22)), (("page up",), min(last, 22) - 10), (("end",), last), (("right",), last),
        (("home",), 0), (("9" * 9, "enter"), last), (("5", "\x7f", "4", "enter"), 4), (("5", "\x1b"), 4), (("x",), 4),
    ]  # fmt: skip

    with replay(file, columns=columns, rows=rows) as terminal:
        for keys, at in presses:
            terminal.press(*keys)
            foot = re.compile(rf"\n{at} of {last} facts   (← → step   )?\? helps   space plays   q leaves")
            lines = terminal.wait_for_screen(partial(is_found, foot))
            shown = match.match_after(at)
            heading = f"{at}: {describe_event(match.facts[at - 1], shown.names)[0]}" if at else "0: at the table: "
            assert lines[0].startswith(truncate(heading, columns))
            if at < last:
                before = match.match_after(at - 1).view(None) if at else None
                text = game_info(game).text
                board = text(shown.view(None), shown.names, width=columns, height=rows - 3, before=before)
                assert terminal.text.split("\n", 1)[1].startswith(board)
            else:
                assert any(line.startswith("1. ") for line in lines)
        terminal.press("q")

        assert terminal.wait_for_exit() == 0
        assert terminal.text.strip() == ""
        assert not terminal.screen.has_wrapped
        terminal.assert_left_as_it_was()


def test_space_plays_and_pauses_and_a_question_mark_helps(directory: Path) -> None:
    file = recorded("fish", directory)
    last = len(read_journal(file).entries)

    with replay(file) as terminal:
        terminal.press("space")
        terminal.wait_for_screen("2 of ")
        assert "playing, space pauses   q leaves" in terminal.text
        terminal.press("?")
        help_text = terminal.wait_for_screen(lambda text: "this help" in text and "space plays   q leaves" in text)
        assert "space         play, or pause" in help_text
        terminal.press("?")
        terminal.wait_for_screen(lambda text: "this help" not in text)
        terminal.press("home")
        terminal.wait_for_screen("\n0 of ")
        for key in ("end", "space", "7"):  # which do nothing behind the help
            terminal.press("?")
            terminal.wait_for_screen("this help")
            terminal.press(key)
            terminal.wait_for_screen(lambda text: "this help" not in text)
            assert re.search(r"\n0 of \d+ facts   ← → step   \? helps   space plays   q leaves", terminal.text)
        terminal.press(str(last - 1), "enter")
        terminal.wait_for_screen(f"{last - 1} of ")
        terminal.press("space")
        terminal.wait_for_screen(lambda text: f"\n{last} of {last} facts   " in text and "space plays" in text)
        terminal.press("space")  # from the beginning
        terminal.wait_for_screen("\n1 of ")
        terminal.press("space")
        terminal.wait_for_screen("space plays   q leaves")
        terminal.press("\x04")  # Ctrl-D
        assert terminal.wait_for_exit() == 0


def press_keys(match: RecordedMatch, *keys: str) -> list[str]:
    """The lines on the screen after some keys."""
    stepper = Stepper(match, game_info("fish").text)
    for key in keys:
        stepper.press(key)
    assert not stepper.is_over
    return stepper.frame(Screen(StringIO()))


def test_the_clocks_show_the_time_that_was_used_by_then(directory: Path) -> None:
    match = read_journal(recorded("fish", directory))
    match = replace(match, middle=tuple(replace(entry, took=10.0) for entry in match.entries))

    clocks = next(line for line in press_keys(match, "3", "enter") if "→" in line)

    assert re.findall(r"\d+\.\d s", clocks) == ["20.0 s", "10.0 s"]


@pytest.mark.parametrize("typed", ["²", "9" * 5000], ids=["no digit of ours", "a number without end"])
def test_whatever_is_typed_leads_somewhere_in_the_match(typed: str, directory: Path) -> None:
    match = read_journal(recorded("fish", directory))

    foot = press_keys(match, *typed, "enter")[-1]

    last = len(match.entries)
    assert foot.startswith(f"{0 if typed == '²' else last} of {last} facts   ")


def test_in_little_room_the_way_out_is_said_before_anything_else(directory: Path) -> None:
    with replay(recorded("fish", directory), columns=45) as terminal:
        assert re.search(r"\n0 of \d+ facts   space plays   q leaves", terminal.text)
        terminal.press("1234567")
        terminal.wait_for_screen("to 1234567, Enter   q leaves")


def test_a_terminal_that_is_just_large_enough_is_drawn_on(directory: Path) -> None:
    with replay(recorded("fish", directory), first="q leaves", columns=40, rows=16) as terminal:
        terminal.press("q")

        assert terminal.wait_for_exit() == 0
        assert OTHER_SCREEN in terminal.raw


def test_a_finished_match_is_shown_as_a_seat_saw_it(directory: Path) -> None:
    file, text = recorded("q", directory), game_info("q").text
    match = read_journal(file)
    names = match.names

    with replay(file, "--seat", names[1], first="hand  ", rows=40) as terminal:
        for at in (0, 1, 5):
            terminal.press(str(at), "enter")
            terminal.wait_for_screen(f"\n{at} of ")
            before = match.match_after(at - 1).view(1) if at else None
            board = text(match.match_after(at).view(1), names, width=80, height=40 - 3, before=before)
            assert terminal.text.split("\n", 1)[1].startswith(board)
        terminal.press("q")
        assert terminal.wait_for_exit() == 0
    for facts, arguments in ((5, ["--at", "5"]), (None, [])):
        shown = run_fairplay("replay", str(file), "--seat", "1", *arguments).out
        assert text(match.match_after(facts).view(1), names) in shown
        assert "hand  " not in run_fairplay("replay", str(file), *arguments).out


def test_of_an_unfinished_match_no_hand_is_shown(tmp_path: Path) -> None:
    file = damage_journal(recorded("q", tmp_path), "unfinished")

    assert refusal_line(run_fairplay("replay", str(file), "--seat", "1")) == (
        f"{file}: this match is unfinished, and its hidden hands are not shown before it ends; show it without --seat"
    )
    assert "hand  " not in run_fairplay("replay", str(file)).out


@pytest.mark.parametrize(("how", "code"), [("ctrl-c", 130), ("SIGTERM", 130), ("SIGQUIT", -3)])
def test_the_terminal_is_left_as_it_was(how: str, code: int, directory: Path) -> None:
    with replay(recorded("fish", directory)) as terminal:
        assert terminal.settings != terminal.before
        terminal.process.send_signal(signal.Signals[how]) if how.startswith("SIG") else terminal.press(how)

        assert terminal.wait_for_exit() == code
        terminal.assert_left_as_it_was()


def test_the_screen_follows_the_size_of_the_terminal(directory: Path) -> None:
    with replay(recorded("fish", directory), first="/ ") as terminal:
        terminal.resize(60, 20)
        terminal.wait_for_screen(lambda text: "\\___/" not in text and "0   " in text)
        terminal.resize(100, 30)
        terminal.wait_for_screen("\\___/")


def test_an_unfinished_match_is_shown_as_far_as_it_went(tmp_path: Path) -> None:
    with replay(damage_journal(recorded("fish", tmp_path), "unfinished"), first="0 of 5 facts") as terminal:
        terminal.press("end")
        terminal.wait_for_screen("unfinished after fact 5")
        terminal.press("q")
        assert terminal.wait_for_exit() == 0


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (["--lines"], {}),
        (["--at", "3"], {}),
        ([], {"environment": {"NO_COLOR": "1"}}),
        ([], {"environment": {"TERM": "dumb"}}),
        ([], {"environment": {"PYTHONIOENCODING": "ascii"}}),
        ([], {"columns": 30}),
        ([], {"before": ["sh", "-c", 'exec "$0" "$@" < /dev/null']}),
    ],
)
def test_a_replay_is_printed_as_lines_without_a_keyboard(
    options: list[str], more: dict[str, Any], directory: Path
) -> None:
    with Terminal("replay", str(recorded("fish", directory)), *options, **more) as terminal:
        assert terminal.wait_for_exit() == 0
        assert OTHER_SCREEN not in terminal.raw
        assert b" places a penguin at [" in terminal.raw
        terminal.assert_left_as_it_was()


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int, TextIO]]:
    """Both ends of a pseudo-terminal that is the standard input, and an output at the inner one."""
    outer, inner = pty.openpty()
    with os.fdopen(inner, "r+b", buffering=0) as end, open(inner, "w", closefd=False) as output:
        monkeypatch.setattr(sys, "stdin", end)
        yield outer, inner, output
    os.close(outer)


def test_an_exception_leaves_the_terminal_as_it_was(keyboard: tuple[int, int, TextIO]) -> None:
    outer, inner, output = keyboard
    modes = termios.tcgetattr(inner)

    with pytest.raises(ZeroDivisionError), Screen(output):
        assert termios.tcgetattr(inner) != modes
        raise ZeroDivisionError
    assert termios.tcgetattr(inner) == modes
    said = b""
    while not said.endswith(b"\x1b[?7h\x1b[?25h\x1b[?1049l"):
        said += os.read(outer, 1000)


def test_a_signal_does_what_it_did_before_once_the_screen_is_left_and_an_ignored_one_stays_so() -> None:
    usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signals = (signal.SIGTSTP, signal.SIGHUP, signal.SIGQUIT)
    before = [signal.getsignal(number) for number in signals]

    with Screen(StringIO()):
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN

    after = [signal.getsignal(number) for number in signals]
    signal.signal(signal.SIGHUP, usual)
    assert after == before


def test_a_key_that_comes_in_parts_is_one_key(keyboard: tuple[int, int, TextIO]) -> None:
    outer, _, output = keyboard
    heard = []

    with Screen(output) as screen:
        for part in (b"\x1b", b"[", b"C7\x1b", b"OF", b"\x1b[1~\x1b[5~\xc3\xa9", b"\x1b"):
            os.write(outer, part)
            heard += screen.keys(5)
        heard += screen.keys(0)
        heard += screen.keys(0)  # when nothing is left

    assert heard == ["right", "7", "end", "home", "page up", "é", "escape"]


@pytest.mark.parametrize("gone", [0, 1], ids=["hangs up", "cannot be read"])
def test_a_terminal_that_is_gone_is_left(gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = pty.openpty()

    with os.fdopen(ends[1 - gone], "r+b", buffering=0) as end:
        monkeypatch.setattr(sys, "stdin", end)
        with Screen(StringIO()) as screen:
            os.close(ends[gone])
            heard = screen.keys(5)

    assert heard == [LEAVE_KEY]


def test_no_more_lines_are_drawn_than_there_are_and_none_on_a_screen_that_was_left() -> None:
    output = StringIO()

    with Screen(output) as screen:
        screen.show([f"line {number}" for number in range(100)])
    said = output.getvalue()
    screen.show(["too late"])

    assert f"line {MIN_TERMINAL_SIZE.lines - 1}" in said
    assert f"line {MIN_TERMINAL_SIZE.lines}" not in said
    assert output.getvalue() == said
