"""Cut the power at every event and in between, and check that nothing is lost that has to be durable."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from unittest.mock import patch

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.events import Acted, Ejected, Ended, Event
from fairplay.journal import append_file
from fairplay.journal.append_file import MAX_UNSYNCED_AGE_S, AppendFile
from fairplay.journal.options import Durability
from fairplay.journal.syncer import SYNC_INTERVAL_S, Syncer
from tests.reliability.crashes import play_undisturbed
from tests.reliability.cuts import find_misresumed
from tests.reliability.process_attempts import (
    ForgettingDisk,
    Fuse,
    OnStep,
    begun_journals,
    finished_journals,
    parse_facts,
    run_process,
)
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each
from tests.reliability.tables import TABLES, AnyMatch, MeterTable

SYNC_MODES = (Durability.BATCH, Durability.ALWAYS, Durability.BATCH)
MAX_THINKING_MS = (2, 20, 200)  # milliseconds: the longest of a match
MAX_SYNC_MS = (0, 5, 15, 100, 300)  # milliseconds: the longest that a disk takes to sync
MAX_RESTART_MS = 1000  # milliseconds: the longest from the end of a process to the next
RESUMED_CUTS = 5  # of the cuts of each match
TIME_TOLERANCE_S = 1e-9  # seconds that do not count
LOCK_RETRY_S = 0.001  # virtual seconds between two tries for a lock
THREAD_TIMEOUT_S = 60  # real seconds after which two threads wait for each other


class ProcessOver(BaseException):
    """The process has ended, and its thread in the background with it."""


class VirtualClock:
    """Virtual time. Of the two threads only one ever runs, until it lets time pass."""

    def __init__(self, now: float, work: Callable[["VirtualClock"], None]) -> None:
        self.now = now
        self._wake = now  # when the thread in the background goes on
        self._work = work
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._over = False
        self._ended = False

    def __enter__(self) -> Self:
        self._thread.start()
        self._hand_over()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._go.release()
        self._thread.join(THREAD_TIMEOUT_S)

    def pass_time(self, seconds: float) -> None:
        """For whichever thread calls: come back so much later."""
        until = self.now + seconds
        if threading.current_thread() is self._thread:
            self._wake = until
            self._hand_back()
            return
        while self._wake <= until:
            self.run_background()
        self.now = until

    def run_background(self) -> None:
        """Let time pass until the thread in the background has done what it does next."""
        self.now = max(self.now, self._wake)
        self._hand_over()

    def wait_for_other_thread(self) -> None:
        """For whichever thread calls: let time pass until the other one may have done something."""
        if threading.current_thread() is self._thread:
            self.pass_time(LOCK_RETRY_S)
        else:
            self.run_background()

    def _hand_over(self) -> None:
        if self._ended:
            raise RuntimeError("the thread in the background has ended before its time")
        self._go.release()
        if not self._back.acquire(timeout=THREAD_TIMEOUT_S):
            raise TimeoutError("two threads wait for each other")

    def _hand_back(self) -> None:
        self._back.release()
        self._go.acquire()
        if self._over:
            raise ProcessOver

    def _run(self) -> None:
        self._go.acquire()
        try:
            with suppress(ProcessOver):
                self._work(self)
        finally:
            self._ended = True
            self._back.release()


class VirtualLock:
    """A lock for which a thread waits in virtual time."""

    def __init__(self, clockwork: VirtualClock) -> None:
        self._clockwork = clockwork
        self._held = False

    def __enter__(self) -> None:
        while self._held:
            self._clockwork.wait_for_other_thread()
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False


class PowerCut(msgspec.Struct, frozen=True):
    """What a power cut at some moment would leave, and what had been published by then."""

    now: float
    published: dict[int, float]  # the time of each fact, by its number
    ended: bool  # was the end published?
    surviving: bytes  # of the journal
    written: int  # bytes
    thinking: bool  # in the middle of a turn, not right after an event was published


class SlowDisk(ForgettingDisk):
    """A disk that takes its time to sync; what is written meanwhile does not count.

    Rounds of syncing are made by the clockwork, in the background.
    """

    def __init__(self, lots: SeededRandom, slowest: int) -> None:
        super().__init__()
        self.clockwork: VirtualClock
        self.at: OnStep
        self._lots = lots
        self._slowest = slowest

    def sync(self, file: int) -> None:
        self.at("synced")
        path, text = self.files[file], self.content(file)
        self.clockwork.pass_time(self._lots.below(self._slowest + 1) / 1000)
        self.durable[path] = text

    def sync_directory(self, path: str) -> None:
        self.at("named")
        self.clockwork.pass_time(self._lots.below(self._slowest + 1) / 1000)
        super().sync_directory(path)

    def sync_later(self, file: AppendFile) -> None:
        if not isinstance(file._sync_lock, VirtualLock):
            file._sync_lock = VirtualLock(self.clockwork)  # type: ignore[assignment]  # which is no real one
        super().sync_later(file)

    def clock(self) -> float:
        return self.clockwork.now

    def work(self, clockwork: VirtualClock) -> None:
        while True:
            clockwork.pass_time(SYNC_INTERVAL_S)
            self.syncer.sync_round()


class PowerCutObserver:
    """An observer that notes what would be left at every event and after every turn."""

    def __init__(self, disk: SlowDisk) -> None:
        self.cuts: list[PowerCut] = []
        self.known = 0  # facts that were there when this process began
        self._published: dict[int, float] = {}
        self._ended = False
        self._disk = disk

    def observe(self, event: Event, match: AnyMatch) -> None:
        match event:
            case Acted() | Ejected():
                self._published = {**self._published, self.known: self._disk.clock()}
                self.known += 1
            case Ended():
                self._ended = True
        self.cut(thinking=False)

    def cut(self, *, thinking: bool) -> None:
        left = b"".join(self._disk.durable_files().values())
        written = sum(len(self._disk.content(file)) for file in self._disk.files)
        self.cuts.append(PowerCut(self._disk.clock(), self._published, self._ended, left, written, thinking))


def try_power_cuts(number: int, seed: bytes) -> Iterator[str]:
    """Play a match in virtual time, in one process or in two, and look at all its cuts."""
    lots, table, match_seed = make_lots(seed, number), TABLES[number % len(TABLES)], make_seed(seed, number)
    mode, slowest = SYNC_MODES[number % len(SYNC_MODES)], MAX_SYNC_MS[lots.below(len(MAX_SYNC_MS))]
    expected, fuses = play_undisturbed(table, match_seed), [Fuse()]
    if number % 2:  # the first of two processes ends early, perhaps before anything was synced
        steps = ("asked", "notified all", "written", *(("synced", "named") if mode is Durability.ALWAYS else ()))
        fuses[:0] = [Fuse(steps[lots.below(len(steps))], 1 + lots.below(6))]
    name = f"match {number} ({table.game}, {mode.value}, {slowest} ms to sync, {len(fuses)} processes)"
    with TemporaryDirectory() as directory:
        cuts = play_match(table, match_seed, Path(directory), fuses, mode, SlowDisk(lots, slowest), lots)
        final = begun_journals(Path(directory))[0].read_bytes()
    resumed = {lots.below(len(cuts)) for _ in range(RESUMED_CUTS)}
    for place, cut in enumerate(cuts):
        failure = find_loss(cut, mode, slowest)
        if not failure and not final.startswith(cut.surviving):
            failure = "what is left was never there"
        if not failure and place in resumed and cut.surviving:
            more = lots.below(max(cut.written - len(cut.surviving), 0) + 1)  # of what was not synced
            failure = find_misresumed(final[: len(cut.surviving) + more], table, match_seed, expected)
        yield failure and f"{name}, cut {place} at {cut.now:.3f} s: {failure}"


def play_match(
    table: MeterTable,
    seed: bytes,
    directory: Path,
    fuses: Sequence[Fuse],
    mode: Durability,
    disk: SlowDisk,
    lots: SeededRandom,
) -> list[PowerCut]:
    """All cuts of a match, in as many processes as there are fuses; players think by letting time pass."""
    chronicle, longest, now = PowerCutObserver(disk), MAX_THINKING_MS[lots.below(len(MAX_THINKING_MS))], 0.0
    for fuse in fuses:
        with VirtualClock(now, disk.work) as clockwork:
            disk.clockwork = clockwork
            disk.at = fuse if mode is Durability.ALWAYS else Fuse()  # in batches it is not the match that syncs

            def think(step: str, fuse: OnStep = fuse, clockwork: VirtualClock = clockwork) -> None:
                if step == "asked":
                    clockwork.pass_time(lots.below(longest + 1) / 1000)
                    chronicle.cut(thinking=True)
                fuse(step)

            done = run_process(table, seed, directory, think, disk, mode, [chronicle])
        if done.fault is not None:
            raise done.fault
        if finished_journals(directory):
            break
        now = clockwork.now + lots.below(MAX_RESTART_MS) / 1000
        chronicle.known = sum(len(parse_facts(path.read_bytes())) for path in begun_journals(directory))
    return chronicle.cuts


def find_loss(cut: PowerCut, mode: Durability, slowest: int) -> str:
    """What is lost that should have been kept.

    When an event is published, those older than MAX_UNSYNCED_AGE_S are durable: on a slow disk the match waits.
    In the middle of a turn nothing waits, so the disk has the time that it takes: to be done with what it syncs, to
    pause, and to sync the next, with a directory perhaps.
    """
    if cut.ended and b'{"type":"result"' not in cut.surviving:
        return "the end was published, and is lost"
    kept = len(parse_facts(cut.surviving))
    lost = [when for number, when in cut.published.items() if number >= kept]
    if mode is Durability.ALWAYS:
        return f"{len(lost)} facts are lost" if lost else ""
    allowed = max(MAX_UNSYNCED_AGE_S, SYNC_INTERVAL_S + 3 * slowest / 1000) if cut.thinking else MAX_UNSYNCED_AGE_S
    age = cut.now - min(lost, default=cut.now)
    return f"a fact is lost that was published {age * 1000:.0f} ms ago" if age > allowed + TIME_TOLERANCE_S else ""


POWER_METER = Meter(
    "power cuts",
    measure_each(try_power_cuts),
    full=range(240),
    least=2_000,
    small=range(24),
    parts=20,
    bugs={
        "never syncs in the background": lambda: patch.object(Syncer, "sync_round", lambda _: True),
        "does not wait for a slow disk": lambda: patch.object(append_file, "MAX_UNSYNCED_AGE_S", MAX_RESTART_MS),
    },
)
