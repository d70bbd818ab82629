"""Write for terminals: nothing that a stranger says reaches them unread."""

import re
from collections.abc import Container, Iterable, Sequence
from unicodedata import combining, east_asian_width, normalize

# What is most like a sign of ours among those that every encoding has; as wide, so that boards stay boards.
ALIKE = dict(zip("✦✸■●♣◆·┊⋮…§×–—‘’“”�", "*8socd.::~#x--''\"\"?", strict=True))  # the shapes of Q, and what texts have
ALIKE |= dict(zip("╵╷│╴┘┐┤╶└┌├─┴┬┼↑→↓←▒", "|||-+++-+++-+++^>v<#", strict=True))  # the board of Tsuro
ALIKE |= dict(zip("╭╮╰╯┈░", "..''.:", strict=True))
ALIKE |= {"°": " degrees", "µ": "u"}
CHANGED = "1;35"  # the colour of what has changed, on a terminal that is dark or light


def printable(words: str, most: int) -> str:
    """Words cut to a length; whatever is not printable (control codes, escapes, marks of direction) is replaced.

    >>> printable("Ann\\x1b[2J", 20)
    'Ann�[2J'
    >>> printable("Bartholomew", 8)
    'Barthol…'
    """
    shown = words if len(words) <= most else f"{words[: most - 1]}…"
    return "".join(sign if sign.isprintable() else "�" for sign in shown)


def pad(words: str, width: int) -> str:
    """Words filled up with blanks to a width; a Chinese sign takes two columns, an accent on its own none."""
    return words + " " * (width - breadth(words))


def breadth(words: str) -> int:
    """How wide words are on a terminal.

    >>> breadth("Ann"), breadth("安")
    (3, 2)
    """
    if words.isascii():  # as most are, and there are many
        return len(words)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in words)


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """The lines of a table, each column as wide as it has to be; in some columns, words stand to the right.

    >>> aligned([["#", "name", "games"], ["1", "安", "12"]], right=[2])
    ['#  name  games', '1  安       12']
    """
    widths = [max(map(breadth, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        blanks = [" " * (width - breadth(cell)) for cell, width in zip(cells, widths, strict=True)]
        pairs = enumerate(zip(cells, blanks, strict=True))
        filled = [blank + cell if column in right else cell + blank for column, (cell, blank) in pairs]
        lines.append("  ".join(filled).rstrip())
    return lines


def cut(words: str, width: int) -> str:
    """Words as far as there is room for them.

    >>> cut("Bartholomew", 8), cut("安安", 3), cut("Ann", 8)
    ('Barthol…', '安…', 'Ann')
    """
    if breadth(words) <= width:
        return words
    while words and breadth(words) >= width:
        words = words[:-1]
    return f"{words}…"[: max(0, width)]


def fold(items: Iterable[str], width: int | None, between: str = "  ") -> list[str]:
    """Items one after another, on as many lines as it takes; one that is too wide is cut.

    >>> fold(["r red", "g green", "b blue"], 14)
    ['r red  g green', 'b blue']
    """
    lines: list[str] = []
    for item in items:
        fit = item if width is None else cut(item, width)
        longer = f"{lines[-1]}{between}{fit}" if lines else fit
        if lines and (width is None or breadth(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(fit)
    return lines


def dye(words: str, code: str) -> str:
    """Words in a colour, by the code of ANSI's "select graphic rendition".

    >>> dye("R", "97;41")
    '\\x1b[97;41mR\\x1b[0m'
    """
    return f"\x1b[{code}m{words}\x1b[0m"


def bare(words: str) -> str:
    """Words without their colours.

    >>> bare(dye("R", "97;41"))
    'R'
    """
    return re.sub("\x1b\\[[0-9;]*m", "", words)


def stand_in(sign: str) -> str:
    """What is written instead of a sign that cannot be: one that is like it, its letter without accents, or "?".

    >>> [stand_in(sign) for sign in "✦│é安"]
    ['*', '|', 'e', '??']
    """
    letter = "".join(part for part in normalize("NFKD", sign) if part.isascii() and part.isprintable())
    return ALIKE.get(sign) or letter or "?" * breadth(sign)
