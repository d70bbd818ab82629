"""Record matches as they are played: a file for each match, with one chained line for each fact."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Receipt, Started
from fairplay.core.game import Game, Seat
from fairplay.core.match import Match
from fairplay.core.messages import NO_EVIDENCE, Answer, Answered, Evidence, Failed, Message
from fairplay.core.version import VERSION
from fairplay.journal.append_file import AppendFile, Disk, create_file, reopen_file
from fairplay.journal.lines import (
    FORMAT,
    NO_HASH,
    Closing,
    Entry,
    JournalLine,
    LateAnswer,
    MacKey,
    Opening,
    Parent,
    Resumed,
    Seated,
    encode_line,
    line_hash,
)
from fairplay.journal.options import Durability, Finished, WithoutMac, check_match_id
from fairplay.journal.reenactment import shown_value
from fairplay.journal.replay import RecordedMatch, check_format, has_valid_mac, parse_journal, read_bytes
from fairplay.journal.verification import require_legal
from fairplay.referee.referee import new_match_id
from fairplay.render.formatting import shell_quote

REAL_DISK = Disk()


class MatchRecord:
    """The record of one match: a file of its own, to which one process at a time writes.

    A line is given to the operating system before any player or observer hears of it; when it is safe from a power cut
    is the journal's choice. If either fails, the match stops with a host fault and can be resumed. Close the record, or
    use it in a `with` statement.
    """

    enforced: tuple[str, ...] = ()  # by seat: what confines a program, once all are seated
    over = False  # is the result written?

    def __init__(
        self,
        file: AppendFile,
        match: Match[Any, Any, Any],
        *,
        mac_key: MacKey | None = None,
        head: bytes = NO_HASH,
        lines: int = 0,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        self.clock = clock
        self.mac_key = mac_key  # for the lines from here on; None: they have no MAC
        self._file = file
        self._game = match.game
        self._id = match.id.encode()
        self._hash = head
        self._seq = lines
        self._now = now
        self._resumed: Resumed | None = None  # is written once all players are connected again

    @property
    def path(self) -> Path:
        """The file of the record."""
        return Path(self.file)

    @property
    def file(self) -> str:
        """The path of the file, as text."""
        return self._file.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Add the line of an event. True: make it durable before the event is announced."""
        took = 0.0 if answer is None else answer.took * 1e6 // 1 / 1e6  # no digits below the clock's precision
        if isinstance(event, Acted):
            return self.append(Entry(self._seq, self._now(), took, event))
        match event:
            case Ejected(fault=fault):
                shown = shown_value(self._game, message)
                refused = answer.value if fault is Fault.ILLEGAL and isinstance(answer, Answered) else None
                evidence = None if answer is None else failure_evidence(answer)
                return self.append(Entry(self._seq, self._now(), took, event, shown, refused, evidence))
            case Started(names):
                if self._resumed is not None:
                    self.append(replace(self._resumed, seq=self._seq, at=self._now()))
                return self.append(Seated(self._seq, self._now(), names, self.enforced))
            case Ended(result):
                behind = self.append(Closing(self._seq, self._now(), result))
                self.over = True
                return behind

    def write_late_answer(self, seat: Seat, overrun: float) -> None:
        """Add a line that says by how many seconds the answer of an ejected player came too late."""
        self.append(LateAnswer(self._seq, self._now(), seat, overrun * 1e6 // 1 / 1e6))

    def make_durable(self) -> None:
        """Return when all lines are durable, as far as the journal's `sync` asks for it."""
        self._file.sync()

    async def make_durable_async(self) -> None:
        """`make_durable` without blocking the event loop."""
        await self._file.sync_async()

    def receipt(self) -> Receipt:
        """A receipt for all lines so far."""
        return Receipt(self._seq - 1, self._hash.decode())

    def close(self) -> None:
        """Make the file durable and close it; a match that did not end stays unfinished."""
        self._file.close()

    def set_resumed(self, epoch: int, limits: dict[str, float] | None = None, sandbox: str = "") -> None:
        """Write a line `resumed`, with the new limits and sandbox if they changed, once all players are connected."""
        self._resumed = Resumed(0, 0.0, VERSION, epoch, limits, sandbox)

    def append(self, line: JournalLine) -> bool:
        """Add a line to the chain."""
        text = encode_line(line)[:-1]  # without its closing brace
        chained = self._hash + self._id + text
        if self.mac_key is not None:
            mac = self.mac_key.mac_field(chained)
            text, chained = text + mac, chained + mac
        head = line_hash(chained)
        behind = self._file.append(b'%b,"hash":"%b"}\n' % (text, head))
        self._hash = head
        self._seq += 1
        return behind


class Journal:
    """A directory of records: one file for each match, named by the match's id and readable by its owner alone.

    Any number of matches can be recorded at once. With a key every line has a MAC, by which the owner of the key
    recognises its own journals.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        key: bytes | None = None,
        sync: Durability = Durability.BATCH,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
        disk: Disk = REAL_DISK,
    ) -> None:
        self.directory = Path(directory)
        self._mac_key = None if key is None else MacKey(key)
        self._sync = sync
        self._clock = clock
        self._now = now
        self._disk = disk

    def begin(
        self,
        match: Match[Any, Any, Any],
        *,
        players: Sequence[str] = (),
        limits: dict[str, float] | None = None,
        sandbox: str = "",
        pondering: bool = False,
        random_seed: bool = False,
        guessable: bool = False,
    ) -> MatchRecord:
        """Create the file of a match and write its opening; `players` are the addresses."""
        seed = match.seed
        if seed is None and not match.id:
            match = replace(match, id=new_match_id())
        opening = Opening(
            seq=0,
            at=self._now(),
            format=FORMAT,
            fairplay=VERSION,
            match=match.id,
            game=match.game.name,
            rules=match.game.version,
            parameters=match.game.parameters(),
            names=match.names,
            players=tuple(players),
            limits=limits,
            sandbox=sandbox,
            pondering=pondering,
            seed=None if seed is None else seed.hex(),
            commitment=match.commitment,
            random_seed=random_seed,
            guessable=guessable,
            sealed=match.sealed,
            state=match.game.pack_state(match.state) if seed is None else None,
        )
        return self._create_record(match, opening, self._mac_key)

    def branch(
        self,
        match: Match[Any, Any, Any],
        recorded: RecordedMatch,
        facts: int | None,
        *,
        players: Sequence[str] = (),
        limits: dict[str, float] | None = None,
        sandbox: str = "",
    ) -> MatchRecord:
        """Create the file of a match that starts after so many facts of another (see `branch_match`).

        The lines up to there are copied without MACs, as they may name ejections and players that are not ours; our
        own lines have them. The limits and sandbox of the parent are not copied.
        """
        before = recorded.lines_before(facts)
        opening = replace(
            recorded.opening,
            at=self._now(),
            fairplay=VERSION,
            match=match.id,
            names=match.names,
            players=tuple(players),
            limits=limits,
            sandbox=sandbox,
            commitment=match.commitment,
            parent=Parent(recorded.opening.match, sum(isinstance(line, Entry) for line in before)),
        )
        record = self._create_record(match, opening, None)
        for line in before:
            record.append(replace(line, limits=None, sandbox="") if isinstance(line, Resumed) else line)
        record.mac_key = self._mac_key
        record.set_resumed(2 + sum(isinstance(line, Resumed) for line in before))
        return record

    def read_own(
        self, path: Path | str, game: Game[Any, Any, Any] | None = None, *, trusted: bool = False
    ) -> RecordedMatch:
        """Read a legal journal, finished or not. Raises WithoutMac unless it has our MAC or is trusted."""
        text = read_bytes(path)
        check_format(text)
        if not (trusted or (self._mac_key and has_valid_mac(text, os.fsencode(Path(path).stem), self._mac_key))):
            file = shell_quote(str(path))
            raise WithoutMac(
                f"{file} was not recorded with your key, or was changed or renamed since; "
                f"to resume it anyway: fairplay resume {file} --trust"
            )
        return require_legal(parse_journal(text, game))

    def resume(
        self, path: Path | str, game: Game[Any, Any, Any] | None = None, *, trusted: bool | None = None
    ) -> tuple[MatchRecord, RecordedMatch]:
        """Reopen the file of an unfinished match after its last whole line; also return what it holds.

        Nothing is written before all players are connected again. Raises InUse if another process plays the match,
        WithoutMac if it is neither ours nor trusted (by default all are trusted where there is no key), Finished if it
        has ended, BadJournal if the file is damaged or illegal.
        """
        with ExitStack() as undo:
            file = reopen_file(str(path), self._disk, self._sync)
            undo.callback(file.close)
            recorded = self.read_own(path, game, trusted=self._mac_key is None if trusted is None else trusted)
            if recorded.closing is not None:
                raise Finished(f"{path}: this match is finished")
            file.truncate(recorded.whole_bytes)
            undo.pop_all()
        match, head, lines = recorded.match_after(None), recorded.heads[-1].encode(), len(recorded.heads)
        record = MatchRecord(
            file, match, mac_key=self._mac_key, head=head, lines=lines, clock=self._clock, now=self._now
        )
        record.set_resumed(2 + len(recorded.resumptions))
        return record, recorded

    def _create_record(self, match: Match[Any, Any, Any], opening: Opening, mac_key: MacKey | None) -> MatchRecord:
        check_match_id(match.id)
        file = create_file(self.directory, f"{match.id}.jsonl", self._disk, self._sync)
        record = MatchRecord(file, match, mac_key=mac_key, clock=self._clock, now=self._now)
        record.append(opening)
        return record


def branch_match(recorded: RecordedMatch, facts: int | None, names: tuple[str, ...]) -> Match[Any, Any, Any]:
    """A new match that starts from another after so many of its facts."""
    return replace(recorded.match_after(facts), id=new_match_id(), names=names)


def failure_evidence(answer: Answer) -> Evidence | None:
    """The evidence of an answer that led to an ejection; None: there is none."""
    if isinstance(answer, Failed):
        return None if answer.evidence == NO_EVIDENCE else answer.evidence
    return None if answer.evidence is None else answer.evidence()
