"""Write a match down as it happens, one chained line per fact."""

import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from fairplay import __version__
from fairplay.core.errors import HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Result, Started
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered

FORMAT = 1
NO_HASH = b"0" * 64  # what the first line is chained to


class Parent(msgspec.Struct, frozen=True):
    """Where a branch comes from: the id of another match, and after how many of its facts it goes its own way."""

    match: str
    facts: int


class Opening(msgspec.Struct, frozen=True, tag="opening", omit_defaults=True):
    """The first line: all that is needed to begin the match again."""

    seq: int
    at: float  # wall time, in seconds
    format: int
    fairplay: str
    match: str  # its id
    game: str
    rules: str  # the version of the game's rules
    parameters: dict[str, Any]
    names: tuple[str, ...]
    players: tuple[str, ...] = ()  # their addresses
    seed: str | None = None  # in hex; None: the state was given
    guessable: bool = False  # was the seed made from a short text?
    state: Any = None
    parent: Parent | None = None


class Entry(msgspec.Struct, frozen=True, tag="fact", omit_defaults=True):
    """A line in the middle: what changed the match, when, and how long the player took."""

    seq: int
    at: float
    took: float
    fact: Fact
    answer: Any = None  # the action that was refused, so that it can be judged again
    evidence: str = ""


class Closing(msgspec.Struct, frozen=True, tag="result"):
    """The last line."""

    seq: int
    at: float
    result: Result


Line = Opening | Entry | Closing
encode = msgspec.json.Encoder().encode


def seal(before: bytes, match: bytes, body: bytes) -> bytes:
    """The hash of a line: over the hash before, the id of the match, and the line's bytes up to its own hash."""
    return sha256(before + match + body).hexdigest().encode()


class Journal:
    """A record in a directory: one file for each match, named by the match's id, private to whoever runs it.

    A line is handed to the operating system before anybody is told of it. If that fails, the match stops as a fault
    of ours.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        players: Sequence[str] = (),
        guessable: bool = False,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.path: Path | None = None  # of the match that was opened last
        self.clock = clock
        self._directory = Path(directory)
        self._players = tuple(players)
        self._guessable = guessable
        self._now = now
        self._file = -1

    def open(self, match: Match[Any, Any, Any], seed: bytes | None) -> None:
        """Begin a new file with the opening."""
        self._begin(
            Opening(
                0,
                self._now(),
                FORMAT,
                __version__,
                secrets.token_hex(16),
                match.game.name,
                match.game.version,
                match.game.parameters(),
                match.names,
                self._players,
                None if seed is None else seed.hex(),
                self._guessable,
                match.game.pack_state(match.state) if seed is None else None,
            )
        )

    def branch(self, opening: Opening, entries: Sequence[Entry], names: tuple[str, ...]) -> None:
        """Begin a new file with the opening and the first facts of another match, under other names perhaps."""
        self._begin(
            msgspec.structs.replace(
                opening,
                at=self._now(),
                fairplay=__version__,
                match=secrets.token_hex(16),
                names=names,
                players=self._players,
                parent=Parent(opening.match, len(entries)),
            )
        )
        for entry in entries:
            self._append(entry)

    def _begin(self, opening: Opening) -> None:
        self.close()
        self.path = self._directory / f"{opening.match}.jsonl"
        self._file = created(self.path)
        self._match = opening.match.encode()
        self._hash = NO_HASH
        self._seq = 0
        self._append(opening)

    def write(self, event: Event, answer: Answer | None) -> None:
        """Add the line of an event."""
        now, took = self._now(), int(answer.took * 1e6) / 1e6 if answer else 0.0  # digits that mean something
        match event:
            case Acted():
                self._append(Entry(self._seq, now, took, event))
            case Ejected(fault=Fault.ILLEGAL) if isinstance(answer, Answered):
                self._append(Entry(self._seq, now, took, event, answer=answer.value))
            case Ejected():
                self._append(Entry(self._seq, now, took, event, evidence=getattr(answer, "evidence", "")))
            case Ended(result):
                self._append(Closing(self._seq, now, result))
                self.close()
            case Started():
                pass  # the opening has it all

    def close(self) -> None:
        """Let go of the file; a match that did not end stays unfinished."""
        file, self._file = self._file, -1
        try:
            if file >= 0:
                os.close(file)
        except OSError as error:
            raise HostFault(f"the journal {self.path} cannot be written: {error.strerror}") from error

    def _append(self, line: Line) -> None:
        body = encode(line)[:-1]  # without its closing brace
        self._hash = seal(self._hash, self._match, body)
        sealed = b'%b,"hash":"%b"}\n' % (body, self._hash)
        try:
            written = os.write(self._file, sealed)
        except OSError as error:
            self._give_up(error.strerror)
        if written < len(sealed):
            self._give_up(f"only {written} of {len(sealed)} bytes were")
        self._seq += 1

    def _give_up(self, why: str | None) -> NoReturn:
        """Stop for good: nothing may follow a torn line."""
        with suppress(HostFault):
            self.close()
        raise HostFault(f"the journal {self.path} cannot be written: {why}")


def created(path: Path) -> int:
    """A new file that only its owner may read, in a directory that is made if it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    try:
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            path.parent.mkdir(parents=True)
            return os.open(path, flags, 0o600)
    except OSError as error:
        raise HostFault(f"no journal can be written in {path.parent}: {error.strerror}") from error
