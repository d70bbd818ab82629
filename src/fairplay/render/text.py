"""Write for terminals: nothing that a stranger says reaches them unread."""

from unicodedata import combining, east_asian_width, normalize

# What is most like a sign of ours among those that every encoding has; as wide, so that boards stay boards.
ALIKE = dict(zip("✦✸■●♣◆·┊⋮…§×–—‘’“”�", "*8socd.::~#x--''\"\"?", strict=True))  # the shapes of Q, and what texts have
ALIKE |= dict(zip("╵╷│╴┘┐┤╶└┌├─┴┬┼↑→↓←▒", "|||-+++-+++-+++^>v<#", strict=True))  # the board of Tsuro
ALIKE |= {"°": " degrees", "µ": "u"}


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
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in words)


def dye(words: str, code: str) -> str:
    """Words in a colour, by the code of ANSI's "select graphic rendition".

    >>> dye("R", "97;41")
    '\\x1b[97;41mR\\x1b[0m'
    """
    return f"\x1b[{code}m{words}\x1b[0m"


def stand_in(sign: str) -> str:
    """What is written instead of a sign that cannot be: one that is like it, its letter without accents, or "?".

    >>> [stand_in(sign) for sign in "✦│é安"]
    ['*', '|', 'e', '??']
    """
    letter = "".join(part for part in normalize("NFKD", sign) if part.isascii() and part.isprintable())
    return ALIKE.get(sign) or letter or "?" * breadth(sign)
