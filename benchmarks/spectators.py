"""Measure what spectators cost those who play: the same rooms with a hundred of them each, and with none.

The server is kept by the command in one process, the players are in this one, and the spectators in a third: once with
the lowest priority, as elsewhere they would not share a core with players, and once with the same as everybody. Every
tenth of them never reads, and is measured only when the server can say nothing more to it. The time of a turn is that
from one player's answer to the next one's question.
"""

import argparse
import asyncio
import json
import subprocess
import sys
from typing import NamedTuple

from benchmarks.clients import HONEST, TIMEOUT_S, PlayerPool, RunningServer, percentile, run_server, wait_until
from fairplay.games.fish import Fish
from fairplay.transport import event_loop

ROOMS = 10
SPECTATORS_PER_ROOM = 100  # spectators in a room
MEASURED_S = 8.0  # of each of four parts
SETTLING_S = 0.5  # seconds in which nothing is measured
THINKING_S = 0.2  # seconds
HURRIED_THINKING_S = 0.01  # seconds: while what nobody reads piles up
MAX_UNREAD_EVENTS = 200  # events that find room somewhere, if nobody reads them; and some more
NICE_LEVELS = (19, 0)  # how much spectators leave to others
MAX_SLOWDOWN_SHARE = 0.10  # by how much a turn may take longer
MAX_SLOWDOWN_MS = 1.0  # milliseconds
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
    received: int  # lines, by all spectators who read
    behind: int  # spectators who do not

    @property
    def is_acceptable(self) -> bool:
        """Do they hold up nobody?"""
        return self.p99_watched <= max(self.p99 * (1 + MAX_SLOWDOWN_SHARE), self.p99 + MAX_SLOWDOWN_MS)


async def measure_with_spectators(
    crowd: PlayerPool, port: int, each: int, seconds: float, nice: int
) -> tuple[list[float], int, int]:
    """How long turns take while there are spectators, how many lines those hear, and how many are behind."""
    words = ("-I", "-S", "-c", WATCHERS, str(nice), str(port), str(each), *sorted(crowd.playing))
    pipe = subprocess.PIPE
    watchers = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=pipe, stdout=pipe)
    try:
        async with asyncio.timeout(TIMEOUT_S + seconds):
            assert watchers.stdin is not None and watchers.stdout is not None
            assert await watchers.stdout.readline() == b"ready\n"
            crowd.thinking = HURRIED_THINKING_S
            crowd.overheads.clear()
            await wait_until(lambda: len(crowd.overheads) > MAX_UNREAD_EVENTS * len(crowd.playing))
            crowd.thinking = THINKING_S
            times = await measure_alone(crowd, seconds)
            watchers.stdin.close()
            heard, behind = (await watchers.stdout.readline()).split()
            return times, int(heard), int(behind)
    finally:
        if watchers.returncode is None:
            watchers.kill()
        await watchers.wait()


async def measure_alone(crowd: PlayerPool, seconds: float) -> list[float]:
    """How long turns take as things are."""
    await asyncio.sleep(SETTLING_S)
    crowd.overheads.clear()
    await asyncio.sleep(seconds)
    return list(crowd.overheads)


async def compare(server: RunningServer, rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """With none before and after, so that both have the same weather."""
    crowd = PlayerPool(GAME, server.port, THINKING_S)
    await crowd.connect([HONEST] * 2 * rooms)
    await wait_until(lambda: len(crowd.playing) == rooms and len(crowd.overheads) > rooms)
    bare = await measure_alone(crowd, seconds)
    full, heard, behind = await measure_with_spectators(crowd, server.port, each, 2 * seconds, nice)
    bare += await measure_alone(crowd, seconds)
    assert len(crowd.playing) == rooms, "the matches were too short"
    await crowd.disconnect_all()
    p50, p99 = [(percentile(bare, share), percentile(full, share)) for share in (0.5, 0.99)]
    return Figure(nice, rooms, each, len(full) / seconds / 2, *p50, *p99, heard, behind)


def measure(rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """A server of its own, with spectators."""
    with run_server(GAME) as server:
        return event_loop.run(compare(server, rooms, each, seconds, nice))


def main() -> None:
    """Print the figures as a table, or as JSON objects, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON objects")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once; {ROOMS} if nothing is said")
    parser.add_argument(
        "--each",
        type=int,
        default=SPECTATORS_PER_ROOM,
        help=f"spectators in a room; {SPECTATORS_PER_ROOM} if nothing is said",
    )
    parser.add_argument(
        "--seconds", type=float, default=MEASURED_S, help=f"of a part; {MEASURED_S:g} if nothing is said"
    )
    chosen = parser.parse_args()
    figures = [measure(chosen.rooms, chosen.each, chosen.seconds, nice) for nice in NICE_LEVELS]
    if chosen.json:
        print(*(json.dumps(figure._asdict()) for figure in figures), sep="\n")
        return
    print(
        f"{'spectators':<12}{'nice':>5}{'turns/s':>9}{'p50 ms':>9}{'watched':>9}{'p99 ms':>9}{'watched':>9}{'lines':>9}"
    )
    for figure in figures:
        print(
            f"{figure.each:<12}{figure.nice:>5}{figure.turns:>9.0f}{figure.p50:>9.2f}{figure.p50_watched:>9.2f}"
            f"{figure.p99:>9.2f}{figure.p99_watched:>9.2f}{figure.received:>9}"
            f"{'' if figure.is_acceptable else '  too long'}"
        )


if __name__ == "__main__":
    main()
