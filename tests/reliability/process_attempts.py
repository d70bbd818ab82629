"""Play a match as one process does: begin or resume it, and perhaps end suddenly at some step."""

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
from fairplay.journal.append_file import OPEN_FILES, Disk
from fairplay.journal.lines import Opening
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import RecordedMatch, read_journal
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
        file = super().create(path)
        self.files[file] = path
        return file

    def open(self, path: str) -> int:
        file = super().open(path)
        self.files[file] = path
        return file

    def close(self, file: int) -> None:
        del self.files[file]
        super().close(file)

    def drop(self) -> None:
        """The process has ended."""
        for file in tuple(self.files):
            del self.files[file]
            os.close(file)
        for open_file in tuple(OPEN_FILES):  # another file may get the same number
            if open_file._disk is self:
                open_file._file = -1
                OPEN_FILES.discard(open_file)


class TearingDisk(DroppableDisk):
    """A disk on which the process may end in the middle of a line."""

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


class SteppingObserver:
    """An observer that keeps what it heard, and then takes a step."""

    def __init__(self, at: OnStep, step: str) -> None:
        self.facts: list[Fact] = []
        self.result: Result | None = None
        self._at = at
        self._step = step

    def observe(self, event: Event, match: AnyMatch) -> None:
        match event:
            case Acted() | Ejected():
                self.facts.append(event)
            case Ended(result):
                self.result = result
        self._at(self._step)


class SteppingPlayer:
    """A player between two steps; what it was last shown is kept for all at the table."""

    def __init__(self, player: Any, seat: Seat, at: OnStep, shown: list[tuple[Seat, str, Any]]) -> None:
        self._player = player
        self._seat = seat
        self._at = at
        self._shown = shown

    def start(self, seat: Seat, names: tuple[str, ...], view: Any) -> Any:
        return self._pass_on("start", view, seat, names, view)

    def take_turn(self, view: Any) -> Any:
        return self._pass_on("take_turn", view, view)

    def tell(self, news: Any) -> Any:
        return self._pass_on("tell", news, news)

    def end(self, result: Result) -> Any:
        return self._pass_on("end", result, result)

    def _pass_on(self, method: str, content: Any, *arguments: Any) -> Any:
        self._shown[:] = [(self._seat, method, content)]
        self._at("asked")
        try:
            return getattr(self._player, method)(*arguments)
        finally:
            self._at("answered")  # also by raising


class SteppingRecord(TimingRecord):
    """A record between two steps."""

    def __init__(self, record: Record, at: OnStep) -> None:
        super().__init__(record)
        self.clock = NULL_RECORD.clock
        self._at = at

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        self._at("applied")
        behind = super().write(event, message, answer)
        self._at("written")
        return behind


class ProcessAttempt(msgspec.Struct, frozen=True):
    """What one process did, and what it had published when it ended."""

    known: int  # facts that were in the journal before
    published_facts: tuple[Fact, ...]  # to at least one observer
    shown_view: tuple[Seat, str, Any] | None  # to a player, most recently: its seat, in which call, what
    result: Result | None  # as at least one observer got it
    final: AnyMatch | None  # None: the process came to a sudden end
    fault: HostFault | None  # what it came to an end by, if it was not a crash


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
    referee, known, shown = Referee(), 0, list[tuple[Seat, str, Any]]()
    witnesses = [SteppingObserver(at, "notified one"), SteppingObserver(at, "notified all")]
    for observer in (*witnesses, *observers):
        referee.subscribe(observer)
    final, fault = None, None
    record: Record = NULL_RECORD
    try:
        paths = find_unfinished(directory, lambda opening: is_opening_of(opening, table, seed))
        if paths:
            known = len(parse_facts(paths[0].read_bytes()))
            record, recorded = journal.resume(paths[0])
            match = recorded.match_after(None)
        else:
            match = table.begin(seed)
            at("applied")
            record = journal.begin(match)
            at("written")
        players = {
            seat: LocalChannel(SteppingPlayer(table.player(seat, seed), seat, at, shown), match.game)
            for seat in match.remaining_seats
        }
        with stepping_judge(at), referee.match_observers() as inform:
            final = play(match, players, SteppingRecord(record, at), inform, resumed=bool(paths))
        record.close()
    except ProcessEnded:
        pass
    except HostFault as error:
        fault = error
        with suppress(HostFault):
            record.close()
    disk.drop()
    heard = witnesses[0]
    return ProcessAttempt(known, tuple(heard.facts), shown[0] if shown else None, heard.result, final, fault)


def is_opening_of(opening: Opening, table: MeterTable, seed: bytes) -> bool:
    """Is this the opening of that match?"""
    dealt = None if table.pile is not None else seed.hex()
    return (opening.game, opening.names, opening.seed, opening.parent) == (table.game, table.names, dealt, None)


def stepping_judge(at: OnStep) -> Any:
    """Take a step after every judgement."""

    def then_step(judge: Callable[..., Any]) -> Callable[..., Any]:
        def judged(*arguments: Any) -> Any:
            fact = judge(*arguments)
            at("judged")
            return fact

        return judged

    return patch.multiple(
        conversation,
        judge=then_step(conversation.judge),
        judge_acknowledgement=then_step(conversation.judge_acknowledgement),
    )


def interrupted_journal(table: MeterTable, seed: bytes, directory: Path, fuses: Sequence[Fuse]) -> Path:
    """The journal of a finished match, which was interrupted and resumed wherever a fuse ended the process."""
    for fuse in (*fuses, Fuse()):
        run_process(table, seed, directory, fuse)
        finished = [path for path in begun_journals(directory) if is_finished(path)]
        if finished:
            break
    return finished[0]


# What is in the files, found out from their bytes alone.


def begun_journals(directory: Path) -> list[Path]:
    """The journals with a whole opening."""
    return sorted(path for path in directory.glob("*.jsonl") if b"\n" in path.read_bytes())


def whole_lines(text: bytes) -> list[Any]:
    """What the lines say that have an end."""
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def parse_facts(text: bytes) -> list[Any]:
    """The facts as plain JSON."""
    return [line["fact"] for line in whole_lines(text) if line["type"] == "fact"]


def is_finished(path: Path) -> bool:
    """Is the last whole line the result?"""
    lines = whole_lines(path.read_bytes())
    return bool(lines) and lines[-1]["type"] == "result"


def fact_as_json(value: Any) -> Any:
    """A fact as it stands in a file."""
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
