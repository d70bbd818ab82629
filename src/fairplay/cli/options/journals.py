"""Find the journal that a person means by FILE: by its path, or by the id of a match near here or in a directory."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.game import Command, game_option
from fairplay.core.errors import BadRequest
from fairplay.render.formatting import shell_quote
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR

MAX_SEARCHED_DIRECTORIES = 200  # in which is looked
MAX_SEARCHED_FILES = 100_000  # at which is looked
MAX_NAMED_JOURNALS = 5  # matches of which one may be meant
JOURNAL_SUFFIX = ".jsonl"
MATCH_ID = re.compile(r"[A-Za-z0-9_-]+")


def find_journal(text: str) -> str:
    """The path of the journal that is meant. Raises BadRequest, which says what to do, if there is none.

    What else is wrong with a path is said by whoever reads it.
    """
    path = Path(text)
    try:
        is_there, is_directory = path.exists(), path.is_dir()
    except OSError:
        return text
    if is_directory:
        raise BadRequest(f"{text}: cannot be read: Is a directory; see: fairplay library list {shell_quote(str(path))}")
    if is_there and path.name == LOG_FILE:
        tournament = shell_quote(str(path.parent))
        raise BadRequest(f"{text}: this is the log of a tournament and no match; see: fairplay standings {tournament}")
    near, directory = "/" not in text, path.parent
    if is_there or MATCH_ID.fullmatch(path.name) is None or not (near or directory.is_dir()):
        return text
    begun = list(search_journals(directory, path.name, below=near))
    found = [one for one in begun if one.stem == path.name] or begun
    if not found:
        where = "near here" if near else f"in {directory}"
        named = "DIR; there, DIR/ID names a match" if near else shell_quote(str(directory))
        why = f"there is no file {text}, and no match {where} with an id that begins so"
        raise BadRequest(f"{why}; see: fairplay library list {named}")
    if len(found) > 1:
        some = ", ".join(shell_quote(str(path)) for path in sorted(found)[:MAX_NAMED_JOURNALS])
        more = ", ..." if len(found) > MAX_NAMED_JOURNALS else ""
        raise BadRequest(f"{text} can be any of {len(found)} matches; write the path of one: {some}{more}")
    return str(found[0])


def resolve_journal(_: click.Context, __: click.Parameter, text: Any) -> str:
    """The journal that is meant by an argument."""
    return find_journal(text)


def file_argument(verb: Command) -> Command:
    """FILE, the journal of a match; --game names the game that it needs, if it is an external one."""
    return click.argument("file", type=click.Path(), callback=resolve_journal)(game_option(verb))


def search_journals(here: Path, start: str, *, below: bool) -> Iterator[Path]:
    """The journals whose names begin so: in a directory, also of a tournament; and one directory below."""
    directories = [here]
    if below:
        directories += [
            Path(entry) for entry in islice(filter(is_visible_directory, list_entries(here)), MAX_SEARCHED_DIRECTORIES)
        ]
    places = dict.fromkeys(place for directory in directories for place in (directory, directory / MATCHES_DIR))
    for entry in islice(chain.from_iterable(map(list_entries, places)), MAX_SEARCHED_FILES):
        if entry.name.startswith(start) and entry.name.endswith(JOURNAL_SUFFIX) and entry.name != LOG_FILE:
            yield Path(entry)


def list_entries(directory: Path) -> Iterator["os.DirEntry[str]"]:
    """What is in a directory, as far as anybody may know."""
    with suppress(OSError), os.scandir(directory) as entries:
        yield from entries


def is_visible_directory(entry: "os.DirEntry[str]") -> bool:
    """Is it a directory, and not hidden?"""
    with suppress(OSError):
        return entry.is_dir() and not entry.name.startswith(".")
    return False
