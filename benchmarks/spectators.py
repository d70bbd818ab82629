"""Measure what spectators cost those who play: the same rooms with a hundred of them each, and with none.

The house is kept by the command in one process, the players are in this one, and the spectators in a third: once with
the lowest priority, as elsewhere they would not share a core with players, and once with the same as everybody. Every
tenth of them never reads, and is measured only when the house can say nothing more to it. The time of a turn is that
from one player's answer to the next one's question.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from typing import NamedTuple

from benchmarks.clients import DEADLINE, HONEST, Crowd, House, house_of, percentile, until
from fairplay.games.fish import Fish
from fairplay.transport import event_loop

ROOMS = 10
EACH = 100  # spectators in a room
SECONDS = 8.0  # of each of four parts
SETTLING = 0.5  # seconds in which nothing is measured
THINKING = 0.2  # seconds
HURRIED = 0.01  # seconds: while what nobody reads piles up
MOST_UNREAD = 200  # events that find room somewhere, if nobody reads them; and some more
NICE = (19, 0)  # how much spectators leave to others
MOST = 0.10  # by how much a turn may take longer
OR_MOST = 1.0  # milliseconds
GAME = Fish(rows=30, columns=30, fish=2)  # large enough that no match ends meanwhile
WATCHERS = r"""
import os, re, select, socket, sys, time
nice, port, each, *rooms = *map(int, sys.argv[1:4]), *sys.argv[4:]
os.nice(nice)
poll, lines, deaf, heard = select.epoll(), {}, {}, 0
for number, room in enumerate(rooms * each):
    line = socket.socket()
    reads = number // len(rooms) % 10
    if not reads:  # and has little room for what it does not read
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    line.connect(("127.0.0.1", port))
    nonce = re.search(rb'"nonce":("[^"]*")', line.recv(65536))[1]
    line.send(b'{"nonce":%s,"answer":{"visit":"watch","room":"%s"}}\n' % (nonce, room.encode()))
    (lines if reads else deaf)[line.fileno()] = line
    if reads:
        poll.register(line, select.EPOLLIN)
poll.register(0, select.EPOLLIN)
print("ready", flush=True)
while 0 not in (here := [one for one, _ in poll.poll()]):
    for one in here:
        data = lines[one].recv(65536)
        heard += data.count(b"\n")
        if not data:
            poll.unregister(one)
behind, until = 0, time.monotonic() + 10
for line in deaf.values():  # who was behind gets another snapshot as soon as it reads
    said = b""
    while said.count(b'"type":"snapshot"') < 2 and time.monotonic() < until:
        line.settimeout(max(0.001, until - time.monotonic()))
        try:
            said += line.recv(65536)
        except TimeoutError:
            break
    behind += said.count(b'"type":"snapshot"') > 1
print(heard, behind)
"""


class Figure(NamedTuple):
    """How long a turn takes, in milliseconds, with nobody and with many who watch."""

    nice: int
    rooms: int
    each: int
    turns: float  # a second
    p50: float
    p50_watched: float
    p99: float
    p99_watched: float
    heard: int  # lines, by all spectators who read
    behind: int  # spectators who do not

    @property
    def is_well(self) -> bool:
        """Do they hold up nobody?"""
        return self.p99_watched <= max(self.p99 * (1 + MOST), self.p99 + OR_MOST)


async def watched(crowd: Crowd, port: int, each: int, seconds: float, nice: int) -> tuple[list[float], int, int]:
    """How long turns take while there are spectators, how many lines those hear, and how many are behind."""
    words = ("-I", "-S", "-c", WATCHERS, str(nice), str(port), str(each), *sorted(crowd.playing))
    pipe = subprocess.PIPE
    watchers = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=pipe, stdout=pipe)
    try:
        async with asyncio.timeout(DEADLINE + seconds):
            assert watchers.stdin is not None and watchers.stdout is not None
            assert await watchers.stdout.readline() == b"ready\n"
            crowd.thinking = HURRIED
            crowd.overheads.clear()
            await until(lambda: len(crowd.overheads) > MOST_UNREAD * len(crowd.playing))
            crowd.thinking = THINKING
            times = await alone(crowd, seconds)
            watchers.stdin.close()
            heard, behind = (await watchers.stdout.readline()).split()
            return times, int(heard), int(behind)
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


async def compared(house: House, rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """With none before and after, so that both have the same weather."""
    crowd = Crowd(GAME, house.port, THINKING)
    await crowd.let_in([HONEST] * 2 * rooms)
    await until(lambda: len(crowd.playing) == rooms and len(crowd.overheads) > rooms)
    bare = await alone(crowd, seconds)
    full, heard, behind = await watched(crowd, house.port, each, 2 * seconds, nice)
    bare += await alone(crowd, seconds)
    assert len(crowd.playing) == rooms, "the matches were too short"
    await crowd.leave()
    p50, p99 = [(percentile(bare, share), percentile(full, share)) for share in (0.5, 0.99)]
    return Figure(nice, rooms, each, len(full) / seconds / 2, *p50, *p99, heard, behind)


def measured(rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """A house of its own, with spectators."""
    with house_of(GAME) as house:
        return event_loop.run(compared(house, rooms, each, seconds, nice))


def main() -> None:
    """Print the figures as a table, or as JSON objects, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON objects")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once; {ROOMS} if nothing is said")
    parser.add_argument("--each", type=int, default=EACH, help=f"spectators in a room; {EACH} if nothing is said")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of a part; {SECONDS:g} if nothing is said")
    chosen = parser.parse_args()
    figures = [measured(chosen.rooms, chosen.each, chosen.seconds, nice) for nice in NICE]
    if chosen.json:
        print(*(json.dumps(figure._asdict()) for figure in figures), sep="\n")
        return
    print(
        f"{'spectators':<12}{'nice':>5}{'turns/s':>9}{'p50 ms':>9}{'watched':>9}{'p99 ms':>9}{'watched':>9}{'lines':>9}"
    )
    for figure in figures:
        print(
            f"{figure.each:<12}{figure.nice:>5}{figure.turns:>9.0f}{figure.p50:>9.2f}{figure.p50_watched:>9.2f}"
            f"{figure.p99:>9.2f}{figure.p99_watched:>9.2f}{figure.heard:>9}{'' if figure.is_well else '  too long'}"
        )


if __name__ == "__main__":
    main()
