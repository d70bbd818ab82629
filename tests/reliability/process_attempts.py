"""Play a match as one process does, on a disk that may tear or forget, and perhaps end suddenly at some step."""

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.errors import HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Result
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Message
from fairplay.core.roles import NULL_RECORD, Observer, Record
from fairplay.hosting.timing_record import TimingRecord
from fairplay.journal.append_file import OPEN_FILES, AppendFile, Disk
from fairplay.journal.lines import Opening
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.journal.syncer import Syncer
from fairplay.journal.unfinished_matches import find_unfinished
from fairplay.journal.verification import verify
from fairplay.referee import conversation as conversation
from fairplay.referee.drivers import play
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee
from tests.reliability.tables import AnyMatch, MeterTable

OnStep = Callable[[str], None]  # is called with the name of each step
TORN_WRITES: dict[str, Callable[[int], int]] = {  # how many bytes of a line are written when the process ends
    "torn at the start": lambda size: 1,
    "torn in the middle": lambda size: size // 2,
    "torn at the end": lambda size: size - 1,
}
START_TIME_S = 1_700_000_000  # by a wall clock that makes all journals of the same length
STEPS = ("asked", "answered", "judged", "applied", *TORN_WRITES, "written", "notified one", "notified all")


class ProcessEnded(KeyboardInterrupt):
    """The process ends here: the only kind of exception that neither channels nor observers stop."""


class Fuse:
    """Ends the process when it comes to a step for the n-th time; counts all steps."""

    def __init__(self, step: str = "", count: int = 0) -> None:
        self.passed: Counter[str] = Counter()
        self._end = (step, count)

    def __call__(self, step: str) -> None:
        self.passed[step] += 1
        if (step, self.passed[step]) == self._end:
            raise ProcessEnded(step)


class DroppableDisk(Disk):
    """A disk that can be let go of as when a process ends: nothing is synced, and no lock is left."""

    def __init__(self) -> None:
        self.files: dict[int, str] = {}  # those that are open

    def create(self, path: str) -> int:
        self.files[file := super().create(path)] = path
        return file

    def open(self, path: str) -> int:
        self.files[file := super().open(path)] = path
        return file

    def close(self, file: int) -> None:
        del self.files[file]
        super().close(file)

    def drop(self) -> None:
        for file in tuple(self.files):
            del self.files[file]
            os.close(file)
        for open_file in tuple(OPEN_FILES):  # another file may get the same number
            if open_file._disk is self:
                open_file._file = -1
                OPEN_FILES.discard(open_file)


class TearingDisk(DroppableDisk):
    def __init__(self, at: OnStep) -> None:
        super().__init__()
        self._at = at

    def write(self, file: int, text: bytes) -> int:
        for step, part in TORN_WRITES.items():
            try:
                self._at(step)
            except ProcessEnded:
                super().write(file, text[: part(len(text))])
                raise
        return super().write(file, text)


class ManualSyncer(Syncer):
    """A syncer without a thread: its rounds are made when the test wants them."""

    def _start_thread(self) -> None:
        pass


class ForgettingDisk(DroppableDisk):
    """A disk that knows what would be left of its files: their contents when they were last synced.

    A file whose name was not synced with its directory would not be there at all. Nothing is synced in the background
    but when a test makes a round of its syncer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.syncer = ManualSyncer()
        self.durable: dict[str, bytes] = {}  # by path: what was synced of each file
        self.named: set[str] = set()  # the files that a directory durably holds

    def create(self, path: str) -> int:
        file = super().create(path)
        self.durable[path] = b""
        return file

    def sync(self, file: int) -> None:
        self.durable[self.files[file]] = self.content(file)

    def sync_later(self, file: AppendFile) -> None:
        self.syncer.sync_later(file)

    def drop(self) -> None:
        super().drop()
        self.syncer.reset()

    def sync_directory(self, path: str) -> None:
        self.named |= {known for known in self.durable if Path(known).parent == Path(path)}

    def content(self, file: int) -> bytes:
        """All that is in an open file, durable or not."""
        return os.pread(file, os.fstat(file).st_size, 0)

    def durable_files(self) -> dict[str, bytes]:
        return {path: text for path, text in self.durable.items() if path in self.named}

    def cut_power(self) -> None:
        self.drop()
        surviving = self.durable_files()
        for path in self.durable:
            Path(path).unlink(missing_ok=True)
        for path, text in surviving.items():
            Path(path).write_bytes(text)
        self.durable = surviving


class SteppingPlayer:
    """A player between two steps; what it was last shown is kept for the whole table."""

    def __init__(self, player: Any, seat: Seat, at: OnStep, attempt: "ProcessAttempt") -> None:
        self._player = player
        self._seat = seat
        self._at = at
        self._attempt = attempt

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        return self._pass_on("start", view, seat, names, view)

    def take_turn(self, view: Any) -> Any:
        return self._pass_on("take_turn", view, view)

    def tell(self, news: Any) -> Any:
        return self._pass_on("tell", news, news)

    def end(self, result: Result) -> Any:
        return self._pass_on("end", result, result)

    def _pass_on(self, method: str, content: Any, *arguments: Any) -> Any:
        self._attempt.shown_view = (self._seat, method, content)
        self._at("asked")
        try:
            return getattr(self._player, method)(*arguments)
        finally:
            self._at("answered")  # also by raising


class SteppingRecord(TimingRecord):
    def __init__(self, record: Record, at: OnStep) -> None:
        super().__init__(record)
        self.clock = NULL_RECORD.clock
        self._at = at

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self._at("applied")
        behind = super().write(event, message, answer)
        self._at("written")
        return behind


class ProcessAttempt(msgspec.Struct, eq=False):
    known: int = 0  # facts that were in the journal before
    published_facts: tuple[Fact, ...] = ()  # to at least one observer
    shown_view: tuple[Seat, str, Any] | None = None  # to a player, most recently: its seat, in which call, what
    result: Result | None = None  # as at least one observer got it
    final: AnyMatch | None = None  # None: the process came to a sudden end
    fault: HostFault | None = None  # what it came to an end by, if it was not a crash

    def observe(self, event: Event, match: AnyMatch) -> None:
        match event:
            case Acted() | Ejected():
                self.published_facts += (event,)
            case Ended(result):
                self.result = result


class StepAfter:
    def __init__(self, at: OnStep, step: str) -> None:
        self._at = at
        self._step = step

    def observe(self, event: Event, match: AnyMatch) -> None:
        self._at(self._step)


def run_process(
    table: MeterTable,
    seed: bytes,
    directory: Path,
    at: OnStep,
    disk: DroppableDisk | None = None,
    sync: Durability = Durability.OFF,
    observers: Sequence[Observer] = (),
) -> ProcessAttempt:
    """Do what the command does: go on with the unfinished match if it is there, or else begin it."""
    disk = disk or TearingDisk(at)
    ticks = count(START_TIME_S)
    journal = Journal(directory, sync=sync, disk=disk, now=lambda: next(ticks) + 0.5)
    referee, attempt = Referee(), ProcessAttempt()
    record: Record = NULL_RECORD
    steps = [StepAfter(at, "notified one"), StepAfter(at, "notified all")]
    for observer in list[Observer]([attempt, *steps, *observers]):
        referee.subscribe(observer)
    try:
        paths = find_unfinished(directory, lambda opening: is_opening_of(opening, table, seed))
        if paths:
            attempt.known = len(parse_facts(paths[0].read_bytes()))
            record, recorded = journal.resume(paths[0])
            match = recorded.match_after(None)
        else:
            match = table.begin(seed)
            at("applied")
            record = journal.begin(match)
            at("written")
        players = {
            seat: LocalChannel(SteppingPlayer(table.player(seat, seed), seat, at, attempt), match.game)
            for seat in match.remaining_seats
        }
        with stepping_judge(at), referee.match_observers() as inform:
            attempt.final = play(match, players, SteppingRecord(record, at), inform, resumed=bool(paths))
        record.close()
    except ProcessEnded:
        pass
    except HostFault as error:
        attempt.fault = error
        with suppress(HostFault):
            record.close()
    disk.drop()
    return attempt


def is_opening_of(opening: Opening, table: MeterTable, seed: bytes) -> bool:
    dealt = None if table.pile is not None else seed.hex()
    return (opening.game, opening.names, opening.seed, opening.parent) == (table.game, table.names, dealt, None)


def stepping_judge(at: OnStep) -> Any:
    def then_step(judge: Callable[..., Any]) -> Callable[..., Any]:
        def judged(*arguments: Any) -> Any:
            fact = judge(*arguments)
            at("judged")
            return fact

        return judged

    names = ("judge", "judge_acknowledgement")
    judges: dict[str, Any] = {name: then_step(getattr(conversation, name)) for name in names}
    return patch.multiple(conversation, **judges)


def interrupted_journal(table: MeterTable, seed: bytes, directory: Path, fuses: Sequence[Fuse]) -> Path:
    """The journal of a finished match, which was interrupted and resumed wherever a fuse ended the process."""
    for fuse in (*fuses, Fuse()):
        run_process(table, seed, directory, fuse)
        if finished := finished_journals(directory):
            break
    return finished[0]


# What is in the files, found out from their bytes alone.


def begun_journals(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.jsonl") if b"\n" in path.read_bytes())


def whole_lines(text: bytes) -> list[Any]:
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def parse_facts(text: bytes) -> list[Any]:
    return [line["fact"] for line in whole_lines(text) if line["type"] == "fact"]


def finished_journals(directory: Path) -> list[Path]:
    return [path for path in begun_journals(directory) if whole_lines(path.read_bytes())[-1]["type"] == "result"]


def fact_as_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


# What has to hold.


def published_is_recorded(published: Sequence[Fact], known: int, text: bytes) -> bool:
    """Are the facts that were published since so many facts in the file, in that order?"""
    try:
        there = parse_facts(text)
    except ValueError:  # a line is damaged, and all behind it with it
        return False
    return there[known : known + len(published)] == [fact_as_json(fact) for fact in published]


def find_difference(path: Path, facts: Sequence[Fact], result: Result, published: Result | None) -> str:
    """In what a finished journal is not that of a match without any interruption; nothing if it is."""
    recorded: RecordedMatch = read_journal(path)
    if recorded.facts != tuple(facts):
        return f"{len(recorded.facts)} facts are not those {len(facts)} that happen without an interruption"
    if recorded.closing is None or recorded.closing.result != result:
        return "the result is not the one without an interruption"
    final = verify(recorded, None if published is None else published.receipt)
    return "" if final.result == result else "verification ends with another result"
