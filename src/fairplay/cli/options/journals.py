"""Find the journal that FILE names: by its path, or by the id of a match in or below a directory."""

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

MAX_SEARCHED_DIRECTORIES = 200
MAX_SEARCHED_FILES = 100_000
MAX_NAMED_JOURNALS = 5  # in the error about an ambiguous id
JOURNAL_SUFFIX = ".jsonl"
MATCH_ID = re.compile(r"[A-Za-z0-9_-]+")


def find_journal(text: str) -> str:
    """The path of a journal. Raises BadRequest, which says what to do, if there is none.

    Other problems of a path are reported by its reader.
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
        raise BadRequest(f"{text}: this is the log of a tournament, not a match; see: fairplay standings {tournament}")
    near, directory = "/" not in text, path.parent
    if is_there or MATCH_ID.fullmatch(path.name) is None or not (near or directory.is_dir()):
        return text
    begun = list(search_journals(directory, path.name, below=near))
    found = [one for one in begun if one.stem == path.name] or begun
    if not found:
        where = "in or below this directory" if near else f"in {directory}"
        named = "DIR; DIR/ID then names a match" if near else shell_quote(str(directory))
        why = f"there is no file {text}, and no match {where} with an id that begins like this"
        raise BadRequest(f"{why}; see: fairplay library list {named}")
    if len(found) > 1:
        some = ", ".join(shell_quote(str(path)) for path in sorted(found)[:MAX_NAMED_JOURNALS])
        more = ", ..." if len(found) > MAX_NAMED_JOURNALS else ""
        raise BadRequest(f"{text} can be any of {len(found)} matches; use the path of one: {some}{more}")
    return str(found[0])


def resolve_journal(_: click.Context, __: click.Parameter, text: Any) -> str:
    """Find the journal of an argument."""
    return find_journal(text)


def file_argument(command: Command) -> Command:
    """Add FILE, the journal of a match, and --game for the external game that it needs."""
    return click.argument("file", type=click.Path(), callback=resolve_journal)(game_option(command))


def search_journals(here: Path, start: str, *, below: bool) -> Iterator[Path]:
    """The journals whose names begin with `start`, in a directory, also of a tournament, and one level below."""
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
    """The entries of a directory, as far as it can be read."""
    with suppress(OSError), os.scandir(directory) as entries:
        yield from entries


def is_visible_directory(entry: "os.DirEntry[str]") -> bool:
    """Is this a directory that is not hidden?"""
    with suppress(OSError):
        return entry.is_dir() and not entry.name.startswith(".")
    return False
