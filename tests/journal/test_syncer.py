"""Test that one thread syncs many files in one call, calls nothing durable too early, and leaves those of forks."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from fairplay import Started
from fairplay.journal import syncer
from fairplay.journal.append_file import AppendFile, Disk, create_file
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.syncer import MIN_FILES_TO_BATCH, Syncer, load_syncfs
from fairplay.referee.referee import deal_match
from tests.journal.journals import GAME, SEED, HookedDisk, fail_io, read_lines
from tests.nonempty import nonempty

TIMEOUT_S = 10.0  # until a test fails
NEEDS_SYNCFS = pytest.mark.skipif(load_syncfs() is None, reason="this machine cannot sync a whole file system")


class CountingDisk(Disk):
    """A disk that counts the calls for a whole file system, and does something else first."""

    def __init__(self, first: Callable[[], object] = lambda: None) -> None:
        self.together = 0
        self.syncer = Syncer()
        self.syncer._running = True  # the test itself makes the rounds
        self._first = first

    def sync_filesystem(self, file: int) -> None:
        self.together += 1
        self._first()
        super().sync_filesystem(file)

    def sync_later(self, file: AppendFile) -> None:
        with self.syncer._lock:
            self.syncer._dirty.setdefault(file, [])


@contextmanager
def files(disk: Disk, directory: Path, count: int) -> Iterator[list[AppendFile]]:
    made = [create_file(directory, f"{number}.jsonl", disk, Durability.BATCH) for number in range(count)]
    try:
        append_lines(made)
        yield made
    finally:
        for file in made:
            file.close()


def append_lines(files: list[AppendFile]) -> None:
    for file in files:
        file.append(b"a line\n")


def unsynced(files: list[AppendFile]) -> list[AppendFile]:
    return [file for file in files if file.unsynced_age_s() > 0]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[AppendFile]:
    found: list[AppendFile] = []
    sync_pending = AppendFile.sync_pending

    def note(file: AppendFile) -> bool:
        if isinstance(file._disk, CountingDisk):  # and not one that was left in the background by others
            found.append(file)
        return sync_pending(file)

    monkeypatch.setattr(AppendFile, "sync_pending", note)
    return found


@NEEDS_SYNCFS
def test_many_files_are_synced_in_one_call(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = CountingDisk()
    with files(disk, tmp_path / "new", MIN_FILES_TO_BATCH) as made:
        assert unsynced(made) == made
        told: list[AppendFile] = []
        for file in made:
            disk.syncer.sync_now(file, partial(told.append, file))
        assert told == []

        assert disk.syncer.sync_round()

        assert told == made
        assert (disk.together, alone, unsynced(made)) == (1, [], [])
        assert not any(file.unsynced_directories for file in nonempty(made))
        assert not disk.syncer.sync_round()


def test_a_file_that_its_writer_synced_is_skipped(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = CountingDisk()
    with files(disk, tmp_path, 2) as (over, goes_on):
        disk.syncer._queued.extend([over, goes_on])
        disk.syncer._dirty.clear()
        over.sync()  # as at the end of a match
        alone.clear()

        assert disk.syncer.sync_round()

        assert alone == [goes_on]


@NEEDS_SYNCFS
def test_a_few_are_synced_by_themselves(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = CountingDisk()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH - 1):
        disk.syncer.sync_round()

        assert (disk.together, len(alone)) == (0, MIN_FILES_TO_BATCH - 1)


@NEEDS_SYNCFS
def test_text_appended_during_a_sync_is_durable_after_the_next_round(tmp_path: Path) -> None:
    late: list[AppendFile] = []
    disk = CountingDisk(lambda: append_lines(late))
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        late += made[:3]
        disk.syncer.sync_round()

        assert unsynced(made) == made[:3]
        late.clear()
        disk.syncer.sync_round()
        assert unsynced(made) == []


@NEEDS_SYNCFS
def test_what_a_writer_syncs_during_a_round_stays_durable(tmp_path: Path) -> None:
    def write_and_sync() -> None:
        append_lines(made[-1:])
        made[-1].sync()

    disk = CountingDisk(write_and_sync)
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        disk.syncer.sync_round()

        assert (disk.together, unsynced(made)) == (1, [])


@NEEDS_SYNCFS
def test_a_failed_syncfs_falls_back_to_single_syncs_and_wakes_waiters(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = CountingDisk(fail_io)
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        told: list[AppendFile] = []
        disk.syncer.sync_now(made[0], lambda: told.append(made[0]))
        disk.syncer.sync_round()

        assert told == made[:1]
        assert set(alone) == set(made)
        assert unsynced(made) == []


@NEEDS_SYNCFS
def test_a_slow_syncfs_is_not_repeated_for_a_while(
    tmp_path: Path, alone: list[AppendFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncer, "SLOW_SYNC_S", 0.0)
    disk = CountingDisk()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        for _ in range(3):
            disk.syncer.sync_round()
            append_lines(made)

        assert (disk.together, len(alone)) == (1, 2 * MIN_FILES_TO_BATCH)
        monkeypatch.setattr(disk.syncer, "_batch_disabled_until", 0.0)
        disk.syncer.sync_round()
        assert disk.together == 2


@NEEDS_SYNCFS
def test_files_that_were_closed_do_no_harm(tmp_path: Path) -> None:
    disk = CountingDisk()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH + 2) as made:
        for file in made[:2]:
            file.close()
        disk.syncer.sync_round()

        assert (disk.together, unsynced(made)) == (1, [])


def test_a_disk_of_a_test_is_synced_file_by_file(tmp_path: Path, alone: list[AppendFile]) -> None:
    class OwnSyncDisk(CountingDisk):
        def sync(self, file: int) -> None:
            pass

    disk = OwnSyncDisk()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH):
        disk.syncer.sync_round()

        assert (disk.together, len(alone)) == (0, MIN_FILES_TO_BATCH)


def test_nothing_is_forgotten_that_is_noted_while_the_thread_is_about_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OwnSyncerDisk(Disk):
        syncer = Syncer()

        def sync_later(self, file: AppendFile) -> None:
            self.syncer.sync_later(file)

    monkeypatch.setattr(syncer, "SYNC_INTERVAL_S", 0.0)
    monkeypatch.setattr(syncer, "MAX_IDLE_ROUNDS", 0)  # it ends after the first round without anything to do
    with files(OwnSyncerDisk(), tmp_path, 1) as made:
        for number in range(400):
            deadline = time.monotonic() + number % 7 * 0.00005  # so that it comes at any moment of a round
            while time.monotonic() < deadline:
                pass
            append_lines(made)
            until = time.monotonic() + 5
            while unsynced(made) and time.monotonic() < until:
                time.sleep(0)

            assert unsynced(made) == []


def test_however_many_matches_are_recorded_one_thread_syncs_them(tmp_path: Path) -> None:
    began, go_on = threading.Event(), threading.Event()

    def hold(number: int) -> None:
        began.set()
        assert go_on.wait(TIMEOUT_S)

    others = {thread for thread in threading.enumerate() if thread.name != "fairplay-sync"}
    journal = Journal(tmp_path, disk=HookedDisk(hold))
    records = [journal.begin(deal_match(GAME, ["ann", "bob"], SEED)) for _ in range(200)]
    for record in records:
        record.write(Started(()), None, None)
    assert began.wait(TIMEOUT_S)

    during = set(threading.enumerate()) - others
    go_on.set()
    for record in records:
        record.close()

    assert [thread.name for thread in during] == ["fairplay-sync"]
    assert all(len(read_lines(record.path)) == 2 for record in records)


FORKING = """
import os, sys, threading
from pathlib import Path
from fairplay import Started
from fairplay.journal.record import Journal
from fairplay.games.fish import Fish
from fairplay.journal.append_file import Disk
from fairplay.referee.referee import deal_match

class NotingDisk(Disk):
    def __init__(self, held):
        self.synced, self.began, self.go_on = [], threading.Semaphore(0), threading.Semaphore(0 if held else 1000)

    def sync(self, file):
        self.synced.append(os.readlink(f"/proc/self/fd/{file}"))
        self.began.release()
        assert self.go_on.acquire(timeout=10)
        super().sync(file)

def begin(directory, number, disk):
    match = deal_match(Fish(), ["ann", "bob"], bytes(32), match_id=f"match-{number}")
    record = Journal(directory, disk=disk).begin(match)
    record.write(Started(match.names), None, None)
    return record

directory, held = Path(sys.argv[1]), NotingDisk(held=True)
parents = [begin(directory / "parent", 0, held)]
assert held.began.acquire(timeout=10)  # the thread is in the middle of syncing this one
parents += [begin(directory / "parent", number, held) for number in (1, 2)]  # and has yet to sync these
child = os.fork()
if child == 0:
    before = list(held.synced)
    free = NotingDisk(held=False)
    own = [begin(directory / "child", number, free) for number in (3, 4)]
    both = all(free.began.acquire(timeout=10) for _ in own)
    mine = {str(record.path.resolve()) for record in own}
    os._exit(0 if both and set(free.synced) == mine and held.synced == before else 1)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for _ in range(1000):
    held.go_on.release()
for record in parents:
    record.close()
print("parent", sorted(Path(path).stem for path in set(held.synced)))
"""


def test_a_process_that_was_forked_syncs_its_own_files_and_not_those_of_its_parent(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKING, tmp_path], capture_output=True, text=True, timeout=60)

    assert (done.stderr, done.stdout.splitlines()) == ("", ["child 0", "parent ['match-0', 'match-1', 'match-2']"])
    for path in nonempty((tmp_path / "parent").iterdir()):
        assert len(read_lines(path)) == 2
        assert read_journal(path).torn_bytes == 0
