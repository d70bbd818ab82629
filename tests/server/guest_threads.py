"""Run a server as a process, and clients in threads that reconnect by themselves."""

import json
import signal
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from fairplay import built_in_strategy
from fairplay.core.events import Acted, Ejected, Receipt, Result
from fairplay.games import game_info
from fairplay.journal.replay import RecordedMatch, begin_match, read_journal
from fairplay.journal.unfinished_matches import has_begun
from fairplay.journal.verification import verify
from fairplay.protocol import player_side, wire
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.server.status import ServerStatus, decode
from tests.cli.command import INSTALLED_COMMAND, accept_ctrl_c, start_process
from tests.players.host_joining import join_host

TIMEOUT_S = 60.0
LOOPBACK = "127.0.0.1"
MAX_CHOICES = 8


def choose_action(game: Any, view: Any) -> Any:
    """An action that depends on the view alone; in Tsuro there may be no legal one."""
    some = list(islice(game.actions(view), MAX_CHOICES)) or [
        built_in_strategy(game.name, next(iter(game_info(game.name).built_in)))(view)
    ]
    return some[zlib.crc32(wire.encode(game.pack(view))) % len(some)]


class TurnGate:
    """Lets players take so many turns each; then they wait until it is opened."""

    def __init__(self, turns: int) -> None:
        self.waiting = 0
        self.taken = 0
        self._turns = turns
        self._is_open = False
        self._changed = threading.Condition()

    def pass_through(self, turn: int) -> None:
        with self._changed:
            self.taken += 1
            self._changed.notify_all()
            if turn <= self._turns:
                return
            self.waiting += 1
            assert self._changed.wait_for(lambda: self._is_open, TIMEOUT_S), "the gate was not opened"

    def wait_until(self, state: Callable[["TurnGate"], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: state(self), TIMEOUT_S), f"{self.waiting} wait, {self.taken} turns"

    def open(self) -> None:
        with self._changed:
            self._is_open = True
            self._changed.notify_all()


OPEN_GATE = TurnGate(10**6)


class GatedPlayer:
    """Plays one match by the view alone, as fast as the gate lets it."""

    def __init__(self, game: Any, guest: "GuestThread") -> None:
        self._game, self._guest, self._turns = game, guest, 0

    def take_turn(self, view: Any) -> Any:
        self._turns += 1
        self._guest.gate().pass_through(self._turns)
        return choose_action(self._game, view)

    def end(self, result: Result) -> None:
        self._guest.results.append(result)
        self._guest.at_the_end()

    def closing(self, receipt: Receipt) -> None:
        self._guest.receipts.append(receipt)


class GuestThread(threading.Thread):
    """A client that plays so many matches at a server, and reconnects when its connection is lost.

    Its connection may break after so many messages, each time.
    """

    def __init__(
        self,
        address: str,
        name: str,
        gate: Callable[[], TurnGate] = lambda: OPEN_GATE,
        *,
        breaks: int = 10**6,
        ca: str | None = None,  # the certificate of the server, for TLS
        at_the_end: Callable[[], None] = lambda: None,  # done before the end of a match is acknowledged
        **options: Any,
    ) -> None:
        super().__init__(daemon=True, name=name)
        self.results: list[Result] = []
        self.receipts: list[Receipt] = []
        self.told: list[str] = []
        self.lost = ""
        self.gate = gate
        self.at_the_end = at_the_end
        given: Any = {"wait": TIMEOUT_S, "idle_timeout_s": TIMEOUT_S, "matches": 1, **options}
        self._options = {"tell": self._tell, "name": name, "ca": ca, "breaks": breaks, **given}
        self._address = address
        self.start()

    def _tell(self, text: str) -> None:
        if not text.startswith("connected to "):  # before the sign-in
            self.told.append(text)

    def run(self) -> None:
        end = join_host(self._address, lambda game: GatedPlayer(game, self), **self._options)
        if isinstance(end, Exception):
            self.lost = str(end) or type(end).__name__

    def wait_until_done(self) -> "GuestThread":
        self.join(TIMEOUT_S)
        assert not self.is_alive(), f"{self.name} is still there: {self.told}"
        return self


def wait_for_guests(guests: Iterable[GuestThread]) -> None:
    """Wait until all have left, after the last match that they wanted to play."""
    for guest in guests:
        assert guest.wait_until_done().lost == "", guest.name


def offer(game: str = "fish", seats: int = 2, limit: float = 60, **parameters: int) -> str:
    """A game in the settings of a server; a small board of Fish, if nothing else is said."""
    given = parameters or ({"rows": 5, "columns": 5} if game == "fish" else {})
    table = ", ".join(f"{name} = {value}" for name, value in given.items())
    times = ", ".join(f"{name} = {limit}" for name in ("move", "first", "start"))
    return f'{{ game = "{game}", min = {seats}, max = {seats}, parameters = {{ {table} }}, limits = {{ {times} }} }}'


class ServerProcess:
    """A process of `fairplay serve`, which can be ended in any way and started again at the same port."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.directory = directory
        self._options = options
        self.port = 0
        self.process: subprocess.Popen[str]

    def start(self, start: Callable[[], None] = accept_ctrl_c) -> None:
        """Start it, and wait until it listens."""
        fixed = ("--port", str(self.port), "--dir", str(self.directory), "--log", "json")
        self.process = start_process([INSTALLED_COMMAND, "serve", *self._options, *fixed], start=start)
        self.told: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._is_open = threading.Event()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        assert self._is_open.wait(TIMEOUT_S), "it does not listen"
        assert self.port, self.said

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def _listen(self) -> None:
        """Read its logs, so that it never blocks."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if not line.startswith("{"):
                self.said.append(line)
                continue
            self.told.append(json.loads(line))
            if self.told[-1]["event"] == "listening":
                self.port = int(self.told[-1]["address"].rpartition(":")[2])
                self.websockets = [int(address.rpartition(":")[2]) for address in self.told[-1].get("websocket", [])]
                self._is_open.set()
        self._is_open.set()

    def end(self, by: signal.Signals) -> int:
        """End it by a signal, and wait for its exit code."""
        self.process.send_signal(by)
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        code = self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code

    def status(self) -> ServerStatus:
        with introduce(self, {"purpose": "status"}) as connection, connection.makefile("rb") as stream:
            return decode(stream.readline())

    def stop_when_idle(self) -> None:
        """Wait until no match is played any more, and stop it in good order."""
        wait_for_value(lambda: not self.status().rooms)
        assert self.end(signal.SIGTERM) == 0

    def events(self, event: str) -> list[dict[str, Any]]:
        return [one for one in self.told if one["event"] == event]

    def journals(self) -> list[Path]:
        """The journals of all matches that have begun; a killed server may leave an empty file of another."""
        return [path for path in sorted((self.directory / "matches").glob("*.jsonl")) if has_begun(path)]


@contextmanager
def run_server(
    directory: Path,
    *options: str,
    offers: Sequence[str] = (),
    hello_timeout: float = 10,
    start: Callable[[], None] = accept_ctrl_c,
    **settings: float,
) -> Iterator[ServerProcess]:
    """A server, which is ended in any case; clients in threads reconnect to it soon.

    It may have offers and settings; then each client plays one match.
    """
    if offers:
        given: dict[str, Any] = {"reconnect_window": 60, **settings, "games": f"[{', '.join(offers)}]"}
        given["connection_limits"] = f"{{ matches_per_client = 1, hello_timeout = {hello_timeout} }}"
        directory.mkdir(exist_ok=True)
        config = directory / "server.toml"
        config.write_text("".join(f"{name} = {value}\n" for name, value in given.items()))
        options += ("--config", str(config))
    server = ServerProcess(directory, *options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player_side, "MAX_RECONNECT_INTERVAL_S", 0.5)
        try:
            server.start(start)
            yield server
        finally:
            if server.process.returncode is None:
                server.end(signal.SIGKILL)


@contextmanager
def playing_beside(server: ServerProcess, breaks: int = 3, **options: Any) -> Iterator[None]:
    """A match of ann and bob over connections that break; it waits for the end of the context, and ends then."""
    gate = TurnGate(2)
    guests = [GuestThread(server.address, name, lambda: gate, breaks=breaks, **options) for name in ("ann", "bob")]
    gate.wait_until(lambda gate: gate.waiting == 1)
    yield
    gate.open()
    wait_for_guests(guests)


def play_undisturbed(recorded: RecordedMatch) -> tuple[Any, list[Any]]:
    """The result and the facts of an uninterrupted match of the same deal."""
    match = begin_match(recorded.opening)
    game, facts = match.game, list[Any]()
    channels = [LocalChannel(lambda view: choose_action(game, view), game) for _ in match.names]
    final = play(match, channels, on_event=lambda event, *_: facts.append(event))
    return final.result, [fact for fact in facts if isinstance(fact, Acted | Ejected)]


def check_undisturbed(path: Path) -> RecordedMatch:
    """Verify a journal, and compare it with an uninterrupted match."""
    recorded = read_journal(path)
    final = verify(recorded)
    result, facts = play_undisturbed(recorded)
    assert final.result == result, [entry.evidence for entry in recorded.entries if entry.evidence]
    assert list(recorded.facts) == facts
    return recorded


def connect_raw(port: int, said: bytes = b"", source: str = LOOPBACK) -> socket.socket:
    """A new connection to a port of this machine, over which something is said."""
    connection = socket.create_connection((LOOPBACK, port), TIMEOUT_S, (source, 0))
    connection.sendall(said)
    return connection


def introduce(server: ServerProcess, answer: dict[str, str], source: str = LOOPBACK) -> socket.socket:
    """A new connection to a server on which hello is answered."""
    connection = connect_raw(server.port, source=source)
    with connection.makefile("rb", buffering=0) as stream:
        nonce = json.loads(stream.readline())["nonce"]
    connection.sendall(wire.encode({"nonce": nonce, "answer": answer}) + b"\n")
    return connection


def wait_for_value(so: Callable[[], Any]) -> Any:
    """Wait until this gives a true value, and return it."""
    until = time.monotonic() + TIMEOUT_S
    while not (found := so()):
        assert time.monotonic() < until, "timed out"
        time.sleep(0.01)
    return found
