"""Test that many files are synced in one call, and that nothing is called durable too early."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from fairplay.journal import syncer
from fairplay.journal.append_file import AppendFile, Disk, create_file
from fairplay.journal.options import Durability
from fairplay.journal.syncer import MIN_FILES_TO_BATCH, Syncer, load_syncfs
from tests.nonempty import nonempty

LINE = b"a line\n"
NEEDS_SYNCFS = pytest.mark.skipif(load_syncfs() is None, reason="this machine cannot sync a whole file system")


class Counting(Disk):
    """A disk that counts how it is synced, and does something else first."""

    def __init__(self, first: Callable[[], None] = lambda: None) -> None:
        self.alone, self.together = 0, 0
        self.syncer = Syncer()
        self._first = first

    def sync_filesystem(self, file: int) -> None:
        self.together += 1
        self._first()
        super().sync_filesystem(file)

    def sync_later(self, file: AppendFile) -> None:
        with self.syncer._lock:
            self.syncer._dirty.setdefault(file, [])  # the test itself makes the rounds


@contextmanager
def files(disk: Disk, directory: Path, count: int) -> Iterator[list[AppendFile]]:
    made = [create_file(directory, f"{number}.jsonl", disk, Durability.BATCH) for number in range(count)]
    try:
        yield made
    finally:
        for file in made:
            file.close()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[AppendFile]:
    """Those that are synced by themselves."""
    found: list[AppendFile] = []
    one = AppendFile.sync_pending

    def noted(file: AppendFile) -> bool:
        if isinstance(file._disk, Counting):  # and not one that was left in the background by others
            found.append(file)
        return one(file)

    monkeypatch.setattr(AppendFile, "sync_pending", noted)
    return found


@NEEDS_SYNCFS
def test_many_files_are_synced_in_one_call(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = Counting()
    with files(disk, tmp_path / "new", MIN_FILES_TO_BATCH) as made:
        for file in made:
            file.append(LINE)
        assert all(file.unsynced_age_s() > 0 for file in nonempty(made))

        assert disk.syncer.sync_round()

        assert (disk.together, alone) == (1, [])
        assert all(file.unsynced_age_s() == 0 and not file.unsynced_directories for file in nonempty(made))
        assert not disk.syncer.sync_round()


def test_a_file_that_its_writer_synced_is_skipped(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = Counting()
    with files(disk, tmp_path, 2) as (over, goes_on):
        for file in (over, goes_on):
            file.append(LINE)
            disk.syncer._queued.append(file)
        disk.syncer._dirty.clear()
        over.sync()  # as at the end of a match
        alone.clear()

        assert disk.syncer.sync_round()

        assert alone == [goes_on]


@NEEDS_SYNCFS
def test_a_few_are_synced_by_themselves(tmp_path: Path, alone: list[AppendFile]) -> None:
    disk = Counting()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH - 1) as made:
        for file in made:
            file.append(LINE)
        disk.syncer.sync_round()

        assert (disk.together, len(alone)) == (0, MIN_FILES_TO_BATCH - 1)


@NEEDS_SYNCFS
def test_text_appended_during_a_sync_is_durable_after_the_next_round(tmp_path: Path) -> None:
    late: list[AppendFile] = []

    def append() -> None:
        for file in late:
            file.append(LINE)
        late.clear()

    disk = Counting(append)
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        for file in made:
            file.append(LINE)
        late += made[:3]
        disk.syncer.sync_round()

        assert [file.unsynced_age_s() > 0 for file in made] == [True] * 3 + [False] * (MIN_FILES_TO_BATCH - 3)
        disk.syncer.sync_round()
        assert all(file.unsynced_age_s() == 0 for file in nonempty(made))


@NEEDS_SYNCFS
def test_a_failed_syncfs_falls_back_to_single_syncs_and_wakes_waiters(tmp_path: Path, alone: list[AppendFile]) -> None:
    def fail() -> None:
        raise OSError(5, "Input/output error")

    disk = Counting(fail)
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        for file in made:
            file.append(LINE)
        with disk.syncer._lock:
            disk.syncer._running = True  # the test itself makes the rounds
        told: list[AppendFile] = []
        disk.syncer.sync_now(made[0], lambda: told.append(made[0]))
        disk.syncer.sync_round()

        assert told == made[:1]
        assert set(alone) == set(made)
        assert all(file.unsynced_age_s() == 0 for file in nonempty(made))


@NEEDS_SYNCFS
def test_waiters_wake_when_everything_is_durable(tmp_path: Path) -> None:
    disk = Counting()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        with disk.syncer._lock:
            disk.syncer._running = True
        for file in made:
            file.append(LINE)
        told: list[AppendFile] = []
        for file in made:
            disk.syncer.sync_now(file, partial(told.append, file))
        assert told == []

        disk.syncer.sync_round()

        assert told == made


@NEEDS_SYNCFS
def test_a_slow_syncfs_is_not_repeated_for_a_while(
    tmp_path: Path, alone: list[AppendFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncer, "SLOW_SYNC_S", 0.0)
    disk = Counting()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        for _ in range(3):
            for file in made:
                file.append(LINE)
            disk.syncer.sync_round()

        assert (disk.together, len(alone)) == (1, 2 * MIN_FILES_TO_BATCH)
        monkeypatch.setattr(disk.syncer, "_batch_disabled_until", 0.0)
        for file in made:
            file.append(LINE)
        disk.syncer.sync_round()
        assert disk.together == 2


@NEEDS_SYNCFS
def test_files_that_were_closed_do_no_harm(tmp_path: Path) -> None:
    disk = Counting()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH + 2) as made:
        for file in made:
            file.append(LINE)
        for file in made[:2]:
            file.close()
        disk.syncer.sync_round()

        assert disk.together == 1
        assert all(file.unsynced_age_s() == 0 for file in nonempty(made))


def test_a_disk_of_a_test_is_synced_file_by_file(tmp_path: Path) -> None:
    class Own(Counting):
        def sync(self, file: int) -> None:
            self.alone += 1

    disk = Own()
    with files(disk, tmp_path, MIN_FILES_TO_BATCH) as made:
        for file in made:
            file.append(LINE)
        disk.syncer.sync_round()

        assert (disk.together, disk.alone) == (0, MIN_FILES_TO_BATCH)


def test_nothing_is_forgotten_that_is_noted_while_the_thread_is_about_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(Disk):
        syncer = Syncer()

        def sync_later(self, file: AppendFile) -> None:
            self.syncer.sync_later(file)

    monkeypatch.setattr(syncer, "SYNC_INTERVAL_S", 0.0)
    monkeypatch.setattr(syncer, "MAX_IDLE_ROUNDS", 0)  # it ends after the first round without anything to do
    with files(Own(), tmp_path, 1) as (file,):
        for number in range(400):
            deadline = time.monotonic() + number % 7 * 0.00005  # so that it comes at any moment of a round
            while time.monotonic() < deadline:
                pass
            file.append(LINE)
            until = time.monotonic() + 5
            while file.unsynced_age_s() > 0 and time.monotonic() < until:
                time.sleep(0)

            assert file.unsynced_age_s() == 0
