"""Estimate the width of words in a picture, rather too wide than too narrow, as the font is unknown."""

from unicodedata import combining, east_asian_width

NARROW, BROAD = frozenset(" !'(),-./:;I[]fijlrt|"), frozenset("@MWmw%…—")
ELLIPSIS = "…"


def text_width(words: str) -> float:
    """The width of bold words, in units of the font's size.

    >>> text_width("ill") < text_width("Ann") < text_width("WWW")
    True
    """
    return sum(map(_em, words))


def truncate_to_width(words: str, room: float) -> str:
    """The words, cut to the room in units of the font's size; an ellipsis stands for what is cut.

    >>> truncate_to_width("Bartholomew", 9.0), truncate_to_width("Bartholomew", 5.0)
    ('Bartholomew', 'Barth…')
    >>> truncate_to_width("漢字漢字漢字", 5.0)
    '漢字漢…'
    """
    if text_width(words) <= room:
        return words
    while words and text_width(words) + text_width(ELLIPSIS) > room:
        words = words[:-1]
    return f"{words.rstrip()}{ELLIPSIS}"


def _em(sign: str) -> float:
    if combining(sign):
        return 0.0
    if east_asian_width(sign) in "WF":
        return 1.3 if sign > "\U0001f000" else 1.05  # the former are emoji
    if sign in NARROW:
        return 0.5
    if sign in BROAD:
        return 1.12
    return (0.84 if sign.isupper() else 0.74) if sign.isascii() else 1.0
