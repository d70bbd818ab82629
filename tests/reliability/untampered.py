"""Record matches of every kind, interrupt, resume and branch them, and check that all of them are verified."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from fairplay.core.errors import BadJournal, FairplayError
from fairplay.journal import replay
from fairplay.journal.lines import JournalLine
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal, branch_match
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.referee.referee import Referee
from tests.reliability.process_attempts import STEPS, ForgettingDisk, Fuse, TearingDisk, finished_journals, run_process
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each
from tests.reliability.tables import TABLES

FALSE_ALARM_INTERVAL = 12  # of so many journals about one
parse_lines = replay.parse_lines


def check_journals(number: int, seed: bytes) -> Iterator[str]:
    """What is wrong with the journal of a match, which may be interrupted, and with that of a branch."""
    lots, table, match_seed = make_lots(seed, number), TABLES[number % len(TABLES)], make_seed(seed, number)
    fuses = [Fuse(STEPS[lots.below(len(STEPS))], 1 + lots.below(20)) for _ in range(lots.below(3))]
    sync, name = tuple(Durability)[lots.below(len(Durability))], f"match {number} ({table.game})"
    with TemporaryDirectory() as directory:
        try:
            for fuse in (*fuses, Fuse()):
                disk = TearingDisk(fuse) if sync is Durability.OFF else ForgettingDisk()
                done = run_process(table, match_seed, Path(directory), fuse, disk, sync)
                if finished := finished_journals(Path(directory)):
                    break
            parent = read_journal(finished[0])
            receipt = done.result.receipt if done.result else None
            verify(parent, receipt)
            yield "" if done.final is None or receipt else f"{name}: there is no receipt"
            if lots.below(3) == 0:
                facts = lots.below(len(parent.facts) + 1)
                match = branch_match(parent, facts, parent.names)
                players = [table.player(seat, match_seed) for seat in sorted(match.remaining_seats)]
                with Journal(directory, sync=sync).branch(match, parent, facts) as record:
                    Referee().resume(match, players, record=record)
                verify(read_journal(record.path))
                yield ""
        except FairplayError as error:
            yield f"{name}: {type(error).__name__}: {error}"


def refuse_some(text: bytes) -> tuple[list[JournalLine], tuple[str, ...], int]:
    if sum(text[:2000]) % FALSE_ALARM_INTERVAL == 0:
        raise BadJournal(1, "there is something about this line", 0)
    return parse_lines(text)


CLEAN_METER = Meter(
    "journals",
    measure_each(check_journals),
    full=range(300),
    least=300,
    small=range(40),
    parts=20,
    bugs={"gives false alarms": lambda: patch.object(replay, "parse_lines", refuse_some)},
)
