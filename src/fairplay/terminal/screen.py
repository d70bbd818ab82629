"""Draw on a terminal in place, read keys from it, and leave it as it was, whatever happens."""

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

from fairplay.terminal.output import LEAST

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"  # another screen, no cursor, and what is too wide is cut off
LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME, REST_OF_LINE, REST = "\x1b[H", "\x1b[K", "\x1b[J"
KEY = re.compile(rb"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|\x1b|[\x00-\x7f]|[^\x00-\x7f]+")
BEGUN = re.compile(rb"\x1b(\[[0-9;]*|O)?\Z")  # of a key, whose end may still be on its way
LEAVING = "leave"  # q, Ctrl-D, or nobody is there any more
ARROWS = {b"A": "up", b"B": "down", b"C": "right", b"D": "left", b"H": "home", b"F": "end"}
NAMES = {
    **{lead + key: name for lead in (b"\x1b[", b"\x1bO") for key, name in ARROWS.items()},
    **dict.fromkeys((b"\x1b[1~", b"\x1b[7~"), "home"),
    **dict.fromkeys((b"\x1b[4~", b"\x1b[8~"), "end"),
    **dict.fromkeys((b"\r", b"\n"), "enter"),
    **dict.fromkeys((b"\x7f", b"\x08"), "backspace"),
    **dict.fromkeys((b"q", b"Q", b"\x04"), LEAVING),
    b"\x1b[5~": "page up",
    b"\x1b[6~": "page down",
    b"\x1b": "escape",
    b" ": "space",
}


def keyboard() -> int | None:
    """Where keys can be read, if that is a terminal too."""
    try:
        return sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    except (OSError, ValueError):
        return None


class Screen:
    """A terminal to draw on, from entering it to leaving it; Ctrl-Z leaves it, and coming back enters it again."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._keyboard = keyboard()
        self._modes: list[Any] | None = None  # of the keyboard, as they were
        self._entered = False
        self._begun = b""  # a key whose end has not come
        self._lock = RLock()  # frames are drawn by another thread than the one that hears signals
        self._before: dict[signal.Signals, Any] = {}  # what was done on signals that we answer meanwhile
        self.fresh = True  # has nothing been drawn since it was entered?

    def __enter__(self) -> "Screen":
        for number, answer in ((signal.SIGTSTP, self._stop), (signal.SIGHUP, self._end), (signal.SIGQUIT, self._end)):
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, answer)
        self._enter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.start_again()
        try:
            self._leave()
        except BaseException:  # we are called away while the terminal stands still
            self.start_again()
            self._leave()
            raise
        for number, before in self._before.items():
            signal.signal(number, before)

    @property
    def size(self) -> os.terminal_size:
        """Its columns and lines, as they are now."""
        try:
            return os.get_terminal_size(self._output.fileno())
        except OSError:
            return LEAST

    def show(self, lines: Sequence[str]) -> None:
        """Draw these lines, from the top, and nothing else."""
        shown = "\r\n".join(f"{line}{REST_OF_LINE}" for line in lines[: self.size.lines])
        with self._lock:
            if self._entered:
                self._write(f"{HOME}{shown}{REST}")
                self.fresh = False

    @property
    def has_keys(self) -> bool:
        """Can somebody press any?"""
        return self._keyboard is not None

    def keys(self, seconds: float) -> list[str]:
        """The keys that are pressed within so many seconds, as soon as there are any."""
        if self._keyboard is None:
            time.sleep(seconds)
            return []
        if not select.select([self._keyboard], [], [], seconds)[0]:
            late, self._begun = self._begun, b""
            return ["escape"] if late else []
        try:
            heard = os.read(self._keyboard, 1024)
        except OSError:
            heard = b""
        if not heard:
            return [LEAVING]
        heard, begun = self._begun + heard, BEGUN.search(self._begun + heard)
        self._begun = b"" if begun is None else begun[0]
        whole = heard[: len(heard) - len(self._begun)]
        return [NAMES.get(key) or key.decode(errors="replace") for key in KEY.findall(whole)]

    def _enter(self) -> None:
        with self._lock:
            if self._keyboard is not None:
                with suppress(termios.error):
                    self._modes = termios.tcgetattr(self._keyboard)
                    tty.setcbreak(self._keyboard)
            self._write(ENTER)
            self._entered = self.fresh = True

    def _leave(self) -> None:
        if self._keyboard is not None and self._modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(self._keyboard, termios.TCSANOW, self._modes)
        with self._lock:
            if self._entered:
                with suppress(OSError):
                    self._write(LEAVE)
                self._entered = False

    def start_again(self) -> None:
        """Let a terminal go on that a Ctrl-S has stopped: we are called away, and have to leave it as it was."""
        with suppress(termios.error, OSError):
            for action in (termios.TCOOFF, termios.TCOON):  # the second undoes what the first did, and a Ctrl-S too
                termios.tcflow(self._output.fileno(), action)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Leave the terminal to others until we are called back."""
        self.start_again()
        self._leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stop)
        self._enter()

    def _end(self, number: int, frame: FrameType | None) -> None:
        """Leave the terminal, and end by this signal as if we had never heard it."""
        self.start_again()
        self._leave()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _write(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()
