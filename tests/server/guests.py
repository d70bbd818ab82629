"""Go to a house that is a process of its own, with players in threads who come back by themselves."""

import json
import signal
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from fairplay import Local, house_strategy
from fairplay.core.events import Acted, Ejected, Receipt, Result
from fairplay.games import title
from fairplay.journal.replay import Recorded, begin, read
from fairplay.journal.unfinished import has_begun
from fairplay.journal.verify import check_receipt, verify
from fairplay.protocol import wire
from fairplay.referee.drivers import play
from fairplay.server.status import HouseStatus, decode
from tests.cli.command import SCRIPT, in_foreground, started
from tests.players.joined import join_host

AMPLE = 60.0  # seconds, which nothing takes
LOOPBACK = "127.0.0.1"
BREADTH = 8


def choose(game: Any, view: Any) -> Any:
    """An action that depends on nothing but the view; of Tsuro not always a lawful one, as there may be none."""
    some = list(islice(game.actions(view), BREADTH)) or [
        house_strategy(game.name, next(iter(title(game.name).house)))(view)
    ]
    return some[zlib.crc32(wire.encode(game.pack(view))) % len(some)]


class Gate:
    """Lets players take so many turns each since they sat down; then they wait until it is opened."""

    def __init__(self, turns: int) -> None:
        self.waiting = 0
        self.taken = 0
        self._turns = turns
        self._is_open = False
        self._changed = threading.Condition()

    def pass_through(self, turn: int) -> None:
        """Take the turn of this number, when that may be."""
        with self._changed:
            self.taken += 1
            self._changed.notify_all()
            if turn <= self._turns:
                return
            self.waiting += 1
            assert self._changed.wait_for(lambda: self._is_open, AMPLE), "nobody opened the gate"

    def until(self, state: Callable[["Gate"], bool]) -> None:
        """Come back when this is so."""
        with self._changed:
            assert self._changed.wait_for(lambda: state(self), AMPLE), f"{self.waiting} wait, {self.taken} turns"

    def open(self) -> None:
        """Let everybody through, whatever its turn."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()


OPEN = Gate(10**6)


class Player:
    """Plays one match by the view alone, as fast as the gate lets it."""

    def __init__(self, game: Any, guest: "Guest") -> None:
        self._game, self._guest, self._turns = game, guest, 0

    def take_turn(self, view: Any) -> Any:
        self._turns += 1
        self._guest.gate().pass_through(self._turns)
        return choose(self._game, view)

    def end(self, result: Result) -> None:
        self._guest.results.append(result)
        self._guest.at_the_end()

    def closing(self, receipt: Receipt) -> None:
        self._guest.receipts.append(receipt)


class Guest(threading.Thread):
    """Somebody who goes to a house, plays so many matches there, and comes back whenever the line is lost.

    Its line may be bad, and be lost after so many messages, each time.
    """

    def __init__(
        self,
        address: str,
        name: str,
        gate: Callable[[], Gate] = lambda: OPEN,
        *,
        breaks: int = 10**6,
        ca: str | None = None,  # the file with the certificate of the house, if lines are encrypted
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
        given: Any = {"wait": AMPLE, "idle_timeout_s": AMPLE, "matches": 1, **options}
        self._options = {"tell": self._tell, "name": name, "ca": ca, "breaks": breaks, **given}
        self._address = address
        self.start()

    def _tell(self, text: str) -> None:
        if not text.startswith("connected to "):  # which says nothing about being let in
            self.told.append(text)

    def run(self) -> None:
        end = join_host(self._address, lambda game: Player(game, self), **self._options)
        if isinstance(end, Exception):
            self.lost = str(end) or type(end).__name__

    def done(self) -> "Guest":
        """Come back when it has left."""
        self.join(AMPLE)
        assert not self.is_alive(), f"{self.name} is still there: {self.told}"
        return self


class Served:
    """A house as a process: `fairplay serve`, which can be ended in any way and started again at the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._options = options
        self.port = 0
        self.process: subprocess.Popen[str]

    def start(self, start: Callable[[], None] = in_foreground) -> None:
        """Open it, and come back when it listens."""
        fixed = ("--port", str(self.port), "--folder", str(self.folder), "--log", "json")
        self.process = started([SCRIPT, "serve", *self._options, *fixed], start=start)
        self.told: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._is_open = threading.Event()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()
        assert self._is_open.wait(AMPLE), "it does not say that it is open"
        assert self.port, self.said

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def _listen(self) -> None:
        """Read what it tells, so that it never has to wait."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if not line.startswith("{"):
                self.said.append(line)
                continue
            self.told.append(json.loads(line))
            if self.told[-1]["event"] == "open":
                self.port = int(self.told[-1]["address"].rpartition(":")[2])
                self.websockets = [int(address.rpartition(":")[2]) for address in self.told[-1].get("websocket", [])]
                self._is_open.set()
        self._is_open.set()

    def end(self, by: signal.Signals) -> int:
        """End it by a signal, and come back when it is gone; its exit code."""
        self.process.send_signal(by)
        return self.gone()

    def gone(self) -> int:
        """The exit code, once it is gone."""
        code = self.process.wait(AMPLE)
        self._reader.join(AMPLE)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def status(self) -> HouseStatus:
        """What it says of itself to whoever asks."""
        with at_the_door(self.address) as line, line.makefile("rb") as stream:
            hello = json.loads(stream.readline())
            line.sendall(wire.encode({"nonce": hello["nonce"], "answer": {"visit": "status"}}) + b"\n")
            return decode(stream.readline())

    def stop_when_all_is_over(self) -> None:
        """Wait until nothing is played any more, and stop it in good order."""
        eventually(lambda: not self.status().rooms)
        assert self.end(signal.SIGTERM) == 0

    def events(self, event: str) -> list[dict[str, Any]]:
        """What it told of this."""
        return [one for one in self.told if one["event"] == event]

    def journals(self) -> list[Path]:
        """Of all matches that have begun; of one that has not, a server that was killed may leave an empty file."""
        return [path for path in sorted((self.folder / "matches").glob("*.jsonl")) if has_begun(path)]


@contextmanager
def served(folder: Path, *options: str, start: Callable[[], None] = in_foreground) -> Iterator[Served]:
    """A house, which is gone afterwards whatever happens."""
    house = Served(folder, *options)
    try:
        house.start(start)
        yield house
    finally:
        if house.process.returncode is None:
            house.end(signal.SIGKILL)


def undisturbed(recorded: Recorded) -> tuple[Any, list[Any]]:
    """The result and the actions of a match of the same deal if nobody had interrupted it."""
    match = begin(recorded.opening)
    game, facts = match.game, list[Any]()
    channels = [Local(lambda view: choose(game, view), game) for _ in match.names]
    final = play(match, channels, inform=lambda event, *_: facts.append(event))
    return final.result, [fact for fact in facts if isinstance(fact, Acted | Ejected)]


def check_undisturbed(path: Path) -> Recorded:
    """The journal of a match, once it was found lawful and as if nothing had ever happened to it."""
    recorded = read(path)
    final = verify(recorded)
    result, facts = undisturbed(recorded)
    assert final.result == result, [entry.evidence for entry in recorded.entries if entry.evidence]
    assert list(recorded.facts) == facts
    return recorded


def check_receipts(guest: Guest, recorded: Recorded) -> None:
    """What somebody was handed at the end fits the journal of its match."""
    for receipt in guest.receipts:
        check_receipt(recorded, receipt)


def at_the_door(address: str) -> socket.socket:
    """A connection to a house, over which nothing was said yet."""
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), AMPLE)


def eventually(so: Callable[[], Any]) -> Any:
    """What this gives, once it gives something."""
    until = time.monotonic() + AMPLE
    while not (found := so()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.01)
    return found
