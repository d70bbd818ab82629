"""Seat an honest program that has to compute beside one that takes all it can get, and check that it wins."""

import os
import socket
import struct
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock, patch

from fairplay.core.game import Seat
from fairplay.hosting.run import run
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.protocol.limits import Limits
from fairplay.sandbox import sandboxed_command
from fairplay.sandbox.freezer import NoFreezer
from tests.reliability.readings import Meter, make_seed, measure_each

LEGAL_ACTION_CODE = """
import os, sys, time
from fairplay.games.fish import Fish

def legal(view):
    return next(Fish().actions(view))
"""
HONEST_CODE = """
def take_turn(view):
    until = time.process_time() + 0.15
    while time.process_time() < until:
        pass
    return legal(view)
"""
NEIGHBOUR_CODE = """
turns = 0

def take_turn(view):
    global turns
    turns += 1
    if turns == 1:
        misbehave()
    return legal(view) if turns < 4 else "I give up"
"""
NEIGHBOUR_KINDS = {
    "burns": """
def misbehave():
    for _ in range(58):
        if os.fork() == 0:
            os.setsid()
            while True:
                pass
""",
    "takes memory": """
def misbehave():
    for _ in range(6):
        if os.fork() == 0:
            taken = []
            while True:
                try:
                    taken.append(b"x" * 10_000_000)
                except MemoryError:
                    time.sleep(0.01)
""",
    "bombs with forks": """
def misbehave():
    if os.fork() == 0:
        while True:
            try:
                os.fork()
            except OSError:
                pass
""",
    "floods stderr": """
def misbehave():
    for _ in range(4):
        if os.fork() == 0:
            while True:
                os.write(2, b"x" * 65536)
""",
}


def play_beside(number: int, seed: bytes) -> str:
    kind, honest = list(NEIGHBOUR_KINDS)[number % len(NEIGHBOUR_KINDS)], Seat(number // len(NEIGHBOUR_KINDS) % 2)
    with TemporaryDirectory() as name:
        files = [Path(name, text) / "bot.py" for text in ("honest", "neighbour")]
        Path(name).chmod(0o755)  # programs of root run as another user
        for file, text in zip(files, (HONEST_CODE, NEIGHBOUR_KINDS[kind] + NEIGHBOUR_CODE), strict=True):
            file.parent.mkdir(mode=0o755)
            file.write_text(LEGAL_ACTION_CODE + text)
        entrants = [Entrant(str(file), file.parent.name) for file in files]
        spec = MatchSpec(
            game="fish",
            entrants=tuple(entrants if honest == 0 else reversed(entrants)),
            parameters={"rows": 3, "columns": 4},
            seed=make_seed(seed, number),
            limits=Limits(move=2.5, start_up=30),
            sandbox="strict",
        )
        outcome = run(spec)
    if outcome.result is None:
        return f"{kind}: {outcome.host_fault}"
    if outcome.result.ranking != (frozenset({honest}),):
        return f"{kind}: {[(outcome.names[one.seat], one.fault.value, one.why) for one in outcome.result.ejected]}"
    return ""


class CarelessSupervisor(NoFreezer):
    def __init__(self) -> None:
        self.supervisor_end = socket.socket()


def open_filter_that_allows_all() -> int:
    """A filter with a single instruction."""
    number = os.memfd_create("filter")
    os.write(number, struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF_0000))
    os.lseek(number, 0, os.SEEK_SET)
    return number


def let_programs_go_on() -> AbstractContextManager[object]:
    """Let programs go on while others are asked, and make sessions, which share the cores evenly."""
    return patch.multiple(
        sandboxed_command,
        open_filter=open_filter_that_allows_all,
        ControlGroup=Mock(make=lambda *_: None),
        SignalFreezer=CarelessSupervisor,
    )


NEIGHBOUR_METER = Meter(
    "matches",
    measure_each(lambda number, seed: [play_beside(number, seed)]),
    full=range(20),
    least=20,
    small=range(2),
    parts=1,
    bugs={"lets programs compute while others are asked": let_programs_go_on},
)
