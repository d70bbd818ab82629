"""Let the process end at every step of every event, and demand that the resumed match is the same."""

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
from fairplay.journal.replay import Recorded, read
from fairplay.referee.gallery import Gallery
from tests.reliability.attempts import (
    STEPS,
    Attempt,
    Fuse,
    attempt,
    begun,
    difference,
    facts_in,
    is_finished,
    is_kept,
)
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading, seed_for
from tests.reliability.tables import TABLES, AnyMatch, Table

MOST_ATTEMPTS = 6


class Undisturbed(msgspec.Struct, frozen=True):
    """How a match comes out if nothing interrupts it, and how often each step is taken."""

    facts: tuple[Fact, ...]
    result: Result
    steps: dict[str, int]


def crashes(numbers: range, seed: bytes) -> Reading:
    """A number is a table and a step; the process ends at that step of one event after the other."""
    return reading(trial for number in numbers for trial in crashing(number, seed))


def crashing(number: int, seed: bytes) -> Iterator[str]:
    """At every third crash the resumed process crashes as well, at some other step."""
    index, place = divmod(number, len(STEPS))
    step, table, match_seed = STEPS[place], TABLES[index % len(TABLES)], seed_for(seed, index)
    lots = lots_for(seed, number)
    expected = undisturbed(table, match_seed)
    for count in range(1, expected.steps[step] + 1):
        fuses = [Fuse(step, count)]
        while count % 3 == 0 and lots.below(3) and len(fuses) < MOST_ATTEMPTS - 1:
            fuses.append(Fuse(STEPS[lots.below(len(STEPS))], 1 + lots.below(4)))
        failure = crashed(table, match_seed, fuses, expected)
        yield failure and f"table {index} ({table.game}), {step}, time {count}, {len(fuses)} crashes: {failure}"


def undisturbed(table: Table, seed: bytes) -> Undisturbed:
    """Play it through, with a journal."""
    with TemporaryDirectory() as directory:
        fuse = Fuse()
        final = attempt(table, seed, Path(directory), fuse).final
        assert final is not None
        return Undisturbed(read(begun(Path(directory))[0]).facts, final.result, dict(fuse.passed))


def crashed(table: Table, seed: bytes, fuses: list[Fuse], expected: Undisturbed) -> str:
    """What goes wrong if one process after the other ends by its fuse, until one comes to the end."""
    with TemporaryDirectory() as directory:
        try:
            for fuse in (*fuses, Fuse()):
                done = attempt(table, seed, Path(directory), fuse)
                failure = broken_promise(done, Path(directory))
                if failure or done.final is not None or any(is_finished(file) for file in begun(Path(directory))):
                    break
            paths = begun(Path(directory))
            if failure or len(paths) != 1:
                return failure or f"there are {len(paths)} journals"
            return difference(paths[0], expected.facts, expected.result, done.result)
        except FairplayError as error:
            return f"{type(error).__name__}: {error}"


def broken_promise(done: Attempt, directory: Path) -> str:
    """What a process had told that is not in its journal."""
    paths = begun(directory)
    text = paths[-1].read_bytes() if paths else b""
    if done.fault is not None:
        return f"a fault of the host: {done.fault}"
    if not is_kept(done.told, done.known, text):
        return f"{len(done.told)} facts were told after {done.known}, and not all are among {len(facts_in(text))}"
    if done.result is not None and not is_finished(paths[-1]):
        return "the end was told, and is not in the file"
    if done.shown is not None and not follows(done.shown, read(paths[-1])):
        return f"seat {done.shown[0]} was shown in {done.shown[1]} what is not in the file"
    return ""


def follows(shown: tuple[Seat, str, Any], recorded: Recorded) -> bool:
    """Does what a player was shown follow from the file? The last fact there may have come of its answer."""
    seat, call, content = shown
    for facts in range(len(recorded.facts), max(len(recorded.facts) - 2, -1), -1):
        match = recorded.at(facts)
        if call in ("start", "take_turn"):
            same = content == match.view(seat)
        elif call == "tell":
            same = any((news.seat, news.content) == (seat, content) for news in match.owed)
        else:
            same = msgspec.structs.replace(content, receipt=None) == match.result
        if same:
            return True
    return False


@contextmanager
def telling_before_writing() -> Iterator[None]:
    """The bug of a journal that is written when everybody has been told."""
    late: list[Callable[[], object]] = []
    write, tell = MatchRecord.write, Gallery.tell

    def write_later(record: MatchRecord, event: Event, message: Message | None, answer: Answer | None) -> bool:
        late.append(lambda: write(record, event, message, answer))
        return False

    def tell_first(gallery: Gallery, event: Event, match: AnyMatch) -> None:
        tell(gallery, event, match)
        late.pop()()

    with patch.object(MatchRecord, "write", write_later), patch.object(Gallery, "tell", tell_first):
        yield


CRASHES = Meter(
    "crashes",
    crashes,
    full=range(len(TABLES) * len(STEPS)),
    least=1_500,
    small=range(8, len(TABLES) * len(STEPS), 17),
    bugs=(Bug("tells before it writes", telling_before_writing),),
    parts=24,
)
