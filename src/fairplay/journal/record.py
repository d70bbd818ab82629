"""Write a match down as it happens, one chained line per fact."""

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fault, Receipt, Started
from fairplay.core.game import Game
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, Failed, Message
from fairplay.core.version import VERSION
from fairplay.journal.append_file import AppendFile, Disk, Sync, Syncer, created, reopened
from fairplay.journal.lines import FORMAT, NO_HASH, Closing, Entry, JournalLine, Opening, Parent, Resumed, encode, seal
from fairplay.journal.reenact import what_was_shown
from fairplay.journal.replay import Recorded
from fairplay.journal.verify import read_lawful

REAL = Disk()


def known_of(answer: Answer) -> str:
    """What else is known of an answer for which somebody was ejected."""
    if isinstance(answer, Failed):
        return answer.evidence
    return "" if answer.evidence is None else answer.evidence()


class Journal:
    """A record in a directory: one file for each match, named by the match's id, private to whoever runs it.

    A line is handed to the operating system before anybody is told of it; when it is safe from a power cut is a
    choice. If either fails, the match stops as a fault of ours and can be resumed. Close a journal, or use it in a
    `with` statement, if matches may be interrupted.
    """

    def __init__(
        self,
        directory: Path | str,
        *,
        players: Sequence[str] = (),
        limits: dict[str, float] | None = None,
        sandbox: str = "",
        drawn: bool = False,
        guessable: bool = False,
        sync: Sync = Sync.BATCH,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
        disk: Disk = REAL,
    ) -> None:
        self.clock = clock
        self._directory = Path(directory)
        self._players = tuple(players)
        self._limits = limits
        self._sandbox = sandbox
        self._drawn = drawn
        self._guessable = guessable
        self._sync = sync
        self._now = now
        self._disk = disk
        self._path, self._match = "", b""
        self._file: AppendFile | None = None
        self._syncer = Syncer()

    @property
    def path(self) -> Path | None:
        """The file of the match that was opened last."""
        return Path(self._path) if self._path else None

    @property
    def match_id(self) -> str:
        """The id of the match that was opened last."""
        return self._match.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self, match: Match[Any, Any, Any]) -> None:
        """Begin a new file with the opening."""
        seed = match.seed
        self._begin(
            match.game,
            Opening(
                seq=0,
                at=self._now(),
                format=FORMAT,
                fairplay=VERSION,
                match=secrets.token_hex(16),
                game=match.game.name,
                rules=match.game.version,
                parameters=match.game.parameters(),
                names=match.names,
                players=self._players,
                limits=self._limits,
                sandbox=self._sandbox,
                seed=None if seed is None else seed.hex(),
                commitment=match.commitment,
                drawn=self._drawn,
                guessable=self._guessable,
                state=match.game.pack_state(match.state) if seed is None else None,
            ),
        )

    def branch(self, recorded: Recorded, facts: int | None, names: tuple[str, ...]) -> Match[Any, Any, Any]:
        """Begin a new file with what another one holds up to so many facts, under other names perhaps."""
        match, opening = recorded.at(facts), recorded.opening
        before = recorded.before(facts)
        self._begin(
            match.game,
            replace(
                opening,
                at=self._now(),
                fairplay=VERSION,
                match=secrets.token_hex(16),
                names=names,
                players=self._players,
                limits=self._limits,
                sandbox=self._sandbox,
                parent=Parent(opening.match, sum(isinstance(line, Entry) for line in before)),
            ),
        )
        for line in before:
            self._append(line)
        self._mark_resumption(sum(isinstance(line, Resumed) for line in before))
        return replace(match, names=names)

    def resume(self, path: Path | str, game: Game[Any, Any, Any] | None = None) -> Match[Any, Any, Any]:
        """Go on in the file of an unfinished match, behind its last whole line; the match as it stands there.

        Raises InUse if another process plays it, BadJournal if it is damaged or unlawful.
        """
        self.close()
        self._path = str(path)
        with ExitStack() as undo:
            file = reopened(self._path, self._disk, self._sync)
            undo.callback(file.close)
            recorded = read_lawful(path, game)
            if recorded.closing is not None:
                raise BadRequest(f"{path}: this match is finished")
            file.cut(recorded.size)
            undo.pop_all()
        match, self._hash, self._seq = recorded.opening.match, recorded.heads[-1].encode(), len(recorded.heads)
        self._attach(file, recorded.game, match)
        self._mark_resumption(len(recorded.resumptions))
        return recorded.at(None)

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> None:
        """Add the line of an event."""
        now, took = self._now(), int(answer.took * 1e6) / 1e6 if answer else 0.0  # digits that mean something
        match event:
            case Acted():
                self._append(Entry(self._seq, now, took, event))
            case Ejected(fault=fault):
                shown = what_was_shown(self._game, message)
                refused = answer.value if fault is Fault.ILLEGAL and isinstance(answer, Answered) else None
                evidence = "" if answer is None else known_of(answer)
                self._append(Entry(self._seq, now, took, event, shown, refused, evidence))
            case Ended(result):
                self._append(Closing(self._seq, now, result))
                self.close()
            case Started():
                pass  # the opening has it all

    def receipt(self) -> Receipt:
        """Where the record stands."""
        return Receipt(self._seq - 1, self._hash.decode())

    def close(self) -> None:
        """Make the file durable and let go of it; a match that did not end stays unfinished."""
        file, self._file = self._file, None
        if file is not None:
            self._syncer.watch(None)
            file.close()

    def _begin(self, game: Game[Any, Any, Any], opening: Opening) -> None:
        self.close()
        name = f"{opening.match}.jsonl"
        self._path, self._hash, self._seq = f"{self._directory}/{name}", NO_HASH, 0
        self._attach(created(self._directory, name, self._disk, self._sync), game, opening.match)
        self._append(opening)

    def _attach(self, file: AppendFile, game: Game[Any, Any, Any], match: str) -> None:
        self._file, self._game, self._match = file, game, match.encode()
        self._syncer.watch(file)

    def _mark_resumption(self, before: int) -> None:
        self._append(Resumed(self._seq, self._now(), VERSION, before + 2))

    def _append(self, line: JournalLine) -> None:
        if self._file is None:
            raise HostFault("the journal was closed before the match was over")
        body = encode(line)[:-1]  # without its closing brace
        head = seal(self._hash, self._match, body)
        self._file.append(b'%b,"hash":"%b"}\n' % (body, head))
        self._hash = head
        self._seq += 1
