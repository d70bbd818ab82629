"""Let every call to a disk fail once, or from then on, and demand that the match is suspended, not spoiled."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.journal.append_file import AppendFile
from fairplay.journal.requests import Sync
from tests.reliability.attempts import Attempt, Fuse, attempt, begun, difference, is_finished, is_kept
from tests.reliability.crashes import Undisturbed, undisturbed
from tests.reliability.forgetting import Forgetting
from tests.reliability.readings import Bug, Meter, Reading, reading, seed_for
from tests.reliability.tables import TABLES, Table

CALLS = ("create", "lock", "size", "write", "cut", "sync", "sync_directory", "close", "any")
Part = Callable[[int], int]  # from the size of what is written to how much of it comes through
PARTS: dict[str, Part] = {
    "nothing is written": lambda size: 0,
    "one byte is written": lambda size: 1,
    "half of it is written": lambda size: size // 2,
    "all but the end is written": lambda size: size - 1,
}
FORGETTING = ("sync", "sync_directory", "close", "any")  # after which it is also tried what a power cut leaves
SCENES = ("begun", "resumed")
PLAYED = (11, 0, 1)  # tables, one of each game
ROUND = 3  # lines, of which one is written while a round of syncing is made
TICK = 0.01  # seconds between two looks at the clock


class Failure(msgspec.Struct, frozen=True):
    """How a disk fails: at which call, the n-th of its kind; for good, or only then."""

    call: str  # any: of all kinds
    way: str  # the name of an error, or how much is written
    for_good: bool
    n: int


class Failing(Forgetting):
    """A disk that fails, and that forgets whatever was not synced when a sync fails.

    A round of syncing is made while every third line is written.
    """

    def __init__(self) -> None:
        super().__init__()
        self.failure: Failure | None = None
        self.failed = False
        self._spoiled = False  # by a failed sync: what was not synced then never is, whatever a later sync says
        self._lines = count(1)
        self._calls = 0
        self._ticks = count()

    def create(self, path: str) -> int:
        self._fail("create")
        return super().create(path)

    def lock(self, file: int) -> None:
        self._fail("lock")
        super().lock(file)

    def size(self, file: int) -> int:
        self._fail("size")
        return super().size(file)

    def write(self, file: int, text: bytes) -> int:
        part = self._fail("write")
        if part is not None:
            return super().write(file, text[: part(len(text))])
        written = super().write(file, text)
        if next(self._lines) % ROUND == 0:
            self.syncer.round()
        return written

    def cut(self, file: int, size: int) -> None:
        self._fail("cut")
        super().cut(file, size)

    def sync(self, file: int) -> None:
        self._fail("sync")
        if not self._spoiled:
            super().sync(file)

    def sync_directory(self, path: str) -> None:
        self._fail("sync_directory")
        super().sync_directory(path)

    def close(self, file: int) -> None:
        super().close(file)  # it is closed anyway
        self._fail("close")

    def clock(self) -> float:
        return next(self._ticks) * TICK

    def _fail(self, call: str) -> Part | None:
        """Raise if this call has to; or say how much of it comes through, if not all."""
        failure = self.failure
        if failure is None or failure.call not in (call, "any"):
            return None
        self._calls += 1
        if self._calls < failure.n or (self._calls > failure.n and not failure.for_good):
            return None
        self.failed = True
        if failure.way in PARTS:
            return PARTS[failure.way]
        self._spoiled = self._spoiled or call == "sync"
        error = getattr(errno, failure.way)
        raise OSError(error, os.strerror(error))


def disks(numbers: range, seed: bytes) -> Reading:
    """A number is a table, a scene, a kind of call, and a mode of syncing."""
    return reading(trial for number in numbers for trial in failing(number, seed))


def failing(number: int, seed: bytes) -> Iterator[str]:
    """Fail at the first call of the kind, at the second, and so on, until nothing fails any more."""
    index, rest = divmod(number, len(SCENES) * len(CALLS) * len(Sync))
    place, rest = divmod(rest, len(CALLS) * len(Sync))
    call, mode = CALLS[rest // len(Sync)], list(Sync)[rest % len(Sync)]
    table, scene, match_seed = TABLES[PLAYED[index]], SCENES[place], seed_for(seed, PLAYED[index])
    expected = undisturbed(table, match_seed)
    for way, for_good in ways_of(call):
        for n in count(1):
            failure = Failure(call, way, for_good, n)
            wrong = suspended(table, match_seed, mode, scene, failure, expected)
            if wrong is None:
                break
            name = f"{scene} {table.game}, sync {mode.value}, {way} at {call} {n}{' for good' if for_good else ''}"
            yield wrong and f"{name}: {wrong}"


def ways_of(call: str) -> list[tuple[str, bool]]:
    """How a kind of call can fail: in which way, and whether for good."""
    if call == "any":
        return [("EIO", False), ("ENOSPC", True)]
    return [("ENOSPC", False), ("EIO", False)] + [(part, False) for part in PARTS if call == "write"]


def suspended(table: Table, seed: bytes, mode: Sync, scene: str, failure: Failure, expected: Undisturbed) -> str | None:
    """What goes wrong if the disk fails like that; None, if there are not so many calls."""
    wrong = ""
    may_forget = mode is not Sync.OFF and failure.call in FORGETTING
    for forgets in (False, True) if may_forget else (False,):
        with TemporaryDirectory() as name:
            directory, disk = Path(name), Failing()
            if scene == "resumed":
                attempt(table, seed, directory, Fuse("asked", len(table.players) + 4), disk, mode)
                with begun(directory)[0].open("ab") as file:
                    file.write(b'{"type":"fact",')
            disk.failure = failure
            try:
                done = attempt(table, seed, directory, Fuse(), disk, mode)
                if not disk.failed:
                    return None
                if forgets:
                    disk.cut_power()
                wrong = wrong or aftermath(table, seed, directory, done, expected, forgets and mode is Sync.BATCH)
            except (OSError, FairplayError) as error:
                wrong = wrong or f"{type(error).__name__} got through: {error}"
    return wrong


def aftermath(table: Table, seed: bytes, directory: Path, done: Attempt, expected: Undisturbed, may_lose: bool) -> str:
    """What is wrong with what a failing disk left, and with what becomes of it on a good one."""
    if done.told != expected.facts[done.known : done.known + len(done.told)]:
        return "something was told that does not happen on a good disk"
    paths = begun(directory)
    if not may_lose and not is_kept(done.told, done.known, paths[0].read_bytes() if paths else b""):
        return "something was told that is not in the file"
    if done.result is not None and not any(map(is_finished, paths)):
        return "the end was told, and is not in the file"
    result = done.result
    if not any(map(is_finished, paths)):
        again = attempt(table, seed, directory, Fuse(), Forgetting())
        if again.final is None:
            return f"it cannot be resumed on a good disk: {again.fault}"
        result, paths = again.result, begun(directory)
    if len(paths) != 1:
        return f"there are {len(paths)} journals"
    return difference(paths[0], expected.facts, expected.result, result)


class AsExpected(int):
    """A size that is whatever it is compared with."""

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


@contextmanager
def believing_in_writes() -> Iterator[None]:
    """The bug of a journal that takes every write for complete, and does not look whether it was."""
    write, size = Failing.write, Failing.size

    def complete(disk: Failing, file: int, text: bytes) -> int:
        write(disk, file, text)
        return len(text)

    def expected(disk: Failing, file: int) -> int:
        return AsExpected(size(disk, file))

    with patch.object(Failing, "write", complete), patch.object(Failing, "size", expected):
        yield


def swallowing_failures() -> AbstractContextManager[Any]:
    """The bug of a journal that takes every sync for done."""
    sync = Failing.sync

    def done(disk: Failing, file: int) -> None:
        with suppress(OSError):
            sync(disk, file)

    return patch.object(Failing, "sync", done)


def trying_again() -> AbstractContextManager[Any]:
    """The bug of a journal that syncs again after a sync has failed, and believes it."""
    sync = AppendFile.sync_behind

    def twice(file: AppendFile) -> bool:
        sync(file)
        file._failure = None
        return sync(file)

    return patch.object(AppendFile, "sync_behind", twice)


DISKS = Meter(
    "failures",
    disks,
    full=range(len(PLAYED) * len(SCENES) * len(CALLS) * len(Sync)),
    least=2_000,
    small=range(9, 38, 7),
    bugs=(
        Bug("takes every write for complete", believing_in_writes),
        Bug("swallows a failed sync", swallowing_failures),
        Bug("tries a failed sync again", trying_again),
    ),
    parts=30,
)
