"""Run the command on a pseudo-terminal: type, and read what it shows."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.cli.command import INSTALLED_COMMAND

CONTROL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x07|\r")
PSEUDO_TERMINAL_TIMEOUT_S = 60  # seconds that anything may take on a busy machine


class PseudoTerminal:
    """A command that believes it runs on a terminal of so many columns. Use it in a `with` statement."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 40,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = (str(INSTALLED_COMMAND),),
        directory: Path | None = None,
    ) -> None:
        self.raw = b""  # all that it has shown
        self._seen = 0  # how far whoever asks has read
        self._ours, theirs = os.openpty()
        self._theirs = theirs  # held open, so that what was shown last can be read when nobody else has it
        self.resize(columns, rows)
        self.before = termios.tcgetattr(theirs)
        plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*command, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**plain, "TERM": "xterm", **(environment or {})},
            cwd=directory,
            preexec_fn=lambda: take_foreground(theirs),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)

    @property
    def visible_text(self) -> str:
        """All that it has shown, without colours and other control codes."""
        return self._decode(self.raw)

    @property
    def settings(self) -> list[Any]:
        """How the terminal is set up now."""
        return termios.tcgetattr(self._theirs)

    def resize(self, columns: int, rows: int) -> None:
        """Be a terminal of another size."""
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._ours, text.encode())

    def wait_for(self, *words: str, timeout_s: float = PSEUDO_TERMINAL_TIMEOUT_S) -> str:
        """Wait until it has shown one of these, from where the last wait ended; what was shown up to its end."""
        deadline = time.monotonic() + timeout_s
        while not (ends := [at + len(one) for one in words if (at := self.visible_text.find(one, self._seen)) >= 0]):
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"never shown: {words}, but:\n{self.visible_text[self._seen :]}")
        since, self._seen = self._seen, min(ends)
        return self.visible_text[since : self._seen]

    def wait_for_exit(self, timeout_s: float = PSEUDO_TERMINAL_TIMEOUT_S) -> int:
        """Wait until it has ended; its exit code."""
        deadline = time.monotonic() + timeout_s
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"still running:\n{self.visible_text[self._seen :]}")
            self._read(0.05)
        while self._read(0.05):
            pass
        return self.process.returncode

    def _read(self, patience: float) -> bool:
        """Take in what is shown next; False: nothing is."""
        if not select.select([self._ours], [], [], max(0.0, patience))[0]:
            return False
        self.raw += os.read(self._ours, 65536)
        return True

    def _decode(self, raw: bytes) -> str:
        return CONTROL_CODES.sub("", raw.decode(errors="replace"))


def take_foreground(terminal: int) -> None:
    """In a new process: have a session of its own, with this terminal, and hear Ctrl-C."""
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
