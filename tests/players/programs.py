"""Write small programs that play the toy, and count what they leave behind."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fairplay.core.messages import Answer, Message
from fairplay.core.roles import Parting
from fairplay.players.process import Program
from fairplay.players.thinking import POOL
from fairplay.referee.local import Local
from fairplay.sandbox.level import Level, Sandbox
from fairplay.sandbox.process_tree import descendants
from tests.players.machine import needs_strict
from tests.toy import Play, Toy, View

GONE_WITHIN = 1.0  # seconds
PYTHON = (sys.executable, "-I", "-S")  # which starts quickly

every_level = pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param(Sandbox(Level.STRICT), marks=needs_strict, id="strict"),
        pytest.param(Sandbox(Level.NONE), id="none"),
    ],
)

TEXT = """
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


def script(directory: Path, body: str = "", name: str = "bot.py") -> list[str]:
    """The command for an honest player of the toy, unless the body has other functions `turn` and `start`."""
    path = directory / name
    path.write_text(TEXT.replace("BODY", body))
    return [*PYTHON, str(path)]


def first_card(view: View) -> Any:
    """Play as the honest program does."""
    return Play(view.hand[0]) if view.hand else {"type": "pass"}


class Beside:
    """A player in this process at a table of others."""

    def __init__(self) -> None:
        self._local = Local(first_card, Toy())

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._local.ask(message)

    async def close(self, parting: Parting) -> None:
        pass


class NoGroups:
    """A machine without control groups."""

    @staticmethod
    def make(memory: int, processes: int) -> None:
        return None


class Holdings(NamedTuple):
    """What this process has."""

    files: int
    children: int
    threads: frozenset[threading.Thread]


NOTHING = Holdings(0, 0, frozenset())
LINGERS = "fairplay-sync"  # the thread that syncs journals, which has tests of its own


def holdings() -> Holdings:
    children = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # the thread has ended since it was listed
            children += path.read_text().split()
    threads = frozenset(thread for thread in threading.enumerate() if thread.name != LINGERS)
    return Holdings(len(list(Path("/proc/self/fd").iterdir())), len(children), threads)


def gained(before: Holdings) -> Holdings:
    """What this process has and did not have before; what others left, and has ended since, does not count."""
    now = holdings()
    return Holdings(
        max(0, now.files - before.files), max(0, now.children - before.children), now.threads - before.threads
    )


def nothing_left(before: Holdings) -> bool:
    """Is all that came since then gone, or is it soon? The processes in which house players think are told to go."""
    POOL.close()
    return soon(lambda: gained(before) == NOTHING)


def soon(is_so: Callable[[], bool]) -> bool:
    """Is it so within the time in which everything has to be gone?"""
    until = time.monotonic() + GONE_WITHIN
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)
    return is_so()


class Namespaces:
    """The namespaces of processes that a running program lives in; while they are held nobody else gets their names."""

    def __init__(self, program: Program) -> None:
        below = [Path(f"/proc/{pid}/ns/pid") for pid in descendants(program._transport.get_pid())]
        self._held = [os.open(path, os.O_RDONLY) for path in below if namespace_of(path) != OURS]
        self.names = {namespace_of(Path(f"/proc/self/fd/{number}")) for number in self._held}

    def survivors(self) -> list[str]:
        """Who is still alive in them."""
        return [
            str(path.parent.parent) for path in Path("/proc").glob("[0-9]*/ns/pid") if namespace_of(path) in self.names
        ]

    def let_go(self) -> None:
        for number in self._held:
            os.close(number)


def namespace_of(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # it has ended, or is somebody else's
        return ""


OURS = namespace_of(Path("/proc/self/ns/pid"))


def alive(mark: str) -> list[int]:
    """The processes with this mark in their command line."""
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in content(path)]


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
