"""Cut the power at every event and in between, and demand that nothing is lost that was promised to be kept."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import Lots
from fairplay.core.events import Acted, Ejected, Ended, Event
from fairplay.journal import append_file
from fairplay.journal.append_file import LAG, AppendFile
from fairplay.journal.requests import Sync
from fairplay.journal.syncing import PAUSE, Syncer
from tests.reliability.attempts import At, Fuse, attempt, begun, facts_in, is_finished
from tests.reliability.clockwork import Clockwork, VirtualLock
from tests.reliability.crashes import undisturbed
from tests.reliability.cuts import misresumed
from tests.reliability.forgetting import Forgetting
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading, seed_for
from tests.reliability.tables import TABLES, AnyMatch, Table

MODES = (Sync.BATCH, Sync.ALWAYS, Sync.BATCH)
THOUGHTS = (2, 20, 200)  # milliseconds: the longest of a match
SLOWEST = (0, 5, 15, 100, 300)  # milliseconds: the longest that a disk takes to sync
REST = 1000  # milliseconds: the longest from the end of a process to the next
RESUMED = 5  # of the cuts of each match
ABOUT = 1e-9  # seconds that do not count


class Cut(msgspec.Struct, frozen=True):
    """What a power cut at some moment would leave, and what had been told by then."""

    now: float
    told: dict[int, float]  # by the number of the fact: when
    ended: bool  # was the end told?
    left: bytes  # of the journal
    written: int  # bytes
    thinking: bool  # in the middle of a turn, not right after something was told


class Slow(Forgetting):
    """A disk that takes its time to sync; what is written meanwhile does not count.

    Rounds of syncing are made by the clockwork, in the background.
    """

    def __init__(self, lots: Lots, slowest: int) -> None:
        super().__init__()
        self.clockwork: Clockwork
        self.at: At
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
        if not isinstance(file._syncing, VirtualLock):
            file._syncing = VirtualLock(self.clockwork)  # type: ignore[assignment]  # which is no real one
        super().sync_later(file)

    def clock(self) -> float:
        return self.clockwork.now

    def work(self, clockwork: Clockwork) -> None:
        """As the thread of a real syncer does."""
        while True:
            clockwork.pass_time(PAUSE)
            self.syncer.round()


class Chronicle:
    """An observer that knows what would be left, whenever somebody is told or has thought."""

    def __init__(self, disk: Slow) -> None:
        self.cuts: list[Cut] = []
        self.known = 0  # facts that were there when this process began
        self._told: dict[int, float] = {}
        self._ended = False
        self._disk = disk

    def observe(self, event: Event, match: AnyMatch) -> None:
        match event:
            case Acted() | Ejected():
                self._told = {**self._told, self.known: self._disk.clock()}
                self.known += 1
            case Ended():
                self._ended = True
        self.cut(thinking=False)

    def cut(self, *, thinking: bool) -> None:
        """Remember how it is now."""
        left = b"".join(self._disk.surviving().values())
        written = sum(len(self._disk.content(file)) for file in self._disk.files)
        self.cuts.append(Cut(self._disk.clock(), self._told, self._ended, left, written, thinking))


def power(numbers: range, seed: bytes) -> Reading:
    """A number is a match, after each event of which, and in each turn of which, the power is cut."""
    return reading(trial for number in numbers for trial in powerless(number, seed))


def powerless(number: int, seed: bytes) -> Iterator[str]:
    """Play a match in virtual time, in one process or in two, and look at all its cuts."""
    lots, table, match_seed = lots_for(seed, number), TABLES[number % len(TABLES)], seed_for(seed, number)
    mode, slowest = MODES[number % len(MODES)], SLOWEST[lots.below(len(SLOWEST))]
    expected, fuses = undisturbed(table, match_seed), [Fuse()]
    if number % 2:  # the first of two processes ends early, perhaps before anything was synced
        steps = ("asked", "told all", "written", *(("synced", "named") if mode is Sync.ALWAYS else ()))
        fuses[:0] = [Fuse(steps[lots.below(len(steps))], 1 + lots.below(6))]
    name = f"match {number} ({table.game}, {mode.value}, {slowest} ms to sync, {len(fuses)} processes)"
    with TemporaryDirectory() as directory:
        cuts = played(table, match_seed, Path(directory), fuses, mode, Slow(lots, slowest), lots)
        final = begun(Path(directory))[0].read_bytes()
    resumed = {lots.below(len(cuts)) for _ in range(RESUMED)}
    for place, cut in enumerate(cuts):
        failure = loss(cut, mode, slowest) or ("" if final.startswith(cut.left) else "what is left was never there")
        if not failure and place in resumed and cut.left:
            more = lots.below(max(cut.written - len(cut.left), 0) + 1)  # of what was not synced any part may be there
            failure = misresumed(final[: len(cut.left) + more], table, match_seed, expected)
        yield failure and f"{name}, cut {place} at {cut.now:.3f} s: {failure}"


def played(
    table: Table, seed: bytes, directory: Path, fuses: Sequence[Fuse], mode: Sync, disk: Slow, lots: Lots
) -> list[Cut]:
    """All cuts of a match, in as many processes as there are fuses; players think by letting time pass."""
    chronicle, longest, now = Chronicle(disk), THOUGHTS[lots.below(len(THOUGHTS))], 0.0
    for fuse in fuses:
        with Clockwork(now, disk.work) as clockwork:
            disk.clockwork = clockwork
            disk.at = fuse if mode is Sync.ALWAYS else Fuse()  # in batches it is not the match that syncs
            thinking = thinker(fuse, chronicle, clockwork, longest, lots)
            done = attempt(table, seed, directory, thinking, disk, mode, [chronicle])
        if done.fault is not None:
            raise done.fault
        if any(map(is_finished, begun(directory))):
            break
        now = clockwork.now + lots.below(REST) / 1000
        chronicle.known = sum(len(facts_in(path.read_bytes())) for path in begun(directory))
    return chronicle.cuts


def thinker(fuse: Fuse, chronicle: Chronicle, clockwork: Clockwork, longest: int, lots: Lots) -> At:
    """Let time pass whenever a player is asked."""

    def at(step: str) -> None:
        if step == "asked":
            clockwork.pass_time(lots.below(longest + 1) / 1000)
            chronicle.cut(thinking=True)
        fuse(step)

    return at


def loss(cut: Cut, mode: Sync, slowest: int) -> str:
    """What is lost that should have been kept.

    When something is told, all is kept that was told longer than LAG before: on a slow disk the match waits for it.
    In the middle of a turn nothing waits, so the disk has the time that it takes: to be done with what it syncs, to
    pause, and to sync the next, with a directory perhaps.
    """
    if cut.ended and b'{"type":"result"' not in cut.left:
        return "the end was told, and is lost"
    kept = len(facts_in(cut.left))
    lost = [when for number, when in cut.told.items() if number >= kept]
    if mode is Sync.ALWAYS:
        return f"{len(lost)} facts are lost" if lost else ""
    allowed = max(LAG, PAUSE + 3 * slowest / 1000) if cut.thinking else LAG
    age = cut.now - min(lost, default=cut.now)
    return f"a fact is lost that was told {age * 1000:.0f} ms ago" if age > allowed + ABOUT else ""


def never_syncing() -> AbstractContextManager[Any]:
    """The bug of a syncer that does not sync."""
    return patch.object(Syncer, "round", lambda _: True)


def not_waiting() -> AbstractContextManager[Any]:
    """The bug of a match that goes on however slow the disk is."""
    return patch.object(append_file, "LAG", REST)


POWER = Meter(
    "power cuts",
    power,
    full=range(240),
    least=2_000,
    small=range(24),
    bugs=(
        Bug("never syncs in the background", never_syncing),
        Bug("does not wait for a slow disk", not_waiting),
    ),
    parts=20,
)
