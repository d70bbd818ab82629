"""Write to stdout and stderr safely: replace characters that cannot be encoded, and survive closed outputs."""

import codecs
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOBase, TextIOWrapper
from typing import TextIO, TypeVar

from fairplay.render.text import replacement

STAND_IN_ERRORS = "fairplay.stand_ins"  # the name of our error handler for characters that an encoding does not have
REQUIRED_CHARS = "│╭┼▒✦…"  # characters that an encoding must have to draw boards in place
MIN_TERMINAL_SIZE = os.terminal_size((40, 16))
T = TypeVar("T")
DUMB_TERMINALS = ("", "dumb", "unknown")


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """The replacement of characters that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(replacement(sign) for sign in error.object[error.start : error.end]), error.end


codecs.register_error(STAND_IN_ERRORS, replace_unencodable)


class SafeOutput(TextIOBase):
    """An output that replaces characters its encoding does not have, and discards text once it is closed.

    It has no `buffer`, as click would write UTF-8 there whatever the encoding is.
    """

    errors = STAND_IN_ERRORS

    def __init__(self, output: TextIO, ignored_error: type[OSError]) -> None:
        self._output = output
        self._ignored_error = ignored_error

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute, and the class a property
        """The encoding of the output."""
        return self._output.encoding

    def write(self, text: str) -> int:
        """Write the text, with replacements."""
        encodable = text.encode(self.encoding, STAND_IN_ERRORS).decode(self.encoding)
        try:
            return self._output.write(encodable)
        except self._ignored_error:
            discard_output(self._output)
            return len(text)

    def flush(self) -> None:
        """Flush the output."""
        try:
            self._output.flush()
        except self._ignored_error:
            discard_output(self._output)

    def fileno(self) -> int:
        """The file descriptor."""
        return self._output.fileno()

    def isatty(self) -> bool:
        """Is it a terminal?"""
        return self._output.isatty()

    def writable(self) -> bool:
        """It can be written to."""
        return True


@contextmanager
def use_safe_output() -> Iterator[None]:
    """Make stdout and stderr safe, even if they were closed before.

    A reader that closes the pipe is not an error: every command runs to its end with the same exit code. Errors of
    stderr are ignored, as they cannot be reported.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = safe_output(sys.stdout, BrokenPipeError), safe_output(sys.stderr, OSError)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # which was reported before: all output is flushed
            discard_output(sys.stdout)
        sys.stdout, sys.stderr = before


def safe_output(output: TextIO | None, ignored_error: type[OSError]) -> TextIO:
    """A safe output; what tests put in place of a file stays as it is."""
    if output is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # it stays open like any output
    return SafeOutput(output, ignored_error) if isinstance(output, TextIOWrapper) else output  # type: ignore[return-value]


def supports_colour(output: TextIO) -> bool:
    """May the output be coloured? Not if NO_COLOR is set, or TERM is dumb."""
    return output.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_size(output: TextIO) -> tuple[int | None, int | None]:
    """The columns and lines of a terminal, if they are known."""
    try:
        columns, rows = os.get_terminal_size(output.fileno()) if output.isatty() else (0, 0)
    except (OSError, ValueError):
        return None, None
    return columns or None, rows or None


class FlushingWriter:
    """Flushes after each text, so that readers are never behind, and remembers an error."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._failure: OSError | None = None

    def __call__(self, text: str) -> None:
        """Write and flush a text."""
        try:
            self._output.write(text)
            self._output.flush()
        except OSError as error:
            self._failure = error
            raise

    def check(self) -> None:
        """Raise the error of a write, if there was one: a caller may have ignored it so that a match can go on."""
        if self._failure is not None:
            raise self._failure


def discard_output(output: TextIO) -> None:
    """Discard all further text of an output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output.fileno())
    os.close(nowhere)


def supports_drawing(output: TextIO) -> bool:
    """Is this a foreground terminal, large enough, with colours, and with all characters that boards need?"""
    if not supports_colour(output) or os.environ.get("TERM", "") in DUMB_TERMINALS or not is_foreground(output):
        return False
    try:
        REQUIRED_CHARS.encode(output.encoding)
        columns, rows = os.get_terminal_size(output.fileno())
    except (UnicodeError, LookupError, OSError):
        return False
    return columns >= MIN_TERMINAL_SIZE.columns and rows >= MIN_TERMINAL_SIZE.lines


def is_foreground(output: TextIO) -> bool:
    """Is this process in the foreground? A command started with & is not, and must not touch the terminal."""
    try:
        return os.tcgetpgrp(output.fileno()) == os.getpgrp()
    except OSError:  # it is not the terminal of this session
        return False


def progress_bar(items: Sequence[T], description: str, many: int) -> Iterable[T]:
    """Iterate over items, with a progress bar on a terminal if there are many."""
    if len(items) < many or not sys.stderr.isatty():
        return items
    from rich.console import Console  # start-up: it takes long to load
    from rich.progress import track

    return track(items, description=description, console=Console(stderr=True), transient=True)
