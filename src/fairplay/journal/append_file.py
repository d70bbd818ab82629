"""Append to a file that one process at a time may write, and make it durable."""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from fairplay.core.errors import BadRequest, HostFault
from fairplay.journal.files import NotAFile, check_journal_file
from fairplay.journal.options import ALWAYS, BATCH, OFF, Durability, InUse
from fairplay.journal.syncer import OnSynced, Syncer, load_syncfs, sync_filesystem

MAX_UNSYNCED_AGE_S = 0.05  # a power cut loses no fact that is older, unless syncing is off


class Disk:
    """All calls to the operating system, so that tests can bring disks that fail or forget."""

    def create(self, path: str) -> int:
        """Create a file that only its owner may read."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)

    def open(self, path: str) -> int:
        """Open an existing file."""
        return os.open(path, os.O_RDWR | os.O_APPEND)

    def lock(self, file: int) -> None:
        """Lock a file until it is closed. Raises BlockingIOError if another process holds the lock."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def size(self, file: int) -> int:
        """The size of a file in bytes."""
        return os.lseek(file, 0, os.SEEK_END)

    write: Callable[[int, bytes], int] = staticmethod(os.write)  # appends, and returns the number of bytes written

    def truncate(self, file: int, size: int) -> None:
        """Cut a file after so many bytes."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Return when the file would survive a power cut."""
        os.fsync(file)

    def sync_filesystem(self, file: int) -> None:
        """Return when all files on the file system of this one would survive a power cut."""
        sync_filesystem(file)

    def sync_directory(self, path: str) -> None:
        """Return when the names of the files in a directory would survive a power cut."""
        directory = os.open(path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self, file: int) -> None:
        """Close a file and release its lock."""
        os.close(file)

    def sync_later(self, file: "AppendFile") -> None:
        """Sync this file in the background soon."""
        SYNCER.sync_later(file)

    def sync_now(self, file: "AppendFile", on_synced: OnSynced) -> None:
        """Sync this file in the background at once, then call `on_synced`."""
        SYNCER.sync_now(file, on_synced)

    clock: Callable[[], float] = staticmethod(time.monotonic)  # for the age of what was written


SYNCER = Syncer()
OPEN_FILES: "set[AppendFile]" = set()


def detach_after_fork() -> None:
    """Drop in a forked child what belongs to its parent: the thread, the files, and the locks on them."""
    SYNCER.reset()
    while OPEN_FILES:
        OPEN_FILES.pop().detach_after_fork()


os.register_at_fork(after_in_child=detach_after_fork)


class AppendFile:
    """A file that grows at its end. Any error is a HostFault, and closes the file for good.

    Two threads use it: one appends, and one in the background syncs.
    """

    def __init__(self, path: str, file: int, disk: Disk, sync: Durability, size: int) -> None:
        self.path = path
        self.unsynced_directories: list[str] = []  # directories whose entry of the file is not durable yet
        self._file = file
        self._disk = disk
        self._durability = sync
        self._size = self._durable = size  # bytes written, and bytes synced
        self._unsynced_since = 0.0  # all unsynced bytes were written after this
        self._sync_lock = threading.Lock()
        self._device: int | None = None  # the id of its file system, once known
        self._failure: OSError | None = None
        OPEN_FILES.add(self)

    def detach_after_fork(self) -> None:
        """Close the file in a forked child, which would keep it locked otherwise."""
        self._sync_lock = threading.Lock()
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                os.close(file)

    def append(self, text: bytes) -> bool:
        """Append text, which then survives the end of this process. True: sync before the match proceeds."""
        size, disk = self._size, self._disk
        now = disk.clock()
        if self._failure is not None:
            self._raise_write_error(self._failure)
        try:
            # If all is synced, some time has passed, unless the file is new: did another process write here?
            if (self._durable == size or self._durability is OFF) and size and disk.size(self._file) != size:
                self._close_and_raise(f"another process has written to {self.path}; this one stops")
            written = disk.write(self._file, text)
        except OSError as error:
            self._raise_write_error(error if self._file >= 0 else None)
        if written < len(text):
            self._close_and_raise(
                f"the journal {self.path} cannot be written: only {written} of {len(text)} bytes were"
            )
        self._size = size + written
        if self._durability is BATCH:
            if self._durable == size:
                self._unsynced_since = now
                disk.sync_later(self)
                return False
            return now - self._unsynced_since > MAX_UNSYNCED_AGE_S  # the disk is slow, so the match waits
        return self._durability is ALWAYS

    def sync(self) -> None:
        """Make everything durable that was appended so far, unless syncing is off."""
        self.sync_pending()
        if self._failure is not None:
            self._raise_write_error(self._failure)

    async def sync_async(self) -> None:
        """`sync` without blocking the event loop."""
        if (
            self._durability is not OFF
            and (self._durable != self._size or self.unsynced_directories)
            and self._failure is None
        ):
            import asyncio  # not needed where all players are in this process

            loop = asyncio.get_running_loop()
            done = asyncio.Event()

            def set_done() -> None:
                with suppress(RuntimeError):  # the loop is closed, so nothing waits any more
                    loop.call_soon_threadsafe(done.set)

            self._disk.sync_now(self, set_done)
            await done.wait()
        if self._failure is not None:
            self._raise_write_error(self._failure)

    def has_unsynced(self) -> bool:
        """Is there anything to sync: bytes, or the entry of a new file?"""
        return self._file >= 0 and (self._durable != self._size or bool(self.unsynced_directories))

    def sync_pending(self) -> bool:
        """Sync in the background; the next append raises its error. True: more was appended meanwhile."""
        with self._sync_lock:
            since = self._disk.clock()
            target = self._size  # read after the clock: what comes later is younger than `since`
            done = self._durable == target and not self.unsynced_directories
            if done or self._durability is OFF or self._file < 0 or self._failure is not None:
                return False
            try:
                self._disk.sync(self._file)
                while self.unsynced_directories:
                    self._disk.sync_directory(self.unsynced_directories[-1])
                    self.unsynced_directories.pop()
                self._unsynced_since = since
                self._durable = target
            except OSError as error:
                self._failure = error  # for good: a second sync would succeed and prove nothing
                return False
        return self._size != target

    def filesystem_id(self) -> int | None:
        """The id of the file system that holds the file; None: the file has to be synced by itself."""
        if self._device is not None and self._file >= 0 and self._failure is None:
            return self._device
        with self._sync_lock:
            if self._file < 0 or self._durability is OFF or self._failure is not None:
                return None
            if self._device is None and load_syncfs() is not None and type(self._disk).sync is Disk.sync:
                self._device = os.fstat(self._file).st_dev
            return self._device

    def sync_filesystem(self) -> bool:
        """Sync the file system that holds the file. False: this file is closed. Raises OSError."""
        with self._sync_lock:
            if self._file >= 0:
                self._disk.sync_filesystem(self._file)
            return self._file >= 0

    def timestamped_size(self) -> tuple[float, int]:
        """The time now, and the size; what comes later is younger."""
        since = self._disk.clock()
        return since, self._size

    def mark_durable(self, since: float, size: int) -> bool:
        """Note that so many bytes, the size at that time, are durable. True: more was appended meanwhile."""
        with self._sync_lock:
            if size > self._durable:
                self._unsynced_since = since
                self._durable = size
            self.unsynced_directories.clear()
        return self._size != size

    def unsynced_age_s(self) -> float:
        """The age in seconds of the oldest line that a power cut would lose, where lines are synced later."""
        waits = self._durability is BATCH and self._durable != self._size and self._file >= 0
        return self._disk.clock() - self._unsynced_since if waits else 0.0

    def truncate(self, size: int) -> None:
        """Cut the file durably after so many bytes."""
        if size == self._size:
            return
        try:
            self._disk.truncate(self._file, size)
            if self._durability is not OFF:
                self._disk.sync(self._file)
        except OSError as error:
            self._raise_write_error(error)
        self._size = self._durable = size

    def close(self) -> None:
        """Sync and close the file."""
        if self._file < 0:
            return
        self.sync()
        try:
            self._close_file()
        except OSError as error:
            self._raise_write_error(error)

    def _close_file(self) -> None:
        with self._sync_lock:
            file, self._file = self._file, -1
            OPEN_FILES.discard(self)
            if file >= 0:
                self._disk.close(file)

    def _raise_write_error(self, error: OSError | None) -> NoReturn:
        self._failure = self._failure or error
        self._close_and_raise(
            f"the journal {self.path} cannot be written: {error.strerror if error else 'it is closed'}"
        )

    def _close_and_raise(self, why: str) -> NoReturn:
        """Close the file for good: nothing may follow a torn line."""
        try:
            self._close_file()
        except OSError as error:
            self._failure = self._failure or error
        raise HostFault(why)


def max_unsynced_age_s() -> float:
    """The age in seconds of the oldest line of all open files that a power cut would lose."""
    return max((file.unsynced_age_s() for file in tuple(OPEN_FILES)), default=0.0)


def create_file(directory: Path, name: str, disk: Disk, sync: Durability) -> AppendFile:
    """Create a file, and its directory if there is none."""
    directory_path = str(directory)
    path, unnamed = f"{directory_path}/{name}", [directory_path]
    try:
        try:
            file = disk.create(path)
        except FileNotFoundError:
            unnamed += [str(above.parent) for above in (directory, *directory.parents) if not above.exists()]
            directory.mkdir(parents=True, exist_ok=True)
            file = disk.create(path)
    except FileExistsError:
        return reclaim_unstarted_file(path, disk, sync)
    except ValueError as error:  # no file can have this name
        raise BadRequest(f"cannot write journals in {str(directory)!r}: {error}") from None
    except OSError as error:
        raise HostFault(f"cannot write journals in {directory}: {error.strerror}") from error
    made = lock_file(path, file, disk, sync, new=True)
    made.unsynced_directories = unnamed
    return made


def reclaim_unstarted_file(path: str, disk: Disk, sync: Durability) -> AppendFile:
    """Reuse a file without a whole first line: its process ended before the match was announced."""
    file = reopen_file(path, disk, sync)
    if b"\n" in Path(path).read_bytes():
        file.close()
        raise BadRequest(f"{path}: a journal of a match with this id exists already")
    file.truncate(0)
    return file


def reopen_file(path: str, disk: Disk, sync: Durability) -> AppendFile:
    """Open an existing file, unless another process writes to it, and make it durable.

    Its last process may have ended suddenly, so it is unknown how much of it is durable.
    """
    try:
        check_journal_file(Path(path).stat())
        file = disk.open(path)
    except NotAFile as error:
        raise BadRequest(f"{path}: cannot be read: {error.strerror}") from None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise BadRequest(f"{path} cannot be opened: {error.strerror}") from None
    except ValueError as error:  # no file can have this name
        raise BadRequest(f"{path} cannot be opened: {error}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadRequest(f"{path}: cannot be read: {error.strerror}") from None
        raise HostFault(f"the journal {path} cannot be opened: {error.strerror}") from error
    made = lock_file(path, file, disk, sync, new=False)
    made.unsynced_directories = [str(Path(path).parent)]
    made.sync()
    return made


def lock_file(path: str, file: int, disk: Disk, sync: Durability, *, new: bool) -> AppendFile:
    """Lock an open file for this process; a new one is known to be empty."""
    try:
        disk.lock(file)
        return AppendFile(path, file, disk, sync, 0 if new else disk.size(file))
    except OSError as error:
        with suppress(OSError):
            disk.close(file)
        if isinstance(error, BlockingIOError):
            raise InUse(f"{path}: another process is playing this match") from None
        raise HostFault(f"the journal {path} cannot be locked: {error.strerror}") from error
