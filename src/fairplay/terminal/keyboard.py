"""Read lines that a person types, with editing, history and completion on a terminal."""

import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

STDIN_FD = 0
MAX_TYPED_BYTES = 4096  # bytes of a line
Completer = Callable[[list[str], str], list[str]]  # from the words before the cursor's, and its beginning, to words
READLINE_SETTINGS = (
    "tab: complete",
    "set show-all-if-ambiguous on",
    "set page-completions off",
    "set completion-query-items 0",
    "set bell-style none",
    "set enable-bracketed-paste off",  # which would have to be put in order, too
)


class Interrupted(Exception):
    """The input is no longer needed."""


class Keyboard:
    """Reads stdin. `restore_terminal` may be called from another thread."""

    def __init__(self, complete: Completer) -> None:
        self.is_terminal = os.isatty(STDIN_FD) and sys.stdout.isatty()
        self._complete = complete
        self._completions: list[str] = []
        self._is_asking = False
        self._is_interrupted = False
        self._saved_modes: list[Any] | None = None
        if self.is_terminal:
            self._saved_modes = termios.tcgetattr(STDIN_FD)
            self._edit_lines()

    def ask(self, prompt: str) -> str | None:
        """Read a line; None: the input has ended. Raises Interrupted if another thread interrupts it."""
        self._is_asking = True
        try:
            if self._is_interrupted:
                raise Interrupted
            return self._read_edited_line(prompt) if self.is_terminal else read_plain_line(prompt)
        except Interrupted:
            self.restore_terminal()
            raise
        finally:
            self._is_asking = False

    def interrupt_on(self, number: signal.Signals) -> Callable[[], None]:
        """A function that interrupts `ask` by a signal, even in the middle of a line, from any thread."""

        def handle(number: int, frame: FrameType | None) -> None:
            if self._is_asking:
                raise Interrupted

        def interrupt() -> None:
            if not self._is_interrupted:  # a second signal would interrupt the handling of the first
                self._is_interrupted = True
                signal.pthread_kill(main, number)

        main = threading.get_ident()
        signal.signal(number, handle)
        return interrupt

    def discard_input(self) -> None:
        """Discard what was typed before the question."""
        if self.is_terminal:
            termios.tcflush(STDIN_FD, termios.TCIFLUSH)

    def add_to_history(self, line: str) -> None:
        """Add a line to the history of the arrow keys."""
        if self.is_terminal:
            with suppress(ImportError):
                import readline  # some Pythons have none

                readline.add_history(line)

    def restore_terminal(self) -> None:
        """Restore the terminal's modes, even in the middle of a line."""
        if self._saved_modes is not None:
            with suppress(termios.error):
                termios.tcsetattr(STDIN_FD, termios.TCSADRAIN, self._saved_modes)
        if self._is_asking:
            print(flush=True)

    def _read_edited_line(self, prompt: str) -> str | None:
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
        except ImportError:  # the terminal's own line editing remains
            return
        for setting in READLINE_SETTINGS:
            readline.parse_and_bind(setting)
        readline.set_auto_history(False)
        readline.set_completer_delims(" ")
        readline.set_completer(self._readline_completion)

    def _readline_completion(self, beginning: str, number: int) -> str | None:
        import readline  # some Pythons have none

        if number == 0:
            words = readline.get_line_buffer()[: readline.get_begidx()].split()
            self._completions = [f"{word} " for word in self._complete(words, beginning)]
        return self._completions[number] if number < len(self._completions) else None


def read_plain_line(prompt: str) -> str | None:
    """Read the next line of stdin byte by byte, so that later bytes stay in it; None: the input has ended."""
    print(prompt, end="", flush=True)
    line, sign = b"", b" "
    while sign not in (b"", b"\n") and len(line) < MAX_TYPED_BYTES:
        try:
            sign = os.read(STDIN_FD, 1)
        except OSError:  # it was closed
            sign = b""
        line += sign.strip(b"\n")
    words = line.decode(errors="replace")
    if not os.isatty(STDIN_FD):
        print(words, flush=True)  # an echo, as on a terminal
    return words if line or sign else None
