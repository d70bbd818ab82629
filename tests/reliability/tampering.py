"""Flip bits of journals and forge them in every way, and demand that nothing of it passes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import Lots
from fairplay.core.errors import BadJournal
from fairplay.core.events import Receipt
from fairplay.journal import replay
from fairplay.journal import verify as verification
from fairplay.journal.record import Journal
from fairplay.journal.replay import read
from fairplay.journal.requests import Sync
from fairplay.journal.verify import verify
from tests.reliability.attempts import STEPS, Fuse, attempt, begun, whole_lines
from tests.reliability.forgeries import KINDS, LAWFUL, chain_anew, chain_left, finished_otherwise, other_match
from tests.reliability.readings import Bug, Meter, Reading, lots_for, reading, seed_for
from tests.reliability.tables import TABLES, Table

FLIPS = 80  # of each finished journal, and of each unfinished one half as many
UNFINISHED = 3  # journals made of each finished one
FORGERIES = 6  # of each kind and each journal
NEWLINE = ord("\n")


class Evidence(msgspec.Struct, frozen=True):
    """A finished journal, and the receipt that an observer was handed."""

    text: bytes
    receipt: Receipt


def tampering(numbers: range, seed: bytes) -> Reading:
    """A number is a journal, which is tampered with in many ways."""
    return reading(trial for number in numbers for trial in tampered(number, seed))


def tampered(number: int, seed: bytes) -> Iterator[str]:
    """All trials on one journal, each with its name."""
    lots, table, match_seed = lots_for(seed, number), TABLES[number % len(TABLES)], seed_for(seed, number)
    evidence = recorded(table, match_seed, lots)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "tampered.jsonl"
        for trial, failure in (
            *flips(evidence, path, lots),
            *flips_of_unfinished(evidence, path, lots),
            *forgeries(evidence, path, lots, table, match_seed),
        ):
            yield failure and f"journal {number} ({table.game}), {trial}: {failure}"


def recorded(table: Table, seed: bytes, lots: Lots) -> Evidence:
    """A match that was interrupted twice, and then told to its end."""
    with TemporaryDirectory() as directory:
        for fuse in (*(Fuse(STEPS[lots.below(3)], 3 + lots.below(6)) for _ in range(2)), Fuse()):
            done = attempt(table, seed, Path(directory), fuse)
            if done.result is not None:
                break
        assert done.result is not None
        assert done.result.receipt is not None
        (path,) = begun(Path(directory))
        return Evidence(path.read_bytes(), done.result.receipt)


def flips(evidence: Evidence, path: Path, lots: Lots) -> Iterator[tuple[str, str]]:
    """Flip a bit anywhere, and of every end of a line: it is refused, and its line is named."""
    text = evidence.text
    places = [lots.below(len(text)) for _ in range(FLIPS)] + [at for at, byte in enumerate(text) if byte == NEWLINE]
    for place in places:
        flipped, trial = flip(text, place, lots)
        path.write_bytes(flipped)
        try:
            verify(read(path))
        except BadJournal as error:
            yield trial, misnamed(text, flipped, place, error)
        else:
            yield trial, "missed"


def flips_of_unfinished(evidence: Evidence, path: Path, lots: Lots) -> Iterator[tuple[str, str]]:
    """The same for journals of which the end is missing: none is resumed, but for what a torn line hides."""
    for _ in range(UNFINISHED):
        text = evidence.text[: lots.below(evidence.text.rfind(b"\n", 0, -1))]
        whole = text.rfind(b"\n") + 1
        if not whole:
            continue
        places = [lots.below(len(text)) for _ in range(FLIPS // 2)] + [whole - 1]
        for place in places:
            flipped, trial = flip(text, place, lots)
            path.write_bytes(flipped)
            try:
                Journal(path.parent, sync=Sync.OFF).resume(path)[0].close()
            except BadJournal:
                yield trial, "" if path.read_bytes() == flipped else "it was refused, but changed"
            else:
                hidden = place >= whole and path.read_bytes().startswith(text[:whole])
                yield f"unfinished, {trial} of {len(text)} ({len(text) - whole} torn)", "" if hidden else "resumed"


def flip(text: bytes, place: int, lots: Lots) -> tuple[bytes, str]:
    """The text with one bit flipped there, and what that is called."""
    bit = lots.below(8)
    return text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :], f"bit {bit} of byte {place}"


def misnamed(text: bytes, flipped: bytes, place: int, error: BadJournal) -> str:
    """In what an error does not name the line of a flip; the next to it will do where the flip is about an end."""
    line = text.count(b"\n", 0, place) + 1
    near = 1 if NEWLINE in (text[place], flipped[place]) else 0
    begins = [0, *(at + 1 for at, byte in enumerate(flipped) if byte == NEWLINE)]
    if abs(error.line - line) > near:
        return f"it is in line {line}, but line {error.line} was named"
    return "" if error.byte == begins[error.line - 1] else f"line {error.line} does not begin at byte {error.byte}"


def forgeries(evidence: Evidence, path: Path, lots: Lots, table: Table, seed: bytes) -> Iterator[tuple[str, str]]:
    """Tamper in all kinds of ways: nothing of it fits the receipt, and without a new chain it is refused anyway."""
    lines, other = whole_lines(evidence.text), other_match(table, seed)
    assert chain_left(lines) == chain_anew(lines) == evidence.text  # the forger is skilled
    for kind in KINDS:
        for _ in range(FORGERIES):
            forged = kind(lines, other, lots)
            yield f"{kind.__name__}, chain left", missed(chain_left(forged), path, evidence, None)
            yield f"{kind.__name__}, chain anew", missed(chain_anew(forged), path, evidence, evidence.receipt)
    for kind in LAWFUL:
        forged = kind(lines, other, lots)
        yield f"{kind.__name__}, chain anew", missed(chain_anew(forged), path, evidence, evidence.receipt)
    for _ in range(FORGERIES):
        forged = finished_otherwise(lines, lots)
        yield "finished otherwise", missed(chain_anew(forged), path, evidence, evidence.receipt)


def missed(forged: bytes, path: Path, evidence: Evidence, receipt: Receipt | None) -> str:
    """Does a forgery pass? Nothing, if it does not, or if it is none at all."""
    path.write_bytes(forged)
    try:
        verify(read(path), receipt)
    except BadJournal:
        return ""
    return "" if forged == evidence.text else "missed"


def not_checking_the_chain() -> AbstractContextManager[Any]:
    """The bug of a reader for which every hash fits."""

    class Fitting(bytes):
        def __ne__(self, other: object) -> bool:
            return False

    return patch.object(replay, "seal", lambda *_: Fitting())


def not_looking_at_receipts() -> AbstractContextManager[Any]:
    """The bug of a verification that takes any receipt."""
    return patch.object(verification, "check_receipt", lambda *_: None)


TAMPERING = Meter(
    "flips and forgeries",
    tampering,
    full=range(24),
    least=2_000,
    small=range(4),
    bugs=(
        Bug("does not check the chain", not_checking_the_chain),
        Bug("does not look at the receipt", not_looking_at_receipts),
    ),
    parts=24,
)
