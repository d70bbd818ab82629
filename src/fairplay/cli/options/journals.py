"""Find the journal that a person means by FILE: by its path, or by the id of a match near here or in a folder."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from fairplay.cli.options.game import Verb, game_option
from fairplay.core.errors import BadRequest
from fairplay.render.words import quoted
from fairplay.tournament.places import FILE, MATCHES

MOST_FOLDERS = 200  # in which is looked
MOST_FILES = 100_000  # at which is looked
MOST_NAMED = 5  # matches of which one may be meant
ENDING = ".jsonl"
ID = re.compile(r"[A-Za-z0-9_-]+")


def journal_named(text: str) -> str:
    """The path of the journal that is meant. Raises BadRequest, which says what to do, if there is none.

    What else is wrong with a path is said by whoever reads it.
    """
    path = Path(text)
    try:
        is_there, is_folder = path.exists(), path.is_dir()
    except OSError:
        return text
    if is_folder:
        raise BadRequest(f"{text}: cannot be read: Is a directory; see: fairplay library list {quoted(str(path))}")
    if is_there and path.name == FILE:
        cup = quoted(str(path.parent))
        raise BadRequest(f"{text}: this is the notebook of a tournament and no match; see: fairplay standings {cup}")
    near, folder = "/" not in text, path.parent
    if is_there or ID.fullmatch(path.name) is None or not (near or folder.is_dir()):
        return text
    begun = list(journals_near(folder, path.name, below=near))
    found = [one for one in begun if one.stem == path.name] or begun
    if not found:
        where = "near here" if near else f"in {folder}"
        named = "DIR; there, DIR/ID names a match" if near else quoted(str(folder))
        why = f"there is no file {text}, and no match {where} with an id that begins so"
        raise BadRequest(f"{why}; see: fairplay library list {named}")
    if len(found) > 1:
        some = ", ".join(quoted(str(path)) for path in sorted(found)[:MOST_NAMED])
        more = ", ..." if len(found) > MOST_NAMED else ""
        raise BadRequest(f"{text} can be any of {len(found)} matches; write the path of one: {some}{more}")
    return str(found[0])


def named(_: click.Context, __: click.Parameter, text: Any) -> str:
    """The journal that is meant by an argument."""
    return journal_named(text)


def file_argument(verb: Verb) -> Verb:
    """FILE, the journal of a match; --game names the game that it needs, if it is an external one."""
    return click.argument("file", type=click.Path(), callback=named)(game_option(verb))


def journals_near(here: Path, start: str, *, below: bool) -> Iterator[Path]:
    """The journals whose names begin so: in a folder, also of a tournament; and one folder below."""
    folders = [here]
    if below:
        folders += [Path(entry) for entry in islice(filter(is_shown_folder, entries_in(here)), MOST_FOLDERS)]
    places = dict.fromkeys(place for folder in folders for place in (folder, folder / MATCHES))
    for entry in islice(chain.from_iterable(map(entries_in, places)), MOST_FILES):
        if entry.name.startswith(start) and entry.name.endswith(ENDING) and entry.name != FILE:
            yield Path(entry)


def entries_in(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """What is in a folder, as far as anybody may know."""
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def is_shown_folder(entry: "os.DirEntry[str]") -> bool:
    """Is it a folder, and not hidden?"""
    with suppress(OSError):
        return entry.is_dir() and not entry.name.startswith(".")
    return False
