"""Keep a house by the command, as a process of its own, for as long as a test lasts."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from tests.cli.command import SCRIPT, started

ENOUGH = 60.0  # seconds for anything here


class OpenHouse:
    """A house that is open, and what it tells."""

    def __init__(self, *options: str | Path) -> None:
        self.process: subprocess.Popen[str] = started([SCRIPT, "serve", *options])
        self.told: list[str] = []  # lines
        self._is_open = Event()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._is_open.wait(ENOUGH)
        [self.place] = re.findall(r" open, \w+ (\S+:\d+)", "".join(self.told))

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.told.append(line)
            if " open, " in line:
                self._is_open.set()
        self._is_open.set()

    def over(self) -> int:
        """The exit code, once it has ended by itself."""
        assert self.process.stdout is not None
        self.process.stdout.read()
        code = self.process.wait(ENOUGH)
        self._reader.join(ENOUGH)
        return code

    def stop(self) -> int:
        """The exit code, once it was told to stop."""
        self.process.terminate()
        return self.over()


@contextmanager
def open_house(*options: str | Path) -> Iterator[OpenHouse]:
    """A house that is open while this lasts, unless it ends by itself."""
    house = OpenHouse(*options)
    with house.process:
        try:
            yield house
        finally:
            house.process.kill()
