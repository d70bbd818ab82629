"""Draw on a terminal in place, read keys from it, and restore it whatever happens."""

import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Sequence
from contextlib import suppress
from threading import RLock
from types import FrameType
from typing import Any, TextIO

from fairplay.terminal.output import MIN_TERMINAL_SIZE

ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"  # another screen, no cursor, and what is too wide is cut off
LEAVE_SCREEN = "\x1b[?7h\x1b[?25h\x1b[?1049l"
CURSOR_HOME, CLEAR_LINE_END, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
KEY_PATTERN = re.compile(rb"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|\x1b|[\x00-\x7f]|[^\x00-\x7f]+")
PARTIAL_KEY = re.compile(rb"\x1b(\[[0-9;]*|O)?\Z")  # the start of a key whose end may still come
LEAVE_KEY = "leave"  # q, Ctrl-D, or the end of input
CURSOR_KEYS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left", b"H": "home", b"F": "end"}
KEY_NAMES = {
    **{lead + key: name for lead in (b"\x1b[", b"\x1bO") for key, name in CURSOR_KEYS.items()},
    **dict.fromkeys((b"\x1b[1~", b"\x1b[7~"), "home"),
    **dict.fromkeys((b"\x1b[4~", b"\x1b[8~"), "end"),
    **dict.fromkeys((b"\r", b"\n"), "enter"),
    **dict.fromkeys((b"\x7f", b"\x08"), "backspace"),
    **dict.fromkeys((b"q", b"Q", b"\x04"), LEAVE_KEY),
    b"\x1b[5~": "page up",
    b"\x1b[6~": "page down",
    b"\x1b": "escape",
    b" ": "space",
}


def keyboard_fd() -> int | None:
    """The file descriptor of the keyboard, if it is a terminal."""
    try:
        return sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    except (OSError, ValueError):
        return None


class Screen:
    """A terminal to draw on, from entering it to leaving it; Ctrl-Z leaves it, and coming back enters it again."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._keyboard = keyboard_fd()
        self._saved_modes: list[Any] | None = None  # of the keyboard, as they were
        self._entered = False
        self._partial_key = b""  # a key whose end has not come
        self._lock = RLock()  # one thread draws frames, another handles signals
        self._saved_handlers: dict[signal.Signals, Any] = {}  # of the signals that we handle meanwhile
        self.is_blank = True  # has nothing been drawn since it was entered?

    def __enter__(self) -> "Screen":
        for number, answer in (
            (signal.SIGTSTP, self._suspend),
            (signal.SIGHUP, self._end_by_signal),
            (signal.SIGQUIT, self._end_by_signal),
        ):
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._saved_handlers[number] = before
                signal.signal(number, answer)
        self._enter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.resume_output()
        try:
            self._leave()
        except BaseException:  # interrupted while the terminal's output was stopped
            self.resume_output()
            self._leave()
            raise
        for number, before in self._saved_handlers.items():
            signal.signal(number, before)

    @property
    def size(self) -> os.terminal_size:
        """Its columns and lines, as they are now."""
        try:
            return os.get_terminal_size(self._output.fileno())
        except OSError:
            return MIN_TERMINAL_SIZE

    def show(self, lines: Sequence[str]) -> None:
        """Draw these lines, from the top, and nothing else."""
        shown = "\r\n".join(f"{line}{CLEAR_LINE_END}" for line in lines[: self.size.lines])
        with self._lock:
            if self._entered:
                self._write(f"{CURSOR_HOME}{shown}{CLEAR_BELOW}")
                self.is_blank = False

    @property
    def has_keys(self) -> bool:
        """Is there a keyboard?"""
        return self._keyboard is not None

    def keys(self, seconds: float) -> list[str]:
        """The keys that are pressed within so many seconds, as soon as there are any."""
        if self._keyboard is None:
            time.sleep(seconds)
            return []
        if not select.select([self._keyboard], [], [], seconds)[0]:
            late, self._partial_key = self._partial_key, b""
            return ["escape"] if late else []
        try:
            data = os.read(self._keyboard, 1024)
        except OSError:
            data = b""
        if not data:
            return [LEAVE_KEY]
        data, begun = self._partial_key + data, PARTIAL_KEY.search(self._partial_key + data)
        self._partial_key = b"" if begun is None else begun[0]
        whole = data[: len(data) - len(self._partial_key)]
        return [KEY_NAMES.get(key) or key.decode(errors="replace") for key in KEY_PATTERN.findall(whole)]

    def _enter(self) -> None:
        with self._lock:
            if self._keyboard is not None:
                with suppress(termios.error):
                    self._saved_modes = termios.tcgetattr(self._keyboard)
                    tty.setcbreak(self._keyboard)
            self._write(ENTER_SCREEN)
            self._entered = self.is_blank = True

    def _leave(self) -> None:
        if self._keyboard is not None and self._saved_modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSANOW, self._saved_modes)
        with self._lock:
            if self._entered:
                with suppress(OSError):
                    self._write(LEAVE_SCREEN)
                self._entered = False

    def resume_output(self) -> None:
        """Resume the output of a terminal that Ctrl-S has stopped, so that it can be restored."""
        with suppress(termios.error, OSError):
            for action in (termios.TCOOFF, termios.TCOON):  # the second undoes what the first did, and a Ctrl-S too
                termios.tcflow(self._output.fileno(), action)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Leave the terminal, stop this process, and enter the terminal again when it is continued."""
        self.resume_output()
        self._leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        self._enter()

    def _end_by_signal(self, number: int, frame: FrameType | None) -> None:
        """Leave the terminal, and end by the default action of this signal."""
        self.resume_output()
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _write(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()
