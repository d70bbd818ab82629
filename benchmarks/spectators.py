"""Measure what spectators cost those who play: the same rooms with a hundred of them each and with none, by turns.

The house is kept by the command in one process, the players are in this one, and the spectators in a third. Every tenth
of them never reads. They have the lowest priority, as elsewhere they would not share a core with players. The time of a
turn is that from one player's answer to the next one's question.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from typing import NamedTuple

from benchmarks.clients import DEADLINE, HONEST, Crowd, House, house_of, percentile, until
from fairplay.games.fish import Fish

ROOMS = 10
EACH = 100  # spectators in a room
ROUNDS = 5  # of both
SECONDS = 4.0  # of each
SETTLING = 0.5  # seconds in which nothing is measured
THINKING = 0.2  # seconds
MOST = 0.10  # by how much a turn may take longer
OR_MOST = 1.0  # milliseconds
GAME = Fish(rows=20, columns=20, fish=2)  # large enough that no match ends meanwhile
WATCHERS = r"""
import os, re, select, socket, sys
os.nice(19)
port, each, *rooms = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
poll, lines, heard = select.epoll(), {}, 0
for number, room in enumerate(rooms * each):
    line = socket.create_connection(("127.0.0.1", port))
    nonce = re.search(rb'"nonce":("[^"]*")', line.recv(65536))[1]
    line.send(b'{"nonce":%s,"answer":{"visit":"watch","room":"%s"}}\n' % (nonce, room.encode()))
    lines[line.fileno()] = line
    if number // len(rooms) % 10:
        poll.register(line, select.EPOLLIN)
poll.register(0, select.EPOLLIN)
print("ready", flush=True)
while True:
    for here, _ in poll.poll():
        if not here:
            sys.exit(print(heard))
        data = lines[here].recv(65536)
        heard += data.count(b"\n")
        if not data:
            poll.unregister(here)
"""


class Figure(NamedTuple):
    """How long a turn takes, in milliseconds, with nobody and with many who watch."""

    rooms: int
    each: int
    turns: float  # a second
    p50: float
    p50_watched: float
    p99: float
    p99_watched: float
    heard: int  # lines, by all spectators

    @property
    def is_well(self) -> bool:
        """Do they hold up nobody?"""
        return self.p99_watched <= max(self.p99 * (1 + MOST), self.p99 + OR_MOST)


async def watched(crowd: Crowd, port: int, each: int, seconds: float) -> tuple[list[float], int]:
    """How long turns take while there are spectators, and how many lines those hear."""
    words = ("-I", "-S", "-c", WATCHERS, str(port), str(each), *sorted(crowd.playing))
    pipe = subprocess.PIPE
    watchers = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=pipe, stdout=pipe)
    try:
        async with asyncio.timeout(DEADLINE):
            assert watchers.stdin is not None and watchers.stdout is not None
            assert await watchers.stdout.readline() == b"ready\n"
            times = await alone(crowd, seconds)
            watchers.stdin.close()
            return times, int(await watchers.stdout.readline())
    finally:
        if watchers.returncode is None:
            watchers.kill()
        await watchers.wait()


async def alone(crowd: Crowd, seconds: float) -> list[float]:
    """How long turns take as things are."""
    await asyncio.sleep(SETTLING)
    crowd.overheads.clear()
    await asyncio.sleep(seconds)
    return list(crowd.overheads)


async def compared(house: House, rooms: int, each: int, rounds: int, seconds: float) -> Figure:
    """Both by turns, so that both have the same weather."""
    crowd = Crowd(GAME, house.port, THINKING)
    await crowd.let_in([HONEST] * 2 * rooms)
    await until(lambda: len(crowd.playing) == rooms and len(crowd.overheads) > rooms)
    bare, full, heard = list[float](), list[float](), 0
    for _ in range(rounds):
        bare += await alone(crowd, seconds)
        times, lines = await watched(crowd, house.port, each, seconds)
        full += times
        heard += lines
    assert len(crowd.playing) == rooms, "the matches were too short"
    await crowd.leave()
    p50, p99 = [(percentile(bare, share), percentile(full, share)) for share in (0.5, 0.99)]
    return Figure(rooms, each, len(full) / rounds / seconds, *p50, *p99, heard)


def measured(rooms: int, each: int, rounds: int, seconds: float) -> Figure:
    """A house of its own, with spectators."""
    with house_of(GAME) as house:
        return asyncio.run(compared(house, rooms, each, rounds, seconds))


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once; {ROOMS} if nothing is said")
    parser.add_argument("--each", type=int, default=EACH, help=f"spectators in a room; {EACH} if nothing is said")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of both; {ROUNDS} if nothing is said")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of each; {SECONDS:g} if nothing is said")
    chosen = parser.parse_args()
    figure = measured(chosen.rooms, chosen.each, chosen.rounds, chosen.seconds)
    if chosen.json:
        json.dump(figure._asdict(), sys.stdout)
        print()
        return
    print(f"{'spectators':<12}{'turns/s':>9}{'p50 ms':>9}{'watched':>9}{'p99 ms':>9}{'watched':>9}{'lines':>9}")
    print(
        f"{figure.each:<12}{figure.turns:>9.0f}{figure.p50:>9.2f}{figure.p50_watched:>9.2f}{figure.p99:>9.2f}"
        f"{figure.p99_watched:>9.2f}{figure.heard:>9}{'' if figure.is_well else '  too long'}"
    )


if __name__ == "__main__":
    main()
