"""End the process at every step of every event, and check that the resumed match is the same."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.core.events import Event, Fact, Result
from fairplay.core.game import Seat
from fairplay.core.messages import Answer, Message
from fairplay.journal.record import MatchRecord
from fairplay.journal.replay import RecordedMatch, read_journal
from fairplay.referee.observers import Observers
from tests.reliability.process_attempts import (
    STEPS,
    Fuse,
    ProcessAttempt,
    begun_journals,
    find_difference,
    finished_journals,
    parse_facts,
    published_is_recorded,
    run_process,
)
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each
from tests.reliability.tables import TABLES, AnyMatch, MeterTable

MAX_PROCESS_ATTEMPTS = 6


class UndisturbedMatch(msgspec.Struct, frozen=True):
    """How a match comes out if nothing interrupts it, and how often each step is taken."""

    facts: tuple[Fact, ...]
    result: Result
    steps: dict[str, int]


def try_crashes(number: int, seed: bytes) -> Iterator[str]:
    """End the process at a step of one event after the other; every third time a resumed process ends as well."""
    index, place = divmod(number, len(STEPS))
    step, table, match_seed = STEPS[place], TABLES[index % len(TABLES)], make_seed(seed, index)
    lots = make_lots(seed, number)
    expected = play_undisturbed(table, match_seed)
    for count in range(1, expected.steps[step] + 1):
        fuses = [Fuse(step, count)]
        while count % 3 == 0 and lots.below(3) and len(fuses) < MAX_PROCESS_ATTEMPTS - 1:
            fuses.append(Fuse(STEPS[lots.below(len(STEPS))], 1 + lots.below(4)))
        failure = play_with_crashes(table, match_seed, fuses, expected)
        yield failure and f"table {index} ({table.game}), {step}, time {count}, {len(fuses)} crashes: {failure}"


def play_undisturbed(table: MeterTable, seed: bytes) -> UndisturbedMatch:
    with TemporaryDirectory() as directory:
        fuse = Fuse()
        final = run_process(table, seed, Path(directory), fuse).final
        assert final is not None
        return UndisturbedMatch(read_journal(begun_journals(Path(directory))[0]).facts, final.result, dict(fuse.passed))


def play_with_crashes(table: MeterTable, seed: bytes, fuses: list[Fuse], expected: UndisturbedMatch) -> str:
    """What goes wrong if one process after the other ends by its fuse, until one comes to the end."""
    with TemporaryDirectory() as directory:
        try:
            for fuse in (*fuses, Fuse()):
                done = run_process(table, seed, Path(directory), fuse)
                failure = find_unrecorded(done, Path(directory))
                if failure or done.final is not None or finished_journals(Path(directory)):
                    break
            paths = begun_journals(Path(directory))
            if failure or len(paths) != 1:
                return failure or f"there are {len(paths)} journals"
            return find_difference(paths[0], expected.facts, expected.result, done.result)
        except FairplayError as error:
            return f"{type(error).__name__}: {error}"


def find_unrecorded(done: ProcessAttempt, directory: Path) -> str:
    paths = begun_journals(directory)
    text = paths[-1].read_bytes() if paths else b""
    if done.fault is not None:
        return f"a fault of the host: {done.fault}"
    if not published_is_recorded(done.published_facts, done.known, text):
        published, recorded = len(done.published_facts), len(parse_facts(text))
        return f"{published} facts were published after {done.known}, and not all are among {recorded}"
    if done.result is not None and not finished_journals(directory):
        return "the end was published, and is not in the file"
    if done.shown_view is not None and not follows(done.shown_view, read_journal(paths[-1])):
        return f"seat {done.shown_view[0]} was shown in {done.shown_view[1]} what is not in the file"
    return ""


def follows(shown: tuple[Seat, str, Any], recorded: RecordedMatch) -> bool:
    """Does what a player was shown follow from the file? The last fact there may have come of its answer."""
    seat, call, content = shown
    for facts in range(len(recorded.facts), max(len(recorded.facts) - 2, -1), -1):
        match = recorded.match_after(facts)
        if call in ("start", "take_turn"):
            same = content == match.view(seat)
        elif call == "tell":
            same = any((news.seat, news.content) == (seat, content) for news in match.pending_news)
        else:
            same = msgspec.structs.replace(content, receipt=None) == match.result
        if same:
            return True
    return False


@contextmanager
def notify_before_writing() -> Iterator[None]:
    late: list[Callable[[], object]] = []
    write, notify = MatchRecord.write, Observers.notify

    def write_later(record: MatchRecord, event: Event, message: Message | None, answer: Answer | None) -> bool:
        late.append(lambda: write(record, event, message, answer))
        return False

    def notify_first(observers: Observers, event: Event, match: AnyMatch) -> None:
        notify(observers, event, match)
        late.pop()()

    with patch.object(MatchRecord, "write", write_later), patch.object(Observers, "notify", notify_first):
        yield


CRASH_METER = Meter(
    "crashes",
    measure_each(try_crashes),
    full=range(len(TABLES) * len(STEPS)),
    least=1_500,
    small=range(8, len(TABLES) * len(STEPS), 17),
    parts=24,
    bugs={"tells before it writes": notify_before_writing},
)
