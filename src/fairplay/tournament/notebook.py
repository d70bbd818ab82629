"""Write the steps of a tournament down as they are taken, one chained line each, and read them again."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Fault
from fairplay.core.version import VERSION
from fairplay.hosting.spec import Entrant
from fairplay.journal.append_file import AppendFile, Disk, created, reopened
from fairplay.journal.files import opened
from fairplay.journal.lines import NO_HASH, seal
from fairplay.journal.record import REAL
from fairplay.journal.requests import InUse, Sync
from fairplay.tournament.counted import Counted, Ranking
from fairplay.tournament.places import FILE, MATCHES
from fairplay.tournament.spec import Cup

FORMAT = 1
CHAIN = b"tournament"  # what stands where the lines of a match have its id


class Line(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """A step."""

    at: float = 0.0  # wall time, in seconds


class Opened(Line, frozen=True, tag="opening", kw_only=True):
    """The first line: all that is needed to begin the tournament again. The seed is in it."""

    format: int
    fairplay: str
    cup: Cup
    drawn: bool = False  # was the seed drawn, and not chosen by whoever runs the tournament?


class BotsTried(Line, frozen=True, tag="trials", kw_only=True):
    """Some bots went through the trials before the tournament."""

    verdicts: dict[str, str]  # by name: why it is not ready; empty: it is


class RoundOpened(Line, frozen=True, tag="round", kw_only=True):
    """A round begins, with these players."""

    number: int
    players: tuple[Entrant, ...]


class Attempted(Line, frozen=True, tag="attempt", kw_only=True):
    """An attempt at a match does not count."""

    match: str
    played: str  # the id in its journal
    why: str
    host: bool = False  # was it a fault of the host?
    faults: tuple[tuple[str, Fault], ...] = ()  # or whose it was


class MatchCounted(Line, frozen=True, tag="match", kw_only=True):
    """A match has the outcome that counts."""

    counted: Counted


class DealRevealed(Line, frozen=True, tag="revealed", kw_only=True):
    """All matches from a deal are over."""

    deal: int
    seed: str


class Closed(Line, frozen=True, tag="end", kw_only=True):
    """The tournament is over."""

    ranking: Ranking


AnyLine = Opened | BotsTried | RoundOpened | Attempted | MatchCounted | DealRevealed | Closed
decode = msgspec.json.Decoder(AnyLine).decode
encode = msgspec.json.Encoder().encode


class Notebook:
    """The steps of one tournament, as far as they were taken; whoever has it open is the only one who writes to it."""

    def __init__(self, opening: Opened, now: Callable[[], float] = time.time) -> None:
        self.opening = opening
        self.verdicts: dict[str, str] = {}
        self.rounds: dict[int, tuple[Entrant, ...]] = {}
        self.counted: dict[str, Counted] = {}
        self.attempts: dict[str, list[Attempted]] = {}
        self.revealed: set[int] = set()
        self.closed: Closed | None = None
        self._file: AppendFile | None = None  # None: it is only read
        self._hash = NO_HASH
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, line: AnyLine) -> None:
        """Take a step: it is on record before anybody is told of it."""
        assert self._file is not None
        line = msgspec.structs.replace(line, at=self._now())
        body = encode(line)[:-1]
        self._hash = seal(self._hash + CHAIN + body)
        if self._file.append(b'%b,"hash":"%b"}\n' % (body, self._hash)):
            self._file.sync()
        self.take(line)

    def take(self, line: AnyLine) -> None:
        """Know of a step that was written."""
        match line:
            case BotsTried(verdicts=verdicts):
                self.verdicts.update(verdicts)
            case RoundOpened(number=number, players=players):
                self.rounds[number] = players
            case Attempted(match=match):
                self.attempts.setdefault(match, []).append(line)
            case MatchCounted(counted=counted):
                self.counted[counted.match] = counted
            case DealRevealed(deal=deal):
                self.revealed.add(deal)
            case Closed():
                self.closed = line

    def read_on(self, text: bytes) -> int:
        """Know what a file holds behind its first line; how many bytes of it are whole lines."""
        size = 0
        for number, raw in enumerate(text.splitlines(keepends=True), 1):
            if not raw.endswith(b"\n"):
                break  # torn by a crash
            line, self._hash = checked(raw, self._hash, number)
            if number > 1:
                self.take(line)
            size += len(raw)
        return size


def begun(
    folder: Path, cup: Cup, *, drawn: bool = False, disk: Disk = REAL, now: Callable[[], float] = time.time
) -> Notebook:
    """A new tournament in a folder, which is made if it is not there."""
    notebook = Notebook(Opened(format=FORMAT, fairplay=VERSION, cup=cup, drawn=drawn), now)
    with ExitStack() as undo, unless_in_use(folder):
        notebook._file = undo.enter_context(closing(created(folder, FILE, disk, Sync.BATCH)))
        notebook.write(notebook.opening)
        undo.pop_all()
    return notebook


def gone_on_with(folder: Path, *, disk: Disk = REAL, now: Callable[[], float] = time.time) -> Notebook:
    """The tournament in a folder, to be gone on with. Raises InUse if another process does that."""
    with ExitStack() as undo, unless_in_use(folder):
        file = undo.enter_context(closing(reopened(str(folder / FILE), disk, Sync.BATCH)))
        notebook, size = of_text(text_in(folder), folder, now)
        file.cut(size)
        notebook._file = file
        undo.pop_all()
    return notebook


def discard(folder: Path) -> None:
    """Remove the steps of a tournament of which no round has begun."""
    (folder / FILE).unlink()


@contextmanager
def unless_in_use(folder: Path) -> Iterator[None]:
    """Say that a tournament is being run, if it is."""
    try:
        yield
    except InUse:
        raise InUse(f"another process runs the tournament in {folder}") from None


def read(folder: Path) -> Notebook:
    """The steps of the tournament in a folder so far, whoever may be running it."""
    return of_text(text_in(folder), folder, time.time)[0]


def exists(folder: Path) -> bool:
    """Was a tournament begun there? One without a whole first line was never told of to anybody."""
    with readable(folder) as file:
        return file is not None and file.readline().endswith(b"\n")


def is_revealed(journal: Path) -> bool:
    """Was the seed of this match revealed, by the tournament in whose folder its journal is?"""
    matches = journal.absolute().parent
    if matches.name != MATCHES or not exists(matches.parent):
        return False
    notebook = read(matches.parent)
    known = (one for one in notebook.counted.values() if journal.stem in (one.match, one.played))
    return any(one.deal in notebook.revealed for one in known)


def text_in(folder: Path) -> bytes:
    """What the notebook in a folder holds."""
    with readable(folder) as file:
        text = b"" if file is None else file.read()
    if b"\n" not in text:
        raise BadRequest(f"there is no tournament in {folder}: {f'no {FILE}' if file is None else 'it has not begun'}")
    return text


@contextmanager
def readable(folder: Path) -> Iterator[BinaryIO | None]:
    """The file in a folder, if there is one. Raises BadRequest if it cannot be read."""
    try:
        with opened(folder / FILE) as file:
            yield file
    except (FileNotFoundError, NotADirectoryError):
        yield None
    except OSError as error:
        raise BadRequest(f"{folder / FILE} cannot be read: {error.strerror}") from None


def of_text(text: bytes, folder: Path, now: Callable[[], float]) -> tuple[Notebook, int]:
    """A notebook from its text, and how many bytes of it are whole."""
    try:
        first, _ = checked(text.partition(b"\n")[0] + b"\n", NO_HASH, 1)
        if not isinstance(first, Opened):
            raise Damaged("line 1 is no opening")
        notebook = Notebook(first, now)
        return notebook, notebook.read_on(text)
    except Damaged as error:
        raise BadRequest(f"{folder / FILE}: {error}") from None


class Damaged(Exception):
    """A line that is not what was written."""


def checked(raw: bytes, before: bytes, number: int) -> tuple[Any, bytes]:
    """A line and its hash. Raises Damaged unless it is chained to what is before."""
    body, comma, rest = raw.rpartition(b',"hash":"')
    found = seal(before + CHAIN + body)
    if not comma or rest != b'%b"}\n' % found:
        raise Damaged(f"line {number} was changed since it was written")
    try:
        return decode(body + b"}"), found
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Damaged(f"line {number} is no step of a tournament: {error}") from None
