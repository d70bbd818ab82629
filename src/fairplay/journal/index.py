"""Keep an index of a directory of journals in SQLite, up to date with the directory.

The directory may come from another machine, and the index with it, so the index is untrusted: anything but a plain file
of ours with exactly our tables in it, or anything that takes too long, is deleted and made anew. One process at a time
uses it; if another process holds a lock for longer than a moment, the index is built in memory.

A well-formed index is believed about a journal as long as the size and the times of the file match. The ctime is among
them, which the kernel sets, so no index fits journals that it was copied with. A forger has to write here as our user
after the journals arrived, and could forge the journals as well. All that is gained is a wrong line in a list:
`fairplay verify` reads the journal itself and uses no index.
"""

import json
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.version import VERSION
from fairplay.games import GAMES
from fairplay.journal.files import lock_directory
from fairplay.journal.lines import FORMAT
from fairplay.journal.summary import Status, Summary, summarise_journal

INDEX_FILE = ".index.sqlite"
SQLITE_SUFFIXES = ("-journal", "-wal", "-shm")  # files that SQLite would read and apply first
SCHEMA_VERSION = 3  # increase it with every change of the tables or of Summary
VERSION_CHECKSUM = crc32(f"{SCHEMA_VERSION} {FORMAT} {VERSION}".encode()) >> 1  # versions may read journals differently
INDEX_LOCK_TIMEOUT_S = 0.5
MAX_INDEX_BYTES = 2**30  # larger files are no index; a match takes about a thousand bytes
STATEMENT_TIMEOUT_S = 5.0
SQLITE_STEPS_PER_CHECK = 10_000  # instructions of SQLite's virtual machine between two looks at the clock
JOURNALS_PER_TRANSACTION = 200  # an interruption loses no more than these
TRANSIENT_ERRORS = (  # of an index that other processes are using, or that we may not write
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)

CREATE_TABLES = (
    """create table matches (
        id text primary key,
        size integer, mtime_ns integer, ctime_ns integer,
        status text, game text, started real,
        summary blob not null
    )""",
    "create table seats (id text not null, name text, address text, rank integer, fault text)",
    "create table parameters (id text not null, name text, value text)",
    "create index seats_of on seats (id)",
    "create index parameters_of on parameters (id)",
)
SELECT_SCHEMA = "select type, name, tbl_name, sql from sqlite_master"
DELETE_MATCH = (
    "delete from matches where id = ?",
    "delete from seats where id = ?",
    "delete from parameters where id = ?",
)

FileStamp = tuple[int, int, int]  # size, mtime_ns, ctime_ns: every change of a journal changes one of them
RECHECK_STAMP: FileStamp = (-1, 0, 0)  # of a file that could not be read, or of an unknown game: try again next time
ReportProgress = Callable[[Sequence[str]], Iterable[str]]  # passes on the ids of journals to read, and shows progress
QueryResult = TypeVar("QueryResult")
IndexQuery = Callable[[sqlite3.Connection, list[str]], QueryResult]  # of the index and the sorted ids of all journals
decode_summary = msgspec.json.Decoder(Summary).decode


class UnusableIndex(Exception):
    """An index that is not ours, of another version, or damaged."""


class TimedConnection(sqlite3.Connection):
    """A connection to an index file that interrupts statements after a timeout."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, timeout=INDEX_LOCK_TIMEOUT_S, isolation_level=None)
        self._deadline = 0.0
        self.set_progress_handler(lambda: time.monotonic() > self._deadline, SQLITE_STEPS_PER_CHECK)

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Execute a statement; the timeout includes fetching its rows."""
        self._deadline = time.monotonic() + STATEMENT_TIMEOUT_S
        return super().execute(*statement)

    def executemany(self, *statement: Any) -> sqlite3.Cursor:
        """Execute a statement for many parameters."""
        self._deadline = time.monotonic() + STATEMENT_TIMEOUT_S
        return super().executemany(*statement)


def query_index(directory: Path, query: IndexQuery[QueryResult], progress: ReportProgress) -> QueryResult:
    """Update the index and query it. A broken one is made anew; where that fails, it is built in memory."""
    for anew in (False, True):
        try:
            with (
                lock_directory(directory, INDEX_LOCK_TIMEOUT_S),
                closing(open_index(directory / INDEX_FILE, recreate=anew)) as index,
            ):
                return query(index, update_index(index, directory, progress))
        except OSError:
            break
        except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError, UnusableIndex) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in TRANSIENT_ERRORS:
                break
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as index:
        create_tables(index)
        return query(index, update_index(index, directory, progress))


def open_index(path: Path, *, recreate: bool) -> sqlite3.Connection:
    """Open the index in this file; create it if it is missing or unusable."""
    if not recreate:
        try:
            return connect_index(path)
        except (sqlite3.DatabaseError, UnusableIndex) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
    for ending in ("", *SQLITE_SUFFIXES):
        path.with_name(INDEX_FILE + ending).unlink(missing_ok=True)
    return connect_index(path)


def connect_index(path: Path) -> sqlite3.Connection:
    """Connect to the index in this file. Raises UnusableIndex or an error of SQLite if it is not ours."""
    ensure_private(path)
    index = TimedConnection(path)
    try:
        index.execute("pragma trusted_schema = off")
        index.execute("pragma cell_size_check = on")
        index.execute("pragma synchronous = normal")
        if not has_tables(index):
            create_tables(index)
    except (sqlite3.Error, UnusableIndex):
        index.close()
        raise
    return index


def ensure_private(path: Path) -> None:
    """Create the index file if needed, and make it private. Raises UnusableIndex if it is not a plain file of ours.

    SQLite would follow links, wait for the writer of a pipe, and apply what a file beside this one says is to be undone
    or even deleted. We leave such a file behind only if we are killed while we write.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    status = path.lstat()
    plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_size <= MAX_INDEX_BYTES
    beside = any(os.path.lexists(f"{path}{ending}") for ending in SQLITE_SUFFIXES)
    if not plain or beside or status.st_uid != os.geteuid():
        raise UnusableIndex
    path.chmod(0o600)


def has_tables(index: sqlite3.Connection) -> bool:
    """Does the index have exactly our tables? False: it is empty. Raises UnusableIndex if it has anything else."""
    found = frozenset(index.execute(SELECT_SCHEMA).fetchmany(2 * len(CREATE_TABLES)))
    (made_by,) = index.execute("pragma user_version").fetchone()
    (mode,) = index.execute("pragma journal_mode").fetchone()
    if mode != "delete" or (found and (made_by != VERSION_CHECKSUM or found != expected_tables())):
        raise UnusableIndex
    return bool(found)


@cache
def expected_tables() -> frozenset[tuple[str, ...]]:
    """The schema of our tables as SQLite reports it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as index:
        create_tables(index)
        return frozenset(index.execute(SELECT_SCHEMA))


def create_tables(index: sqlite3.Connection) -> None:
    """Create the tables in an empty index."""
    with index:
        index.execute("begin immediate")
        for table in CREATE_TABLES:
            index.execute(table)
        index.execute(f"pragma user_version = {VERSION_CHECKSUM}")  # which takes no parameters


def update_index(index: sqlite3.Connection, directory: Path, progress: ReportProgress) -> list[str]:
    """Add new and changed journals, and delete missing ones; return the sorted ids of all journals."""
    there = scan_directory(directory)
    known = {id: (*stamp,) for id, *stamp in index.execute("select id, size, mtime_ns, ctime_ns from matches")}
    gone = [(id,) for id in known.keys() - there.keys()]
    if gone:
        with index:
            index.execute("begin immediate")
            for statement in DELETE_MATCH:
                index.executemany(statement, gone)
    changed = [id for id, stamp in there.items() if known.get(id) != stamp]
    rest = iter(progress(changed) if changed else ())
    while batch := list(islice(rest, JOURNALS_PER_TRANSACTION)):
        read = []
        for id in batch:
            with suppress(FileNotFoundError):  # it was deleted meanwhile
                read.append((summarise_journal(directory / f"{id}.jsonl"), there[id]))
        with index:
            index.execute("begin immediate")
            for one, stamp in read:
                store_summary(index, one, stamp)
    return sorted(there)


def scan_directory(directory: Path) -> dict[str, FileStamp]:
    """The journals in a directory: regular files, not links, with printable names that end in .jsonl."""
    found = {}
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".jsonl") and name[0] != "." and name.isprintable():
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            found[name[: -len(".jsonl")]] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError as error:
        raise BadRequest(f"{directory} cannot be read: {error.strerror}") from None
    return found


def store_summary(index: sqlite3.Connection, one: Summary, stamp: FileStamp) -> None:
    """Store a summary in place of the old one."""
    if one.status is Status.UNREADABLE and not (one.match and one.game in GAMES):  # it may be registered later
        stamp = RECHECK_STAMP
    row = (one.id, *stamp, one.status.value, one.game, one.started, pack_summary(one))
    seats = [
        (one.id, seated.name, seated.address, seated.rank, seated.fault.value if seated.fault else None)
        for seated in one.seats
    ]
    parameters = [(one.id, name, parameter_text(value)) for name, value in one.parameters.items()]
    for statement in DELETE_MATCH:
        index.execute(statement, (one.id,))
    index.execute("insert into matches values (?, ?, ?, ?, ?, ?, ?, ?)", row)
    index.executemany("insert into seats values (?, ?, ?, ?, ?)", seats)
    index.executemany("insert into parameters values (?, ?, ?)", parameters)


def pack_summary(one: Summary) -> bytes:
    """Encode a summary behind a checksum, as SQLite has none."""
    text = msgspec.json.encode(one)
    return crc32(text).to_bytes(4) + text


def unpack_summary(id: object, summary: object) -> Summary:
    """Decode the summary of a match. Raises UnusableIndex if it was changed, or is of another match."""
    if not isinstance(summary, bytes) or crc32(summary[4:]).to_bytes(4) != summary[:4]:
        raise UnusableIndex
    one = decode_summary(summary[4:])
    if one.id != id:
        raise UnusableIndex
    return one


def parameter_text(value: Any) -> str:
    """Format a parameter for searches.

    >>> parameter_text("Random"), parameter_text(5), parameter_text(True), parameter_text([1, 2])
    ('random', '5', 'true', '[1,2]')
    """
    return (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))).casefold()
