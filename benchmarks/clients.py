"""Keep a server in a process of its own, and be many players in this one who come there, honest and faulty ones."""

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
GOOD_TURNS = 12  # after fewer than so many a faulty player shows what it is
DRIP_INTERVAL_S = 0.5  # seconds between two bytes of a drip
RETURN_DELAY_S = 1.0  # seconds until somebody who is out comes again
TIMEOUT_S = 60.0  # seconds, for whatever has to happen
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
    """What a player looks at of a line."""

    type: str
    match: str = ""
    nonce: str = ""
    view: msgspec.Raw = msgspec.Raw()


decode = msgspec.json.Decoder(Question).decode
encode = msgspec.json.encode


class RunningServer(NamedTuple):
    """A server that is open."""

    process: "subprocess.Popen[bytes]"
    port: int
    matches: Path  # the directory of its journals

    def memory_kb(self) -> int:
        """The memory that it has now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s*(\d+) kB", status)[0])

    def ejections(self) -> Counter[str]:
        """How many of each kind of players were, as the journals say."""
        found: Counter[str] = Counter()
        for path in self.matches.glob("*.jsonl"):
            if b'"ejected"' in path.read_bytes():
                recorded = read_journal(path)
                out = [fact.seat for fact in recorded.facts if isinstance(fact, Ejected)]
                found.update(recorded.names[seat].partition("-")[0] for seat in out)
        return found


@contextmanager
def run_server(game: Fish, work_s: float = 0.0) -> Iterator[RunningServer]:
    """A server where the game is played by two, as the command runs it; at the end it has to stop in good order.

    It may have more to do for each fact that a hub observes, for so many seconds.
    """
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY_DIR if SHARED_MEMORY_DIR.is_dir() else None) as directory:
        parameters = ", ".join(f"{name} = {json.dumps(value)}" for name, value in game.parameters().items())
        Path(directory, "server.toml").write_text(
            f'port = 0\ndirectory = "kept"\n[connection_limits]\nconnections_per_address = 4096\nspectators_per_address = 2048\n'
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
    """Where players come in, as soon as the server says so."""
    until = time.monotonic() + TIMEOUT_S
    while not (found := re.search(r'"address":"127\.0\.0\.1:(\d+)"', log.read_text())):
        assert process.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.01)
    return int(found[1])


class PlayerPool:
    """Many players, and how long the server took from one's answer to the next one's question."""

    def __init__(self, game: Fish, port: int, thinking: float) -> None:
        self.game = game
        self.thinking = thinking  # seconds, about
        self.overheads: list[float] = []  # seconds
        self.sent: dict[str, float] = {}  # when the last answer was, by match
        self.playing: set[str] = set()  # the matches that go on
        self._port = port
        self._players: dict[Player, None] = {}
        self._coming: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def connect(self, kinds: list[str]) -> None:
        """Let one of each of these come, some at a time."""
        for number, kind in enumerate(kinds):
            await self._connect_player(kind, number)

    async def _connect_player(self, kind: str, number: int) -> None:
        made = await asyncio.get_running_loop().create_connection(
            lambda: Player(self, kind, number), "127.0.0.1", self._port
        )
        self._players[made[1]] = None

    def player_left(self, player: "Player") -> None:
        """Somebody was cut off, or went; it comes again as a new guest."""
        if self._players.pop(player, self) is None and not self._is_over:
            asyncio.get_running_loop().call_later(RETURN_DELAY_S, self._reconnect, player.kind, player.number)

    def _reconnect(self, kind: str, number: int) -> None:
        if not self._is_over:
            task = asyncio.create_task(self._connect_player(kind, number))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def disconnect_all(self) -> None:
        """Everybody goes home."""
        self._is_over = True
        if self._coming:
            await asyncio.wait(self._coming, timeout=TIMEOUT_S)
        for player in list(self._players):
            player.transport.abort()
        await asyncio.sleep(0)


class Player(asyncio.Protocol):
    """One of them, at the end of its line."""

    transport: asyncio.Transport

    def __init__(self, crowd: PlayerPool, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number
        self._crowd = crowd
        self._rest = b""
        self._good = None if kind == HONEST else random.randrange(GOOD_TURNS)  # turns that are left

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be there."""
        self.transport = cast(asyncio.Transport, transport)
        line: socket.socket = transport.get_extra_info("socket")
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Be out."""
        self._crowd.player_left(self)

    def data_received(self, data: bytes) -> None:
        """Hear something."""
        now = time.perf_counter()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._handle(decode(line), now)

    def _handle(self, asked: Question, now: float) -> None:
        crowd = self._crowd
        match asked.type:
            case "take_turn":
                if (since := crowd.sent.pop(asked.match, None)) is not None:
                    crowd.overheads.append(now - since)
                pause = crowd.thinking * random.uniform(0.5, 1.5)
                asyncio.get_running_loop().call_later(pause, self._take_turn, asked)
            case "hello" if not asked.match:
                self._answer(asked, {"name": f"{self.kind}-{self.number}", "changes": self.kind == "deaf"})
            case "hello" | "start" | "end":
                (crowd.playing.discard if asked.type == "end" else crowd.playing.add)(asked.match)
                crowd.sent.pop(asked.match, None)
                self._answer(asked, None)

    def _answer(self, asked: Question, answer: object) -> None:
        self.transport.write(encode({"nonce": asked.nonce, "answer": answer}) + b"\n")

    def _take_turn(self, asked: Question) -> None:
        """The first action that is legal; or what a faulty player does instead."""
        if self.transport.is_closing():
            return
        if self._good == 0:
            self._fail(asked)
            return
        if self._good is not None:
            self._good -= 1
        game = self._crowd.game
        action = next(iter(game.actions(game.unpack(msgspec.json.decode(asked.view)))))
        self._crowd.sent[asked.match] = time.perf_counter()
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
    """The time below which so large a share of them is, in milliseconds."""
    return sorted(times)[int(share * (len(times) - 1))] * 1000


async def wait_until(done: Callable[[], bool]) -> None:
    """Come back when that is so."""
    async with asyncio.timeout(TIMEOUT_S):
        while not done():
            await asyncio.sleep(0.02)
