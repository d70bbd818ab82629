"""Write small programs that play the toy, and count what they leave behind."""

import asyncio
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

import pytest

from fairplay.players.process import ProgramConnection
from fairplay.players.process_pool import POOL
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from tests.players.machine import needs_landlock, needs_strict
from tests.toy import Play, View

P = ParamSpec("P")
EXIT_TIMEOUT_S = 1.0  # seconds
PLAIN, STRICT = SandboxPolicy(SandboxLevel.NONE), SandboxPolicy(SandboxLevel.STRICT)
PYTHON = (sys.executable, "-I", "-S")  # which starts quickly

every_level = pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param(STRICT, marks=needs_strict, id="strict"),
        pytest.param(SandboxPolicy(SandboxLevel.LANDLOCK), marks=needs_landlock, id="landlock"),
        pytest.param(PLAIN, id="none"),
    ],
)

TOY_PROGRAM = """
import json, os, sys, time

def answer(value):
    os.write(1, json.dumps({"nonce": line["nonce"], "answer": value}).encode() + b"\\n")

def turn(view):
    return {"type": "play", "card": view["hand"][0]} if view["hand"] else {"type": "pass"}

def start():
    pass

BODY

for text in sys.stdin.buffer:
    line = json.loads(text)
    if line["type"] == "goodbye":
        print("goodbye:", line["why"], file=sys.stderr, flush=True)
        continue
    if line["type"] == "start":
        start()
    answer(turn(line["view"]) if line["type"] == "take_turn" else None)
"""


def write_program(directory: Path, body: str = "", name: str = "bot.py") -> list[str]:
    """The command for an honest player of the toy, unless the body has other functions `turn` and `start`."""
    path = directory / name
    path.write_text(TOY_PROGRAM.replace("BODY", body))
    return [*PYTHON, str(path)]


@asynccontextmanager
async def running(
    command: Sequence[str], sandbox: SandboxPolicy = PLAIN, **options: Any
) -> AsyncIterator[ProgramConnection]:
    """A program that is started, and ended afterwards."""
    program = await ProgramConnection.start(command, sandbox=sandbox, **options)
    try:
        yield program
    finally:
        await program.close(b"", 0)


def leaves_no_process(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is run with an event loop; afterwards none of its files, processes and threads is left."""

    @wraps(test)
    def run_it(*arguments: P.args, **named: P.kwargs) -> None:
        before = current_holdings()
        try:
            asyncio.run(test(*arguments, **named))
        finally:
            assert is_cleaned_up(before), new_holdings(before)

    return run_it


def first_card(view: View) -> Any:
    """Play as the honest program does."""
    return Play(view.hand[0]) if view.hand else {"type": "pass"}


class NoControlGroups:
    @staticmethod
    def make(memory: int, processes: int) -> None:
        return None


class Holdings(NamedTuple):
    files: int
    children: int
    threads: frozenset[threading.Thread]


NOTHING = Holdings(0, 0, frozenset())
SYNC_THREAD = "fairplay-sync"  # the thread that syncs journals, which has tests of its own


def current_holdings() -> Holdings:
    children = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # the thread has ended since it was listed
            children += path.read_text().split()
    threads = frozenset(thread for thread in threading.enumerate() if thread.name != SYNC_THREAD)
    return Holdings(len(list(Path("/proc/self/fd").iterdir())), len(children), threads)


def new_holdings(before: Holdings) -> Holdings:
    """What this process has and did not have before; what others left, and has ended since, does not count."""
    now = current_holdings()
    return Holdings(
        max(0, now.files - before.files), max(0, now.children - before.children), now.threads - before.threads
    )


def is_cleaned_up(before: Holdings) -> bool:
    """Is all that came since then gone, or is it soon? The processes in which built-in players think are told to go."""
    POOL.close()
    return becomes_true(lambda: new_holdings(before) == NOTHING)


def becomes_true(is_so: Callable[[], bool]) -> bool:
    """Is it so within the time in which everything has to be gone?"""
    until = time.monotonic() + EXIT_TIMEOUT_S
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return is_so()


def processes_marked(mark: str) -> list[int]:
    return [
        int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in read_proc_file(path)
    ]


def read_proc_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
