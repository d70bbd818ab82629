"""Format paragraphs, times, numbers, values as JSON, and texts for a shell."""

import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

import msgspec

from fairplay.render.text import printable

PARAGRAPH_COLUMNS = 88  # of a paragraph
HEADING_COLUMNS = 12  # where it begins
MAX_PRINTED_CHARS = 2000  # characters on one line


def format_paragraph(heading: str, *texts: str) -> Iterator[str]:
    """Texts beside a heading, each on lines of its own; JSON and other long words stay whole."""
    for text in texts:
        fit = printable(text, MAX_PRINTED_CHARS)
        for line in (
            [fit] if fit[:1] in "{[" else wrap(fit, PARAGRAPH_COLUMNS, break_long_words=False, break_on_hyphens=False)
        ):
            yield f"  {heading:{HEADING_COLUMNS - 2}}{line}"
            heading = ""


def shell_quote(text: str) -> str:
    r"""A text quoted for a shell; characters that are not printable are escaped as in bash.

    There is no quote within the quotes: a shell that does not know $'...' reads another text, and runs nothing.

    >>> print(shell_quote("my bot.py"), shell_quote("it's\x1b[2J"))
    'my bot.py' $'it\x27s\x1b[2J'
    """
    return shlex.quote(text) if text.isprintable() else f"$'{''.join(escape_character(sign) for sign in text)}'"


def escape_character(sign: str) -> str:
    """A sign between $' and '."""
    if sign.isprintable() and sign != "'":
        return "\\\\" if sign == "\\" else sign
    return "".join(f"\\x{byte:02x}" for byte in sign.encode(errors="surrogateescape"))


def suggestion(word: str, known: Iterable[str]) -> str:
    """The hint after an unknown word: the closest known word, or else all known words.

    >>> suggestion("gamse", ["games", "table"]), suggestion("x", ["games", "table"])
    (": did you mean 'games'?", '; there is games, table')
    """
    from difflib import get_close_matches  # most words are known

    words = list(known)
    close = get_close_matches(word, words, 1)
    return f": did you mean {close[0]!r}?" if close else f"; there is {', '.join(words)}"


def format_interval(low: float | None, high: float | None) -> str:
    """An interval in whole numbers; None: it is open on that side.

    >>> format_interval(-12.4, 30.0), format_interval(None, 34.0), format_interval(700.0, None)
    ('-12..30', '< 34', '> 700')
    """
    if low is None or high is None:
        return f"< {format_rounded(high)}" if low is None else f"> {format_rounded(low)}"
    return f"{format_rounded(low)}..{format_rounded(high)}"


def format_rounded(figure: float | None) -> str:
    """A number, rounded.

    >>> format_rounded(12.3), format_rounded(-0.4), format_rounded(None)
    ('12', '0', '-')
    """
    return "-" if figure is None else f"{round(figure)}"


def format_time(at: float) -> str:
    """A date and a time in UTC.

    >>> format_time(0.0), format_time(1e300)
    ('1970-01-01 00:00:00 UTC', 'at an invalid time')
    """
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return "at an invalid time"


def format_duration(seconds: float) -> str:
    """A duration in a fitting unit.

    >>> format_duration(2.0), format_duration(0.0123456), format_duration(0.000042)
    ('2.00 s', '12.3 ms', '42 µs')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def format_json(value: Any) -> str:
    """A value as one line of JSON that any terminal can show."""
    import json  # start-up: it takes longer to load than most values to write

    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
