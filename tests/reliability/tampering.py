"""Flip bits of journals and forge them in every way, and check that all of it is detected."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

from fairplay.core.chance import SeededRandom, derive_seed, seed_commitment
from fairplay.core.errors import BadJournal
from fairplay.core.events import Receipt
from fairplay.games import game_info
from fairplay.journal import replay
from fairplay.journal import verification as verification
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import verify
from fairplay.players.address import open_player
from fairplay.referee.referee import Referee
from tests.reliability.process_attempts import (
    STEPS,
    Fuse,
    begun_journals,
    run_process,
    whole_lines,
)
from tests.reliability.readings import Meter, make_lots, make_seed, measure_each
from tests.reliability.tables import TABLES, MeterTable

FLIPS_PER_JOURNAL = 80  # of each finished journal, and of each unfinished one half as many
UNFINISHED_PER_JOURNAL = 3  # journals made of each finished one
FORGERIES_PER_KIND = 6  # of each kind and each journal
NEWLINE = ord("\n")


class FinishedJournal(msgspec.Struct, frozen=True):
    """A finished journal, and the receipt that an observer was handed."""

    text: bytes
    receipt: Receipt


def try_tampering(number: int, seed: bytes) -> Iterator[str]:
    lots, table, match_seed = make_lots(seed, number), TABLES[number % len(TABLES)], make_seed(seed, number)
    evidence = record_match(table, match_seed, *(Fuse(STEPS[lots.below(3)], 3 + lots.below(6)) for _ in range(2)))
    with TemporaryDirectory() as directory:
        path = Path(directory) / "tampered.jsonl"
        for trial, failure in (
            *try_flips(evidence, path, lots),
            *try_unfinished_flips(evidence, path, lots),
            *try_forgeries(evidence, path, lots, table, match_seed),
        ):
            yield failure and f"journal {number} ({table.game}), {trial}: {failure}"


def record_match(table: MeterTable, seed: bytes, *fuses: Fuse) -> FinishedJournal:
    """A match that was interrupted, and then finished."""
    with TemporaryDirectory() as directory:
        for fuse in (*fuses, Fuse()):
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
    places = [lots.below(len(text)) for _ in range(FLIPS_PER_JOURNAL)]
    places += [at for at, byte in enumerate(text) if byte == NEWLINE]
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

    def find_rechained(forged: Lines) -> str:
        return find_missed_forgery(rebuild_chain(forged), path, evidence, evidence.receipt)

    lines, other = whole_lines(evidence.text), whole_lines(record_match(table, derive_seed(seed, "another")).text)
    assert keep_hashes(lines) == rebuild_chain(lines) == evidence.text  # the forger is skilled
    for name, forge in [*KINDS.items()] * FORGERIES_PER_KIND:
        forged = forge(lines, other, lots)
        yield f"{name}, chain left", find_missed_forgery(keep_hashes(forged), path, evidence, None)
        yield f"{name}, chain anew", find_rechained(forged)
    for name, forge in LEGAL_FORGERIES.items():
        yield f"{name}, chain anew", find_rechained(forge(lines, other, lots))


def find_missed_forgery(forged: bytes, path: Path, evidence: FinishedJournal, receipt: Receipt | None) -> str:
    """Does a forgery pass? Nothing, if it does not, or if it is none at all."""
    path.write_bytes(forged)
    try:
        verify(read_journal(path), receipt)
    except BadJournal:
        return ""
    return "" if forged == evidence.text else "missed"


class FittingHash(bytes):
    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = bytes.__hash__


Lines = list[dict[str, Any]]
Forgery = Callable[[Lines, Lines, SeededRandom], Lines]  # from the lines of a journal, and of another match there


def edit(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    place = lots.below(len(lines))
    body = {key: value for key, value in lines[place].items() if key != "hash"}
    return [*lines[:place], {**mutate_json(body, lots), "hash": lines[place]["hash"]}, *lines[place + 1 :]]


def remove(lines: Lines, place: int) -> Lines:
    return lines[:place] + lines[place + 1 :]


def insert(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Put in a line that stands somewhere else, or that the match was resumed and all players were seated again."""
    place, epochs = 1 + lots.below(len(lines)), sum(line["type"] == "resumed" for line in lines)
    mark = {"at": lines[0]["at"], "hash": lines[0]["hash"]}
    resumed = {"type": "resumed", "seq": place, **mark, "fairplay": lines[0]["fairplay"], "epoch": epochs + 2}
    seated = {"type": "seated", "seq": place + 1, **mark, "names": lines[0]["names"]}
    copied, foreign = (some[1 + lots.below(len(some) - 1)] for some in (lines, other))
    return [*lines[:place], *([resumed, seated], [copied], [foreign])[lots.below(3)], *lines[place:]]


def swap(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    one, two = lots.sample(len(lines), 2)
    swapped = list(lines)
    swapped[one], swapped[two] = lines[two], lines[one]
    return swapped


def splice(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Put lines of another match in the place of some, or of all that follow."""
    start, size = 1 + lots.below(min(len(lines), len(other)) - 1), 1 + lots.below(3)
    return lines[:start] + (other[start:] if lots.below(2) else other[start : start + size] + lines[start + size :])


def shift_time(lines: Lines, start: int, seconds: float) -> Lines:
    return lines[:start] + [{**line, "at": line["at"] + seconds} for line in lines[start:]]


def repeat(lines: Lines, place: int) -> Lines:
    return [*lines[: place + 1], *lines[place:]]


KINDS: dict[str, Forgery] = {
    "edit": edit,
    "delete": lambda lines, other, lots: remove(lines, lots.below(len(lines))),
    "insert": insert,
    "swap": swap,
    "splice": splice,
    "truncate": lambda lines, other, lots: lines[: 1 + lots.below(len(lines) - 1)],
    "restamp": lambda lines, other, lots: shift_time(lines, lots.below(len(lines)), 3600.0),
    "duplicate": lambda lines, other, lots: repeat(lines, lots.below(len(lines))),
}


def replace_match(lines: Lines, other: Lines) -> Lines:
    """Put another match of the same players in its place, under the same id."""
    opening = {**other[0], "match": lines[0]["match"]}
    if "seed" in opening:
        opening["commitment"] = seed_commitment(bytes.fromhex(opening["seed"]), opening["match"])
    return [opening, *other[1:]]


def rotate_names(lines: Lines) -> Lines:
    names = lines[0]["names"]
    return [{**line, "names": [*names[1:], names[0]]} if "names" in line else line for line in lines]


def remove_interruptions(lines: Lines) -> Lines:
    """Say that nothing was ever interrupted, and who wrote it."""
    opening, seated, *rest = (line for line in lines if line["type"] != "resumed")
    return [opening, seated, *(line for line in rest if line["type"] != "seated")]


def finish_otherwise(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Keep the first lines, and let others finish the match legally, as if it had never been interrupted."""
    kept = lines[: 1 + lots.below(len(lines) - 1)]
    with TemporaryDirectory() as directory:
        path, journal = Path(directory) / "forged.jsonl", Journal(directory, sync=Durability.OFF)
        path.write_bytes(keep_hashes(kept))
        record, recorded = journal.resume(path)
        match = recorded.match_after(None)
        info, key = game_info(match.game.name), derive_seed(bytes(32), str(lots.below(2**32)))
        players = [open_player("random", info, derive_seed(key, str(seat))) for seat in sorted(match.remaining_seats)]
        if match.game.name == "q":
            players = [lambda view: {"type": "pass"} for _ in players]
        with record:
            Referee().resume(match, players, record=record)
        forged = whole_lines(path.read_bytes())
    return remove_interruptions(forged)


LEGAL_FORGERIES: dict[str, Forgery] = {  # of which only a receipt tells
    "another match": lambda lines, other, lots: replace_match(lines, other),
    "other names": lambda lines, other, lots: rotate_names(lines),
    "another time": lambda lines, other, lots: shift_time(lines, 0, -3600.0),
    "no interruptions": lambda lines, other, lots: remove_interruptions(lines),
    **dict.fromkeys((f"finished otherwise {n}" for n in range(FORGERIES_PER_KIND)), finish_otherwise),
}


def keep_hashes(lines: Sequence[Any]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def rebuild_chain(lines: Sequence[Any]) -> bytes:
    """Every line with its number and with the hash that docs/journal.md asks for."""
    text, before, match = b"", "0" * 64, lines[0].get("match", "")
    for seq, line in enumerate(lines):
        body = msgspec.json.encode({**line, "seq": seq, "hash": ""}).removesuffix(b',"hash":""}')
        before = sha256(f"{before}{match}".encode() + body).hexdigest()
        text += body + f',"hash":"{before}"}}\n'.encode()
    return text


def mutate_json(value: Any, lots: SeededRandom) -> Any:
    match value:
        case dict() if value:
            key = list(value)[lots.below(len(value))]
            return {**value, key: mutate_json(value[key], lots)}
        case list() if value:
            place = lots.below(len(value))
            return [*value[:place], mutate_json(value[place], lots), *value[place + 1 :]]
        case bool() | None:
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")
        case _:
            return [value]


TAMPERING_METER = Meter(
    "flips and forgeries",
    measure_each(try_tampering),
    full=range(24),
    least=2_000,
    small=range(4),
    parts=24,
    bugs={
        "does not check the chain": lambda: patch.object(replay, "line_hash", lambda *_: FittingHash()),
        "does not look at the receipt": lambda: patch.object(verification, "check_receipt", lambda *_: None),
    },
)
