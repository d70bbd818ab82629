"""Say things to whoever runs the command: as far as their terminal can show it, and as long as somebody reads."""

import codecs
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOBase, TextIOWrapper
from typing import TextIO, TypeVar

from fairplay.render.text import stand_in

STAND_INS = "fairplay.stand_ins"  # the name of what Python asks about signs that an encoding does not have
NEEDED = "│╭┼▒✦…"  # signs that an encoding has to have, to draw boards in place
LEAST = os.terminal_size((40, 16))
Thing = TypeVar("Thing")
DUMB = ("", "dumb", "unknown")


def with_stand_ins(error: UnicodeError) -> tuple[str, int]:
    """What is written instead of signs that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(stand_in(sign) for sign in error.object[error.start : error.end]), error.end


codecs.register_error(STAND_INS, with_stand_ins)


class Plain(TextIOBase):
    """An output on which whatever is said is written as far as its encoding goes, and nowhere once nobody reads it.

    It has no `buffer`, for there click would write UTF-8 whatever the encoding is.
    """

    errors = STAND_INS

    def __init__(self, output: TextIO, forgiven: type[OSError]) -> None:
        self._output = output
        self._forgiven = forgiven

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute, and the class a property
        """What it is written in."""
        return self._output.encoding

    def write(self, text: str) -> int:
        """Write it, or what stands for it."""
        known = text.encode(self.encoding, STAND_INS).decode(self.encoding)
        try:
            return self._output.write(known)
        except self._forgiven:
            silence(self._output)
            return len(text)

    def flush(self) -> None:
        """Let whoever reads have all of it."""
        try:
            self._output.flush()
        except self._forgiven:
            silence(self._output)

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
def plain_output() -> Iterator[None]:
    """Let both outputs be plain, also those that were closed before we began.

    A reader who leaves is no error: every verb goes on to its end, and its exit code is what it would have been.
    Where complaints cannot be written, nobody can be told of that.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = plain(sys.stdout, BrokenPipeError), plain(sys.stderr, OSError)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:  # which was said before: whatever is said is flushed
            silence(sys.stdout)
        sys.stdout, sys.stderr = before


def plain(output: TextIO | None, forgiven: type[OSError]) -> TextIO:
    """An output as a plain one; what tests put in place of a file stays as it is."""
    if output is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # it stays open like any output
    return Plain(output, forgiven) if isinstance(output, TextIOWrapper) else output  # type: ignore[return-value]


def in_colour(output: TextIO) -> bool:
    """Is what is written there shown in colour? Not where NO_COLOR is set, or TERM is dumb."""
    return output.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def size_of(output: TextIO) -> tuple[int | None, int | None]:
    """How many columns and lines it has, if it is a terminal that knows."""
    try:
        columns, rows = os.get_terminal_size(output.fileno()) if output.isatty() else (0, 0)
    except (OSError, ValueError):
        return None, None
    return columns or None, rows or None


class Teller:
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


def silence(output: TextIO) -> None:
    """Let whatever is still written there go nowhere, and disturb nobody."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, output.fileno())
    os.close(nowhere)


def can_be_drawn_on(output: TextIO) -> bool:
    """Is this a terminal in front of somebody, large enough, with colours, and with all signs that boards need?"""
    if not in_colour(output) or os.environ.get("TERM", "") in DUMB or not in_front(output):
        return False
    try:
        NEEDED.encode(output.encoding)
        columns, rows = os.get_terminal_size(output.fileno())
    except (UnicodeError, LookupError, OSError):
        return False
    return columns >= LEAST.columns and rows >= LEAST.lines


def in_front(output: TextIO) -> bool:
    """Are we what the terminal listens to? Whoever was started with & is not, and may not touch it."""
    try:
        return os.tcgetpgrp(output.fileno()) == os.getpgrp()
    except OSError:  # it is not the terminal of this session
        return False


def with_bar(things: Sequence[Thing], doing: str, many: int) -> Iterable[Thing]:
    """The same things, with a bar that grows where a person is looking and there are many."""
    if len(things) < many or not sys.stderr.isatty():
        return things
    from rich.console import Console  # start-up: it takes long to load
    from rich.progress import track

    return track(things, description=doing, console=Console(stderr=True), transient=True)
