"""Append to a file that one process at a time may write, and make it durable as was asked for."""

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
from fairplay.journal.files import NotAFile, refuse_others
from fairplay.journal.requests import ALWAYS, BATCH, OFF, InUse, Sync
from fairplay.journal.syncing import Syncer, Told, sync_filesystem, syncfs

LAG = 0.05  # seconds: no fact that is older than this is lost to a power cut, unless syncing was switched off


class Disk:
    """The calls to the operating system, all in one place: tests have disks that fail and that forget."""

    def create(self, path: str) -> int:
        """Open a new file that only its owner may read."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)

    def open(self, path: str) -> int:
        """Open a file that is there."""
        return os.open(path, os.O_RDWR | os.O_APPEND)

    def lock(self, file: int) -> None:
        """Keep others from writing for as long as it is open; BlockingIOError if somebody else does."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def size(self, file: int) -> int:
        """How many bytes are there."""
        return os.lseek(file, 0, os.SEEK_END)

    write: Callable[[int, bytes], int] = staticmethod(os.write)  # appends, and says how many bytes of it are there

    def cut(self, file: int, size: int) -> None:
        """Throw away what is behind so many bytes."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Come back when all of it would survive a power cut."""
        os.fsync(file)

    def sync_filesystem(self, file: int) -> None:
        """The same for all files on the file system of this one."""
        sync_filesystem(file)

    def sync_directory(self, path: str) -> None:
        """The same for the names of the files in a directory."""
        directory = os.open(path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def close(self, file: int) -> None:
        """Let go of it, and of its lock."""
        os.close(file)

    def sync_later(self, file: "AppendFile") -> None:
        """Let the background sync this file soon."""
        SYNCER.sync_later(file)

    def sync_now(self, file: "AppendFile", told: Told) -> None:
        """Let the background sync this file at once, and call this when it has."""
        SYNCER.sync_now(file, told)

    clock: Callable[[], float] = staticmethod(time.monotonic)  # tells how long ago something was written


SYNCER = Syncer()
FILES: "set[AppendFile]" = set()  # those that are open


def after_fork() -> None:
    """Leave to the parent what is the parent's: its thread, its files, and its locks on them."""
    SYNCER.forget()
    while FILES:
        FILES.pop().leave_to_parent()


os.register_at_fork(after_in_child=after_fork)


class AppendFile:
    """A file that grows at its end. Whatever goes wrong is a fault of the host, and nothing can be appended any more.

    Two threads use it: the one that appends, and one in the background that syncs.
    """

    def __init__(self, path: str, file: int, disk: Disk, sync: Sync, size: int) -> None:
        self.path = path
        self.unnamed: list[str] = []  # directories that do not durably hold the file yet
        self._file = file
        self._disk = disk
        self._mode = sync
        self._size = self._durable = size  # bytes: all of them, and those that were synced
        self._since = 0.0  # no byte that was not synced is older than this
        self._syncing = threading.Lock()
        self._place: int | None = None  # the number of its file system, once somebody asked
        self._failure: OSError | None = None
        FILES.add(self)

    def leave_to_parent(self) -> None:
        """Let go of it in a process that was forked, or else it stayed locked for as long as that lives."""
        self._syncing = threading.Lock()
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                os.close(file)

    def append(self, text: bytes) -> bool:
        """Add to the end; when this returns, the text survives the end of this process. True: sync before you go on."""
        size, disk = self._size, self._disk
        now = disk.clock()
        if self._failure is not None:
            self._give_up(self._failure)
        try:
            # If all was synced, some time has passed, unless the file is new: did anybody write here behind our back?
            if (self._durable == size or self._mode is OFF) and size and disk.size(self._file) != size:
                self._abandon(f"another process has written to {self.path}; this one stops")
            written = disk.write(self._file, text)
        except OSError as error:
            self._give_up(error if self._file >= 0 else None)
        if written < len(text):
            self._abandon(f"the journal {self.path} cannot be written: only {written} of {len(text)} bytes were")
        self._size = size + written
        if self._mode is BATCH:
            if self._durable == size:
                self._since = now
                disk.sync_later(self)
                return False
            return now - self._since > LAG  # the disk is slow, so the match waits for it
        return self._mode is ALWAYS

    def sync(self) -> None:
        """Make everything durable that was appended so far, if that was asked for at all."""
        self.sync_behind()
        if self._failure is not None:
            self._give_up(self._failure)

    async def synced(self) -> None:
        """The same, awaited."""
        if self._mode is not OFF and (self._durable != self._size or self.unnamed) and self._failure is None:
            import asyncio  # where all players are in this process, nobody needs it

            loop = asyncio.get_running_loop()
            done = asyncio.Event()

            def told() -> None:
                with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
                    loop.call_soon_threadsafe(done.set)

            self._disk.sync_now(self, told)
            await done.wait()
        if self._failure is not None:
            self._give_up(self._failure)

    def is_behind(self) -> bool:
        """Was anything appended, or the file created, that was not synced?"""
        return self._file >= 0 and (self._durable != self._size or bool(self.unnamed))

    def sync_behind(self) -> bool:
        """The same for the thread in the background: if it fails, whoever appends next is told. True: more has come."""
        with self._syncing:
            since = self._disk.clock()
            target = self._size  # read after the clock: what is not in it is younger than `since`
            done = self._durable == target and not self.unnamed
            if done or self._mode is OFF or self._file < 0 or self._failure is not None:
                return False
            try:
                self._disk.sync(self._file)
                while self.unnamed:
                    self._disk.sync_directory(self.unnamed[-1])
                    self.unnamed.pop()
                self._since = since
                self._durable = target
            except OSError as error:
                self._failure = error  # for good: to sync again would succeed, and prove nothing
                return False
        return self._size != target

    def filesystem(self) -> int | None:
        """The number of the file system it is on; None: it has to be synced by itself."""
        if self._place is not None and self._file >= 0 and self._failure is None:
            return self._place
        with self._syncing:
            if self._file < 0 or self._mode is OFF or self._failure is not None:
                return None
            if self._place is None and syncfs() is not None and type(self._disk).sync is Disk.sync:
                self._place = os.fstat(self._file).st_dev
            return self._place

    def sync_filesystem(self) -> bool:
        """Make everything durable that is on the same file system; False: this file is closed. Raises OSError."""
        with self._syncing:
            if self._file >= 0:
                self._disk.sync_filesystem(self._file)
            return self._file >= 0

    def behind(self) -> tuple[float, int]:
        """When, and how many bytes there are; what comes later is younger."""
        since = self._disk.clock()
        return since, self._size

    def is_durable(self, since: float, size: int) -> bool:
        """So many bytes are, as they were then. True: more has come."""
        with self._syncing:
            if size > self._durable:
                self._since = since
                self._durable = size
            self.unnamed.clear()
        return self._size != size

    def lag(self) -> float:
        """Seconds since the oldest line that somebody was told of and a power cut would lose, where lines may wait."""
        waits = self._mode is BATCH and self._durable != self._size and self._file >= 0
        return self._disk.clock() - self._since if waits else 0.0

    def cut(self, size: int) -> None:
        """Throw away what is behind so many bytes, and never see it again."""
        if size == self._size:
            return
        try:
            self._disk.cut(self._file, size)
            if self._mode is not OFF:
                self._disk.sync(self._file)
        except OSError as error:
            self._give_up(error)
        self._size = self._durable = size

    def close(self) -> None:
        """Sync, and let go of the file."""
        if self._file < 0:
            return
        self.sync()
        try:
            self._let_go()
        except OSError as error:
            self._give_up(error)

    def _let_go(self) -> None:
        with self._syncing:
            file, self._file = self._file, -1
            FILES.discard(self)
            if file >= 0:
                self._disk.close(file)

    def _give_up(self, error: OSError | None) -> NoReturn:
        self._failure = self._failure or error
        self._abandon(f"the journal {self.path} cannot be written: {error.strerror if error else 'it is closed'}")

    def _abandon(self, why: str) -> NoReturn:
        """Stop for good: nothing may follow a torn line."""
        try:
            self._let_go()
        except OSError as error:
            self._failure = self._failure or error
        raise HostFault(why)


def lag() -> float:
    """The longest of those of all files here."""
    return max((file.lag() for file in tuple(FILES)), default=0.0)


def created(directory: Path, name: str, disk: Disk, sync: Sync) -> AppendFile:
    """A new file, in a directory that is made if it is not there."""
    folder = str(directory)
    path, unnamed = f"{folder}/{name}", [folder]
    try:
        try:
            file = disk.create(path)
        except FileNotFoundError:
            unnamed += [str(above.parent) for above in (directory, *directory.parents) if not above.exists()]
            directory.mkdir(parents=True, exist_ok=True)
            file = disk.create(path)
    except FileExistsError:
        return never_begun(path, disk, sync)
    except ValueError as error:  # no file can be called like that
        raise BadRequest(f"no journal can be written in {str(directory)!r}: {error}") from None
    except OSError as error:
        raise HostFault(f"no journal can be written in {directory}: {error.strerror}") from error
    made = locked(path, file, disk, sync, new=True)
    made.unnamed = unnamed
    return made


def never_begun(path: str, disk: Disk, sync: Sync) -> AppendFile:
    """A file that is there, but without a whole first line: whoever made it came to a sudden end, and told nobody."""
    file = reopened(path, disk, sync)
    if b"\n" in Path(path).read_bytes():
        file.close()
        raise BadRequest(f"{path}: there is a journal of a match with this id already")
    file.cut(0)
    return file


def reopened(path: str, disk: Disk, sync: Sync) -> AppendFile:
    """A file that is there, unless another process writes to it.

    Whoever wrote it may have come to a sudden end, so nobody knows what of it is durable; from here on all of it is.
    """
    try:
        refuse_others(Path(path).stat())
        file = disk.open(path)
    except NotAFile as error:
        raise BadRequest(f"{path}: cannot be read: {error.strerror}") from None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise BadRequest(f"{path} cannot be opened: {error.strerror}") from None
    except ValueError as error:  # no file can be called like that
        raise BadRequest(f"{path} cannot be opened: {error}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadRequest(f"{path}: cannot be read: {error.strerror}") from None
        raise HostFault(f"the journal {path} cannot be opened: {error.strerror}") from error
    made = locked(path, file, disk, sync, new=False)
    made.unnamed = [str(Path(path).parent)]
    made.sync()
    return made


def locked(path: str, file: int, disk: Disk, sync: Sync, *, new: bool) -> AppendFile:
    """The file, for this process alone; of a new one it is known that nothing is in it."""
    try:
        disk.lock(file)
        return AppendFile(path, file, disk, sync, 0 if new else disk.size(file))
    except OSError as error:
        with suppress(OSError):
            disk.close(file)
        if isinstance(error, BlockingIOError):
            raise InUse(f"{path}: another process is playing this match") from None
        raise HostFault(f"the journal {path} cannot be locked: {error.strerror}") from error
