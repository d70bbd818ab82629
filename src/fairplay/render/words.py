"""Put things into words: paragraphs, times, values as JSON, and texts that a shell takes."""

import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

import msgspec

from fairplay.render.text import printable

WIDTH = 88  # of a paragraph
MARGIN = 12  # where it begins
LONGEST = 2000  # characters on one line


def paragraph(heading: str, *texts: str) -> Iterator[str]:
    """Texts beside a heading, each on lines of its own; JSON and other long words stay whole."""
    for text in texts:
        fit = printable(text, LONGEST)
        for line in [fit] if fit[:1] in "{[" else wrap(fit, WIDTH, break_long_words=False, break_on_hyphens=False):
            yield f"  {heading:{MARGIN - 2}}{line}"
            heading = ""


def quoted(text: str) -> str:
    r"""A text as a shell takes it; what is not printable is spelled out, as bash and others have it.

    There is no quote within the quotes: a shell that does not know $'...' takes it for another text, and runs nothing.

    >>> print(quoted("my bot.py"), quoted("it's\x1b[2J"))
    'my bot.py' $'it\x27s\x1b[2J'
    """
    return shlex.quote(text) if text.isprintable() else f"$'{''.join(spelled_out(sign) for sign in text)}'"


def spelled_out(sign: str) -> str:
    """A sign between $' and '."""
    if sign.isprintable() and sign != "'":
        return "\\\\" if sign == "\\" else sign
    return "".join(f"\\x{byte:02x}" for byte in sign.encode(errors="surrogateescape"))


def meant(word: str, known: Iterable[str]) -> str:
    """What to say behind a word that nobody knows: the one that may have been meant, or else all that are known.

    >>> meant("gamse", ["games", "table"]), meant("x", ["games", "table"])
    (": did you mean 'games'?", '; there is games, table')
    """
    from difflib import get_close_matches  # most words are known

    words = list(known)
    close = get_close_matches(word, words, 1)
    return f": did you mean {close[0]!r}?" if close else f"; there is {', '.join(words)}"


def between(low: float | None, high: float | None) -> str:
    """Where a figure may be: between two whole numbers, or on one side of one.

    >>> between(-12.4, 30.0), between(None, 34.0), between(700.0, None)
    ('-12..30', '< 34', '> 700')
    """
    if low is None or high is None:
        return f"< {whole(high)}" if low is None else f"> {whole(low)}"
    return f"{whole(low)}..{whole(high)}"


def whole(figure: float | None) -> str:
    """A figure as people read it.

    >>> whole(12.3), whole(-0.4), whole(None)
    ('12', '0', '-')
    """
    return "-" if figure is None else f"{round(figure)}"


def wall_time(at: float) -> str:
    """A time as people write it.

    >>> wall_time(0.0), wall_time(1e300)
    ('1970-01-01 00:00:00 UTC', 'at a time that no calendar has')
    """
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return "at a time that no calendar has"


def duration(seconds: float) -> str:
    """How long something took, in a unit that fits.

    >>> duration(2.0), duration(0.0123456), duration(0.000042)
    ('2.00 s', '12.3 ms', '42 µs')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def plain(value: Any) -> str:
    """A value as one line of JSON that any terminal can show."""
    import json  # which takes longer to load than most values to write

    return json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
