"""Write for terminals: nothing that a stranger says reaches them unread."""

from unicodedata import combining, east_asian_width


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
