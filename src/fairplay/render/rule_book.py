"""Format a rule book for a terminal: headings, paragraphs, and clauses with their numbers."""

import re
from collections.abc import Iterator
from textwrap import wrap

from fairplay.render.formatting import PARAGRAPH_COLUMNS
from fairplay.render.text import add_colour

BOLD = "1"
MIN_TEXT_COLUMNS = 20  # even on a narrower terminal
NUMBERED = re.compile(r"\*\*([^*]+)\*\* (.+)")  # a clause
MARKED = re.compile(r"(\*\*|`)(.+?)\1")  # marked words in a text


def format_rule_book(text: str, *, width: int | None = None, colour: bool = False) -> Iterator[str]:
    r"""The lines of a rule book in Markdown, without its marks, wrapped to the width.

    >>> for line in format_rule_book("# The rules\n\n## 1 The end\n\n- **1.1** It ends\n  soon.\n", width=40):
    ...     print(line)
    The rules
    <BLANKLINE>
    1 The end
    <BLANKLINE>
      1.1   It ends soon.
    """
    room = max(MIN_TEXT_COLUMNS, PARAGRAPH_COLUMNS if width is None else min(PARAGRAPH_COLUMNS, width))
    before = ""
    for part in markdown_blocks(text):
        kind = part[:1]
        if before and not (kind == before == "-"):
            yield ""
        before = kind
        if kind == "#":
            heading = strip_markdown(part.lstrip("# "))
            yield add_colour(heading, BOLD) if colour else heading
            continue
        number, paragraph = "", part
        if kind == "-":
            paragraph = part[2:]
            clause = NUMBERED.fullmatch(paragraph)
            number, paragraph = clause.groups() if clause else ("-", paragraph)
            number = f"  {number:<6}"
        prefix = add_colour(number, BOLD) if colour and number else number
        for line in wrap(strip_markdown(paragraph), room - len(number), break_long_words=False, break_on_hyphens=False):
            yield f"{prefix}{line}"
            prefix = " " * len(number)


def markdown_blocks(text: str) -> Iterator[str]:
    """Headings, items of lists and paragraphs, each on one line."""
    for block in re.split(r"\n(?:\s*\n)+|\n(?=- |#)", text.strip()):
        yield " ".join(block.split())


def strip_markdown(text: str) -> str:
    """A text without the marks of Markdown.

    >>> strip_markdown("To **pass** is `null`.")
    'To pass is null.'
    """
    return MARKED.sub(r"\2", text)
