"""Run a server in its own process, and connect many players from this one, honest and faulty."""

import asyncio
import json
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from fairplay.core.events import Ejected
from fairplay.games.fish import Fish
from fairplay.journal.replay import read_journal

SHARED_MEMORY_DIR = Path("/dev/shm")  # journals go there if it exists, as in the other benchmarks
FAULTS = ("silent", "drip", "deaf", "leaves", "garbage")
HONEST = "honest"
GOOD_TURNS = 12  # before which a faulty player begins to fail
DRIP_INTERVAL_S = 0.5  # between two bytes
RETURN_DELAY_S = 1.0  # until a player that is out connects again
TIMEOUT_S = 60.0  # of any wait
SERVER_WITH_LOAD = """
import time
from fairplay.server.spectating.hub import Hub
from fairplay_command import main

observe = Hub.observe

def observe_and_work(hub, event, match):
    observe(hub, event, match)
    until = time.perf_counter() + {seconds}
    while time.perf_counter() < until:
        pass

Hub.observe = observe_and_work
main()
"""


class Question(msgspec.Struct):
    """The fields of a message that a player reads."""

    type: str
    match: str = ""
    nonce: str = ""
    view: msgspec.Raw = msgspec.Raw()


decode = msgspec.json.Decoder(Question).decode
encode = msgspec.json.encode


class RunningServer(NamedTuple):
    """A running server."""

    process: "subprocess.Popen[bytes]"
    port: int
    matches: Path  # the directory of its journals

    def memory_kb(self) -> int:
        """Its memory now, in kilobytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s*(\d+) kB", status)[0])

    def ejections(self) -> Counter[str]:
        """How many of each kind of players were ejected, by the journals."""
        found: Counter[str] = Counter()
        for path in self.matches.glob("*.jsonl"):
            if b'"ejected"' in path.read_bytes():
                recorded = read_journal(path)
                out = [fact.seat for fact in recorded.facts if isinstance(fact, Ejected)]
                found.update(recorded.names[seat].partition("-")[0] for seat in out)
        return found


@contextmanager
def run_server(game: Fish, work_s: float = 0.0) -> Iterator[RunningServer]:
    """Run the command as a server for matches of two, and check that it stops in good order.

    `work_s`: seconds of extra work for each fact that a hub observes.
    """
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY_DIR if SHARED_MEMORY_DIR.is_dir() else None) as directory:
        parameters = ", ".join(f"{name} = {json.dumps(value)}" for name, value in game.parameters().items())
        Path(directory, "server.toml").write_text(
            'port = 0\ndirectory = "kept"\n'
            "[connection_limits]\nconnections_per_address = 4096\nspectators_per_address = 2048\n"
            f'[[games]]\ngame = "{game.name}"\nmax = 2\nparameters = {{ {parameters} }}\n'
        )
        log = Path(directory, "log")
        start = ["-c", SERVER_WITH_LOAD.format(seconds=work_s)] if work_s else ["-m", "fairplay"]
        command = [sys.executable, *start, "serve", "--config", f"{directory}/server.toml", "--log", "json"]
        with log.open("wb") as written:
            process = subprocess.Popen(command, stderr=written)
        try:
            yield RunningServer(process, read_port(log, process), Path(directory, "kept", "matches"))
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIMEOUT_S) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()


def read_port(log: Path, process: "subprocess.Popen[bytes]") -> int:
    """The port for players, as soon as the server prints it."""
    until = time.monotonic() + TIMEOUT_S
    while not (found := re.search(r'"address":"127\.0\.0\.1:(\d+)"', log.read_text())):
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.01)
    return int(found[1])


class PlayerPool:
    """Many players, and the times of the server from an answer to the next question."""

    def __init__(self, game: Fish, port: int, thinking: float) -> None:
        self.game = game
        self.thinking = thinking  # mean seconds
        self.overheads: list[float] = []  # seconds
        self.sent: dict[str, float] = {}  # the time of the last answer, by match
        self.playing: set[str] = set()  # the running matches
        self._port = port
        self._players: dict[Player, None] = {}
        self._coming: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def connect(self, kinds: list[str]) -> None:
        """Connect a player of each of these kinds, some at a time."""
        for number, kind in enumerate(kinds):
            await self._connect_player(kind, number)

    async def _connect_player(self, kind: str, number: int) -> None:
        made = await asyncio.get_running_loop().create_connection(
            lambda: Player(self, kind, number), "127.0.0.1", self._port
        )
        self._players[made[1]] = None

    def player_left(self, player: "Player") -> None:
        """Connect a player that was disconnected again, as a new guest."""
        if self._players.pop(player, self) is None and not self._is_over:
            asyncio.get_running_loop().call_later(RETURN_DELAY_S, self._reconnect, player.kind, player.number)

    def _reconnect(self, kind: str, number: int) -> None:
        if not self._is_over:
            task = asyncio.create_task(self._connect_player(kind, number))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def disconnect_all(self) -> None:
        """Disconnect all players."""
        self._is_over = True
        if self._coming:
            await asyncio.wait(self._coming, timeout=TIMEOUT_S)
        for player in list(self._players):
            player.transport.abort()
        await asyncio.sleep(0)


class Player(asyncio.Protocol):
    """A player at its end of a connection."""

    transport: asyncio.Transport

    def __init__(self, pool: PlayerPool, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number
        self._pool = pool
        self._rest = b""
        self._good = None if kind == HONEST else random.randrange(GOOD_TURNS)  # turns before it fails

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self.transport = cast(asyncio.Transport, transport)
        line: socket.socket = transport.get_extra_info("socket")
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is lost."""
        self._pool.player_left(self)

    def data_received(self, data: bytes) -> None:
        """Read messages."""
        now = time.perf_counter()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._handle(decode(line), now)

    def _handle(self, asked: Question, now: float) -> None:
        pool = self._pool
        match asked.type:
            case "take_turn":
                if (since := pool.sent.pop(asked.match, None)) is not None:
                    pool.overheads.append(now - since)
                pause = pool.thinking * random.uniform(0.5, 1.5)
                asyncio.get_running_loop().call_later(pause, self._take_turn, asked)
            case "hello" if not asked.match:
                self._answer(asked, {"name": f"{self.kind}-{self.number}", "changes": self.kind == "deaf"})
            case "hello" | "start" | "end":
                (pool.playing.discard if asked.type == "end" else pool.playing.add)(asked.match)
                pool.sent.pop(asked.match, None)
                self._answer(asked, None)

    def _answer(self, asked: Question, answer: object) -> None:
        self.transport.write(encode({"nonce": asked.nonce, "answer": answer}) + b"\n")

    def _take_turn(self, asked: Question) -> None:
        """Answer with the first legal action, or as a faulty player does."""
        if self.transport.is_closing():
            return
        if self._good == 0:
            self._fail(asked)
            return
        if self._good is not None:
            self._good -= 1
        game = self._pool.game
        action = next(iter(game.actions(game.unpack(msgspec.json.decode(asked.view)))))
        self._pool.sent[asked.match] = time.perf_counter()
        self._answer(asked, action)

    def _fail(self, asked: Question) -> None:
        match self.kind:
            case "drip":
                self._drip(deque(encode({"nonce": asked.nonce, "answer": None})))
            case "deaf":
                self.transport.pause_reading()
            case "leaves":
                self.transport.abort()
            case "garbage":
                self.transport.write(b"\x00{]\n")

    def _drip(self, rest: deque[int]) -> None:
        if rest and not self.transport.is_closing():
            self.transport.write(bytes([rest.popleft()]))
            asyncio.get_running_loop().call_later(DRIP_INTERVAL_S, self._drip, rest)


def percentile(times: list[float], share: float) -> float:
    """A quantile of times, in milliseconds."""
    return sorted(times)[int(share * (len(times) - 1))] * 1000


async def wait_until(done: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(TIMEOUT_S):
        while not done():
            await asyncio.sleep(0.02)
