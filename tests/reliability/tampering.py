"""Flip bits of journals and forge them in every way, and check that all of it is detected."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import SeededRandom
from fairplay.core.errors import BadJournal
from fairplay.core.events import Receipt
from fairplay.journal import replay
from fairplay.journal import verification as verification
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from tests.reliability.forgeries import (
    KINDS,
    LEGAL_FORGERIES,
    finish_otherwise,
    keep_hashes,
    other_match_lines,
    rebuild_chain,
)
from tests.reliability.process_attempts import STEPS, Fuse, begun_journals, run_process, whole_lines
from tests.reliability.readings import Bug, Meter, Reading, make_lots, make_reading, make_seed
from tests.reliability.tables import TABLES, MeterTable

FLIPS_PER_JOURNAL = 80  # of each finished journal, and of each unfinished one half as many
UNFINISHED_PER_JOURNAL = 3  # journals made of each finished one
FORGERIES_PER_KIND = 6  # of each kind and each journal
NEWLINE = ord("\n")


class FinishedJournal(msgspec.Struct, frozen=True):
    """A finished journal, and the receipt that an observer was handed."""

    text: bytes
    receipt: Receipt


def measure_tampering(numbers: range, seed: bytes) -> Reading:
    """A number is a journal, which is tampered with in many ways."""
    return make_reading(trial for number in numbers for trial in try_tampering(number, seed))


def try_tampering(number: int, seed: bytes) -> Iterator[str]:
    """All trials on one journal, each with its name."""
    lots, table, match_seed = make_lots(seed, number), TABLES[number % len(TABLES)], make_seed(seed, number)
    evidence = record_match(table, match_seed, lots)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "tampered.jsonl"
        for trial, failure in (
            *try_flips(evidence, path, lots),
            *try_unfinished_flips(evidence, path, lots),
            *try_forgeries(evidence, path, lots, table, match_seed),
        ):
            yield failure and f"journal {number} ({table.game}), {trial}: {failure}"


def record_match(table: MeterTable, seed: bytes, lots: SeededRandom) -> FinishedJournal:
    """A match that was interrupted twice, and then finished."""
    with TemporaryDirectory() as directory:
        for fuse in (*(Fuse(STEPS[lots.below(3)], 3 + lots.below(6)) for _ in range(2)), Fuse()):
            done = run_process(table, seed, Path(directory), fuse)
            if done.result is not None:
                break
        assert done.result is not None
        assert done.result.receipt is not None
        (path,) = begun_journals(Path(directory))
        return FinishedJournal(path.read_bytes(), done.result.receipt)


def try_flips(evidence: FinishedJournal, path: Path, lots: SeededRandom) -> Iterator[tuple[str, str]]:
    """Flip a bit anywhere, and of every end of a line: it is refused, and its line is named."""
    text = evidence.text
    places = [lots.below(len(text)) for _ in range(FLIPS_PER_JOURNAL)] + [
        at for at, byte in enumerate(text) if byte == NEWLINE
    ]
    for place in places:
        flipped, trial = flip_bit(text, place, lots)
        path.write_bytes(flipped)
        try:
            verify(read_journal(path))
        except BadJournal as error:
            yield trial, find_misnamed_line(text, flipped, place, error)
        else:
            yield trial, "missed"


def try_unfinished_flips(evidence: FinishedJournal, path: Path, lots: SeededRandom) -> Iterator[tuple[str, str]]:
    """The same for journals of which the end is missing: none is resumed, but for what a torn line hides."""
    for _ in range(UNFINISHED_PER_JOURNAL):
        text = evidence.text[: lots.below(evidence.text.rfind(b"\n", 0, -1))]
        whole = text.rfind(b"\n") + 1
        if not whole:
            continue
        places = [lots.below(len(text)) for _ in range(FLIPS_PER_JOURNAL // 2)] + [whole - 1]
        for place in places:
            flipped, trial = flip_bit(text, place, lots)
            path.write_bytes(flipped)
            try:
                Journal(path.parent, sync=Durability.OFF).resume(path)[0].close()
            except BadJournal:
                yield trial, "" if path.read_bytes() == flipped else "it was refused, but changed"
            else:
                hidden = place >= whole and path.read_bytes().startswith(text[:whole])
                yield f"unfinished, {trial} of {len(text)} ({len(text) - whole} torn)", "" if hidden else "resumed"


def flip_bit(text: bytes, place: int, lots: SeededRandom) -> tuple[bytes, str]:
    """The text with one bit flipped there, and what that is called."""
    bit = lots.below(8)
    return text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :], f"bit {bit} of byte {place}"


def find_misnamed_line(text: bytes, flipped: bytes, place: int, error: BadJournal) -> str:
    """In what an error does not name the line of a flip; the next to it will do where the flip is about an end."""
    line = text.count(b"\n", 0, place) + 1
    near = 1 if NEWLINE in (text[place], flipped[place]) else 0
    begins = [0, *(at + 1 for at, byte in enumerate(flipped) if byte == NEWLINE)]
    if abs(error.line - line) > near:
        return f"it is in line {line}, but line {error.line} was named"
    return "" if error.byte == begins[error.line - 1] else f"line {error.line} does not begin at byte {error.byte}"


def try_forgeries(
    evidence: FinishedJournal, path: Path, lots: SeededRandom, table: MeterTable, seed: bytes
) -> Iterator[tuple[str, str]]:
    """Tamper in all kinds of ways: nothing of it fits the receipt, and without a new chain it is refused anyway."""
    lines, other = whole_lines(evidence.text), other_match_lines(table, seed)
    assert keep_hashes(lines) == rebuild_chain(lines) == evidence.text  # the forger is skilled
    for kind in KINDS:
        for _ in range(FORGERIES_PER_KIND):
            forged = kind(lines, other, lots)
            yield f"{kind.__name__}, chain left", find_missed_forgery(keep_hashes(forged), path, evidence, None)
            yield (
                f"{kind.__name__}, chain anew",
                find_missed_forgery(rebuild_chain(forged), path, evidence, evidence.receipt),
            )
    for kind in LEGAL_FORGERIES:
        forged = kind(lines, other, lots)
        yield (
            f"{kind.__name__}, chain anew",
            find_missed_forgery(rebuild_chain(forged), path, evidence, evidence.receipt),
        )
    for _ in range(FORGERIES_PER_KIND):
        forged = finish_otherwise(lines, lots)
        yield "finished otherwise", find_missed_forgery(rebuild_chain(forged), path, evidence, evidence.receipt)


def find_missed_forgery(forged: bytes, path: Path, evidence: FinishedJournal, receipt: Receipt | None) -> str:
    """Does a forgery pass? Nothing, if it does not, or if it is none at all."""
    path.write_bytes(forged)
    try:
        verify(read_journal(path), receipt)
    except BadJournal:
        return ""
    return "" if forged == evidence.text else "missed"


def planted_unchecked_chain() -> AbstractContextManager[Any]:
    """The bug of a reader for which every hash fits."""

    class Fitting(bytes):
        def __ne__(self, other: object) -> bool:
            return False

    return patch.object(replay, "line_hash", lambda *_: Fitting())


def planted_unchecked_receipts() -> AbstractContextManager[Any]:
    """The bug of a verification that takes any receipt."""
    return patch.object(verification, "check_receipt", lambda *_: None)


TAMPERING_METER = Meter(
    "flips and forgeries",
    measure_tampering,
    full=range(24),
    least=2_000,
    small=range(4),
    bugs=(
        Bug("does not check the chain", planted_unchecked_chain),
        Bug("does not look at the receipt", planted_unchecked_receipts),
    ),
    parts=24,
)
