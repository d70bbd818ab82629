"""Measure what spectators cost the players: the same rooms with a hundred spectators each, and with none.

The command runs the server in one process, the players are in this one, and the spectators in a third: once with the
lowest priority, as on other machines they would not share a core with players, and once with normal priority. Every
tenth spectator never reads, and is measured when the server can send it nothing more. The time of a turn is that from
one player's answer to the next one's question.
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
SPECTATORS_PER_ROOM = 100
MEASURED_S = 8.0  # of each of four parts
SETTLING_S = 0.5  # before a measurement
THINKING_S = 0.2
HURRIED_THINKING_S = 0.01  # while the buffers of spectators that do not read fill up
MAX_UNREAD_EVENTS = 200  # more than fit into all buffers
NICE_LEVELS = (19, 0)  # of the spectators
MAX_SLOWDOWN_SHARE = 0.10  # of a turn
MAX_SLOWDOWN_MS = 1.0  # of a turn
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
    line.send(b'{"nonce":%s,"answer":{"purpose":"watch","room":"%s"}}\n' % (nonce, room.encode()))
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
for line in deaf.values():  # a spectator that was behind gets another snapshot when it reads
    received = b""
    while received.count(b'"type":"snapshot"') < 2 and time.monotonic() < until:
        line.settimeout(max(0.001, until - time.monotonic()))
        try:
            received += line.recv(65536)
        except TimeoutError:
            break
    behind += received.count(b'"type":"snapshot"') > 1
print(heard, behind)
"""


class Figure(NamedTuple):
    """The time of a turn in milliseconds, without spectators and with many."""

    nice: int
    rooms: int
    each: int
    turns: float  # a second
    p50: float
    p50_watched: float
    p99: float
    p99_watched: float
    received: int  # lines, by all spectators that read
    behind: int  # spectators that do not read

    @property
    def is_acceptable(self) -> bool:
        """Whether spectators slow down no player."""
        return self.p99_watched <= max(self.p99 * (1 + MAX_SLOWDOWN_SHARE), self.p99 + MAX_SLOWDOWN_MS)


async def measure_with_spectators(
    pool: PlayerPool, port: int, each: int, seconds: float, nice: int
) -> tuple[list[float], int, int]:
    """The times of turns with spectators, how many lines these receive, and how many are behind."""
    words = ("-I", "-S", "-c", WATCHERS, str(nice), str(port), str(each), *sorted(pool.playing))
    pipe = subprocess.PIPE
    watchers = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=pipe, stdout=pipe)
    try:
        async with asyncio.timeout(TIMEOUT_S + seconds):
            assert watchers.stdin is not None and watchers.stdout is not None
            assert await watchers.stdout.readline() == b"ready\n"
            pool.thinking = HURRIED_THINKING_S
            pool.overheads.clear()
            await wait_until(lambda: len(pool.overheads) > MAX_UNREAD_EVENTS * len(pool.playing))
            pool.thinking = THINKING_S
            times = await measure_alone(pool, seconds)
            watchers.stdin.close()
            heard, behind = (await watchers.stdout.readline()).split()
            return times, int(heard), int(behind)
    finally:
        if watchers.returncode is None:
            watchers.kill()
        await watchers.wait()


async def measure_alone(pool: PlayerPool, seconds: float) -> list[float]:
    """The times of turns now."""
    await asyncio.sleep(SETTLING_S)
    pool.overheads.clear()
    await asyncio.sleep(seconds)
    return list(pool.overheads)


async def compare(server: RunningServer, rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """With spectators, and without before and after, so that both run under the same conditions."""
    pool = PlayerPool(GAME, server.port, THINKING_S)
    await pool.connect([HONEST] * 2 * rooms)
    await wait_until(lambda: len(pool.playing) == rooms and len(pool.overheads) > rooms)
    bare = await measure_alone(pool, seconds)
    full, heard, behind = await measure_with_spectators(pool, server.port, each, 2 * seconds, nice)
    bare += await measure_alone(pool, seconds)
    assert len(pool.playing) == rooms, "the matches were too short"
    await pool.disconnect_all()
    p50, p99 = [(percentile(bare, share), percentile(full, share)) for share in (0.5, 0.99)]
    return Figure(nice, rooms, each, len(full) / seconds / 2, *p50, *p99, heard, behind)


def measure(rooms: int, each: int, seconds: float, nice: int) -> Figure:
    """Run a server with spectators, and measure it."""
    with run_server(GAME) as server:
        return event_loop.run(compare(server, rooms, each, seconds, nice))


def main() -> None:
    """Print the figures as a table, or as JSON objects, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON objects")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once (default: {ROOMS})")
    parser.add_argument(
        "--each",
        type=int,
        default=SPECTATORS_PER_ROOM,
        help=f"spectators in a room (default: {SPECTATORS_PER_ROOM})",
    )
    parser.add_argument("--seconds", type=float, default=MEASURED_S, help=f"of a part (default: {MEASURED_S:g})")
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
