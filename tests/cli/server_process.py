"""Run `fairplay serve` in a process of its own during a test."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from tests.cli.command import INSTALLED_COMMAND, start_process

TIMEOUT_S = 60.0  # seconds for anything here


class ServerProcess:
    """A server that is open, and what it tells."""

    def __init__(self, *options: str | Path) -> None:
        self.process: subprocess.Popen[str] = start_process([INSTALLED_COMMAND, "serve", *options])
        self.told: list[str] = []  # lines
        self._is_open = Event()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self._is_open.wait(TIMEOUT_S)
        [self.place] = re.findall(r" listening, \w+ (\S+:\d+)", "".join(self.told))

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.told.append(line)
            if " listening, " in line:
                self._is_open.set()
        self._is_open.set()

    def wait_for_exit(self) -> int:
        """The exit code, once it has ended by itself."""
        assert self.process.stdout is not None
        self.process.stdout.read()
        code = self.process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        return code

    def stop(self) -> int:
        """The exit code, once it was told to stop."""
        self.process.terminate()
        return self.wait_for_exit()


@contextmanager
def running_server(*options: str | Path) -> Iterator[ServerProcess]:
    """A server that is open while this lasts, unless it ends by itself."""
    server = ServerProcess(*options)
    with server.process:
        try:
            yield server
        finally:
            server.process.kill()
