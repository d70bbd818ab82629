"""Decide what can be a journal at all, a regular file of a sane size; and lock a directory of files."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAX_JOURNAL_BYTES = 2**28  # bytes of a file that is read at all; journals have some ten thousand
LOCK_RETRY_INTERVAL_S = 0.01  # seconds between two tries to lock
FILE_KINDS = {
    stat.S_IFIFO: "it is a named pipe and no file",
    stat.S_IFSOCK: "it is a socket and no file",
    stat.S_IFCHR: "it is a device and no file",
    stat.S_IFBLK: "it is a device and no file",
}


class NotAFile(OSError):
    """What is there is no file that could be a journal."""


def read_content(path: Path | str) -> bytes:
    """What is in the file of a journal when it is opened; what is appended meanwhile is left out.

    Raises OSError, which says what is wrong, for whatever can be no journal.
    """
    with open_journal_file(path) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def open_journal_file(path: Path | str) -> BinaryIO:
    """The file of a journal, to be read. Raises OSError for whatever else is there; nothing is waited for."""
    check_journal_file(Path(path).stat())  # whoever writes to a pipe would notice if it was opened
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        check_journal_file(os.fstat(file))  # it may be another one by now
        return open(file, "rb")  # noqa: PTH123  # it is open already
    except BaseException:
        os.close(file)
        raise


def check_journal_file(status: os.stat_result) -> None:
    """Raise NotAFile unless this is a file, and not too large to be a journal."""
    if stat.S_ISDIR(status.st_mode):
        raise NotAFile(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotAFile(errno.EINVAL, FILE_KINDS.get(stat.S_IFMT(status.st_mode), "it is no file"))
    if status.st_size > MAX_JOURNAL_BYTES:
        raise NotAFile(errno.EFBIG, f"it is larger than {MAX_JOURNAL_BYTES >> 20} MB")


@contextmanager
def lock_directory(directory: Path, timeout_s: float) -> Iterator[int]:
    """The directory as a file, while no other process has it locked; TimeoutError: one has, for so many seconds."""
    until = time.monotonic() + timeout_s
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError("somebody else is at it") from None
                time.sleep(LOCK_RETRY_INTERVAL_S)
        yield held
    finally:
        os.close(held)
