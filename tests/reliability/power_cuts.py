"""Cut the power at every event and in between, and check that nothing is lost that has to be durable."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
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
from tests.reliability.forgetting_disk import ForgettingDisk
from tests.reliability.process_attempts import Fuse, OnStep, begun_journals, is_finished, parse_facts, run_process
from tests.reliability.readings import Bug, Meter, Reading, make_lots, make_reading, make_seed
from tests.reliability.tables import TABLES, AnyMatch, MeterTable
from tests.reliability.virtual_time import VirtualClock, VirtualLock

SYNC_MODES = (Durability.BATCH, Durability.ALWAYS, Durability.BATCH)
MAX_THINKING_MS = (2, 20, 200)  # milliseconds: the longest of a match
MAX_SYNC_MS = (0, 5, 15, 100, 300)  # milliseconds: the longest that a disk takes to sync
MAX_RESTART_MS = 1000  # milliseconds: the longest from the end of a process to the next
RESUMED_CUTS = 5  # of the cuts of each match
TIME_TOLERANCE_S = 1e-9  # seconds that do not count


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
        """As the thread of a real syncer does."""
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
        """Remember how it is now."""
        left = b"".join(self._disk.durable_files().values())
        written = sum(len(self._disk.content(file)) for file in self._disk.files)
        self.cuts.append(PowerCut(self._disk.clock(), self._published, self._ended, left, written, thinking))


def measure_power_cuts(numbers: range, seed: bytes) -> Reading:
    """A number is a match, after each event of which, and in each turn of which, the power is cut."""
    return make_reading(trial for number in numbers for trial in try_power_cuts(number, seed))


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
        failure = find_loss(cut, mode, slowest) or (
            "" if final.startswith(cut.surviving) else "what is left was never there"
        )
        if not failure and place in resumed and cut.surviving:
            more = lots.below(
                max(cut.written - len(cut.surviving), 0) + 1
            )  # of what was not synced any part may be there
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
            thinking = thinking_player(fuse, chronicle, clockwork, longest, lots)
            done = run_process(table, seed, directory, thinking, disk, mode, [chronicle])
        if done.fault is not None:
            raise done.fault
        if any(map(is_finished, begun_journals(directory))):
            break
        now = clockwork.now + lots.below(MAX_RESTART_MS) / 1000
        chronicle.known = sum(len(parse_facts(path.read_bytes())) for path in begun_journals(directory))
    return chronicle.cuts


def thinking_player(
    fuse: Fuse, chronicle: PowerCutObserver, clockwork: VirtualClock, longest: int, lots: SeededRandom
) -> OnStep:
    """Let time pass whenever a player is asked."""

    def at(step: str) -> None:
        if step == "asked":
            clockwork.pass_time(lots.below(longest + 1) / 1000)
            chronicle.cut(thinking=True)
        fuse(step)

    return at


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


def planted_no_sync() -> AbstractContextManager[Any]:
    """The bug of a syncer that does not sync."""
    return patch.object(Syncer, "sync_round", lambda _: True)


def planted_no_wait() -> AbstractContextManager[Any]:
    """The bug of a match that goes on however slow the disk is."""
    return patch.object(append_file, "MAX_UNSYNCED_AGE_S", MAX_RESTART_MS)


POWER_METER = Meter(
    "power cuts",
    measure_power_cuts,
    full=range(240),
    least=2_000,
    small=range(24),
    bugs=(
        Bug("never syncs in the background", planted_no_sync),
        Bug("does not wait for a slow disk", planted_no_wait),
    ),
    parts=20,
)
