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

FLAG = "FAIRPLAY_TEST_FLAG"  # the file that says that something has happened already


class Steady:
    """Takes the first action that there is."""

    def take_turn(self, view: Any) -> Any:
        return next(iter(islice(Fish().actions(view), 1)))


class Cheat(Steady):
    """Is never lawful."""

    def take_turn(self, view: Any) -> Any:
        return {"type": "win"}


class Crasher(Steady):
    """Raises at its first turn."""

    def take_turn(self, view: Any) -> Any:
        raise RuntimeError("enough")


class BadLoser(Steady):
    """Raises when it hears the result."""

    def end(self, result: Any) -> None:
        raise RuntimeError("a bad loser")


class Picky(Steady):
    """Takes offence at every second deal."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        if sha256(repr(view).encode()).digest()[0] % 2:
            raise RuntimeError("what a board")


class Killer(Steady):
    """Kills the process that it plays in, whenever it is to move."""

    def take_turn(self, view: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class KillerOnce(Steady):
    """Does so once."""

    def take_turn(self, view: Any) -> Any:
        try:
            Path(os.environ[FLAG]).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            return super().take_turn(view)


class Slow(Steady):
    """Thinks long about everything."""

    def take_turn(self, view: Any) -> Any:
        time.sleep(0.1)
        return super().take_turn(view)


class Waiting(Steady):
    """Waits until something has happened."""

    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while not Path(os.environ[FLAG]).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return super().take_turn(view)


class Watcher:
    """Notes what it sees, and in which process."""

    def observe(self, event: Any, match: Any) -> None:
        with Path(os.environ[FLAG]).open("a") as file:
            file.write(f"{type(event).__name__} {os.getpid()}\n")


class Interrupter:
    """Is as good as Ctrl-C at the first action that it sees."""

    def observe(self, event: Any, match: Any) -> None:
        if isinstance(event, Acted):
            signal.raise_signal(signal.SIGINT)


class Stubborn(Steady):
    """Is not to be interrupted."""

    def take_turn(self, view: Any) -> Any:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                continue


class Interrupted(Steady):
    """Waits until it is interrupted, and notes that."""

    def take_turn(self, view: Any) -> Any:
        path = Path(os.environ[FLAG])
        path.touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            path.write_text("interrupted")
            raise


class Leaver(Steady):
    """Leaves before it can lose: it knows how many turns a match has."""

    def start(self, seat: int, names: tuple[str, ...], view: Any) -> None:
        self.turns = 0

    def take_turn(self, view: Any) -> Any:
        self.turns += 1
        if self.turns == 4:
            raise RuntimeError("I do not play any more")
        return super().take_turn(view)
