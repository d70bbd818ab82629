"""Run the command as its users do, in this process for speed or in one of its own."""

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from fairplay.cli.main import SUBCOMMANDS, load_command, main
from fairplay.hosting.conditions import MatchConditions, missing_protections
from fairplay.sandbox.protections import parse_sandbox
from tests.journal.journals import read_lines, seal_lines
from tests.players.machine import CAN_BE_STRICT

INSTALLED_COMMAND = Path(sys.executable).parent / "fairplay"
SMALL_BOARD = ("--set", "rows=4", "--set", "columns=4")
BEST_SANDBOX = () if CAN_BE_STRICT else ("--sandbox", "none")  # without a warning
MODULE_NUMBERS = count(1)
SANDBOX_WARNINGS: list[str] = []
BEST_POLICY = parse_sandbox("auto", SANDBOX_WARNINGS.append)
SANDBOX_WARNINGS += missing_protections(MatchConditions(None, BEST_POLICY))
for verb in SUBCOMMANDS:  # before a test puts something else in the place of what one of them takes from elsewhere
    load_command(verb)

LEGAL_BOT = """
from fairplay.games.fish import Fish

def take_turn(view):
    return next(Fish().actions(view))
"""


class CommandResult(NamedTuple):
    """What a user sees of a command that has ended."""

    code: int
    out: str
    err: str


def run_fairplay(*arguments: str) -> CommandResult:
    """Run it in this process."""
    out, err, code = StringIO(), StringIO(), 0
    root, log = logging.getLogger(), logging.getLogger("fairplay")
    handlers, level = root.handlers[:], log.level
    with patch.object(sys, "argv", ["fairplay", *arguments]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    root.handlers[:] = handlers
    log.setLevel(level)
    return CommandResult(code, out.getvalue(), strip_sandbox_warning(err.getvalue()))


def run_script(*arguments: str, environment: Mapping[str, str] | None = None, **options: Any) -> CommandResult:
    """Run the installed script in a process of its own."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    env = {**os.environ, **(environment or {})}
    done = subprocess.run([INSTALLED_COMMAND, *arguments], text=True, env=env, check=False, **streams)
    return CommandResult(done.returncode, done.stdout or "", strip_sandbox_warning(done.stderr or ""))


def strip_sandbox_warning(err: str) -> str:
    """What was said, but for what every command with programs says on a machine that lacks some protections."""
    for text in SANDBOX_WARNINGS:
        err = err.replace(f"fairplay: {text}\n", "")
    return err


def accept_ctrl_c() -> None:
    """In a new process: hear Ctrl-C, as those do whom a person starts, however these tests were started."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ignore_ctrl_c() -> None:
    """In a new process: ignore Ctrl-C, as those do whom a script starts with &."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def start_process(
    command: Sequence[str | Path], *, start: Callable[[], None] = accept_ctrl_c, **options: Any
) -> "subprocess.Popen[str]":
    """A process of its own, which a person starts if nothing else is said."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=start, **options)


INTERRUPTIONS = {  # how a process is started, and by which signal it is interrupted
    "Ctrl-C": (accept_ctrl_c, signal.SIGINT),
    "SIGTERM": (accept_ctrl_c, signal.SIGTERM),
    "SIGTERM in the background": (ignore_ctrl_c, signal.SIGTERM),
}


def make_in_process_player(source: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a player in this process, in a module whose name nobody else has."""
    name = f"player_{next(MODULE_NUMBERS)}"
    (directory / f"{name}.py").write_text(f"{source}\n")
    monkeypatch.syspath_prepend(directory)
    return f"in-process:{name}:{'Player' if 'class Player' in source else 'take_turn'}"


def refusal_line(done: CommandResult, code: int = 2) -> str:
    """The one line with which a command is refused, and nothing else."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("fairplay: ")
    assert done.err.endswith("\n")
    line = done.err.removeprefix("fairplay: ").removesuffix("\n")
    assert line
    assert line.isprintable()
    return line


def record_journal(directory: Path, *arguments: str) -> Path:
    """A recorded match: greedy against random on a small board, if nothing else is said; always the same deal."""
    known = set(directory.glob("*.jsonl"))
    players = arguments or ("ann=greedy", "bob=random")
    seed = () if "--seed" in arguments else ("--seed", "a test")
    done = run_fairplay("play", "fish", *players, *SMALL_BOARD, *seed, "--journal", str(directory))
    assert done.code == 0, done
    (path,) = set(directory.glob("*.jsonl")) - known
    return path


def damage_journal(path: Path, how: str) -> Path:
    """A journal that is not as it should be; the line to be named is the third where it can be."""
    lines = path.read_bytes().splitlines(keepends=True)
    match how:
        case "unfinished":
            path.write_bytes(b"".join(lines[:7]))
        case "edited":
            path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"[", b"[ ", 1), *lines[3:]]))
        case "a line is missing":
            path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
        case "torn":
            path.write_bytes(b"".join([*lines[:2], lines[2][:50]]))
        case "binary":
            path.write_bytes(bytes(range(256)) * 100)
        case "empty":
            path.write_bytes(b"")
        case "missing":
            path.unlink()
        case "a directory":
            path.unlink()
            path.mkdir()
    return path


def forge_journal(path: Path) -> Path:
    """A journal whose chain is whole, but on line 5 a penguin is put where one stands already."""
    lines = read_lines(path)
    lines[4]["fact"]["action"]["at"] = lines[2]["fact"]["action"]["at"]
    path.write_bytes(seal_lines(lines))
    return path


DAMAGE_MESSAGES = {
    "edited": "{path}: line 3 (byte {third}): the hash does not fit: this line or the one before was changed",
    "a line is missing": "{path}: line 3 (byte {third}): this line has the number 3, but should have 2",
    "binary": "{path}: line 1 (byte 0): this is not a whole line of a journal",
    "empty": "{path}: the file is empty",
    "missing": "{path}: cannot be read: No such file or directory",
    "a directory": "{path}: cannot be read: Is a directory; see: fairplay library list {path}",
}


def damage_message(path: Path, how: str) -> str:
    """What is said of a journal that was spoilt."""
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    return DAMAGE_MESSAGES[how].format(path=path, third=sum(len(line) for line in lines[:2]))


def strip_scores(shown: str) -> list[str]:
    """The lines of a result, for tests in which it does not matter how many points somebody made.

    >>> strip_scores("1. ann (12), bob (12)\\ncyd (3) is out: crashed (turn), raised ValueError")
    ['1. ann, bob', 'cyd is out: crashed (turn), raised ValueError']
    """
    return re.sub(r" \(\d+\)(?=,|$| is out: )", "", shown, flags=re.MULTILINE).splitlines()
