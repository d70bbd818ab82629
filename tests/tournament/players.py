"""Play in tournaments, badly: by cheating, by taking offence at some deals, by killing the worker, by being slow."""

import os
import signal
import time
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from fairplay.core.events import Acted
from fairplay.games.fish import Fish

FLAG_VARIABLE = "FAIRPLAY_TEST_FLAG"  # the file that says that something has happened already


class FirstActionPlayer:
    """Takes the first action that there is."""

    def take_turn(self, view: Any) -> Any:
        return next(iter(islice(Fish().actions(view), 1)))


class Cheat(FirstActionPlayer):
    """Is never legal."""

    def take_turn(self, view: Any) -> Any:
        return {"type": "win"}


class Crasher(FirstActionPlayer):
    """Raises at its first turn."""

    def take_turn(self, view: Any) -> Any:
        raise RuntimeError("enough")


class BadLoser(FirstActionPlayer):
    """Raises when it hears the result."""

    def end(self, result: Any) -> None:
        raise RuntimeError("a bad loser")


class FailsOnSomeDeals(FirstActionPlayer):
    """Takes offence at every second deal."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        if sha256(repr(view).encode()).digest()[0] % 2:
            raise RuntimeError("what a board")


class KillsWorker(FirstActionPlayer):
    """Kills the process that it plays in, whenever it is to move."""

    def take_turn(self, view: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class KillsWorkerOnce(FirstActionPlayer):
    """Does so once."""

    def take_turn(self, view: Any) -> Any:
        try:
            Path(os.environ[FLAG_VARIABLE]).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            return super().take_turn(view)


class Slow(FirstActionPlayer):
    """Thinks long about everything."""

    def take_turn(self, view: Any) -> Any:
        time.sleep(0.1)
        return super().take_turn(view)


class WaitsForFlag(FirstActionPlayer):
    """Waits until something has happened."""

    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while not Path(os.environ[FLAG_VARIABLE]).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return super().take_turn(view)


class NotingObserver:
    """Notes what it sees, and in which process."""

    def observe(self, event: Any, match: Any) -> None:
        with Path(os.environ[FLAG_VARIABLE]).open("a") as file:
            file.write(f"{type(event).__name__} {os.getpid()}\n")


class InterruptingObserver:
    """Is as good as Ctrl-C at the first action that it sees."""

    def observe(self, event: Any, match: Any) -> None:
        if isinstance(event, Acted):
            signal.raise_signal(signal.SIGINT)


class IgnoresInterrupt(FirstActionPlayer):
    """Is not to be interrupted."""

    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                continue


class NotesInterrupt(FirstActionPlayer):
    """Waits until it is interrupted, and notes that."""

    def take_turn(self, view: Any) -> Any:
        path = Path(os.environ[FLAG_VARIABLE])
        path.touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            path.write_text("interrupted")
            raise


class LeavesBeforeLosing(FirstActionPlayer):
    """Leaves before it can lose: it knows how many turns a match has."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self.turns = 0

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        if self.turns == 4:
            raise RuntimeError("I do not play any more")
        return super().take_turn(view)
