"""Measure what a server can do with many connections, beside the barest code that says the same.

`saturated`: 100 rooms of Fish on 200 connections, with checks and with journals in batches, as fast as it goes. The
bare code is an echo over asyncio's streams: it sends the same bytes, waits for the same replies, and looks at nothing.
Both are in the same process, on the same event loop and by turns; and the same client, in a second process, answers
both from a list. Turns a second count where the machine is quiet; microseconds are those that a core was busy with, and
count where others use it, too.
"""

import argparse
import asyncio
import gc
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fairplay.core.messages import Answer, Answered, Failed, Message, TakeTurn
from fairplay.core.roles import Parting
from fairplay.games.fish import Fish
from fairplay.hosting.run import run_async
from fairplay.hosting.spec import Entrant, MatchSpec
from fairplay.journal.replay import read
from fairplay.journal.verify import verify
from fairplay.players import wire
from fairplay.players.address import house_strategy
from fairplay.players.connection import over_tcp
from fairplay.players.remote import Line, Remote
from fairplay.referee.drivers import play
from fairplay.referee.host import dealt
from fairplay.referee.local import Local

ROUNDS = 15
ROOMS = 100
GAME = Fish()
SEED = bytes([7] * 32)
NAMES = ("ann", "bob")
LARGE = (
    1 << 20
)  # bytes: once so many were freed, the C library keeps what asyncio's streams read into, which helps them
MEMORY = Path("/dev/shm")  # journals go there if it exists, as in the other benchmarks
CLIENT = r"""
import json, re, select, socket, sys
port, connections, *answers = int(sys.argv[1]), int(sys.argv[2]), *map(json.loads, sys.argv[3:])
nonce = re.compile(rb'"nonce":("[^"]*")')
replies = [[b',"answer":' + answer.encode() + b"}\n" for answer in each] for each in answers]
poll, lines, at, rest, mine = select.epoll(), {}, {}, {}, {}
for number in range(connections):
    line = socket.create_connection(("127.0.0.1", port))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    poll.register(line, select.EPOLLIN)
    here = line.fileno()
    lines[here], at[here], rest[here], mine[here] = line, 0, b"", replies[number % len(replies)]
while lines:
    for here, _ in poll.poll():
        data = lines[here].recv(65536)
        if not data:
            poll.unregister(here)
            lines.pop(here).close()
            continue
        *whole, rest[here] = (rest[here] + data).split(b"\n")
        for text in whole:
            answer = b',"answer":null}\n'
            if text.startswith(b'{"type":"take_turn"'):
                answer = mine[here][at[here]]
                at[here] += 1
            elif text.startswith(b'{"type":"start"'):
                at[here] = 0
            lines[here].send(b'{"nonce":' + nonce.search(text)[1] + answer)
"""


class Asked(NamedTuple):
    """What is said to a seat, and its answer."""

    seat: int
    question: bytes
    answer: str
    is_turn: bool


class Heard(Local):
    """A player that writes down what it was asked, and what it said."""

    def __init__(self, seat: int, script: list[Asked]) -> None:
        super().__init__(house_strategy(GAME.name, "greedy"), GAME)
        self._seat = seat
        self._script = script

    def ask(self, message: Message) -> Answer:
        answer = super().ask(message)
        assert isinstance(answer, Answered)
        nonce = f"{len(self._script) + 1}-0123456789abcdef"
        text = wire.question(message, GAME, match_id="0" * 32, turn=1, nonce=nonce, limit=5.0)
        said = wire.encode(answer.value).decode()
        self._script.append(Asked(self._seat, text, said, isinstance(message, TakeTurn)))
        return answer


def script_of_match() -> list[Asked]:
    """All that is said in one match."""
    script: list[Asked] = []
    play(dealt(GAME, NAMES, SEED), [Heard(seat, script) for seat in range(len(NAMES))])
    return script


class Staying(Remote):
    """A channel to somebody who stays for the next match."""

    async def close(self, parting: Parting | Failed) -> None:
        """Keep the line."""


class Pace(NamedTuple):
    """How fast it went."""

    turns: float  # a second
    busy: float  # microseconds of a core, for a turn


class Figure(NamedTuple):
    """The best of both, and how much of the bare pace is left: by turns a second, and by what a core had to do."""

    ours: Pace
    bare: Pace
    ratio: float
    ratio_busy: float


Play = Callable[[], Awaitable[None]]


async def saturated(rooms: int, rounds: int) -> Figure:
    """Rooms and bare echoes by turns, a match in every room each time."""
    script = script_of_match()
    turns = rooms * sum(asked.is_turn for asked in script)
    seats = len(NAMES)
    answers = [json.dumps([one.answer for one in script if one.seat == seat and one.is_turn]) for seat in range(seats)]
    place = MEMORY if MEMORY.is_dir() else None
    with (
        socket.create_server(("127.0.0.1", 0), backlog=4 * rooms) as door,
        tempfile.TemporaryDirectory(dir=place) as folder,
    ):
        door.setblocking(False)
        words = ("-I", "-S", "-c", CLIENT, str(door.getsockname()[1]), str(2 * seats * rooms), *answers)
        client = subprocess.Popen([sys.executable, *words])
        try:
            lines = [await joined(door) for _ in range(seats * rooms)]
            streams = [await asyncio.open_connection(sock=await accepted(door)) for _ in range(seats * rooms)]
            figure = await compared(rooms_of(lines, folder), echoes_of(streams, script), turns, rounds)
            for line in lines:
                await line.hang_up(b"", 0)
            for _, writer in streams:
                writer.close()
            assert await asyncio.to_thread(client.wait, 10) == 0
            checked(folder, rooms)
        finally:
            client.kill()
            client.wait()
    return figure


async def accepted(door: socket.socket) -> socket.socket:
    """The next connection."""
    connection, _ = await asyncio.get_running_loop().sock_accept(door)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    return connection


async def joined(door: socket.socket) -> Line:
    """The line to the next client."""
    return await over_tcp(await accepted(door))


def rooms_of(lines: list[Line], folder: str) -> Play:
    """A match in every room, on these lines."""
    key = str(Path(folder, "key"))

    async def room(first: Line, second: Line) -> None:
        remotes = {seat: Staying(line, GAME) for seat, line in enumerate((first, second))}
        entrants = tuple(Entrant(f"visitor:{name}", name) for name in NAMES)
        spec = MatchSpec.of(GAME, entrants, seed=SEED, journal=f"{folder}/games", key=key)
        outcome = await run_async(spec, gathered=remotes)
        assert outcome.result is not None and not outcome.result.ejected, outcome

    async def play_all() -> None:
        await asyncio.gather(*(room(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)))

    return play_all


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def echoes_of(streams: list[Streams], script: list[Asked]) -> Play:
    """What is said in a match, in every room, without a thought."""

    async def room(pair: tuple[Streams, Streams]) -> None:
        for asked in script:
            reader, writer = pair[asked.seat]
            writer.write(asked.question)
            await writer.drain()
            await reader.readline()

    async def play_all() -> None:
        await asyncio.gather(*(room(pair) for pair in zip(streams[::2], streams[1::2], strict=True)))

    return play_all


async def compared(ours: Play, bare: Play, turns: int, rounds: int) -> Figure:
    """The best of both, by turns, so that both have the same weather."""
    del bytearray(LARGE)[:]
    took: tuple[tuple[list[float], list[float]], ...] = (([], []), ([], []))
    for _ in range(rounds):
        for (times, work), play_all in zip(took, (ours, bare), strict=True):
            gc.collect()
            since, computed = time.perf_counter(), time.process_time()
            await play_all()
            times.append(time.perf_counter() - since)
            work.append(time.process_time() - computed)
    (mine, busy), (theirs, theirs_busy) = took
    return Figure(
        Pace(turns / min(mine), min(busy) / turns * 1e6),
        Pace(turns / min(theirs), min(theirs_busy) / turns * 1e6),
        min(theirs) / min(mine),
        min(theirs_busy) / min(busy),
    )


def checked(folder: str, rooms: int) -> None:
    """Raise unless there are whole journals of at least so many matches."""
    paths = list(Path(folder, "games").iterdir())
    assert len(paths) >= rooms
    for path in paths[:rooms]:
        verify(read(path))


LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
with suppress(ImportError):
    import uvloop

    LOOPS["uvloop"] = uvloop.new_event_loop


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once; {ROOMS} if nothing is said")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of both; {ROUNDS} if nothing is said")
    parser.add_argument("loops", nargs="*", metavar="LOOP", help=f"of {', '.join(LOOPS)}; all if none is given")
    chosen = parser.parse_args()
    figures = {}
    for name in chosen.loops or LOOPS:
        with asyncio.Runner(loop_factory=LOOPS[name]) as runner:
            figures[name] = runner.run(saturated(chosen.rooms, chosen.rounds))
    if chosen.json:
        json.dump(figures, sys.stdout)
        print()
        return
    print(f"{'saturated':<12}{'turns/s':>9}{'echo':>9}{'ratio':>8}{'us':>9}{'echo':>9}{'ratio':>8}")
    for name, (ours, bare, ratio, busy) in figures.items():
        print(
            f"{name:<12}{ours.turns:>9.0f}{bare.turns:>9.0f}{ratio:>8.1%}{ours.busy:>9.1f}{bare.busy:>9.1f}{busy:>8.1%}"
        )


if __name__ == "__main__":
    main()
