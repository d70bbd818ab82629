"""Test when lines are made durable, and that a slow or failing disk is noticed."""

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fairplay import Ended, Event, HostFault
from fairplay.journal.append_file import MAX_UNSYNCED_AGE_S, AppendFile, Disk, create_file, reopen_file
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.syncer import Syncer
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.journal.journals import GAME, SEED, AnyMatch, EventCollector, first_action, record_match


class Noting(Disk):
    """A disk that notes down what it is asked for, and has a clock that stands still until it is moved.

    Nothing is synced in the background, unless the test does it.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.time = 0.0
        self.fails = False
        self.later: list[AppendFile] = []  # what is to be synced in the background

    def create(self, path: str) -> int:
        self.calls.append("create")
        return super().create(path)

    def write(self, file: int, text: bytes) -> int:
        self.calls.append("write")
        return super().write(file, text)

    def sync(self, file: int) -> None:
        self.calls.append("sync")
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(file)

    def sync_directory(self, path: str) -> None:
        self.calls.append(f"sync {Path(path).name}")
        super().sync_directory(path)

    def sync_later(self, file: AppendFile) -> None:
        self.later.append(file)

    def clock(self) -> float:
        return self.time


class Telling:
    """An observer that notes down when it is told."""

    def __init__(self, disk: Noting) -> None:
        self._disk = disk

    def observe(self, event: Event, match: AnyMatch) -> None:
        self._disk.calls.append(type(event).__name__)


def calls(directory: Path, sync: Durability) -> list[str]:
    """What a disk is asked for during a match, and when observers are told."""
    disk = Noting()
    record_match(
        directory, [first_action, first_action], Telling(disk), journal=Journal(directory, sync=sync, disk=disk)
    )
    return disk.calls


def test_sync_always_makes_facts_durable_before_they_are_announced(tmp_path: Path) -> None:
    asked = calls(tmp_path, Durability.ALWAYS)

    turns = asked.count("write") - 3  # the opening, the seating and the result are written as well
    assert asked[:6] == ["create", "write", "write", "sync", f"sync {tmp_path.name}", "Started"]
    assert asked[6:] == [*["write", "sync", "Acted"] * turns, "write", "sync", "Ended"]


def test_off_means_never(tmp_path: Path) -> None:
    assert set(calls(tmp_path, Durability.OFF)) == {"create", "write", "Started", "Acted", "Ended"}


def test_in_batches_the_end_is_durable_before_it_is_announced(tmp_path: Path) -> None:
    asked = calls(tmp_path, Durability.BATCH)

    last = len(asked) - 1 - asked[::-1].index("write")
    assert "sync" in asked[last:]
    assert asked[-1] == "Ended"
    assert f"sync {tmp_path.name}" in asked


def test_the_names_of_new_directories_are_made_durable_too(tmp_path: Path) -> None:
    asked = calls(tmp_path / "games" / "today", Durability.ALWAYS)

    assert {f"sync {tmp_path.name}", "sync games", "sync today"} <= set(asked)


def test_in_batches_the_end_is_durable_before_players_hear_it(tmp_path: Path) -> None:
    disk = Noting()

    class Listening:
        def take_turn(self, view: Any) -> Any:
            return first_action(view)

        def end(self, result: Any) -> None:
            disk.calls.append("end")

    record_match(tmp_path, [Listening(), first_action], journal=Journal(tmp_path, disk=disk))

    asked = disk.calls[: disk.calls.index("end")]
    assert asked[-3:] == ["write", "sync", f"sync {tmp_path.name}"]


def test_a_disk_that_is_behind_has_to_be_waited_for(tmp_path: Path) -> None:
    disk = Noting()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)

    assert not file.append(b"one")
    disk.time += MAX_UNSYNCED_AGE_S
    assert not file.append(b"two")  # just in time
    disk.time += MAX_UNSYNCED_AGE_S / 10
    assert file.append(b"three")
    assert disk.calls == ["create", "write", "write", "write"]  # whoever appends is told, and then syncs

    file.sync()
    assert disk.calls[4:] == ["sync", f"sync {tmp_path.name}"]
    assert not file.append(b"four")
    disk.time += MAX_UNSYNCED_AGE_S * 0.9
    assert not file.append(b"five")
    assert disk.calls.count("sync") == 1
    file.close()
    assert disk.calls.count("sync") == 2


def test_a_match_waits_for_a_disk_that_is_behind(tmp_path: Path) -> None:
    disk = Noting()

    def slow(view: Any) -> Any:
        disk.time += MAX_UNSYNCED_AGE_S * 0.6
        return first_action(view)

    record_match(tmp_path, [slow, first_action], Telling(disk), journal=Journal(tmp_path, disk=disk))

    told = ["write", "Acted"]
    late = ["write", "sync", "Acted"]
    named = ["write", "sync", f"sync {tmp_path.name}", "Acted"]
    assert disk.calls[:4] == ["create", "write", "write", "Started"]
    assert disk.calls[4:21] == [*told, *told, *named, *told, *told, *told, *late]


def test_a_line_that_comes_while_the_disk_syncs_is_synced_too_though_nothing_follows_it(tmp_path: Path) -> None:
    class Holding(Disk):
        """A disk whose syncs are done when they may be."""

        def __init__(self) -> None:
            self.began, self.go_on, self.done = (threading.Semaphore(0) for _ in range(3))
            self.synced: list[int] = []  # bytes that were there when a sync began

        def sync(self, file: int) -> None:
            self.synced.append(self.size(file))
            self.began.release()
            assert self.go_on.acquire(timeout=10)
            super().sync(file)
            self.done.release()

    disk = Holding()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)

    file.append(b"one")
    assert disk.began.acquire(timeout=10)
    file.append(b"two")  # too late for this sync
    disk.go_on.release()
    assert disk.began.acquire(timeout=10), "the second line was forgotten"
    disk.go_on.release()
    assert disk.done.acquire(timeout=10)
    assert disk.done.acquire(timeout=10)
    file.close()

    assert disk.synced == [3, 6]


def test_a_line_is_synced_later_though_a_round_is_made_while_it_is_written(tmp_path: Path) -> None:
    class Meanwhile(Noting):
        def write(self, file: int, text: bytes) -> int:
            written = super().write(file, text)
            while self.later:  # as the background does, which knows of the line before only
                assert not self.later.pop().sync_pending()
            return written

    disk = Meanwhile()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)

    for line in (b"one", b"two", b"three"):
        file.append(line)
        assert disk.later == [file]

    assert not file.sync_pending()
    assert disk.calls.count("sync") == 3
    file.close()
    assert disk.calls.count("sync") == 3  # all of it was durable


def test_syncing_continues_while_a_player_thinks(tmp_path: Path) -> None:
    synced = threading.Event()

    class Waking(Disk):
        def write(self, file: int, text: bytes) -> int:
            synced.clear()
            return super().write(file, text)

        def sync(self, file: int) -> None:
            super().sync(file)
            synced.set()

    def thinking(view: Any) -> Any:
        assert synced.wait(10), "nothing was synced"
        return first_action(view)

    turns = iter([thinking, thinking])
    journal = Journal(tmp_path, disk=Waking())

    _, match = record_match(tmp_path, [first_action, lambda view: next(turns, first_action)(view)], journal=journal)

    assert match.ejected == ()


def test_a_sync_that_failed_in_the_background_stops_the_match_at_the_next_line(tmp_path: Path) -> None:
    disk = Noting()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)
    file.append(b"one")
    disk.fails = True
    file.sync_pending()
    disk.fails = False

    for _ in range(2):
        file.sync_pending()  # a second try would succeed, and prove nothing
    with pytest.raises(HostFault, match="cannot be written: Input/output error"):
        file.append(b"two")

    assert disk.calls.count("sync") == 1
    assert (tmp_path / "file").read_bytes() == b"one"


def test_a_sync_that_failed_in_the_background_stops_the_match_at_its_end(tmp_path: Path) -> None:
    disk = Noting()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)
    file.append(b"one")
    disk.fails = True
    file.sync_pending()

    with pytest.raises(HostFault, match="cannot be written: Input/output error"):
        file.close()
    file.close()  # nothing is left to be let go of


def test_a_match_whose_end_is_not_durable_did_not_end(tmp_path: Path) -> None:
    class FailsAtTheEnd(Noting):
        def write(self, file: int, text: bytes) -> int:
            self.fails = b'"type":"result"' in text
            return super().write(file, text)

    for sync in (Durability.ALWAYS, Durability.BATCH):
        watcher, journal = EventCollector(), Journal(tmp_path, sync=sync, disk=FailsAtTheEnd())
        with pytest.raises(HostFault):
            record_match(tmp_path, [first_action, first_action], watcher, journal=journal)
        assert not any(isinstance(event, Ended) for event in watcher.events)


def test_a_thread_in_the_background_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Disk):
        def __init__(self) -> None:
            self.syncer = Syncer()  # the one of this process may be busy with something else

        def sync_later(self, file: AppendFile) -> None:
            self.syncer.sync_later(file)

    monkeypatch.setattr("fairplay.journal.syncer.MAX_IDLE_ROUNDS", 0)
    before = set(threading.enumerate())
    journal = Journal(tmp_path, disk=Own())

    for _ in range(2):  # and another one begins when there is something to do again
        threads: list[threading.Thread] = []

        def looking(view: Any, threads: list[threading.Thread] = threads) -> Any:
            threads.extend(set(threading.enumerate()) - before - set(threads))
            return first_action(view)

        record_match(tmp_path, [looking, first_action], journal=journal)
        assert threads
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()


def test_one_journal_syncs_one_match_after_another(tmp_path: Path) -> None:
    journal, before = Journal(tmp_path), threading.active_count()

    for _ in range(3):
        match = Referee().run(GAME, [first_action, first_action], seed=SEED, record=journal.begin)
        assert verify(read_journal(tmp_path / f"{match.id}.jsonl")) == match
    assert threading.active_count() <= before + 1


def test_a_reopened_file_is_made_durable_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"left by somebody who was killed")
    disk = Noting()

    reopen_file(str(tmp_path / "file"), disk, Durability.BATCH).close()

    assert disk.calls == ["sync", f"sync {tmp_path.name}"]


def test_nothing_is_synced_where_nothing_is_open(tmp_path: Path) -> None:
    disk = Noting()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)
    file.append(b"one")
    file.close()
    before = list(disk.calls)

    (later,) = disk.later
    assert later.sync_pending() is False

    assert disk.calls == before
