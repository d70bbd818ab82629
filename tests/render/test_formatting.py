"""Test texts for terminals: rule books with any Markdown at any width, and words that are safe in a shell."""

import subprocess

import pytest

from fairplay.render.formatting import shell_quote
from fairplay.render.rule_book import MIN_TEXT_COLUMNS, format_rule_book
from fairplay.render.text import strip_colours

BOOK = """# The rules of Nim

Version 1. Two
heaps.

## 1 A turn

- **1.1** Take some, **all** of one
  heap if you like; `null` is no move.
- **1.2** Never pass.
- without a number

And a last word.
"""


def test_clauses_hang_beside_their_numbers() -> None:
    assert list(format_rule_book(BOOK, width=30)) == [
        "The rules of Nim",
        "",
        "Version 1. Two heaps.",
        "",
        "1 A turn",
        "",
        "  1.1   Take some, all of one",
        "        heap if you like; null",
        "        is no move.",
        "  1.2   Never pass.",
        "  -     without a number",
        "",
        "And a last word.",
    ]


def test_in_colour_only_headings_and_numbers_are_bold() -> None:
    coloured = list(format_rule_book(BOOK, colour=True))

    assert [strip_colours(line) for line in coloured] == list(format_rule_book(BOOK))
    assert [line for line in coloured if "\x1b" in line] == [
        "\x1b[1mThe rules of Nim\x1b[0m",
        "\x1b[1m1 A turn\x1b[0m",
        "\x1b[1m  1.1   \x1b[0mTake some, all of one heap if you like; null is no move.",
        "\x1b[1m  1.2   \x1b[0mNever pass.",
        "\x1b[1m  -     \x1b[0mwithout a number",
    ]


def test_however_narrow_a_terminal_is_the_book_can_be_read() -> None:
    narrow = list(format_rule_book(BOOK, width=1))

    assert max(map(len, narrow)) <= MIN_TEXT_COLUMNS
    assert "".join(" ".join(narrow).split()) == "".join(" ".join(format_rule_book(BOOK)).split())


@pytest.mark.parametrize("text", ["a b", "it's", "\x1b[2J'\\x", "a\nb", "caf\u00e9 \u202e", "\udcff-9", "$HOME `id` !"])
def test_whatever_is_quoted_is_the_same_for_a_shell(text: str) -> None:
    line = shell_quote(text)

    done = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True)

    assert line.isprintable()
    assert done.stdout == text.encode(errors="surrogateescape")
