"""Write the log of a tournament, one line per step, chained by hashes, and read it."""

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
from fairplay.journal.append_file import AppendFile, Disk, create_file, reopen_file
from fairplay.journal.files import open_journal_file
from fairplay.journal.lines import NO_HASH, line_hash
from fairplay.journal.options import Durability, InUse
from fairplay.journal.record import REAL_DISK
from fairplay.render.text import printable
from fairplay.tournament.counted_match import CountedMatch, Ranking
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR
from fairplay.tournament.spec import TournamentSpec

LOG_FORMAT = 2
MAX_VERSION_CHARS = 20  # of the version of fairplay in an error
CHAIN_ID = b"tournament"  # in the place of the id of a match


class LogEntry(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """A step of a tournament."""

    at: float = 0.0  # in seconds since 1970


class TournamentOpened(LogEntry, frozen=True, tag="opening", kw_only=True):
    """The first line: the whole tournament, with its seed."""

    format: int
    fairplay: str
    spec: TournamentSpec
    random_seed: bool = False  # was the seed drawn at random, not chosen by the host?


class BotVerdict(LogEntry, frozen=True, tag="bot_check", kw_only=True):
    """A bot was checked before the tournament."""

    name: str
    failure: str = ""  # the first check that it failed; empty: it is ready


class RoundOpened(LogEntry, frozen=True, tag="round", kw_only=True):
    """A round begins, with these players."""

    number: int
    players: tuple[Entrant, ...]


class AttemptDiscarded(LogEntry, frozen=True, tag="discarded_attempt", kw_only=True):
    """An attempt at a match does not count."""

    match: str
    attempt: str  # its id, by which its journal is named
    why: str
    host_fault: bool = False  # was it the fault of the host?
    faults: tuple[tuple[str, Fault], ...] = ()  # or else of these players, by name


class MatchCounted(LogEntry, frozen=True, tag="match", kw_only=True):
    """A match counts, or is void."""

    counted: CountedMatch


class DealRevealed(LogEntry, frozen=True, tag="seed_revealed", kw_only=True):
    """All matches from a deal are over."""

    deal: int
    seed: str


class TournamentClosed(LogEntry, frozen=True, tag="end", kw_only=True):
    """The tournament is over."""

    ranking: Ranking


AnyEntry = (
    TournamentOpened | BotVerdict | RoundOpened | AttemptDiscarded | MatchCounted | DealRevealed | TournamentClosed
)
decode_entry = msgspec.json.Decoder(AnyEntry).decode
encode_entry = msgspec.json.Encoder().encode


class TournamentLog:
    """The steps of one tournament so far; only one process has it open to write."""

    def __init__(self, opening: TournamentOpened, now: Callable[[], float] = time.time) -> None:
        self.opening = opening
        self.bot_failures: dict[str, str] = {}  # by name; empty: the bot is ready
        self.rounds: dict[int, tuple[Entrant, ...]] = {}
        self.counted: dict[str, CountedMatch] = {}
        self.attempts: dict[str, list[AttemptDiscarded]] = {}
        self.revealed: set[int] = set()
        self.closed: TournamentClosed | None = None
        self._file: AppendFile | None = None  # None: it is only read
        self._hash = NO_HASH
        self._now = now

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, line: AnyEntry) -> None:
        """Write a step, before any observer is notified of it."""
        assert self._file is not None
        line = msgspec.structs.replace(line, at=self._now())
        body = encode_entry(line)[:-1]
        self._hash = line_hash(self._hash + CHAIN_ID + body)
        if self._file.append(b'%b,"hash":"%b"}\n' % (body, self._hash)):
            self._file.sync()
        self.apply(line)

    def apply(self, line: AnyEntry) -> None:
        """Update the state by a step that was written."""
        match line:
            case BotVerdict(name=name, failure=failure):
                self.bot_failures[name] = failure
            case RoundOpened(number=number, players=players):
                self.rounds[number] = players
            case AttemptDiscarded(match=match):
                self.attempts.setdefault(match, []).append(line)
            case MatchCounted(counted=counted):
                self.counted[counted.match] = counted
            case DealRevealed(deal=deal):
                self.revealed.add(deal)
            case TournamentClosed():
                self.closed = line

    def read_entries(self, text: bytes) -> int:
        """Update the state by the lines of a file, and return how many bytes of it are whole lines."""
        size = 0
        for number, raw in enumerate(text.splitlines(keepends=True), 1):
            if not raw.endswith(b"\n"):
                break  # torn by a crash
            line, self._hash = check_entry(raw, self._hash, number)
            if number > 1:
                self.apply(line)
            size += len(raw)
        return size


def create_log(
    directory: Path,
    spec: TournamentSpec,
    *,
    random_seed: bool = False,
    disk: Disk = REAL_DISK,
    now: Callable[[], float] = time.time,
) -> TournamentLog:
    """Create the log of a new tournament in a directory, which is created if it is missing."""
    log = TournamentLog(TournamentOpened(format=LOG_FORMAT, fairplay=VERSION, spec=spec, random_seed=random_seed), now)
    with ExitStack() as undo, tournament_in_use_errors(directory):
        log._file = undo.enter_context(closing(create_file(directory, LOG_FILE, disk, Durability.BATCH)))
        log.write(log.opening)
        undo.pop_all()
    return log


def reopen_log(directory: Path, *, disk: Disk = REAL_DISK, now: Callable[[], float] = time.time) -> TournamentLog:
    """Open the log in a directory to resume its tournament. Raises InUse if another process runs it."""
    with ExitStack() as undo, tournament_in_use_errors(directory):
        file = undo.enter_context(closing(reopen_file(str(directory / LOG_FILE), disk, Durability.BATCH)))
        log, size = parse_log(read_log_bytes(directory), directory, now)
        file.truncate(size)
        log._file = file
        undo.pop_all()
    return log


def delete_log(directory: Path) -> None:
    """Remove the log of a tournament of which no round has begun."""
    (directory / LOG_FILE).unlink()


@contextmanager
def tournament_in_use_errors(directory: Path) -> Iterator[None]:
    """Translate InUse into an error that names the tournament."""
    try:
        yield
    except InUse:
        raise InUse(f"another process runs the tournament in {directory}") from None


def read_log(directory: Path) -> TournamentLog:
    """Read the log in a directory, even while a process runs the tournament."""
    return parse_log(read_log_bytes(directory), directory, time.time)[0]


def log_exists(directory: Path) -> bool:
    """Whether a directory has a log with a whole first line; without one, the tournament has not begun."""
    with open_log(directory) as file:
        return file is not None and file.readline().endswith(b"\n")


def is_seed_revealed(journal: Path) -> bool:
    """Whether the tournament in whose directory a journal is has revealed the seed of its match."""
    matches = journal.absolute().parent
    if matches.name != MATCHES_DIR or not log_exists(matches.parent):
        return False
    log = read_log(matches.parent)
    known = (one for one in log.counted.values() if journal.stem in (one.match, one.attempt))
    return any(one.deal in log.revealed for one in known)


def read_log_bytes(directory: Path) -> bytes:
    """The bytes of the log in a directory."""
    with open_log(directory) as file:
        text = b"" if file is None else file.read()
    if b"\n" not in text:
        raise BadRequest(
            f"there is no tournament in {directory}: {f'no {LOG_FILE}' if file is None else 'it has not begun'}"
        )
    return text


@contextmanager
def open_log(directory: Path) -> Iterator[BinaryIO | None]:
    """Open the log in a directory, if there is one. Raises BadRequest if it cannot be read."""
    try:
        with open_journal_file(directory / LOG_FILE) as file:
            yield file
    except (FileNotFoundError, NotADirectoryError):
        yield None
    except OSError as error:
        raise BadRequest(f"{directory / LOG_FILE} cannot be read: {error.strerror}") from None


def parse_log(text: bytes, directory: Path, now: Callable[[], float]) -> tuple[TournamentLog, int]:
    """A log from its text, and how many bytes of it are whole lines."""
    try:
        line = text.partition(b"\n")[0] + b"\n"
        check_format(line)
        first, _ = check_entry(line, NO_HASH, 1)
        if not isinstance(first, TournamentOpened):
            raise UnreadableLog("line 1 is not an opening")
        log = TournamentLog(first, now)
        return log, log.read_entries(text)
    except UnreadableLog as error:
        raise BadRequest(f"{directory / LOG_FILE}: {error}") from None


class FormatLine(msgspec.Struct, frozen=True):
    """What the first line of a log of any format has."""

    format: int = LOG_FORMAT
    fairplay: str = ""


def check_format(line: bytes) -> None:
    """Raise BadRequest if the first line of a log has another format; other damage is found later."""
    try:
        found = msgspec.json.decode(line, type=FormatLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return
    if found.format != LOG_FORMAT:
        writer = printable(found.fairplay, MAX_VERSION_CHARS)
        raise UnreadableLog(
            f"its format is {found.format}, and fairplay {VERSION} reads only format {LOG_FORMAT}; "
            f"use fairplay {writer}, which wrote it"
        )


class UnreadableLog(Exception):
    """A log is damaged, or has another format."""


def check_entry(raw: bytes, before: bytes, number: int) -> tuple[Any, bytes]:
    """A line and its hash. Raises UnreadableLog unless it is chained to what is before."""
    body, comma, rest = raw.rpartition(b',"hash":"')
    found = line_hash(before + CHAIN_ID + body)
    if not comma or rest != b'%b"}\n' % found:
        raise UnreadableLog(f"line {number} was changed after it was written")
    try:
        return decode_entry(body + b"}"), found
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableLog(f"line {number} is not a step of a tournament: {error}") from None
