"""Run the command on a pseudo-terminal, and read its screen as a person would."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.cli.command import INSTALLED_COMMAND
from tests.cli.pseudo_terminal import PseudoTerminal

QUIET_S = 0.04  # seconds in which nothing is said between two frames
SCREEN_TIMEOUT_S = 20.0  # seconds until something has to be on the screen
KEYS = {
    "left": "\x1b[D",
    "right": "\x1b[C",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "page up": "\x1b[5~",
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


class WidthCheckingScreen(pyte.Screen):
    """A screen that knows whether it is the other one, and whether anything there ever went past the last column."""

    has_wrapped = False
    is_alternate = False

    def draw(self, data: str) -> None:
        for sign in data:
            self.has_wrapped = self.has_wrapped or (self.is_alternate and self.cursor.x == self.columns)
            super().draw(sign)

    def set_mode(self, *modes: int, **options: Any) -> None:
        if 1049 in modes and options.get("private"):
            self.is_alternate = True
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        if 1049 in modes and options.get("private"):
            self.is_alternate = False
            self.erase_in_display(2)  # what was there before is not kept by this model
            self.cursor_position()
        super().reset_mode(*modes, **options)


class Terminal(PseudoTerminal):
    """A terminal of some size with its screen, in which the command runs as the only thing in front."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
        directory: Path | None = None,
    ) -> None:
        self.screen = WidthCheckingScreen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        super().__init__(
            *arguments,
            columns=columns,
            rows=rows,
            environment={"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(environment or {})},
            command=[*before, str(INSTALLED_COMMAND)],
            directory=directory,
        )

    def resize(self, columns: int, rows: int) -> None:
        super().resize(columns, rows)
        self.screen.resize(rows, columns)

    def press(self, *keys: str) -> None:
        self.type("".join(KEYS.get(key, key) for key in keys))

    @property
    def lines(self) -> list[str]:
        """What can be read on the screen."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for_screen(self, what: str | Callable[[str], bool]) -> list[str]:
        """Wait until this is on the screen; the lines of the screen then."""
        until = time.monotonic() + SCREEN_TIMEOUT_S
        while not (what in self.text if isinstance(what, str) else what(self.text)):
            assert time.monotonic() < until, f"{what} is not on the screen:\n{self.text}"
            while self._read(QUIET_S):  # a frame comes in parts
                pass
        return self.lines

    def assert_left_as_it_was(self) -> None:
        """Its modes are what they were, and it shows the cursor, wraps lines and is the screen that it was."""
        assert self.settings == self.before
        assert not self.screen.cursor.hidden
        assert pyte.modes.DECAWM in self.screen.mode
        assert not self.screen.is_alternate

    def _read(self, patience: float) -> bool:
        known = len(self.raw)
        heard = super()._read(patience)
        self._stream.feed(self.raw[known:])
        return heard
