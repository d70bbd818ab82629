"""Let every call to a disk fail, once or for good, and check that the match is suspended, not spoiled."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.journal.append_file import AppendFile
from fairplay.journal.options import Durability
from tests.reliability.crashes import UndisturbedMatch, play_undisturbed
from tests.reliability.process_attempts import (
    ForgettingDisk,
    Fuse,
    ProcessAttempt,
    begun_journals,
    find_difference,
    finished_journals,
    published_is_recorded,
    run_process,
)
from tests.reliability.readings import Meter, make_seed, measure_each
from tests.reliability.tables import TABLES, MeterTable

DISK_CALLS = ("create", "lock", "size", "write", "cut", "sync", "sync_directory", "close", "any")
Part = Callable[[int], int]  # from the size of what is written to how much of it comes through
PARTIAL_WRITES: dict[str, Part] = {
    "nothing is written": lambda size: 0,
    "one byte is written": lambda size: 1,
    "half of it is written": lambda size: size // 2,
    "all but the end is written": lambda size: size - 1,
}
POWER_CUT_CALLS = ("sync", "sync_directory", "close", "any")  # after which it is also tried what a power cut leaves
CASES = list(product((11, 0, 1), ("begun", "resumed"), DISK_CALLS, Durability))  # tables: one of each game
LINES_PER_SYNC = 3  # lines, of which one is written while a round of syncing is made
CLOCK_INTERVAL_S = 0.01  # seconds between two looks at the clock


class Failure(msgspec.Struct, frozen=True):
    """How a disk fails: at which call, the n-th of its kind; for good, or only then."""

    call: str  # any: of all kinds
    way: str  # the name of an error, or how much is written
    for_good: bool
    n: int


class FailingDisk(ForgettingDisk):
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
        if next(self._lines) % LINES_PER_SYNC == 0:
            self.syncer.sync_round()
        return written

    def truncate(self, file: int, size: int) -> None:
        self._fail("cut")
        super().truncate(file, size)

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
        return next(self._ticks) * CLOCK_INTERVAL_S

    def _fail(self, call: str) -> Part | None:
        """Raise if this call has to; or say how much of it comes through, if not all."""
        failure = self.failure
        if failure is None or failure.call not in (call, "any"):
            return None
        self._calls += 1
        if self._calls < failure.n or (self._calls > failure.n and not failure.for_good):
            return None
        self.failed = True
        if failure.way in PARTIAL_WRITES:
            return PARTIAL_WRITES[failure.way]
        self._spoiled = self._spoiled or call == "sync"
        error = getattr(errno, failure.way)
        raise OSError(error, os.strerror(error))


def try_failures(number: int, seed: bytes) -> Iterator[str]:
    """Fail at the first call of the kind, at the second, and so on, until nothing fails any more."""
    table_number, scene, call, mode = CASES[number]
    table, match_seed = TABLES[table_number], make_seed(seed, table_number)
    expected = play_undisturbed(table, match_seed)
    for way, for_good in failure_ways(call):
        for n in count(1):
            failure = Failure(call, way, for_good, n)
            wrong = find_problems(table, match_seed, mode, scene, failure, expected)
            if wrong is None:
                break
            name = f"{scene} {table.game}, sync {mode.value}, {way} at {call} {n}{' for good' if for_good else ''}"
            yield wrong and f"{name}: {wrong}"


def failure_ways(call: str) -> list[tuple[str, bool]]:
    if call == "any":
        return [("EIO", False), ("ENOSPC", True)]
    return [("ENOSPC", False), ("EIO", False)] + [(part, False) for part in PARTIAL_WRITES if call == "write"]


def find_problems(
    table: MeterTable, seed: bytes, mode: Durability, scene: str, failure: Failure, expected: UndisturbedMatch
) -> str | None:
    """What goes wrong if the disk fails like that; None, if there are not so many calls."""
    wrong = ""
    may_forget = mode is not Durability.OFF and failure.call in POWER_CUT_CALLS
    for forgets in (False, True) if may_forget else (False,):
        with TemporaryDirectory() as name:
            directory, disk = Path(name), FailingDisk()
            if scene == "resumed":
                run_process(table, seed, directory, Fuse("asked", len(table.players) + 4), disk, mode)
                with begun_journals(directory)[0].open("ab") as file:
                    file.write(b'{"type":"fact",')
            disk.failure = failure
            try:
                done = run_process(table, seed, directory, Fuse(), disk, mode)
                if not disk.failed:
                    return None
                if forgets:
                    disk.cut_power()
                may_lose = forgets and mode is Durability.BATCH
                wrong = wrong or find_aftermath_problems(table, seed, directory, done, expected, may_lose)
            except (OSError, FairplayError) as error:
                wrong = wrong or f"{type(error).__name__} got through: {error}"
    return wrong


def find_aftermath_problems(
    table: MeterTable, seed: bytes, directory: Path, done: ProcessAttempt, expected: UndisturbedMatch, may_lose: bool
) -> str:
    """What is wrong with what a failing disk left, and with what becomes of it on a good one."""
    if done.published_facts != expected.facts[done.known : done.known + len(done.published_facts)]:
        return "something was published that does not happen on a good disk"
    text = b"".join(path.read_bytes() for path in begun_journals(directory))
    if not may_lose and not published_is_recorded(done.published_facts, done.known, text):
        return "something was published that is not in the file"
    result = done.result
    if not finished_journals(directory):
        if result is not None:
            return "the end was published, and is not in the file"
        again = run_process(table, seed, directory, Fuse(), ForgettingDisk())
        if again.final is None:
            return f"it cannot be resumed on a good disk: {again.fault}"
        result = again.result
    paths = begun_journals(directory)
    if len(paths) != 1:
        return f"there are {len(paths)} journals"
    return find_difference(paths[0], expected.facts, expected.result, result)


class AnySize(int):
    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


@contextmanager
def take_writes_for_complete() -> Iterator[None]:
    write, size = FailingDisk.write, FailingDisk.size

    def complete(disk: FailingDisk, file: int, text: bytes) -> int:
        write(disk, file, text)
        return len(text)

    def expected(disk: FailingDisk, file: int) -> int:
        return AnySize(size(disk, file))

    with patch.object(FailingDisk, "write", complete), patch.object(FailingDisk, "size", expected):
        yield


def swallow_failed_sync() -> AbstractContextManager[Any]:
    sync = FailingDisk.sync

    def done(disk: FailingDisk, file: int) -> None:
        with suppress(OSError):
            sync(disk, file)

    return patch.object(FailingDisk, "sync", done)


def retry_failed_sync() -> AbstractContextManager[Any]:
    sync = AppendFile.sync_pending

    def twice(file: AppendFile) -> bool:
        sync(file)
        file._failure = None
        return sync(file)

    return patch.object(AppendFile, "sync_pending", twice)


DISK_METER = Meter(
    "failures",
    measure_each(try_failures),
    full=range(len(CASES)),
    least=2_000,
    small=range(9, 38, 7),
    parts=30,
    bugs={
        "takes every write for complete": take_writes_for_complete,
        "swallows a failed sync": swallow_failed_sync,
        "tries a failed sync again": retry_failed_sync,
    },
)
