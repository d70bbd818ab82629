"""Read what a person types: with line editing, history and completion on a terminal, and plain lines elsewhere."""

import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

STDIN = 0
LONGEST = 4096  # bytes of a line
Complete = Callable[[list[str], str], list[str]]  # from the words before the cursor's, and its beginning, to words
SETTINGS = (
    "tab: complete",
    "set show-all-if-ambiguous on",
    "set page-completions off",
    "set completion-query-items 0",
    "set bell-style none",
    "set enable-bracketed-paste off",  # which would have to be put in order, too
)


class Interrupted(Exception):
    """Nobody waits any more for what is being typed."""


class Keyboard:
    """What is typed on stdin. `let_go` puts the terminal in order, and may be called from another thread."""

    def __init__(self, complete: Complete) -> None:
        self.is_terminal = os.isatty(STDIN) and sys.stdout.isatty()
        self._complete = complete
        self._found: list[str] = []
        self._asking = False
        self._over = False
        self._before: list[Any] | None = None
        if self.is_terminal:
            self._before = termios.tcgetattr(STDIN)
            self._edit_lines()

    def ask(self, prompt: str) -> str | None:
        """A line; None: there are no more. Raises Interrupted if another thread wants it to end."""
        self._asking = True
        try:
            if self._over:
                raise Interrupted
            return self._edited(prompt) if self.is_terminal else plain_line(prompt)
        except Interrupted:
            self.let_go()
            raise
        finally:
            self._asking = False

    def interrupted_by(self, number: signal.Signals) -> Callable[[], None]:
        """What ends the asking, also in the middle of a line, by a signal; it may be called from another thread."""

        def heard(number: int, frame: FrameType | None) -> None:
            if self._asking:
                raise Interrupted

        def interrupt() -> None:
            if not self._over:  # a second signal would come in the middle of what the first one does
                self._over = True
                signal.pthread_kill(main, number)

        main = threading.get_ident()
        signal.signal(number, heard)
        return interrupt

    def forget(self) -> None:
        """Forget what was typed before anybody was asked for it."""
        if self.is_terminal:
            termios.tcflush(STDIN, termios.TCIFLUSH)

    def keep(self, line: str) -> None:
        """Let it be found again with the arrow keys."""
        if self.is_terminal:
            with suppress(ImportError):
                import readline  # some Pythons have none

                readline.add_history(line)

    def let_go(self) -> None:
        """Leave the terminal as it was, also in the middle of a line."""
        if self._before is not None:
            with suppress(termios.error):
                termios.tcsetattr(STDIN, termios.TCSADRAIN, self._before)
        if self._asking:
            print(flush=True)

    def _edited(self, prompt: str) -> str | None:
        try:
            return input(prompt)
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            return "\N{REPLACEMENT CHARACTER}"

    def _edit_lines(self) -> None:
        try:
            import readline  # some Pythons have none
        except ImportError:  # then there is what the terminal itself can do
            return
        for setting in SETTINGS:
            readline.parse_and_bind(setting)
        readline.set_auto_history(False)
        readline.set_completer_delims(" ")
        readline.set_completer(self._completed)

    def _completed(self, beginning: str, number: int) -> str | None:
        import readline  # some Pythons have none

        if number == 0:
            words = readline.get_line_buffer()[: readline.get_begidx()].split()
            self._found = [f"{word} " for word in self._complete(words, beginning)]
        return self._found[number] if number < len(self._found) else None


def plain_line(prompt: str) -> str | None:
    """The next line of stdin, byte by byte: what follows is left to whoever comes after us. None: there is none."""
    print(prompt, end="", flush=True)
    line, sign = b"", b" "
    while sign not in (b"", b"\n") and len(line) < LONGEST:
        try:
            sign = os.read(STDIN, 1)
        except OSError:  # it was closed
            sign = b""
        line += sign.strip(b"\n")
    words = line.decode(errors="replace")
    if not os.isatty(STDIN):
        print(words, flush=True)  # as if it had been typed
    return words if line or sign else None
