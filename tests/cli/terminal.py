"""Run the command on a pseudo-terminal, and look at its screen as a person would."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyte

from tests.cli.command import SCRIPT, in_foreground

QUIET = 0.04  # seconds in which nothing is said between two frames
PATIENCE = 20.0  # seconds until something has to be on the screen
KEYS = {
    "left": "\x1b[D",
    "right": "\x1b[C",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "page down": "\x1b[6~",
    "enter": "\r",
    "space": " ",
    "ctrl-c": "\x03",
    "ctrl-z": "\x1a",
}


SHELL = [  # runs a command as a shell would: in front, and when it stops it is continued by Enter
    sys.executable,
    "-c",
    """
import os, signal, subprocess, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = subprocess.Popen(sys.argv[1:], process_group=0)
os.tcsetpgrp(0, child.pid)
while os.WIFSTOPPED(status := os.waitpid(child.pid, os.WUNTRACED)[1]):
    os.tcsetpgrp(0, os.getpgrp())
    print("stopped", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, child.pid)
    os.killpg(child.pid, signal.SIGCONT)
os._exit(os.waitstatus_to_exitcode(status))
""",
]


class Wide(pyte.Screen):
    """A screen that knows whether it is the other one, and whether anything there ever went past the last column."""

    wrapped = False
    other = False

    def draw(self, data: str) -> None:
        for sign in data:
            self.wrapped = self.wrapped or (self.other and self.cursor.x == self.columns)
            super().draw(sign)

    def set_mode(self, *modes: int, **options: Any) -> None:
        if 1049 in modes and options.get("private"):
            self.other = True
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        if 1049 in modes and options.get("private"):
            self.other = False
            self.erase_in_display(2)  # what was there before is not kept by this model
            self.cursor_position()
        super().reset_mode(*modes, **options)


class Terminal:
    """A terminal of some size, in which the command runs as the only thing in front."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self.screen = Wide(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.said = b""
        self._end, inner = pty.openpty()
        self._inner = inner  # open, so that its modes can be looked at when nobody else has it
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(inner)
        env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(environment or {})}

        def begin() -> None:
            in_foreground()
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            [*before, SCRIPT, *arguments],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=env,
            cwd=folder,
            preexec_fn=begin,
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._end)
        os.close(self._inner)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def press(self, *keys: str) -> None:
        os.write(self._end, "".join(KEYS.get(key, key) for key in keys).encode())

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    @property
    def now(self) -> list[Any]:
        """The modes that it has now."""
        return termios.tcgetattr(self._inner)

    @property
    def lines(self) -> list[str]:
        """What can be read on the screen."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def see(self, what: str | Callable[[str], bool]) -> list[str]:
        """Wait until this is on the screen; the lines of the screen then."""
        until = time.monotonic() + PATIENCE
        while not (what in self.text if isinstance(what, str) else what(self.text)):
            assert time.monotonic() < until, f"{what} is not on the screen:\n{self.text}"
            while self._look(QUIET):  # a frame comes in parts
                pass
        return self.lines

    def until(self, done: Callable[[], bool]) -> None:
        """Wait until something is so, without a look at the screen."""
        until = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < until
            time.sleep(0.02)

    def end(self) -> int:
        """Wait until the command has ended and all it said is on the screen; its exit code."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < until, f"it does not end:\n{self.text}"
            self._look(0.05)
        while self._look(0.05):
            pass
        return self.process.returncode

    def assert_left_as_it_was(self) -> None:
        """Its modes are what they were, and it shows the cursor, wraps lines and is the screen that it was."""
        assert self.now == self.modes
        assert not self.screen.cursor.hidden
        assert pyte.modes.DECAWM in self.screen.mode
        assert not self.screen.other

    def _look(self, seconds: float) -> bool:
        """Take in what is said within a while; was there anything?"""
        if not select.select([self._end], [], [], seconds)[0]:
            return False
        heard = os.read(self._end, 65536)
        self.said += heard
        self._stream.feed(heard)
        return True
