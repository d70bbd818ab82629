"""Test when lines are made durable, and that a slow or failing disk is noticed, but delays only its own match."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Ended, Event, HostFault
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import CloseReason
from fairplay.journal.append_file import MAX_UNSYNCED_AGE_S, AppendFile, Disk, create_file, reopen_file
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.syncer import Syncer
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.journals import (
    GAME,
    SEED,
    TABLES,
    AnyMatch,
    EventCollector,
    HookedDisk,
    fail_io,
    first_action,
    read_verified,
    record_match,
    resume_match,
)
from tests.nonempty import nonempty

TWO = [first_action, first_action]
CANNOT_WRITE = "cannot be written: Input/output error"
TIMEOUT_S = 10.0  # until a test fails


class NotingDisk(Disk):
    """A disk that notes what it is asked for, and has a clock that stands still until it is moved.

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
            fail_io()
        super().sync(file)

    def sync_directory(self, path: str) -> None:
        self.calls.append(f"sync {Path(path).name}")
        super().sync_directory(path)

    def sync_later(self, file: AppendFile) -> None:
        self.later.append(file)

    def clock(self) -> float:
        return self.time

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.calls.append(type(event).__name__)


def calls(directory: Path, sync: Durability) -> list[str]:
    """What a disk is asked for during a match, when a player hears the result, and when observers hear events."""
    disk = NotingDisk()

    class Player:
        def take_turn(self, view: Any) -> Any:
            return first_action(view)

        def end(self, result: Any) -> None:
            disk.calls.append("end")

    record_match(directory, [Player(), first_action], disk, journal=Journal(directory, sync=sync, disk=disk))
    return disk.calls


def test_sync_always_makes_facts_durable_before_they_are_announced(tmp_path: Path) -> None:
    asked = calls(tmp_path, Durability.ALWAYS)

    turns = asked.count("write") - 3  # the opening, the seating and the result are written as well
    assert asked[:6] == ["create", "write", "write", "sync", f"sync {tmp_path.name}", "Started"]
    assert asked[6:] == [*["write", "sync", "Acted"] * turns, "end", "write", "sync", "Ended"]


def test_sync_off_means_never(tmp_path: Path) -> None:
    assert set(calls(tmp_path, Durability.OFF)) == {"create", "write", "Started", "Acted", "end", "Ended"}


def test_in_batches_the_end_is_durable_before_anyone_hears_it(tmp_path: Path) -> None:
    asked = calls(tmp_path, Durability.BATCH)

    assert asked[-8:] == ["write", "Acted", "sync", f"sync {tmp_path.name}", "end", "write", "sync", "Ended"]


def test_the_names_of_new_directories_are_made_durable_too(tmp_path: Path) -> None:
    asked = calls(tmp_path / "games" / "today", Durability.ALWAYS)

    assert {f"sync {tmp_path.name}", "sync games", "sync today"} <= set(asked)


def test_a_disk_that_is_behind_has_to_be_waited_for(tmp_path: Path) -> None:
    disk = NotingDisk()
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

    assert not disk.later[0].sync_pending()  # nothing is synced where nothing is open
    assert disk.calls.count("sync") == 2


def test_a_line_that_comes_while_the_disk_syncs_is_synced_too_though_nothing_follows_it(tmp_path: Path) -> None:
    began, go_on, done = (threading.Semaphore(0) for _ in range(3))
    synced: list[int] = []  # bytes that were there when a sync began

    class HeldDisk(Disk):
        def sync(self, file: int) -> None:
            synced.append(self.size(file))
            began.release()
            assert go_on.acquire(timeout=TIMEOUT_S)
            super().sync(file)
            done.release()

    file = create_file(tmp_path, "file", HeldDisk(), Durability.BATCH)

    file.append(b"one")
    assert began.acquire(timeout=TIMEOUT_S)
    file.append(b"two")  # too late for this sync
    go_on.release()
    assert began.acquire(timeout=TIMEOUT_S), "the second line was forgotten"
    go_on.release()
    assert done.acquire(timeout=TIMEOUT_S) and done.acquire(timeout=TIMEOUT_S)
    file.close()

    assert synced == [3, 6]


def test_a_line_is_synced_later_though_a_round_is_made_while_it_is_written(tmp_path: Path) -> None:
    class RoundDisk(NotingDisk):
        def write(self, file: int, text: bytes) -> int:
            written = super().write(file, text)
            while self.later:  # as the background does, which knows of the line before only
                assert not self.later.pop().sync_pending()
            return written

    disk = RoundDisk()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)

    for line in (b"one", b"two", b"three"):
        file.append(line)
        assert disk.later == [file]

    assert not file.sync_pending()
    assert disk.calls.count("sync") == 3
    file.close()
    assert disk.calls.count("sync") == 3  # all of it was durable


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_sync_that_failed_in_the_background_stops_the_match(at_the_end: bool, tmp_path: Path) -> None:
    disk = NotingDisk()
    file = create_file(tmp_path, "file", disk, Durability.BATCH)
    file.append(b"one")
    disk.fails = True
    file.sync_pending()
    disk.fails = False

    for _ in range(2):
        file.sync_pending()  # a second try would succeed, and prove nothing
    with pytest.raises(HostFault, match=CANNOT_WRITE):
        file.close() if at_the_end else file.append(b"two")

    file.close()  # nothing is left to be let go of
    assert disk.calls.count("sync") == 1
    assert (tmp_path / "file").read_bytes() == b"one"


def test_a_thread_in_the_background_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class OwnSyncerDisk(Disk):
        syncer = Syncer()  # the one of this process may be busy with something else

        def sync_later(self, file: AppendFile) -> None:
            self.syncer.sync_later(file)

    monkeypatch.setattr("fairplay.journal.syncer.MAX_IDLE_ROUNDS", 0)
    before = set(threading.enumerate())
    journal = Journal(tmp_path, disk=OwnSyncerDisk())

    for _ in range(2):  # and another one begins when there is something to do again
        threads: set[threading.Thread] = set()

        def look(view: Any, threads: set[threading.Thread] = threads) -> Any:
            threads.update(set(threading.enumerate()) - before)
            return first_action(view)

        record_match(tmp_path, [look, first_action], journal=journal)
        for thread in nonempty(threads):
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()


def test_a_reopened_file_is_made_durable_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"left by a process that was killed")
    disk = NotingDisk()

    reopen_file(str(tmp_path / "file"), disk, Durability.BATCH).close()

    assert disk.calls == ["sync", f"sync {tmp_path.name}"]


# In an event loop.


class AsyncChannel:
    """A channel that lets other matches go on before it asks."""

    def __init__(self, player: Any = first_action) -> None:
        self._channel = LocalChannel(player, GAME)

    async def ask(self, message: Message) -> Answer:
        await asyncio.sleep(0)
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


def begin(directory: Path, sync: Durability, disk: Disk | None = None) -> tuple[AnyMatch, MatchRecord]:
    match = deal_match(GAME, ["ann", "bob"], SEED)
    return match, Journal(directory, sync=sync, disk=disk or Disk()).begin(match)


@pytest.mark.parametrize("sync", [Durability.ALWAYS, Durability.BATCH])
def test_others_go_on_while_a_match_waits_for_its_disk(sync: Durability, tmp_path: Path) -> None:
    steps, stepped = 0, threading.Condition()

    def wait_for_steps(number: int) -> None:
        with stepped:
            enough = steps + 5
            if not stepped.wait_for(lambda: steps >= enough, TIMEOUT_S):
                fail_io()

    async def keep_stepping() -> None:
        nonlocal steps
        while True:
            await asyncio.sleep(0)
            with stepped:
                steps += 1
                stepped.notify_all()

    async def play_beside() -> AnyMatch:
        other = asyncio.ensure_future(keep_stepping())
        try:
            with record:
                return await play_async(match, [AsyncChannel(), AsyncChannel()], record)
        finally:
            other.cancel()

    disk = HookedDisk(wait_for_steps)
    match, record = begin(tmp_path, sync, disk)

    final = asyncio.run(play_beside())

    assert read_verified(record.path) == final
    assert set(disk.threads) == {"fairplay-sync"}
    assert len(disk.threads) >= (len(read_journal(record.path).facts) if sync is Durability.ALWAYS else 2)


@pytest.mark.parametrize(
    ("sync", "n"), [(Durability.ALWAYS, 1), (Durability.ALWAYS, 2), (Durability.ALWAYS, 5), (Durability.BATCH, 1)]
)
def test_a_failed_sync_in_the_background_stops_the_match_before_the_next_announcement(
    sync: Durability, n: int, tmp_path: Path
) -> None:
    watcher, disk = EventCollector(), HookedDisk(lambda number: number == n and fail_io())
    match, record = begin(tmp_path, sync, disk)
    referee = Referee()
    referee.subscribe(watcher)

    async def fail() -> None:
        with referee.match_observers() as inform, pytest.raises(HostFault, match=CANNOT_WRITE):
            await play_async(match, [AsyncChannel(), AsyncChannel()], record, inform)
        with suppress(HostFault):
            record.close()

    asyncio.run(fail())

    assert disk.threads == ["fairplay-sync"] * n  # to try again would succeed, and prove nothing
    assert not any(isinstance(event, Ended) for event in watcher.events)
    if sync is Durability.ALWAYS:
        assert len(watcher.events) == n - 1  # the start, and then one fact after the other
        assert len(read_journal(record.path).facts) == n - 1
    final = resume_match(record.path, TWO)
    assert read_verified(record.path) == final


def test_a_match_that_is_cancelled_while_it_waits_for_its_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    async def cancel(n: int) -> tuple[MatchRecord, bool]:
        """Was there an n-th sync at all?"""
        began, go_on = threading.Event(), threading.Event()

        def hold(number: int) -> None:
            if number == n:
                began.set()
                assert go_on.wait(TIMEOUT_S)

        disk = HookedDisk(hold)
        match, record = begin(tmp_path, Durability.ALWAYS, disk)
        task = asyncio.ensure_future(play_async(match, [AsyncChannel(), AsyncChannel()], record))
        while not (began.is_set() or task.done()):
            await asyncio.sleep(0)
        if task.done():
            record.close()
            return record, False
        task.cancel()
        try:
            await asyncio.wait((task,), timeout=TIMEOUT_S)
            assert task.cancelled()  # though the disk is still at work
            assert asyncio.all_tasks() == {asyncio.current_task()}
        finally:
            go_on.set()
        record.close()
        assert len(disk.threads) == n  # the background did it already
        _, other = begin(tmp_path, Durability.ALWAYS)
        await asyncio.wait_for(other.make_durable_async(), TIMEOUT_S)  # the thread in the background still works
        other.close()
        return record, True

    facts = []
    for n in range(1, 100):
        record, held = asyncio.run(cancel(n))
        if not held:
            break
        recorded = read_journal(record.path)
        facts.append(len(recorded.facts))
        if recorded.closing is None:
            with pytest.raises(Unfinished):
                verify(recorded)
            assert all(isinstance(fact, Acted) for fact in recorded.facts)

    assert read_verified(record.path).ejected == ()
    *lines, last = facts
    assert lines == list(range(len(lines)))  # cancelled at the start and at every fact, and at last at the result
    assert last == len(read_journal(record.path).facts) == lines[-1]


@pytest.mark.parametrize("sync", Durability)
def test_matches_in_one_event_loop_never_get_into_one_anothers_file(sync: Durability, tmp_path: Path) -> None:
    journal = Journal(tmp_path, sync=sync)

    async def play(number: int, table: str) -> tuple[MatchRecord, AnyMatch, list[Event]]:
        channels, told = [AsyncChannel(player) for player in TABLES[table]()], list[Event]()
        names = [f"{number}-{seat}" for seat in range(len(channels))]
        match = deal_match(GAME, names, SEED, match_id=f"match-{number}")
        with journal.begin(match) as record:
            final = await play_async(match, channels, record, lambda event, _: told.append(event))
        return record, final, told

    async def play_all() -> list[tuple[MatchRecord, AnyMatch, list[Event]]]:
        return await asyncio.gather(*(play(number, table) for number, table in enumerate(TABLES)))

    played = asyncio.run(play_all())

    assert len(list(tmp_path.iterdir())) == len({record.path for record, *_ in played}) == len(TABLES)
    for record, final, told in nonempty(played):
        recorded = read_journal(record.path)
        assert verify(recorded) == final
        assert recorded.names == final.names
        assert told[1:-1] == list(recorded.facts)
