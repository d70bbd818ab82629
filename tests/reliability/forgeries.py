"""Forge journals in every way: with the old chain of hashes, and with a new one."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from fairplay.core.chance import SeededRandom, derive_seed, seed_commitment
from fairplay.games import game_info
from fairplay.journal.options import Durability
from fairplay.journal.record import Journal
from fairplay.players.address import open_player
from fairplay.referee.referee import Referee
from tests.reliability.process_attempts import Fuse, interrupted_journal, whole_lines
from tests.reliability.tables import MeterTable

Lines = list[dict[str, Any]]
Forgery = Callable[
    [Lines, Lines, SeededRandom], Lines
]  # from the lines of a journal, and of another match at the same table

RESTAMP_SHIFT_S = 3600.0  # seconds


# The eight kinds of tampering. Lines are changed as copies.


def edit(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Change one value of one line, whatever it is."""
    place = lots.below(len(lines))
    body = {key: value for key, value in lines[place].items() if key != "hash"}
    return [*lines[:place], {**mutate_json(body, lots), "hash": lines[place]["hash"]}, *lines[place + 1 :]]


def delete(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Drop a line."""
    place = lots.below(len(lines))
    return lines[:place] + lines[place + 1 :]


def insert(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Put in a line that stands somewhere else, or that the match was resumed and all players were seated again."""
    place, epochs = 1 + lots.below(len(lines)), sum(line["type"] == "resumed" for line in lines)
    mark = {"at": lines[0]["at"], "hash": lines[0]["hash"]}
    resumed = {"type": "resumed", "seq": place, **mark, "fairplay": lines[0]["fairplay"], "epoch": epochs + 2}
    seated = {"type": "seated", "seq": place + 1, **mark, "names": lines[0]["names"]}
    fresh = ([resumed, seated], [random_line(lines, lots)], [random_line(other, lots)])[lots.below(3)]
    return [*lines[:place], *fresh, *lines[place:]]


def swap(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Let two lines change places."""
    one, two = lots.sample(len(lines), 2)
    swapped = list(lines)
    swapped[one], swapped[two] = lines[two], lines[one]
    return swapped


def splice(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Put lines of another match in the place of some, or of all that follow."""
    start, size = 1 + lots.below(min(len(lines), len(other)) - 1), 1 + lots.below(3)
    return lines[:start] + (other[start:] if lots.below(2) else other[start : start + size] + lines[start + size :])


def truncate(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Keep the first lines only."""
    return lines[: 1 + lots.below(len(lines) - 1)]


def restamp(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Say that everything from some line on happened at another time."""
    place = lots.below(len(lines))
    return lines[:place] + [{**line, "at": line["at"] + RESTAMP_SHIFT_S} for line in lines[place:]]


def duplicate(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Let a line stand there twice."""
    place = lots.below(len(lines))
    return [*lines[: place + 1], *lines[place:]]


KINDS: tuple[Forgery, ...] = (edit, delete, insert, swap, splice, truncate, restamp, duplicate)


# Forgers who keep everything legal, so that only a receipt gives them away.


def replace_match(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Put another match of the same players in its place, under the same id."""
    opening = {**other[0], "match": lines[0]["match"]}
    if "seed" in opening:
        opening["commitment"] = seed_commitment(bytes.fromhex(opening["seed"]), opening["match"])
    return [opening, *other[1:]]


def replace_names(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Say that others have played."""
    names = lines[0]["names"]
    return [{**line, "names": [*names[1:], names[0]]} if "names" in line else line for line in lines]


def shift_time(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Say that all of it happened earlier."""
    return [{**line, "at": line["at"] - RESTAMP_SHIFT_S} for line in lines]


def remove_interruptions(lines: Lines, other: Lines, lots: SeededRandom) -> Lines:
    """Say that nothing was ever interrupted, and who wrote it."""
    opening, seated, *rest = (line for line in lines if line["type"] != "resumed")
    return [opening, seated, *(line for line in rest if line["type"] != "seated")]


LEGAL_FORGERIES: tuple[Forgery, ...] = (replace_match, replace_names, shift_time, remove_interruptions)


def finish_otherwise(lines: Lines, lots: SeededRandom) -> Lines:
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
    return remove_interruptions(forged, [], lots)


# The two ways to write a forgery down.


def keep_hashes(lines: Sequence[Any]) -> bytes:
    """Every line with the hash that it has."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def rebuild_chain(lines: Sequence[Any]) -> bytes:
    """Every line with its number and with the hash that docs/journal.md asks for."""
    text, before, match = b"", "0" * 64, lines[0].get("match", "")
    for seq, line in enumerate(lines):
        body = msgspec.json.encode({**line, "seq": seq, "hash": ""}).removesuffix(b',"hash":""}')
        before = sha256(f"{before}{match}".encode() + body).hexdigest()
        text += body + f',"hash":"{before}"}}\n'.encode()
    return text


def other_match_lines(table: MeterTable, seed: bytes) -> Lines:
    """The lines of another match at the same table."""
    with TemporaryDirectory() as directory:
        return whole_lines(
            interrupted_journal(table, derive_seed(seed, "another"), Path(directory), [Fuse()]).read_bytes()
        )


def random_line(lines: Lines, lots: SeededRandom) -> dict[str, Any]:
    """One of the lines behind the opening."""
    return lines[1 + lots.below(len(lines) - 1)]


def mutate_json(value: Any, lots: SeededRandom) -> Any:
    """Plain JSON with one detail changed."""
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
