"""Measure how much data two programs in strict sandboxes can exchange over each known side channel.

`python -m tools.side_channels` prints the rows of the table in docs/sandbox.md. One program does something and rests;
then the other one looks. In between the first one undoes it, and the second one looks too: a note takes two turns of
each.
"""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from fairplay.sandbox.policy import SandboxPolicy
from tests.misbehaviour.greedy_programs import start_program

NOTES_PER_CHANNEL = 20
CACHED_FILE = Path(os.__file__).with_name("pydoc_data") / "topics.py"  # which all can read, and none maps
PROGRAM = """
import ctypes, json, mmap, os, struct, sys, threading, time
libc = ctypes.CDLL(None)
PAGE, held = 4096, []

def sysinfo(at, form):
    room = ctypes.create_string_buffer(256)
    libc.sysinfo(room)
    return struct.unpack_from(form, room, at)[0]

def eventfd():
    number = libc.eventfd(0, 0)
    try:
        return int(open(f"/proc/self/fdinfo/{number}").read().split("eventfd-id:")[1].split()[0])
    finally:
        os.close(number)

def pipes(count):  # each processor gets inode numbers by the thousand
    for _ in range(count):
        ends = os.pipe()
        found = os.fstat(ends[0]).st_ino
        os.close(ends[0]), os.close(ends[1])
    return found

def bits(number):
    return [at for at in range(WIDTH) if number >> at & 1]

def page(at):
    file = os.open(FILE, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, 1)  # RANDOM: no read-ahead
    return file, at * 2 * PAGE

def mapped(at):
    file, place = page(at)
    found = mmap.mmap(file, PAGE, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ, offset=place)
    found[0]
    os.close(file)
    return found

def shared_pages():
    own = [mapped(at) for at in range(WIDTH)]
    lines, found, place = open("/proc/self/smaps").read().splitlines(), 0, None
    for line in lines:
        words = line.split()
        if words[0].endswith(":"):
            if place is not None and words[0] in ("Shared_Clean:", "Shared_Dirty:") and words[1] != "0":
                found |= 1 << place
        else:
            place = int(words[2], 16) // (2 * PAGE) if words[-1] == FILE and len(words) == 6 else None
    return found

def read_pages(number):
    for at in bits(number):
        file, place = page(at)
        os.pread(file, 1, place)
        os.close(file)

def quick_pages():
    found = 0
    for at in range(WIDTH):
        file, place = page(at)
        since = time.perf_counter()
        os.pread(file, 1, place)
        found |= (time.perf_counter() - since < 30e-6) << at
        os.close(file)
    return found

def thread():
    waiting = threading.Event()
    threading.Thread(target=waiting.wait, daemon=True).start()
    return waiting

FILE, WIDTH = sys.argv[2], int(sys.argv[3])
say, hear = {
    "threads": (lambda number: held.extend(thread() for _ in range(4 * number)), lambda: sysinfo(80, "H")),
    "memory": (lambda number: held.append(b"x" * (number << 26)), lambda: -sysinfo(40, "L")),
    "eventfds": (lambda number: held.extend(libc.eventfd(0, 0) for _ in range(7 * number)), eventfd),
    "inodes": (lambda number: pipes(16384 * number + 1), lambda: pipes(1025)),
    "mapped": (lambda number: held.extend(mapped(at) for at in bits(number)), shared_pages),
    "cached": (read_pages, quick_pages),
}[sys.argv[1]]
for line in sys.stdin:
    number = json.loads(line)
    if number is None:
        print(hear(), flush=True)
        continue
    for it in held:
        if isinstance(it, int):
            os.close(it)
        elif hasattr(it, "set"):
            it.set()
    held.clear()
    while threading.active_count() > 1:
        time.sleep(0.001)
    say(number)
    print("said", flush=True)
"""


class SideChannel(msgspec.Struct, frozen=True):
    """A channel for notes: its bits, and the step of the reading for each; 0: the reading is the note itself."""

    name: str
    about: str
    width: int
    step: int = 0


SIDE_CHANNELS = (
    SideChannel("threads", "threads, by the count of all in `sysinfo`", 3, 4),
    SideChannel("memory", "memory, by what is free in `sysinfo`", 2, 1 << 26),
    SideChannel("eventfds", "event descriptors, by the number of a new one in `/proc/self/fdinfo`", 5, 7),
    SideChannel("inodes", "pipes made and closed, by the number of a new one's inode", 2, 16384),
    SideChannel("mapped", "pages of a file that both can map, by how many share them in `/proc/self/smaps`", 64),
    SideChannel("cached", "pages of a file that both can read, once, by how long it takes", 64),
)


class Measurement(msgspec.Struct, frozen=True):
    """The results of some notes."""

    way: SideChannel
    right: float  # the share of correct notes, or bits
    seconds: float  # of a note


def start_endpoint(way: SideChannel, sandbox: SandboxPolicy | None) -> AbstractContextManager["subprocess.Popen[str]"]:
    """A program that sends or receives notes."""
    return start_program(
        [sys.executable, "-I", "-S", "-c", PROGRAM, way.name, str(CACHED_FILE), str(way.width)], sandbox
    )


def ask_program(program: "subprocess.Popen[str]", number: int | None) -> str:
    """The answer of a program."""
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write(json.dumps(number) + "\n")
    program.stdin.flush()
    return program.stdout.readline().strip()


def measure_channel(
    way: SideChannel, notes: int = NOTES_PER_CHANNEL, sandbox: SandboxPolicy | None = None
) -> Measurement:
    """Send some notes, and compare what arrives."""
    with start_endpoint(way, sandbox) as sender, start_endpoint(way, sandbox) as receiver:
        ask_program(sender, 0), ask_program(receiver, None)
        right, since = 0.0, time.monotonic()
        for _ in range(notes):
            drop_from_page_cache(CACHED_FILE)
            note = secrets.randbits(way.width)
            ask_program(sender, 0)
            first, second = (int(ask_program(receiver, None)) if way.step else 0 for _ in range(2))
            ask_program(sender, note)
            heard = int(ask_program(receiver, None))
            if way.step:  # subtract the change without a note
                right += round((heard - 2 * second + first) / way.step) == note
            else:
                right += 1 - (heard ^ note).bit_count() / way.width
        return Measurement(way, right / notes, (time.monotonic() - since) / notes)


def drop_from_page_cache(path: Path) -> None:
    """Drop a file from the page cache, as if it had not been read for long."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main(names: Sequence[str]) -> None:
    """Print a row for each way."""
    print("| what one program does, and how another sees it | bits of a note | heard right | a note takes |")
    print("|---|---|---|---|")
    for way in SIDE_CHANNELS:
        if not names or way.name in names:
            found = measure_channel(way)
            print(f"| {way.about} | {way.width} | {found.right:.0%} | {found.seconds * 1e3:.0f} ms |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
