"""Say things to whoever runs the command: as far as their terminal can show it, and as long as somebody reads."""

import codecs
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOBase, TextIOWrapper
from typing import TextIO, TypeVar

from fairplay.render.text import replacement

STAND_IN_ERRORS = "fairplay.stand_ins"  # the name of what Python asks about signs that an encoding does not have
REQUIRED_CHARS = "│╭┼▒✦…"  # signs that an encoding has to have, to draw boards in place
MIN_TERMINAL_SIZE = os.terminal_size((40, 16))
T = TypeVar("T")
DUMB_TERMINALS = ("", "dumb", "unknown")


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """What is written instead of signs that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(replacement(sign) for sign in error.object[error.start : error.end]), error.end


codecs.register_error(STAND_IN_ERRORS, replace_unencodable)


class SafeOutput(TextIOBase):
    """An output on which whatever is said is written as far as its encoding goes, and nowhere once nobody reads it.

    It has no `buffer`, for there click would write UTF-8 whatever the encoding is.
    """

    errors = STAND_IN_ERRORS

    def __init__(self, output: TextIO, forgiven: type[OSError]) -> None:
        self._output = output
        self._ignored_error = forgiven

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute, and the class a property
        """What it is written in."""
        return self._output.encoding

    def write(self, text: str) -> int:
        """Write it, or what stands for it."""
        known = text.encode(self.encoding, STAND_IN_ERRORS).decode(self.encoding)
        try:
            return self._output.write(known)
        except self._ignored_error:
            discard_output(self._output)
            return len(text)

    def flush(self) -> None:
        """Let whoever reads have all of it."""
        try:
            self._output.flush()
        except self._ignored_error:
            discard_output(self._output)

    def fileno(self) -> int:
        """Which file it is for the operating system."""
        return self._output.fileno()

    def isatty(self) -> bool:
        """Is it a terminal?"""
        return self._output.isatty()

    def writable(self) -> bool:
        """It can be written to."""
        return True


@contextmanager
def use_safe_output() -> Iterator[None]:
    """Let both outputs be plain, also those that were closed before we began.

    A reader who leaves is no error: every verb goes on to its end, and its exit code is what it would have been.
    Where complaints cannot be written, nobody can be told of that.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = safe_output(sys.stdout, BrokenPipeError), safe_output(sys.stderr, OSError)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # which was said before: whatever is said is flushed
            discard_output(sys.stdout)
        sys.stdout, sys.stderr = before


def safe_output(output: TextIO | None, forgiven: type[OSError]) -> TextIO:
    """An output as a plain one; what tests put in place of a file stays as it is."""
    if output is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # it stays open like any output
    return SafeOutput(output, forgiven) if isinstance(output, TextIOWrapper) else output  # type: ignore[return-value]


def supports_colour(output: TextIO) -> bool:
    """Is what is written there shown in colour? Not where NO_COLOR is set, or TERM is dumb."""
    return output.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def terminal_size(output: TextIO) -> tuple[int | None, int | None]:
    """How many columns and lines it has, if it is a terminal that knows."""
    try:
        columns, rows = os.get_terminal_size(output.fileno()) if output.isatty() else (0, 0)
    except (OSError, ValueError):
        return None, None
    return columns or None, rows or None


class FlushingWriter:
    """Writes at once, so that whoever follows is never behind, and remembers what went wrong."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._failure: OSError | None = None

    def __call__(self, text: str) -> None:
        """Write it."""
        try:
            self._output.write(text)
            self._output.flush()
        except OSError as error:
            self._failure = error
            raise

    def check(self) -> None:
        """Raise what went wrong: whoever called may have swallowed it, so that a match can go on."""
        if self._failure is not None:
            raise self._failure


def discard_output(output: TextIO) -> None:
    """Let whatever is still written there go nowhere, and disturb nobody."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output.fileno())
    os.close(nowhere)


def supports_drawing(output: TextIO) -> bool:
    """Is this a terminal in front of somebody, large enough, with colours, and with all signs that boards need?"""
    if not supports_colour(output) or os.environ.get("TERM", "") in DUMB_TERMINALS or not is_foreground(output):
        return False
    try:
        REQUIRED_CHARS.encode(output.encoding)
        columns, rows = os.get_terminal_size(output.fileno())
    except (UnicodeError, LookupError, OSError):
        return False
    return columns >= MIN_TERMINAL_SIZE.columns and rows >= MIN_TERMINAL_SIZE.lines


def is_foreground(output: TextIO) -> bool:
    """Are we what the terminal listens to? Whoever was started with & is not, and may not touch it."""
    try:
        return os.tcgetpgrp(output.fileno()) == os.getpgrp()
    except OSError:  # it is not the terminal of this session
        return False


def progress_bar(things: Sequence[T], doing: str, many: int) -> Iterable[T]:
    """The same things, with a bar that grows where a person is looking and there are many."""
    if len(things) < many or not sys.stderr.isatty():
        return things
    from rich.console import Console  # start-up: it takes long to load
    from rich.progress import track

    return track(things, description=doing, console=Console(stderr=True), transient=True)
