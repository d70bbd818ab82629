"""Find in the directory of a program what it may not see: journals, whatever they are called, and listeners to the outside."""

import os
import stat
from collections.abc import Iterator, Set
from pathlib import Path

from fairplay.core.errors import BadRequest

JOURNAL_NAME_PARTS = (
    ".jsonl",
    ".index.sqlite",
)  # in the name of a journal, of the index of a library, and of copies of them
JOURNAL_PREFIX = b'{"type":"opening",'  # of a journal
MAX_SCANNED_ENTRIES = 10_000  # files and directories to look at, in a tenth of a second
MAX_CONCEALED_PATHS = 100  # each is a mount


def find_concealed_files(directory: Path, concealed: Set[Path]) -> Iterator[Path]:
    """What a program may not see in a directory of its own, besides what is concealed anyway under another name.

    A directory with nothing but journals in it is concealed as a whole. Links are left alone: they lead to what is shown,
    or nowhere.
    """
    known = {file_identity(path.stat()) for path in concealed if path.exists()}
    entries, found = 0, 0
    ahead = [directory]
    while ahead:
        current = ahead.pop()
        here: list[Path] = []
        others = 0
        for entry in scan_directory(current):
            entries += 1
            if entry.is_symlink():
                others += 1
            elif entry.is_dir() and not is_known_file(entry, known):
                others += 1
                ahead.append(Path(entry.path))
            elif entry.is_dir() or not entry.is_file() or is_journal(entry.path):
                here.append(Path(entry.path))
            else:
                others += 1
            if entries > MAX_SCANNED_ENTRIES:
                raise BadRequest(
                    f"there are more than {MAX_SCANNED_ENTRIES} files in {directory}: name a smaller directory"
                )
        if here and not others and current != directory:
            here = [current]
        found += len(here)
        if found > MAX_CONCEALED_PATHS:
            raise BadRequest(
                f"there are too many journals among the files in {directory}: keep them in a directory apart"
            )
        yield from here


def scan_directory(directory: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a directory; nothing, if it is closed to us, as it is to our programs then."""
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except (PermissionError, FileNotFoundError):
        return
    except OSError as error:
        raise BadRequest(f"{directory} cannot be looked through: {error.strerror}") from None


def is_journal(path: str | Path) -> bool:
    """Is this file a journal, or made from journals?"""
    name = os.fspath(path).rpartition("/")[2]
    return any(part in name for part in JOURNAL_NAME_PARTS) or read_prefix(path, len(JOURNAL_PREFIX)) in (
        JOURNAL_PREFIX,
        None,
    )


def read_prefix(path: str | Path, length: int) -> bytes | None:
    """How a file begins; None: nobody knows. What is no file is not waited for, and is empty."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):  # who may not read it here, may not there
        return b""
    except OSError:
        return None
    try:
        return os.read(opened, length) if stat.S_ISREG(os.fstat(opened).st_mode) else b""
    except OSError:
        return None
    finally:
        os.close(opened)


def is_known_file(entry: os.DirEntry[str], known: Set[tuple[int, int]]) -> bool:
    """Is this one of those, under whatever name?"""
    try:
        return file_identity(entry.stat()) in known
    except OSError:  # it has gone
        return False


def file_identity(status: os.stat_result) -> tuple[int, int]:
    """What is the same for all names of a file."""
    return status.st_dev, status.st_ino
