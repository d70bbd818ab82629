"""Measure what many matches cost that are played at once in one event loop.

`waiting`: every match waits for a player that does not answer. The lines are in memory, so that what is measured is
ours alone: the conversations, the channels, and the meter of lag.

`journalled`: every match is played to its end and recorded on a real disk, with the usual durability, and every journal
is verified. The share of a core is that of playing them as fast as they go.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from fairplay import Journal
from fairplay.games.fish import Fish
from fairplay.journal.replay import read
from fairplay.journal.verify import verify
from fairplay.players import wire
from fairplay.players.limits import Limits
from fairplay.players.remote import Remote
from fairplay.referee.drivers import play_async
from fairplay.referee.host import dealt

MATCHES = 1000
JOURNALLED = 500
SECONDS = 10.0
SEATS = 2
GAME = Fish(rows=5, columns=5)


class Figure(NamedTuple):
    """What so many matches cost while they were watched."""

    matches: int
    seats: int
    core: float  # share of one core
    kilobytes: float  # per match
    threads: int


Part = Callable[[int, float], Awaitable[Figure]]


class InMemory:
    """A line to a player that acknowledges everything, but never takes its turn."""

    def __init__(self) -> None:
        self._asked: wire.WireMessage

    async def send(self, text: bytes) -> None:
        """Hear a question."""
        self._asked = wire.decode_line(text)

    async def receive(self) -> bytes:
        """Say something to that, unless it is about a turn."""
        assert not isinstance(self._asked, wire.Goodbye)
        if isinstance(self._asked, wire.TakeTurn):
            await asyncio.Event().wait()
        return wire.encode({"nonce": self._asked.nonce, "answer": None})

    async def hang_up(self, last: bytes, within: float) -> None:
        """There is nothing to cut."""

    def evidence(self) -> str:
        """There is nothing to know."""
        return ""


async def waiting(matches: int, seconds: float) -> Figure:
    """Players that do not answer for so long."""
    limits = Limits(move=10 * seconds + 60)

    async def one(number: int) -> None:
        match = dealt(GAME, ["ann", "bob"], number.to_bytes(32, "big"))
        await play_async(match, [Remote(InMemory(), GAME, limits=limits) for _ in match.names])

    before = memory()
    tasks = [asyncio.create_task(one(number)) for number in range(matches)]
    await asyncio.sleep(1.0)  # until all of them wait
    figure = await watched(matches, seconds, before)
    assert not any(task.done() for task in tasks), "somebody did not wait"
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return figure


class Prompt(InMemory):
    """A line to a player that takes the first action there is."""

    async def receive(self) -> bytes:
        """Say something to the last question, after a turn of the loop, as lines to others do."""
        await asyncio.sleep(0)
        asked = self._asked
        assert not isinstance(asked, wire.Goodbye)
        answer = next(GAME.actions(GAME.unpack(asked.view))) if isinstance(asked, wire.TakeTurn) else None
        return wire.encode({"nonce": asked.nonce, "answer": answer})


async def journalled(matches: int, seconds: float) -> Figure:
    """Recorded matches, JOURNALLED of them at most, which are played and not watched for so many seconds."""
    matches = min(matches, JOURNALLED)
    before, since, computed = memory(), time.perf_counter(), time.process_time()
    threads = [0]

    async def one(journal: Journal, number: int) -> None:
        match = dealt(GAME, ["ann", "bob"], number.to_bytes(32, "big"))
        with journal.begin(match) as record:
            await play_async(match, [Remote(Prompt(), GAME) for _ in match.names], record)
        threads.append(threading.active_count())

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(folder)
        await asyncio.gather(*(one(journal, number) for number in range(matches)))
        core = (time.process_time() - computed) / (time.perf_counter() - since)
        used = memory() - before
        for path in Path(folder).iterdir():
            verify(read(path))
        assert len(list(Path(folder).iterdir())) == matches
    return Figure(matches, matches * SEATS, core, used / 1024 / matches, max(threads))


async def watched(matches: int, seconds: float, before: int) -> Figure:
    """What everything on this loop costs from now on, for so long; the memory of before is not counted."""
    since, computed = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    core = (time.process_time() - computed) / (time.perf_counter() - since)
    return Figure(matches, matches * SEATS, core, (memory() - before) / 1024 / matches, threading.active_count())


def memory() -> int:
    """Bytes of memory in use."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


PARTS: dict[str, Part] = {"waiting": waiting, "journalled": journalled}


async def measured(part: Part, matches: int, seconds: float) -> Figure:
    """The figure of one part."""
    return await part(matches, seconds)


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--matches", type=int, default=MATCHES, help=f"at once; {MATCHES} if nothing is said")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"to watch them; {SECONDS:g} if nothing is said")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}; all if none is given")
    chosen = parser.parse_args()
    figures = {
        name: asyncio.run(measured(PARTS[name], chosen.matches, chosen.seconds)) for name in chosen.names or PARTS
    }
    if chosen.json:
        json.dump({name: figure._asdict() for name, figure in figures.items()}, sys.stdout)
        print()
        return
    print(f"{'':<12}{'matches':>9}{'seats':>9}{'of a core':>11}{'kB a match':>12}{'threads':>9}")
    for name, figure in figures.items():
        print(
            f"{name:<12}{figure.matches:>9}{figure.seats:>9}{figure.core:>11.1%}"
            f"{figure.kilobytes:>12.1f}{figure.threads:>9}"
        )


if __name__ == "__main__":
    main()
