"""Find files to conceal in a program's directory: journals under any name, sockets, pipes and devices."""

import os
import stat
from collections.abc import Iterator, Set
from pathlib import Path

from fairplay.core.errors import BadRequest

JOURNAL_NAME_PARTS = (".jsonl", ".index.sqlite")  # in names of journals and library indexes, and of copies of them
JOURNAL_PREFIX = b'{"type":"opening",'  # how a journal begins
MAX_SCANNED_ENTRIES = 10_000  # files and directories, which takes a tenth of a second
MAX_CONCEALED_PATHS = 100  # each is a mount


def find_concealed_files(directory: Path, concealed: Set[Path]) -> Iterator[Path]:
    """The paths to conceal in a program's directory; paths already concealed under another name are included.

    A directory of journals only is concealed as a whole. Links are ignored, as they lead to visible files, or nowhere.
    """
    known = {file_identity(path.stat()) for path in concealed if path.exists()}
    scanned, concealed_paths = 0, 0
    pending = [directory]
    while pending:
        current = pending.pop()
        here: list[Path] = []
        others = 0
        for entry in scan_directory(current):
            scanned += 1
            if entry.is_symlink():
                others += 1
            elif entry.is_dir() and not is_known_file(entry, known):
                others += 1
                pending.append(Path(entry.path))
            elif entry.is_dir() or not entry.is_file() or is_journal(entry.path):
                here.append(Path(entry.path))
            else:
                others += 1
            if scanned > MAX_SCANNED_ENTRIES:
                raise BadRequest(
                    f"there are more than {MAX_SCANNED_ENTRIES} files in {directory}: name a smaller directory"
                )
        if here and not others and current != directory:
            here = [current]
        concealed_paths += len(here)
        if concealed_paths > MAX_CONCEALED_PATHS:
            raise BadRequest(
                f"there are too many journals among the files in {directory}: keep them in another directory"
            )
        yield from here


def scan_directory(directory: Path) -> Iterator[os.DirEntry[str]]:
    """The entries of a directory; none if we may not read it, as our programs may not either."""
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except (PermissionError, FileNotFoundError):
        return
    except OSError as error:
        raise BadRequest(f"cannot read the directory {directory}: {error.strerror}") from None


def is_journal(path: str | Path) -> bool:
    """Is this file a journal, or an index of journals?"""
    name = os.fspath(path).rpartition("/")[2]
    if any(part in name for part in JOURNAL_NAME_PARTS):
        return True
    return read_prefix(path, len(JOURNAL_PREFIX)) in (JOURNAL_PREFIX, None)


def read_prefix(path: str | Path, length: int) -> bytes | None:
    """The first bytes of a file; None: it cannot be read. Empty for pipes and devices, which are not waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):  # what we may not read, programs may not either
        return b""
    except OSError:
        return None
    try:
        return os.read(fd, length) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return None
    finally:
        os.close(fd)


def is_known_file(entry: os.DirEntry[str], known: Set[tuple[int, int]]) -> bool:
    """Is this one of the known files, under any name?"""
    try:
        return file_identity(entry.stat()) in known
    except OSError:  # it was deleted
        return False


def file_identity(status: os.stat_result) -> tuple[int, int]:
    """The device and inode, which are the same for all names of a file."""
    return status.st_dev, status.st_ino
