"""Measure the throughput of a saturated server, beside bare code that exchanges the same messages.

100 rooms of Fish with 200 clients over TCP, with checks, hubs, and journals in batches, as fast as possible. The bare
code is an echo over asyncio's streams: it sends the same bytes, waits for the same replies, and checks nothing. Both
run in the same process, on the same event loop and in turns; and the same client, in a second process, answers both
from a list. Turns per second are valid on a quiet machine; microseconds of a busy core also on one that others use.
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
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from fairplay.core.messages import Answer, Answered, Message, TakeTurn
from fairplay.games.fish import Fish
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import built_in_strategy
from fairplay.protocol import wire
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from fairplay.server.client import Client
from fairplay.server.server import GameServer
from fairplay.server.serving import reduce_garbage_collection
from fairplay.server.settings import ConnectionLimits, ServerSettings, make_offer
from fairplay.server.sign_in.sign_in import SignIn
from fairplay.transport import event_loop

ROUNDS = 15
ROOMS = 100
GAME = Fish(fish=2)  # so that all deals are the same
OFFER = make_offer(GAME.name, GAME.parameters(), max_players=2)
SEED = bytes([7] * 32)
NAMES = ("ann", "bob")
# Bytes: after so many were freed, the C library keeps the read buffers of asyncio's streams, which makes them faster.
READ_BUFFER_BYTES = 1 << 20
TIMEOUT_S = 60.0  # of any wait
MAX_CHECKED_JOURNALS = 100
SHARED_MEMORY_DIR = Path("/dev/shm")  # journals go there if it exists, as in the other benchmarks
CLIENT = r"""
import json, re, select, socket, sys
connections, *ports = map(int, sys.argv[1:4])
answers = map(json.loads, sys.argv[4:])
nonce, seat = re.compile(rb'"nonce":("[^"]*")'), re.compile(rb'"seat":(\d+)')
silently = b'{"type":"welcome"', b'{"type":"closing"', b'{"type":"suspended"'
replies = [[b',"answer":' + answer.encode() + b"}\n" for answer in each] for each in answers]
poll, lines, at, rest, mine = select.epoll(), {}, {}, {}, {}
for port in ports * connections:
    line = socket.create_connection(("127.0.0.1", port))
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    poll.register(line, select.EPOLLIN)
    here = line.fileno()
    lines[here], rest[here] = line, b""
while lines:
    for here, _ in poll.poll():
        data = lines[here].recv(65536)
        if not data:
            poll.unregister(here)
            lines.pop(here).close()
            continue
        *whole, rest[here] = (rest[here] + data).split(b"\n")
        for text in whole:
            if text.startswith(silently):
                continue
            answer = b',"answer":null}\n'
            if text.startswith(b'{"type":"take_turn"'):
                answer = mine[here][at[here]]
                at[here] += 1
            elif text.startswith(b'{"type":"start"'):
                at[here], mine[here] = 0, replies[int(seat.search(text)[1])]
            lines[here].send(b'{"nonce":' + nonce.search(text)[1] + answer)
"""


class RecordedQuestion(NamedTuple):
    """A message to a seat, and its answer."""

    seat: int
    question: bytes
    answer: str
    is_turn: bool


class RecordingChannel(LocalChannel):
    """A player that keeps its questions and answers."""

    def __init__(self, seat: int, script: list[RecordedQuestion]) -> None:
        super().__init__(built_in_strategy(GAME.name, "greedy"), GAME)
        self._seat = seat
        self._script = script

    def ask(self, message: Message) -> Answer:
        answer = super().ask(message)
        assert isinstance(answer, Answered)
        nonce = f"{len(self._script) + 1}-0123456789abcdef"
        text = wire.encode_question(message, GAME, match_id="0" * 32, turn=1, nonce=nonce, limit=5.0)
        reply = wire.encode(answer.value).decode()
        self._script.append(RecordedQuestion(self._seat, text, reply, isinstance(message, TakeTurn)))
        return answer


def record_match_script() -> list[RecordedQuestion]:
    """All messages of one match."""
    script: list[RecordedQuestion] = []
    play(deal_match(GAME, NAMES, SEED), [RecordingChannel(seat, script) for seat in range(len(NAMES))])
    return script


class RoundLobby:
    """A lobby in which clients wait for all others; then they play the next match in pairs."""

    def __init__(self, server: GameServer, clients: int) -> None:
        self._server = server
        self._clients = clients
        self._here: list[Client] = []
        self._all_here = asyncio.Event()

    def refusal(self, client: Client) -> str:
        """Admit every client."""
        return ""

    def add(self, client: Client) -> None:
        """Add a client."""
        self._here.append(client)
        if len(self._here) == self._clients:
            self._all_here.set()

    def remove(self, client: Client) -> None:
        """Remove a client."""
        self._here = [one for one in self._here if one is not client]

    def __iter__(self) -> Iterator[Client]:
        return iter(self._here)

    def close(self) -> None:
        """Nothing to close."""

    async def gather(self) -> None:
        """Wait until all clients wait."""
        async with asyncio.timeout(TIMEOUT_S):
            await self._all_here.wait()

    async def play_all(self) -> None:
        """Play a match in every room."""
        here, self._here = self._here, []
        self._all_here.clear()
        for pair in zip(here[::2], here[1::2], strict=True):
            self._server.open_room(OFFER, list(pair))
        await self.gather()


class Throughput(NamedTuple):
    """The throughput."""

    turns: float  # a second
    busy: float  # microseconds of a core, for a turn


class Figure(NamedTuple):
    """The best of both, and the ratios of turns per second and of busy time."""

    ours: Throughput
    bare: Throughput
    ratio: float
    ratio_busy: float


Play = Callable[[], Awaitable[None]]


async def measure_throughput(rooms: int, rounds: int) -> Figure:
    """Rooms and bare echoes in turns, with a match in every room each time."""
    script = record_match_script()
    turns, connections = rooms * sum(asked.is_turn for asked in script), len(NAMES) * rooms
    answers = [
        json.dumps([one.answer for one in script if one.seat == seat and one.is_turn]) for seat in range(len(NAMES))
    ]
    with (
        socket.create_server(("127.0.0.1", 0), backlog=connections) as listener,
        tempfile.TemporaryDirectory(dir=SHARED_MEMORY_DIR if SHARED_MEMORY_DIR.is_dir() else None) as directory,
    ):
        listener.setblocking(False)
        settings = ServerSettings(
            offers=(OFFER,),
            directory=directory,
            port=0,
            connection_limits=ConnectionLimits(connections_per_address=connections),
        )
        server = GameServer(settings)
        server.lobby = lobby = RoundLobby(server, connections)
        async with SignIn(server, settings) as sign_in:
            ports = (sign_in.addresses[0].rpartition(":")[2], str(listener.getsockname()[1]))
            words = ("-I", "-S", "-c", CLIENT, str(connections), *ports, *answers)
            client = subprocess.Popen([sys.executable, *words])
            try:
                await lobby.gather()
                streams = [await connect_client(listener) for _ in range(connections)]
                figure = await best_of_rounds(lobby.play_all, echo_server(streams, script), turns, rounds)
                for _, writer in streams:
                    writer.close()
                await server.stop("all is over", 0.0)
                assert await asyncio.to_thread(client.wait, TIMEOUT_S) == 0
            finally:
                client.kill()
                client.wait()
        check_journals(Path(directory, "matches"), rooms * rounds)
    return figure


async def connect_client(listener: socket.socket) -> "Streams":
    """The streams to the next client."""
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    return await asyncio.open_connection(sock=connection)


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def echo_server(streams: list[Streams], script: list[RecordedQuestion]) -> Play:
    """The messages of a match in every room, from a list."""

    async def room(pair: tuple[Streams, Streams]) -> None:
        for asked in script:
            reader, writer = pair[asked.seat]
            writer.write(asked.question)
            await writer.drain()
            await reader.readline()

    async def play_all() -> None:
        await asyncio.gather(*(room(pair) for pair in zip(streams[::2], streams[1::2], strict=True)))

    return play_all


async def best_of_rounds(ours: Play, bare: Play, turns: int, rounds: int) -> Figure:
    """The best of both, in turns, so that both sides run under the same conditions."""
    del bytearray(READ_BUFFER_BYTES)[:]
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
        Throughput(turns / min(mine), min(busy) / turns * 1e6),
        Throughput(turns / min(theirs), min(theirs_busy) / turns * 1e6),
        min(theirs) / min(mine),
        min(theirs_busy) / min(busy),
    )


def check_journals(directory: Path, matches: int) -> None:
    """Raise unless there are complete journals of so many matches without ejections."""
    paths = list(directory.iterdir())
    assert len(paths) == matches
    for path in paths[:MAX_CHECKED_JOURNALS]:
        recorded = read_journal(path)
        verify(recorded)
        assert recorded.closing is not None and not recorded.closing.result.ejected


def main() -> None:
    """Print the figures as a table, or as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rooms", type=int, default=ROOMS, help=f"at once (default: {ROOMS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of both (default: {ROUNDS})")
    chosen = parser.parse_args()
    reduce_garbage_collection()
    figures = ours, bare, ratio, busy = event_loop.run(measure_throughput(chosen.rooms, chosen.rounds))
    if chosen.json:
        json.dump(figures, sys.stdout)
        print()
        return
    print(f"{'throughput':<12}{'turns/s':>9}{'echo':>9}{'ratio':>8}{'us':>9}{'echo':>9}{'ratio':>8}")
    print(f"{'':<12}{ours.turns:>9.0f}{bare.turns:>9.0f}{ratio:>8.1%}{ours.busy:>9.1f}{bare.busy:>9.1f}{busy:>8.1%}")


if __name__ == "__main__":
    main()
