"""Open only regular files of a reasonable size as journals, and lock directories of journals."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

MAX_JOURNAL_BYTES = 2**28  # larger files are refused; a usual journal has ten thousand bytes
LOCK_RETRY_INTERVAL_S = 0.01
FILE_KINDS = {
    stat.S_IFIFO: "it is a named pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}


class NotAFile(OSError):
    """This path is not a file that could be a journal."""


def read_content(path: Path | str) -> bytes:
    """The bytes of a journal at the time it is opened, without what is appended meanwhile.

    Raises OSError, which says what is wrong, for anything that cannot be a journal.
    """
    with open_journal_file(path) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def open_journal_file(path: Path | str) -> BinaryIO:
    """Open a journal for reading, without blocking. Raises OSError for anything that cannot be a journal."""
    check_journal_file(Path(path).stat())  # opening a pipe would be seen by its writer
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        check_journal_file(os.fstat(file))  # it may be another file by now
        return open(file, "rb")  # noqa: PTH123  # it is open already
    except BaseException:
        os.close(file)
        raise


def check_journal_file(status: os.stat_result) -> None:
    """Raise NotAFile unless this is a regular file that is not too large for a journal."""
    if stat.S_ISDIR(status.st_mode):
        raise NotAFile(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotAFile(errno.EINVAL, FILE_KINDS.get(stat.S_IFMT(status.st_mode), "it is not a file"))
    if status.st_size > MAX_JOURNAL_BYTES:
        raise NotAFile(errno.EFBIG, f"it is larger than {MAX_JOURNAL_BYTES >> 20} MB")


@contextmanager
def lock_directory(directory: Path, timeout_s: float) -> Iterator[int]:
    """Lock a directory and yield its descriptor. Raises TimeoutError if another process holds the lock too long."""
    until = time.monotonic() + timeout_s
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError(f"{directory} is locked by another process") from None
                time.sleep(LOCK_RETRY_INTERVAL_S)
        yield held
    finally:
        os.close(held)
