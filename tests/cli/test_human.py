"""Test that a person can play at a terminal."""

import os
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product, takewhile
from pathlib import Path

import pytest

from fairplay.core.events import Acted
from fairplay.journal.replay import RecordedMatch
from fairplay.journal.verification import read_legal, verify
from tests.cli.command import INSTALLED_COMMAND, run_script, start_process
from tests.cli.pseudo_terminal import PseudoTerminal
from tests.cli.terminal import SHELL, Terminal
from tests.players.programs import becomes_true

PROMPT, SEND, OVER = "human> ", "take it back> ", "\n1. "
CLEARED = b"\x1b[2J\x1b[3J\x1b[H"  # with what can be scrolled back to
SMALL = ("--set", "rows=3", "--set", "columns=3", "--seed", "7")
FISH = ("fish", "human", "greedy", *SMALL)
GAMES = {
    "fish": FISH,
    "tsuro": ("tsuro", "random", "human", "survivor", "--set", "size=5", "--seed", "7"),
    "q": ("q", "human", "best", "--seed", "3"),
}


def send(terminal: PseudoTerminal, move: str) -> None:
    """Type a move, and send it."""
    terminal.type(f"{move}\n")
    terminal.wait_for(SEND)
    terminal.type("\n")


def listed(terminal: PseudoTerminal, beginning: str = "", which: int = -1) -> list[str]:
    """What may be done, as the person is told who asks for it; of very many, those that begin as one of them."""
    terminal.type(f"moves {beginning}\n")
    lines = terminal.wait_for(PROMPT).splitlines()[1:-1]
    lines = [*takewhile(lambda line: not line.startswith("..."), lines)]  # which how to go on may follow
    moves = [move.strip() for line in lines for move in line.split("   ")]
    moves = [move for move in moves if move]
    return listed(terminal, moves[which].removesuffix(" ..."), which) if moves[which].endswith(" ...") else moves


def play_on(terminal: PseudoTerminal) -> int:
    """Play to the end with the last of the moves that are listed; how many turns there were."""
    turns = 0
    while not terminal.wait_for(PROMPT, OVER).endswith(OVER):
        send(terminal, listed(terminal)[-1])
        turns += 1
    assert terminal.wait_for_exit() == 0
    return turns


def record(directory: Path) -> RecordedMatch:
    """The only match in a directory, if it is in order."""
    (path,) = directory.glob("*.jsonl")
    recorded = read_legal(path)
    verify(recorded)
    return recorded


def acts(recorded: RecordedMatch, seat: int = 0) -> list[str]:
    return [str(fact.action) for fact in recorded.facts if isinstance(fact, Acted) and fact.seat == seat]


@pytest.mark.parametrize(("game", "columns"), [("fish", 80), ("tsuro", 60), ("q", 60)])
def test_a_whole_game_is_played(game: str, columns: int, tmp_path: Path) -> None:
    with PseudoTerminal("play", *GAMES[game], "--journal", str(tmp_path), columns=columns) as terminal:
        turns = play_on(terminal)
        assert terminal.settings == terminal.before

    recorded = record(tmp_path)
    seat = recorded.names.index("human")
    assert recorded.closing is not None and recorded.closing.result.ejected == ()
    assert len(acts(recorded, seat)) == turns > 0
    assert recorded.limits is None


def test_an_illegal_move_is_refused_and_a_slip_taken_back_or_replaced(tmp_path: Path) -> None:
    asked_again = f"\n{PROMPT}"
    with PseudoTerminal("play", *FISH, "--journal", str(tmp_path)) as terminal:
        assert terminal.wait_for(PROMPT).count("to place") == 1  # the board is drawn once
        for words, shown, prompt in (
            ("9,9", "Illegal, by rule 3.2: there is no tile at [9, 9].", asked_again),
            ("9,8", '"A penguin is placed on a tile of the board, with any number of fish."', asked_again),
            ("north", "Not understood: 'north' is not a position; write where to place a penguin", asked_again),
            ("help", "ROW,COLUMN ROW,COLUMN", asked_again),
            ("0,0", "human places a penguin at [0, 0].", SEND),
            ("u", "", PROMPT),
            ("0,1", "", SEND),
            ("9,9", "Illegal, by rule 3.2", PROMPT),
            ("0,1", "", SEND),
            ("0,2", "", SEND),
        ):
            terminal.type(f"{words}\n")
            assert shown in terminal.wait_for(prompt)
        terminal.type("b\n")
        assert re.search(r"/ \d \\___/ \d \\___\[R \d\]", terminal.wait_for(SEND))  # the penguin that is not there yet
        terminal.type("\n")
        play_on(terminal)

    assert acts(record(tmp_path))[0] == "places a penguin at [0, 2]"


def test_of_very_many_moves_it_is_said_how_they_begin() -> None:
    with PseudoTerminal("play", *GAMES["tsuro"]) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("moves\n")
        said = terminal.wait_for(PROMPT)
        assert re.search(r"\n\d+ 0 \.\.\.   ", said)
        more = re.search(r"\n\.\.\. for \d+ moves; try: moves (\d+ 0)\n", said)
        assert more is not None
        terminal.type(f"moves {more[1]} 0,0\n")
        assert re.search(rf"\n{more[1]} 0,0 [A-H]   {more[1]} 0,0 [A-H]", terminal.wait_for(PROMPT))
        terminal.type("help\n")
        assert f"moves {more[1]} all that begins so" in terminal.wait_for(PROMPT)


def test_in_a_small_window_the_whole_board_and_the_tiles_to_choose_from_are_seen() -> None:
    arguments = ("play", "tsuro", "second", "human", "third", "--seed", "7")
    with Terminal(*arguments, columns=80, rows=24) as terminal:
        lines = terminal.wait_for_screen("human>")
        assert lines[1].split() == [*map(str, range(10)), "dealt"]
        assert lines[-1] == "human>"
        assert terminal.text.count(" A B") == 3
        assert "┌" in terminal.text  # what another has done before the first turn
        (tile, *_) = re.findall(r"(\d+) +A B", terminal.text)
        terminal.type(f"{tile} 0 9,9 A\n")
        terminal.wait_for(SEND)
        terminal.type("b\n")
        assert terminal.wait_for(SEND).count(" A B") == 3  # one may want to choose another
        terminal.type("u\n")
        terminal.wait_for(PROMPT)
        terminal.type("board\n")
        terminal.wait_for_screen("╰──────")  # the whole of it, which scrolls


def test_tab_completes_word_by_word(tmp_path: Path) -> None:
    with PseudoTerminal("play", "q", "human", "best", "--seed", "7", "--journal", str(tmp_path)) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("mo\t")
        terminal.wait_for("moves ")
        terminal.type("\x15pl\t")
        terminal.wait_for("place ")
        terminal.type("\t")
        assert {"-1,0", "0,-1", "0,1", "1,0"} <= set(terminal.wait_for("place ").split())
        terminal.type("0,1 \t")  # of the hand only one tile fits there
        terminal.wait_for("blue ")
        terminal.type("8\t\n")
        assert "human places blue 8star at [0, 1]." in terminal.wait_for(SEND)
        terminal.type("\n")
        terminal.wait_for(PROMPT, OVER)

    assert acts(read_legal(next(tmp_path.glob("*.jsonl"))))[0] == "places blue 8star at [0, 1]"


def test_ctrl_c_interrupts_and_the_match_is_resumed_with_its_time_limit(tmp_path: Path) -> None:
    with PseudoTerminal("play", *FISH, "--limit", "3000", "--journal", str(tmp_path)) as terminal:
        terminal.wait_for("s left) human> ")
        send(terminal, "0,0")
        terminal.wait_for(PROMPT)
        terminal.type("1,")
        terminal.wait_for("1,")
        terminal.type("\x03")
        assert terminal.wait_for_exit() == 130
        assert terminal.settings == terminal.before
        (again,) = re.findall(r"to go on with the match: fairplay (resume \S+)", terminal.visible_text)

    with PseudoTerminal(*again.split()) as terminal:
        terminal.wait_for("s left) ")
        play_on(terminal)

    recorded = record(tmp_path)
    assert recorded.closing is not None and len(recorded.resumptions) == 1
    assert acts(recorded)[0] == "places a penguin at [0, 0]"


@pytest.mark.parametrize(("leave", "confirm"), [("quit\n", "y\n"), ("\x04", "\x04")], ids=["quit", "Ctrl-D"])
def test_a_person_that_leaves_is_asked_once_and_the_others_play_on(leave: str, confirm: str, tmp_path: Path) -> None:
    with PseudoTerminal("play", *FISH, "--journal", str(tmp_path)) as terminal:
        terminal.wait_for(PROMPT)
        for words, question, answer in (("resign\n", "Resign", "no\n"), ("\x04", "Leave the table", "n\n")):
            terminal.type(words)
            terminal.wait_for(f"{question}? You are out then, and the others play on. y or n> ")
            terminal.type(answer)
            terminal.wait_for(PROMPT)
        terminal.type(leave)
        terminal.wait_for("y or n> ")
        terminal.type(confirm)
        assert terminal.wait_for_exit() == 0
        assert "human (0) is out: gone (turn), left the table" in terminal.visible_text
        assert terminal.settings == terminal.before

    recorded = record(tmp_path)
    assert recorded.closing is not None
    assert [out.why for out in recorded.closing.result.ejected] == ["left the table"]
    assert acts(recorded, 1)


@pytest.mark.alone
def test_a_deadline_ends_the_turn_in_the_middle_of_typing() -> None:
    with PseudoTerminal("play", *FISH, "--limit", "move=2,start=60") as terminal:
        assert re.search(r"\([12] s left\) human> $", terminal.wait_for(PROMPT))
        terminal.type("0,")
        terminal.wait_for("0,\nhuman is out: timed out (turn), no answer within 2 s")
        assert terminal.wait_for_exit() == 0
        assert "human (0) is out: timed out (turn), no answer within 2 s" in terminal.visible_text
        assert terminal.settings == terminal.before


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
def test_a_person_is_not_asked_after_the_end_of_the_match(kind: signal.Signals) -> None:
    shell = ("sh", "-c", '"$0" "$@"; read line; exit 7', str(INSTALLED_COMMAND))  # has the terminal to itself then
    with PseudoTerminal("play", *FISH, command=shell) as terminal:
        terminal.wait_for(PROMPT)
        assert terminal.settings[3] & termios.ICANON == 0
        (match,) = children(terminal.process.pid)
        (person,) = (child for child in children(match) if b"terminal.person" in command_line(child))
        pid = os.pidfd_open(person)
        try:
            os.kill(match, kind)
            assert select.select([pid], [], [], 60)[0], "still running"
            assert terminal.settings == terminal.before
            terminal.type("\n")
            assert terminal.wait_for_exit() == 7
        finally:
            os.close(pid)


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(number) for task in tasks for number in (task / "children").read_text().split()]


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


YOUR_TURN = "{}, it is your turn. Press Enter when no one else can see the screen. "


@pytest.mark.parametrize("last", [("pass\n", SEND, "\n"), ("resign\n", "y or n> ", "y\n")], ids=["pass", "resign"])
def test_the_hand_of_the_last_turn_does_not_stay_on_the_screen(last: tuple[str, str, str]) -> None:
    with PseudoTerminal("play", "q", "ann=human", "bob=human", "--seed", "7") as terminal:
        sent = 0
        for name, (words, question, answer) in {"ann": ("pass\n", SEND, "\n"), "bob": last}.items():
            assert "hand " not in terminal.wait_for(YOUR_TURN.format(name))
            assert not sent or CLEARED in terminal.raw[sent:]
            terminal.type("\n")
            assert "hand " in terminal.wait_for(f"{name}> ")
            terminal.type(words)
            terminal.wait_for(question)
            sent = len(terminal.raw)
            terminal.type(answer)
        terminal.wait_for(OVER)
        assert CLEARED in terminal.raw[sent:]


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGHUP])
def test_whatever_ends_the_match_gives_the_terminal_back(number: signal.Signals) -> None:
    with PseudoTerminal("play", *FISH, command=[*SHELL, str(INSTALLED_COMMAND)]) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("0,")
        terminal.wait_for("0,")
        (match,) = children(terminal.process.pid)
        os.killpg(match, number)
        terminal.wait_for_exit()
        assert becomes_true(lambda: terminal.settings == terminal.before)


def test_one_enter_too_many_shows_no_hand() -> None:
    with PseudoTerminal("play", "q", "ann=human", "bob=human", "--seed", "7") as terminal:
        terminal.wait_for(YOUR_TURN.format("ann"))
        terminal.type("\n")
        terminal.wait_for("ann> ")
        terminal.type("pass\n\n\n\n")
        terminal.wait_for(YOUR_TURN.format("bob"))
        with pytest.raises(AssertionError, match="never shown"):
            terminal.wait_for("bob> ", timeout_s=1)


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    with PseudoTerminal("play", "q", "human", "random", "--seed", "7") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("1,1 ")
        for _ in range(50):
            terminal.type("9" * 100)
            terminal.wait_for("9" * 20)
        terminal.type("\n")
        terminal.wait_for("Not understood: there is no tile 999")
        terminal.wait_for(PROMPT)


def test_a_sign_that_the_encoding_does_not_have_is_not_understood() -> None:
    with PseudoTerminal("play", *FISH, environment={"PYTHONIOENCODING": "ascii"}) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("ü\n")
        terminal.wait_for("Not understood: ")
        terminal.wait_for(PROMPT)


def test_the_screen_is_not_cleared_where_no_hand_is_hidden() -> None:
    with PseudoTerminal("play", "fish", "ann=human", "bob=human", *SMALL) as terminal:
        terminal.wait_for("ann> ")
        terminal.type("0,0\n\n")
        terminal.wait_for("[R ")  # what ann has done is marked, before the first turn of bob too
        terminal.wait_for("bob> ")
        assert "looking" not in terminal.visible_text


def blind() -> str:
    """What plays Fish on 3 x 3 tiles from a file: everything that could be done, again and again."""
    tiles = [f"{row},{column}" for row, column in product(range(3), repeat=2)]
    moves = [f"{start} {to}" for start, to in product(tiles, repeat=2)]
    return "".join(f"{line}\n\n" for line in (*tiles, *tiles, *moves * 9))


def test_a_whole_game_is_played_through_a_pipe(tmp_path: Path) -> None:
    done = run_script("play", *FISH, "--journal", str(tmp_path), input=blind())

    assert done.code == 0
    assert "human> 0,0\nhuman places a penguin at [0, 0].\nEnter: send it, b: see it, u: take it back> \n" in done.err
    assert "by rule" not in done.out and "by rule 3.3" in done.err
    recorded = record(tmp_path)
    assert recorded.closing is not None and recorded.closing.result.ejected == ()


def test_a_pipe_is_read_to_its_end() -> None:
    long, short, one = (run_script("play", *FISH, "--events", input=text) for text in ("x" * 5000, "0,0", "0,0\n\n"))
    nothing = run_script("play", *FISH, "--quiet", input="")

    assert f"human> {'x' * 4096}\n" in long.err
    assert f"human> {'x' * (5000 - 4096)}\n" in long.err
    assert "human places a penguin at [0, 0]." in short.err
    assert all(line.startswith("{") for line in one.out.splitlines())
    assert '"type":"acted","name":"human"' in one.out
    assert nothing.code == 0
    assert nothing.err.splitlines()[-1] == "Nothing more can be read, so human leaves the table."
    assert nothing.out.splitlines()[-1] == "human (0) is out: gone (turn), left the table"


@pytest.mark.parametrize(
    ("environment", "forbidden"),
    [
        ({"NO_COLOR": "1"}, rb"\x1b\[[0-9;]*m"),
        ({"TERM": "dumb"}, rb"\x1b"),
        ({"PYTHONIOENCODING": "latin-1"}, "│".encode()),
    ],
    ids=["NO_COLOR", "dumb", "latin-1"],
)
def test_terminals_are_not_sent_what_they_cannot_show(environment: dict[str, str], forbidden: bytes) -> None:
    with PseudoTerminal("play", *GAMES["tsuro"], environment=environment) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("hel\t\n")
        terminal.wait_for(f"\n{PROMPT}")
        send(terminal, listed(terminal, which=0)[0])
        terminal.wait_for(PROMPT)
        assert re.search(forbidden, terminal.raw) is None
        assert b"human places tile" in terminal.raw


@contextmanager
def host(*arguments: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The host of a match that somebody may join, and its address."""
    with start_process([INSTALLED_COMMAND, "play", "fish", *arguments, "greedy", *SMALL]) as process:
        assert process.stderr is not None
        yield process, process.stderr.readline().split()[-1]


@pytest.mark.alone
@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_a_joined_person_hears_at_once_that_time_is_up(scheme: str) -> None:
    with host(f"{scheme}:0", "--limit", "move=2,start=60,arrival=60") as (process, address):
        assert address.startswith(f"{scheme}://")
        with PseudoTerminal("join", address, "human", environment={"LOGNAME": "Zoë Ann"}) as terminal:
            terminal.wait_for("s left) Zo-Ann> ")
            terminal.type("0,")
            terminal.wait_for("0,\nfairplay: ejected, timed out: no answer within 2 s")
            assert terminal.wait_for_exit() == 1
            assert terminal.settings == terminal.before
        assert "Zo-Ann (0) is out: timed out (turn), no answer within 2 s" in process.communicate()[0]


def test_a_joined_person_hears_at_once_that_the_host_is_gone() -> None:
    with (
        host("human=tcp:0", "--limit", "600") as (process, address),
        PseudoTerminal("join", address, "human", "--idle-timeout", "1") as terminal,
    ):
        terminal.wait_for(PROMPT)
        terminal.type("0,")
        time.sleep(1.5)  # longer than the host is waited for, which is when nobody types
        terminal.type("\x7f\x7fhelp\n")
        terminal.wait_for(PROMPT)
        process.kill()
        terminal.wait_for("before the end of the match")
        assert terminal.wait_for_exit() == 1
        assert terminal.settings == terminal.before
