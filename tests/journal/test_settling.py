"""Test that a slow disk delays only its own match, and that a cancelled match does not wait for it."""

import asyncio
import errno
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Ended, HostFault
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import CloseReason
from fairplay.journal.append_file import Disk
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, MatchRecord
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.drivers import play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal.journals import GAME, SEED, AnyMatch, EventCollector, first_action
from tests.nonempty import nonempty

WAIT = 10.0  # seconds until a test fails
STEPS = 5  # of somebody else, for which every sync waits


class Near:
    """A good player in this process."""

    def __init__(self) -> None:
        self._channel = LocalChannel(first_action, GAME)

    async def ask(self, message: Message) -> Answer:
        return self._channel.ask(message)

    async def close(self, reason: CloseReason) -> None:
        self._channel.close(reason)


class Slow(Disk):
    """A disk that is done with a sync when somebody else has made a few steps meanwhile."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self._steps = 0
        self._stepped = threading.Condition()

    def sync(self, file: int) -> None:
        self.threads.append(threading.current_thread().name)
        with self._stepped:
            enough = self._steps + STEPS
            if not self._stepped.wait_for(lambda: self._steps >= enough, WAIT):
                raise OSError(errno.EIO, "nobody made a step")
        super().sync(file)

    async def keep_stepping(self) -> None:
        """The somebody else."""
        while True:
            await asyncio.sleep(0)
            with self._stepped:
                self._steps += 1
                self._stepped.notify_all()


class Held(Disk):
    """A disk that lets every sync through but the n-th: that one waits until it may go on."""

    def __init__(self, held: int) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        self.syncs = 0
        self._held = held

    def sync(self, file: int) -> None:
        self.syncs += 1
        if self.syncs == self._held:
            self.began.set()
            assert self.go_on.wait(WAIT)
        super().sync(file)


class Failing(Disk):
    """A disk of which the n-th sync fails, and no other."""

    def __init__(self, n: int) -> None:
        self.threads: list[str] = []
        self._n = n

    def sync(self, file: int) -> None:
        self.threads.append(threading.current_thread().name)
        if len(self.threads) == self._n:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(file)


def begun(journal: Journal) -> tuple[AnyMatch, MatchRecord]:
    match = deal_match(GAME, ["ann", "bob"], SEED)
    return match, journal.begin(match)


def in_the_background(journal: Journal, beside: Callable[[], Awaitable[Any]]) -> tuple[MatchRecord, AnyMatch]:
    """Play a match while something else goes on in the same event loop."""

    async def both() -> tuple[MatchRecord, AnyMatch]:
        match, record = begun(journal)
        other = asyncio.ensure_future(beside())
        try:
            with record:
                return record, await play_async(match, [Near(), Near()], record)
        finally:
            other.cancel()

    return asyncio.run(both())


@pytest.mark.parametrize("sync", [Durability.ALWAYS, Durability.BATCH])
def test_others_go_on_while_a_match_waits_for_its_disk(sync: Durability, tmp_path: Path) -> None:
    disk = Slow()

    record, final = in_the_background(Journal(tmp_path, sync=sync, disk=disk), disk.keep_stepping)

    assert verify(read_journal(record.path)) == final
    assert set(disk.threads) == {"fairplay-sync"}
    assert len(disk.threads) >= (len(read_journal(record.path).facts) if sync is Durability.ALWAYS else 2)


def test_a_disk_that_is_waited_for_in_the_event_loop_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def in_the_way(record: MatchRecord) -> None:
        record.make_durable()

    monkeypatch.setattr(f"{__name__}.WAIT", 0.1)
    monkeypatch.setattr(MatchRecord, "make_durable_async", in_the_way)
    disk = Slow()

    with pytest.raises(HostFault, match="cannot be written"):
        in_the_background(Journal(tmp_path, sync=Durability.ALWAYS, disk=disk), disk.keep_stepping)

    assert disk.threads == ["MainThread"]


@pytest.mark.parametrize("sync", [Durability.ALWAYS, Durability.BATCH])
def test_a_failed_sync_in_the_background_stops_the_match_before_the_next_announcement(
    sync: Durability, tmp_path: Path
) -> None:
    for n in nonempty((1,) if sync is Durability.BATCH else (1, 2, 5)):
        watcher, disk = EventCollector(), Failing(n)
        referee = Referee()
        referee.subscribe(watcher)

        async def played(disk: Disk = disk, referee: Referee = referee) -> MatchRecord:
            match, record = begun(Journal(tmp_path, sync=sync, disk=disk))
            with (
                referee.match_observers() as inform,
                pytest.raises(HostFault, match="cannot be written: Input/output error"),
            ):
                await play_async(match, [Near(), Near()], record, inform)
            with suppress(HostFault):
                record.close()
            return record

        record = asyncio.run(played())

        assert set(disk.threads) == {"fairplay-sync"}
        assert len(disk.threads) == n  # to try again would succeed, and prove nothing
        assert not any(isinstance(event, Ended) for event in watcher.events)
        if sync is Durability.ALWAYS:
            assert len(watcher.events) == n - 1  # the start, and then one fact after the other
            assert len(read_journal(record.path).facts) == n - 1
        final = gone_on_with(record.path)
        assert verify(read_journal(record.path)) == final


def gone_on_with(path: Path) -> AnyMatch:
    record, recorded = Journal(path.parent).resume(path)
    with record:
        return Referee().resume(recorded.match_after(None), [first_action, first_action], record=record)


def test_a_match_that_is_cancelled_while_it_waits_for_its_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    async def cancelled(n: int) -> tuple[MatchRecord, bool]:
        """Was there an n-th sync at all?"""
        disk = Held(n)
        match, record = begun(Journal(tmp_path, sync=Durability.ALWAYS, disk=disk))
        task = asyncio.ensure_future(play_async(match, [Near(), Near()], record))
        while not (disk.began.is_set() or task.done()):
            await asyncio.sleep(0)
        if task.done():
            record.close()
            return record, False
        task.cancel()
        try:
            await asyncio.wait((task,), timeout=WAIT)
            assert task.cancelled()  # though the disk is still at work
            assert asyncio.all_tasks() == {asyncio.current_task()}
        finally:
            disk.go_on.set()
        record.close()
        assert disk.syncs == n  # somebody else did it already
        _, other = begun(Journal(tmp_path, sync=Durability.ALWAYS))
        await asyncio.wait_for(other.make_durable_async(), WAIT)  # the thread in the background still works
        other.close()
        return record, True

    facts = []
    for n in range(1, 100):
        record, held = asyncio.run(cancelled(n))
        if not held:
            break
        recorded = read_journal(record.path)
        facts.append(len(recorded.facts))
        if recorded.closing is None:
            with pytest.raises(Unfinished):
                verify(recorded)
            assert all(isinstance(fact, Acted) for fact in recorded.facts)

    assert verify(read_journal(record.path)).ejected == ()
    *lines, last = facts
    assert lines == list(range(len(lines)))  # cancelled at the start and at every fact, and at last at the result
    assert last == len(read_journal(record.path).facts) == lines[-1]
