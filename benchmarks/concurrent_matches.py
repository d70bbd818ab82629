"""Measure the cost of many concurrent matches in one event loop.

`waiting`: every match waits for a player that does not answer. Connections are in memory, so that only fairplay is
measured: the conversations, the channels, and the measuring of loop delays.
`thinking`: rooms in which built-in players think hard, one match after the other; they do so in other processes, and
the loop has to stay free.
`journalled`: matches that are recorded on a disk while players take their time; every journal is verified afterwards.
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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from fairplay.games.fish import Fish
from fairplay.hosting.table import Table
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.location import parse_local_address
from fairplay.players.remote import RemoteChannel
from fairplay.protocol import wire
from fairplay.protocol.limits import Limits
from fairplay.referee.drivers import play_async
from fairplay.referee.referee import deal_match
from fairplay.transport import event_loop
from fairplay.transport.connection import Connection, OnReceive

MEASURED_S = 10.0
SEATS = 2
GAME = Fish(rows=5, columns=5)
LARGE_GAME = Fish()
TURNS = 20  # in the shortest of these matches
SAMPLE_INTERVAL_S = 0.02  # between two samples of the loop delay


class Figure(NamedTuple):
    """The cost of so many matches while they were measured."""

    matches: int
    seats: int
    core: float  # the share of a core, without other processes
    loop_delay: float  # milliseconds, the 99th percentile
    kilobytes: float  # per match
    threads: int


Part = Callable[[int, float], Awaitable[Figure]]


class InMemoryConnection(Connection):
    """A connection to a player that acknowledges all messages, but never takes its turn."""

    def __init__(self) -> None:
        self._asked: wire.WireMessage

    def send(self, text: bytes) -> None:
        """Get a question."""
        self._asked = wire.decode_line(text)

    def on_receive(self, callback: OnReceive | None) -> None:
        """Acknowledge the question, unless it asks for a turn."""
        assert isinstance(self._asked, wire.Question)
        if callback is not None and not isinstance(self._asked, wire.TakeTurn):
            reply = wire.encode({"nonce": self._asked.nonce, "answer": None})
            asyncio.get_running_loop().call_soon(callback, reply)

    async def close(self, last: bytes, within: float) -> None:
        """Nothing to close."""


async def measure_waiting(matches: int, seconds: float) -> Figure:
    """Matches with players that do not answer."""
    limits = Limits(move=10 * seconds + 60)

    async def one(number: int) -> None:
        match = deal_match(GAME, ["ann", "bob"], number.to_bytes(32, "big"))
        await play_async(match, [RemoteChannel(InMemoryConnection(), GAME, limits=limits) for _ in match.names])

    before = memory_bytes()
    tasks = [asyncio.create_task(one(number)) for number in range(matches)]
    await asyncio.sleep(1.0)  # until all of them wait
    figure = await measure_loop(matches, seconds, before)
    assert not any(task.done() for task in tasks), "a match did not wait"
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return figure


async def measure_thinking(matches: int, seconds: float) -> Figure:
    """Matches of built-in players that look three moves ahead."""

    async def room(number: int) -> None:
        while True:
            match = deal_match(LARGE_GAME, ["ann", "bob"], number.to_bytes(32, "big"))
            with Table(
                {seat: parse_local_address("lookahead:3", "fish", bytes([seat] * 32)) for seat in range(SEATS)}
            ) as table:
                seating = await table.seat_players(LARGE_GAME, clock=time.perf_counter)
            await play_async(match, seating.channels)

    before = memory_bytes()
    tasks = [asyncio.create_task(room(number)) for number in range(matches)]
    await asyncio.sleep(1.0)  # until all of them think
    figure = await measure_loop(matches, seconds, before)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return figure


class SlowConnection(InMemoryConnection):
    """A connection to a player that takes the first action after a pause."""

    def __init__(self, pause: float) -> None:
        self._pause = pause

    async def receive(self) -> bytes:
        """Answer the last question."""
        asked, answer = self._asked, None
        if isinstance(asked, wire.TakeTurn):
            await asyncio.sleep(self._pause)
            answer = next(GAME.actions(GAME.unpack(asked.view)))
        assert isinstance(asked, wire.Question)
        return wire.encode({"nonce": asked.nonce, "answer": answer})


async def measure_journalled(matches: int, seconds: float) -> Figure:
    """Recorded matches that last a little longer than the measurement."""
    pause = 1.2 * seconds / TURNS

    async def one(journal: Journal, number: int) -> None:
        await asyncio.sleep(pause * number / matches)  # not all at the same moment
        match = deal_match(GAME, ["ann", "bob"], number.to_bytes(32, "big"))
        with journal.begin(match) as record:
            await play_async(match, [RemoteChannel(SlowConnection(pause), GAME) for _ in match.names], record)

    before = memory_bytes()
    with tempfile.TemporaryDirectory() as directory:
        tasks = [asyncio.create_task(one(Journal(directory), number)) for number in range(matches)]
        figure = await measure_loop(matches, seconds, before)
        await asyncio.gather(*tasks)
        paths = list(Path(directory).iterdir())
        assert len(paths) == matches
        for path in paths:
            verify(read_journal(path))
    return figure


async def measure_loop(matches: int, seconds: float, before: int) -> Figure:
    """Measure the cost of this loop for so many seconds, without memory from before."""
    since, computed = time.perf_counter(), time.process_time()
    lags = []
    while (now := time.perf_counter()) < since + seconds:
        await asyncio.sleep(SAMPLE_INTERVAL_S)
        lags.append(time.perf_counter() - now - SAMPLE_INTERVAL_S)
    core = (time.process_time() - computed) / (time.perf_counter() - since)
    lag = sorted(lags)[int(0.99 * len(lags))] * 1000
    return Figure(
        matches, matches * SEATS, core, lag, (memory_bytes() - before) / 1024 / matches, threading.active_count()
    )


def memory_bytes() -> int:
    """Bytes of memory in use."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


# The parts, with their default numbers of matches.
PARTS: dict[str, tuple[Part, int]] = {
    "waiting": (measure_waiting, 1000),
    "thinking": (measure_thinking, 20),
    "journalled": (measure_journalled, 500),
}


def measure(name: str, matches: int | None, seconds: float) -> Figure:
    """The figure of one part."""
    part, usual = PARTS[name]

    async def measure() -> Figure:
        return await part(matches or usual, seconds)

    return event_loop.run(measure())


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--matches", type=int, help="number of concurrent matches (default: a number for each part)")
    parser.add_argument("--seconds", type=float, default=MEASURED_S, help=f"to watch them (default: {MEASURED_S:g})")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)} (default: all)")
    chosen = parser.parse_args()
    figures = {}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone:  # for the memory
        for name in chosen.names or PARTS:
            figures[name] = alone.submit(measure, name, chosen.matches, chosen.seconds).result()
    if chosen.json:
        json.dump({name: figure._asdict() for name, figure in figures.items()}, sys.stdout)
        print()
        return
    print(f"{'':<12}{'matches':>9}{'seats':>9}{'of a core':>11}{'delay, ms':>10}{'kB a match':>12}{'threads':>9}")
    for name, figure in figures.items():
        print(
            f"{name:<12}{figure.matches:>9}{figure.seats:>9}{figure.core:>11.1%}"
            f"{figure.loop_delay:>9.1f}{figure.kilobytes:>12.1f}{figure.threads:>9}"
        )


if __name__ == "__main__":
    main()
