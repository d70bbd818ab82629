"""Format text for terminals: replace unsafe characters, align, truncate and colour."""

import re
from collections.abc import Container, Iterable, Sequence
from unicodedata import combining, east_asian_width, normalize

# For each sign that boards use, the most similar ASCII characters; of the same width, so that boards stay aligned.
LOOKALIKES = dict(
    zip("✦✸■●♣◆·┊⋮…§×–—‘’“”�", "*8socd.::~#x--''\"\"?", strict=True)
)  # the shapes of Q, and what texts have
LOOKALIKES |= dict(zip("╵╷│╴┘┐┤╶└┌├─┴┬┼↑→↓←▒", "|||-+++-+++-+++^>v<#", strict=True))  # the board of Tsuro
LOOKALIKES |= dict(zip("╭╮╰╯┈░", "..''.:", strict=True))
LOOKALIKES |= {"°": " degrees", "µ": "u"}
CHANGED_COLOUR = "1;35"  # the colour of what has changed, on a terminal that is dark or light


def printable(words: str, most: int) -> str:
    """Words cut to a length, with a replacement for unprintable characters (control codes, escapes, direction marks).

    >>> printable("Ann\\x1b[2J", 20)
    'Ann�[2J'
    >>> printable("Bartholomew", 8)
    'Barthol…'
    """
    cut = words if len(words) <= most else f"{words[: most - 1]}…"
    return "".join(sign if sign.isprintable() else "�" for sign in cut)


def pad(words: str, width: int) -> str:
    """Words padded with blanks to a width; a Chinese character takes two columns, a combining accent none."""
    return words + " " * (width - display_width(words))


def display_width(words: str) -> int:
    """The width of words on a terminal.

    >>> display_width("Ann"), display_width("安")
    (3, 2)
    """
    if words.isascii():  # as most are, and there are many
        return len(words)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in words)


def align_columns(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """The lines of a table, each column as wide as needed; the columns of `right` are aligned to the right.

    >>> align_columns([["#", "name", "games"], ["1", "安", "12"]], right=[2])
    ['#  name  games', '1  安       12']
    """
    widths = [max(map(display_width, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        blanks = [" " * (width - display_width(cell)) for cell, width in zip(cells, widths, strict=True)]
        pairs = enumerate(zip(cells, blanks, strict=True))
        filled = [blank + cell if column in right else cell + blank for column, (cell, blank) in pairs]
        lines.append("  ".join(filled).rstrip())
    return lines


def truncate(words: str, width: int) -> str:
    """Words cut to a width, with an ellipsis.

    >>> truncate("Bartholomew", 8), truncate("安安", 3), truncate("Ann", 8)
    ('Barthol…', '安…', 'Ann')
    """
    if display_width(words) <= width:
        return words
    while words and display_width(words) >= width:
        words = words[:-1]
    return f"{words}…"[: max(0, width)]


def wrap_items(items: Iterable[str], width: int | None, between: str = "  ") -> list[str]:
    """Items one after another, on as many lines as needed; an item that is too wide is cut.

    >>> wrap_items(["r red", "g green", "b blue"], 14)
    ['r red  g green', 'b blue']
    """
    lines: list[str] = []
    for item in items:
        fit = item if width is None else truncate(item, width)
        longer = f"{lines[-1]}{between}{fit}" if lines else fit
        if lines and (width is None or display_width(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(fit)
    return lines


def add_colour(words: str, code: str) -> str:
    """Words in a colour, by the code of ANSI's "select graphic rendition".

    >>> add_colour("R", "97;41")
    '\\x1b[97;41mR\\x1b[0m'
    """
    return f"\x1b[{code}m{words}\x1b[0m"


def strip_colours(words: str) -> str:
    """Words without their colours.

    >>> strip_colours(add_colour("R", "97;41"))
    'R'
    """
    return re.sub("\x1b\\[[0-9;]*m", "", words)


def replacement(sign: str) -> str:
    """The replacement of a character that cannot be encoded: a similar one, its letter without accents, or "?".

    >>> [replacement(sign) for sign in "✦│é安"]
    ['*', '|', 'e', '??']
    """
    letter = "".join(part for part in normalize("NFKD", sign) if part.isascii() and part.isprintable())
    return LOOKALIKES.get(sign) or letter or "?" * display_width(sign)
