"""Test that source, docs and help texts hold no banned word, and say what to write instead."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.nonempty import nonempty

ROOT = Path(__file__).parents[2]
READ: tuple[str, ...] = (
    "src",
    "docs",
    "examples",
    "benchmarks",
    "tools",
    "README.md",
    "GLOSSARY.md",
    "ARCHITECTURE.md",
)
READ += ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md")
SUFFIXES = {".py", ".md", ".js", ".css", ".html", ".toml", ".c", ".h", ".yml", ".svg", ".sh", ".go", ".java"}
BANNED = {  # a regular expression over words, and what to write instead
    "house|houses": "server, or built-in",
    "doors?": "listener",
    "receptions?": "sign-in",
    "visitors?": "client",
    "strollers?": "roaming spectator",
    "lookers?": "browser viewer",
    "crowds?": "connection limiter",
    "farewells?": "pending closes",
    "strangers?": "connections that have not signed in",
    "shut in": "sandboxed",
    "kept from": "denied",
    "jails?|cells? of the sandbox": "sandbox",
    "keepers?": "supervisor",
    "beasts?|zoo": "escape attempt, escape suite",
    "kept seats?": "reserved seat",
    "sittings?": "prepared match",
    "gatherings?": "connected table",
    "shelf|shelves": "registry",
    "elsewhere": "external, or name the place",
    "handed over": "external, or say what hands what",
    "rehearsals?|rehearsed": "debug session",
    "understud(y|ies)": "recorded, then live",
    "prompters?": "recorded answers",
    "appeals?": "ejection report",
    "notebooks? of": "tournament log",
    "surely": "finish_despite_cancellation",
    "host to blame": "as_host_fault",
    "gone on with|taken up": "resumed",
    "settled?|settles": "durable, or decide",
    "folders?": "directory",
    "patience": "timeout",
    "cups?": "tournament",
    "told apart": "significantly different",
    "gates?": "bot check",
    "skeletons?": "template",
    "backlogs?": "incoming queue",
    "consequences?": "penalty",
    "lawful|unlawful": "legal, illegal",
    "whoever|whomever|nobody|somebody|anybody|everybody": "a noun",
}
ALLOWED = {  # a regular expression over the text as it is written, and why it may stand there
    r"cup\.toml|\bcups\b|\bcup/|(standings|list|find|--journal) cup\b|`cup`": "files of a tournament",
    r"[Pp]etting[Zz]oo": "the name of a library",
    r"\bbacklog=": "an argument of the standard library",
}


def words_of(text: str) -> str:
    """A text in small letters, with the names of code taken apart: `keptSeat` and `kept_seat` are two words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text).lower()


def banned_words(text: str) -> list[tuple[int, str]]:
    """Each banned word of a text, with the number of its line."""
    pattern = re.compile(rf"\b({'|'.join(BANNED)})\b")
    allowed = re.compile("|".join(f"(?:{expression})" for expression in ALLOWED))
    return [
        (number, found[0])
        for number, line in enumerate(text.splitlines(), 1)
        for found in pattern.finditer(words_of(allowed.sub("", line)))
    ]


def replacement(word: str) -> str:
    """What to write instead of a banned word."""
    return next(instead for expression, instead in BANNED.items() if re.fullmatch(expression, word))


@cache
def texts() -> dict[str, str]:
    """What people see, by the name of its file: source, page or help."""
    files = [file for part in READ for file in (ROOT / part, *sorted((ROOT / part).rglob("*")))]
    return {file.relative_to(ROOT).as_posix(): file.read_text() for file in files if file.suffix in SUFFIXES}


def test_no_banned_word_is_left() -> None:
    found = [
        f"{name}:{number}: {word}; write: {replacement(word)}"
        for name, text in nonempty(texts().items())
        for number, word in banned_words(text)
    ]

    assert not found, "\n".join(found)


@pytest.mark.parametrize("expression", ALLOWED)
def test_each_exception_is_needed(expression: str) -> None:
    assert any(re.search(expression, text) for text in texts().values())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def told_apart() -> None:", ["told apart"]),
        ("class HouseSettings:", ["house"]),
        ("# Nobody is asked.", ["nobody"]),
        ("the folder's name", ["folder"]),
        ("the household, a cupboard, `investigate`, aggregates, excellent", []),
    ],
)
def test_a_banned_word_is_found_in_names_and_in_prose(text: str, words: list[str]) -> None:
    assert banned_words(f"\n{text}") == [(2, word) for word in words]
    assert all(map(replacement, words))
