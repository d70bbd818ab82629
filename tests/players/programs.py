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
from fairplay.core.roles import CloseReason
from fairplay.players.process import ProgramConnection
from fairplay.players.process_pool import POOL
from fairplay.referee.local_channel import LocalChannel
from fairplay.sandbox.policy import SandboxLevel, SandboxPolicy
from fairplay.sandbox.process_tree import descendants
from tests.players.machine import needs_landlock, needs_strict
from tests.toy import Play, Toy, View

EXIT_TIMEOUT_S = 1.0  # seconds
PYTHON = (sys.executable, "-I", "-S")  # which starts quickly

every_level = pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param(SandboxPolicy(SandboxLevel.STRICT), marks=needs_strict, id="strict"),
        pytest.param(SandboxPolicy(SandboxLevel.LANDLOCK), marks=needs_landlock, id="landlock"),
        pytest.param(SandboxPolicy(SandboxLevel.NONE), id="none"),
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


def first_card(view: View) -> Any:
    """Play as the honest program does."""
    return Play(view.hand[0]) if view.hand else {"type": "pass"}


class InProcessPlayer:
    """A player in this process at a table of others."""

    def __init__(self) -> None:
        self._local = LocalChannel(first_card, Toy())

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._local.ask(message)

    async def close(self, reason: CloseReason) -> None:
        pass


class NoControlGroups:
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


class Namespaces:
    """The namespaces of processes that a running program lives in; while they are held no others get their names."""

    def __init__(self, program: ProgramConnection) -> None:
        below = [Path(f"/proc/{pid}/ns/pid") for pid in descendants(program._transport.get_pid())]
        self._held = [os.open(path, os.O_RDONLY) for path in below if namespace_name(path) != OWN_NAMESPACE]
        self.names = {namespace_name(Path(f"/proc/self/fd/{number}")) for number in self._held}

    def survivors(self) -> list[str]:
        """Who is still alive in them."""
        return [
            str(path.parent.parent)
            for path in Path("/proc").glob("[0-9]*/ns/pid")
            if namespace_name(path) in self.names
        ]

    def release(self) -> None:
        for number in self._held:
            os.close(number)


def namespace_name(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # it has ended, or belongs to another user
        return ""


OWN_NAMESPACE = namespace_name(Path("/proc/self/ns/pid"))


def processes_marked(mark: str) -> list[int]:
    """The processes with this mark in their command line."""
    return [
        int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in read_proc_file(path)
    ]


def read_proc_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
