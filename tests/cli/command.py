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

from fairplay.cli.main import VERBS, load, main
from fairplay.hosting.terms import Terms, missing_measures
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.measures import why_not_strict
from tests.journal.journals import plain, sealed
from tests.players.machine import CAN_BE_STRICT

SCRIPT = Path(sys.executable).parent / "fairplay"
SMALL = ("--set", "rows=4", "--set", "columns=4")
BEST_SANDBOX = () if CAN_BE_STRICT else ("--sandbox", "none")  # without a warning
NUMBERS = count(1)
for verb in VERBS:  # before a test puts something else in the place of what one of them takes from elsewhere
    load(verb)

GOOD = """
from fairplay.games.fish import Fish

def take_turn(view):
    return next(Fish().actions(view))
"""


class Done(NamedTuple):
    """What a user sees of a command that has ended."""

    code: int
    out: str
    err: str


def fairplay(*arguments: str) -> Done:
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
    return Done(code, out.getvalue(), without_warning(err.getvalue()))


def script(*arguments: str, environment: Mapping[str, str] | None = None, **options: Any) -> Done:
    """Run the installed script in a process of its own."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    env = {**os.environ, **(environment or {})}
    done = subprocess.run([SCRIPT, *arguments], text=True, env=env, check=False, **streams)
    return Done(done.returncode, done.stdout or "", without_warning(done.stderr or ""))


def without_warning(err: str) -> str:
    """What was said, but for what every command with programs says on a machine that cannot shut them in well."""
    if CAN_BE_STRICT:
        said = [f"fairplay: {text}\n" for text in missing_measures(Terms(None, Sandbox(Level.STRICT)))]
    else:
        said = [f"fairplay: programs run WITHOUT A SANDBOX: {why_not_strict()}; `fairplay doctor` says more\n"]
    for text in said:
        err = err.replace(text, "")
    return err


def in_foreground() -> None:
    """In a new process: hear Ctrl-C, as those do whom a person starts, however these tests were started."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def in_background() -> None:
    """In a new process: ignore Ctrl-C, as those do whom a script starts with &."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def started(
    command: Sequence[str | Path], *, start: Callable[[], None] = in_foreground, **options: Any
) -> "subprocess.Popen[str]":
    """A process of its own, which a person starts if nothing else is said."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=start, **options)


INTERRUPTIONS = {  # how a process is started, and by which signal it is interrupted
    "Ctrl-C": (in_foreground, signal.SIGINT),
    "SIGTERM": (in_foreground, signal.SIGTERM),
    "SIGTERM in the background": (in_background, signal.SIGTERM),
}


def in_process(source: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a player in this process, in a module whose name nobody else has."""
    name = f"player_{next(NUMBERS)}"
    (directory / f"{name}.py").write_text(f"{source}\n")
    monkeypatch.syspath_prepend(directory)
    return f"in-process:{name}:{'Player' if 'class Player' in source else 'take_turn'}"


def refusal(done: Done, code: int = 2) -> str:
    """The one line with which a command is refused, and nothing else."""
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith("fairplay: ")
    assert done.err.endswith("\n")
    line = done.err.removeprefix("fairplay: ").removesuffix("\n")
    assert line
    assert line.isprintable()
    return line


def journal(directory: Path, *arguments: str) -> Path:
    """A recorded match: greedy against random on a small board, if nothing else is said; always the same deal."""
    known = set(directory.glob("*.jsonl"))
    players = arguments or ("ann=greedy", "bob=random")
    seed = () if "--seed" in arguments else ("--seed", "a test")
    done = fairplay("play", "fish", *players, *SMALL, *seed, "--journal", str(directory))
    assert done.code == 0, done
    (path,) = set(directory.glob("*.jsonl")) - known
    return path


def spoil(path: Path, how: str) -> Path:
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


def forged(path: Path) -> Path:
    """A journal whose chain is whole, but on line 5 a penguin is put where one stands already."""
    lines = plain(path)
    lines[4]["fact"]["action"]["at"] = lines[2]["fact"]["action"]["at"]
    path.write_bytes(sealed(lines))
    return path


BROKEN = {
    "edited": "{path}: line 3 (byte {third}): the hash does not fit: this line or the one before was changed",
    "a line is missing": "{path}: line 3 (byte {third}): this line says it is number 3, but it is 2",
    "binary": "{path}: line 1 (byte 0): this is no whole line of a journal",
    "empty": "{path}: the file is empty",
    "missing": "{path}: cannot be read: No such file or directory",
    "a directory": "{path}: cannot be read: Is a directory; see: fairplay library list {path}",
}


def complaint(path: Path, how: str) -> str:
    """What is said of a journal that was spoilt."""
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    return BROKEN[how].format(path=path, third=sum(len(line) for line in lines[:2]))


def without_scores(shown: str) -> list[str]:
    """The lines of a result, for tests in which it does not matter how many points somebody made.

    >>> without_scores("1. ann (12), bob (12)\\ncyd (3) is out: crashed (turn), raised ValueError")
    ['1. ann, bob', 'cyd is out: crashed (turn), raised ValueError']
    """
    return re.sub(r" \(\d+\)(?=,|$| is out: )", "", shown, flags=re.MULTILINE).splitlines()
