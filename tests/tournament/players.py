"""Provide players that misbehave in tournaments: they cheat, crash at some deals, kill the worker, or are slow."""

import os
import signal
import time
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from fairplay.core.events import Acted
from fairplay.games.fish import Fish

FLAG_VARIABLE = "FAIRPLAY_TEST_FLAG"  # names a file that says that something has happened


class FirstActionPlayer:
    def take_turn(self, view: Any) -> Any:
        return next(iter(islice(Fish().actions(view), 1)))


class Cheat(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        return {"type": "win"}


class Crasher(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        raise RuntimeError("enough")


class BadLoser(FirstActionPlayer):
    def end(self, result: Any) -> None:
        raise RuntimeError("a bad loser")


class Shy(FirstActionPlayer):
    """Raises at the start of every match but the first."""

    starts = 0

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        Shy.starts += 1
        if Shy.starts > 1:
            raise RuntimeError("not again")


class Listener(FirstActionPlayer):
    heard: ClassVar[list[Any]] = []

    def end(self, result: Any) -> None:
        self.heard.append(result)


class FailsOnSomeDeals(FirstActionPlayer):
    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        if sha256(repr(view).encode()).digest()[0] % 2:
            raise RuntimeError("what a board")


class KillsWorker(FirstActionPlayer):
    """Kills the process that it plays in, whenever it is to move."""

    def take_turn(self, view: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class KillsWorkerOnce(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        try:
            Path(os.environ[FLAG_VARIABLE]).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            return super().take_turn(view)


class Slow(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        time.sleep(0.1)
        return super().take_turn(view)


class WaitsForFlag(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while not Path(os.environ[FLAG_VARIABLE]).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return super().take_turn(view)


class InterruptingObserver:
    def observe(self, event: Any, match: Any) -> None:
        if isinstance(event, Acted):
            signal.raise_signal(signal.SIGINT)


class IgnoresInterrupt(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                continue


class NotesInterrupt(FirstActionPlayer):
    def take_turn(self, view: Any) -> Any:
        path = Path(os.environ[FLAG_VARIABLE])
        path.touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            path.write_text("interrupted")
            raise


class LeavesBeforeLosing(FirstActionPlayer):
    """Raises before it can lose, as it knows the number of turns."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self.turns = 0

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        if self.turns == 4:
            raise RuntimeError("I do not play any more")
        return super().take_turn(view)
