"""Keep an index of a folder of journals in SQLite, up to date with the folder.

The folder may come from anywhere, and the index with it, so it is opened like what a stranger sent: what is no plain
file of ours with exactly our tables in it, or takes too long over anything, is thrown away and made anew. One process
at a time uses it, and nobody who holds a lock is waited for longer than a moment; then memory has to do.

What a well-formed index says of a journal is believed as long as the size and the times of the file are those that it
has: the ctime is among them, which the kernel sets, so that no index fits journals that it came along with. A liar has
to write here as us, once the journals are here, and could as well write other journals. All that is gained is a wrong
line in a list: whoever wants to know reads the journal itself (`fairplay verify`), which knows nothing of an index.
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
from fairplay.journal.files import locked
from fairplay.journal.lines import FORMAT
from fairplay.journal.summary import Status, Summary, summarised

INDEX = ".index.sqlite"
BESIDE = ("-journal", "-wal", "-shm")  # where SQLite looks for what is to be done before it reads a file
SCHEMA = 2  # to be counted up with every change of the tables, or of what a summary is
MADE_BY = crc32(f"{SCHEMA} {FORMAT} {VERSION}".encode()) >> 1  # another fairplay may read the journals differently
PATIENCE = 0.5  # seconds to wait for others who hold a lock
LARGEST = 2**30  # bytes of what can be an index: a match takes about a thousand
LONGEST = 5.0  # seconds for one statement
STEPS = 10_000  # of SQLite's machine between two looks at the clock
BATCH = 200  # journals per transaction: whoever interrupts us loses no more
NOT_BROKEN = (  # SQLite's codes for an index that others are using, or that we may not write
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)

TABLES = (
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
ALL_THERE_IS = "select type, name, tbl_name, sql from sqlite_master"
FORGET = (
    "delete from matches where id = ?",
    "delete from seats where id = ?",
    "delete from parameters where id = ?",
)

Stamp = tuple[int, int, int]  # size, mtime_ns, ctime_ns: no journal changes without one of them
UNSETTLED: Stamp = (
    -1,
    0,
    0,
)  # of a file that could not be opened, or of no game of ours, and perhaps can be the next time
Watch = Callable[[Sequence[str]], Iterable[str]]  # hands on the ids of the journals to be read, and shows how far it is
Answer = TypeVar("Answer")
Ask = Callable[[sqlite3.Connection, list[str]], Answer]  # of the index, and the ids of all journals in their order
decode = msgspec.json.Decoder(Summary).decode


class Unusable(Exception):
    """An index that is not ours, not of this version, or not what it was."""


class Bounded(sqlite3.Connection):
    """An index in a file: a statement that takes too long is called off, whatever the file makes of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, timeout=PATIENCE, isolation_level=None)
        self._until = 0.0
        self.set_progress_handler(lambda: time.monotonic() > self._until, STEPS)

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Begin a statement; its rows have to be fetched by then, too."""
        self._until = time.monotonic() + LONGEST
        return super().execute(*statement)

    def executemany(self, *statement: Any) -> sqlite3.Cursor:
        """The same, for many parameters."""
        self._until = time.monotonic() + LONGEST
        return super().executemany(*statement)


def answer(folder: Path, ask: Ask[Answer], watch: Watch) -> Answer:
    """Ask the index once it is up to date. One that is broken is made anew; where none can be, memory has to do."""
    for anew in (False, True):
        try:
            with locked(folder, PATIENCE), closing(opened(folder / INDEX, anew=anew)) as index:
                return ask(index, update(index, folder, watch))
        except OSError:
            break
        except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError, Unusable) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in NOT_BROKEN:
                break
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as index:
        make_tables(index)
        return ask(index, update(index, folder, watch))


def opened(path: Path, *, anew: bool) -> sqlite3.Connection:
    """The index in this file, which is made if it is not there, or if there is something else."""
    if not anew:
        try:
            return connected(path)
        except (sqlite3.DatabaseError, Unusable) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
    for ending in ("", *BESIDE):
        path.with_name(INDEX + ending).unlink(missing_ok=True)
    return connected(path)


def connected(path: Path) -> sqlite3.Connection:
    """The index in this file. Raises Unusable, or whatever SQLite does, if it is none of ours."""
    keep_private(path)
    index = Bounded(path)
    try:
        index.execute("pragma trusted_schema = off")
        index.execute("pragma cell_size_check = on")
        index.execute("pragma synchronous = normal")
        if not has_tables(index):
            make_tables(index)
    except (sqlite3.Error, Unusable):
        index.close()
        raise
    return index


def keep_private(path: Path) -> None:
    """Let the index be a file of ours that nobody else may read, and the only one. Raises Unusable if it is not.

    SQLite would follow links, wait for whoever writes to a pipe, and believe what another file says is to be undone, or
    even deleted, before this one can be read. We leave such a file behind only if we are killed while we write.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    status = path.lstat()
    plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_size <= LARGEST
    beside = any(os.path.lexists(f"{path}{ending}") for ending in BESIDE)
    if not plain or beside or status.st_uid != os.geteuid():
        raise Unusable
    path.chmod(0o600)


def has_tables(index: sqlite3.Connection) -> bool:
    """Are our tables there, and nothing else? False: nothing is. Raises Unusable if it is another file."""
    found = frozenset(index.execute(ALL_THERE_IS).fetchmany(2 * len(TABLES)))
    (made_by,) = index.execute("pragma user_version").fetchone()
    (mode,) = index.execute("pragma journal_mode").fetchone()
    if mode != "delete" or (found and (made_by != MADE_BY or found != our_tables())):
        raise Unusable
    return bool(found)


@cache
def our_tables() -> frozenset[tuple[str, ...]]:
    """What SQLite says of our tables."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as index:
        make_tables(index)
        return frozenset(index.execute(ALL_THERE_IS))


def make_tables(index: sqlite3.Connection) -> None:
    """Make the tables where there is nothing yet."""
    with index:
        index.execute("begin immediate")
        for table in TABLES:
            index.execute(table)
        index.execute(f"pragma user_version = {MADE_BY}")  # which takes no parameters


def update(index: sqlite3.Connection, folder: Path, watch: Watch) -> list[str]:
    """Take in what is new or has changed, and forget what has gone; the ids of all that are there, in their order."""
    there = scan(folder)
    known = {id: (*stamp,) for id, *stamp in index.execute("select id, size, mtime_ns, ctime_ns from matches")}
    gone = [(id,) for id in known.keys() - there.keys()]
    if gone:
        with index:
            index.execute("begin immediate")
            for statement in FORGET:
                index.executemany(statement, gone)
    changed = [id for id, stamp in there.items() if known.get(id) != stamp]
    rest = iter(watch(changed) if changed else ())
    while batch := list(islice(rest, BATCH)):
        read = []
        for id in batch:
            with suppress(FileNotFoundError):  # it has gone in the meantime
                read.append((summarised(folder / f"{id}.jsonl"), there[id]))
        with index:
            index.execute("begin immediate")
            for one, stamp in read:
                take_in(index, one, stamp)
    return sorted(there)


def scan(folder: Path) -> dict[str, Stamp]:
    """The journals in a folder: files, and no links to any, with printable names that end in .jsonl."""
    found = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".jsonl") and name[0] != "." and name.isprintable():
                    with suppress(FileNotFoundError):
                        status = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            found[name[: -len(".jsonl")]] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except OSError as error:
        raise BadRequest(f"{folder} cannot be read: {error.strerror}") from None
    return found


def take_in(index: sqlite3.Connection, one: Summary, stamp: Stamp) -> None:
    """Put a summary in the place of what was known before."""
    if one.status is Status.UNREADABLE and not (one.match and one.game in GAMES):  # others may be handed over
        stamp = UNSETTLED
    row = (one.id, *stamp, one.status.value, one.game, one.started, packed(one))
    seats = [
        (one.id, seated.name, seated.address, seated.rank, seated.fault.value if seated.fault else None)
        for seated in one.seats
    ]
    parameters = [(one.id, name, in_words(value)) for name, value in one.parameters.items()]
    for statement in FORGET:
        index.execute(statement, (one.id,))
    index.execute("insert into matches values (?, ?, ?, ?, ?, ?, ?, ?)", row)
    index.executemany("insert into seats values (?, ?, ?, ?, ?)", seats)
    index.executemany("insert into parameters values (?, ?, ?)", parameters)


def packed(one: Summary) -> bytes:
    """A summary with a checksum before it, for SQLite has none."""
    text = msgspec.json.encode(one)
    return crc32(text).to_bytes(4) + text


def unpacked(id: object, summary: object) -> Summary:
    """The summary of a match in the index. Raises Unusable if it was changed there, or is that of another."""
    if not isinstance(summary, bytes) or crc32(summary[4:]).to_bytes(4) != summary[:4]:
        raise Unusable
    one = decode(summary[4:])
    if one.id != id:
        raise Unusable
    return one


def in_words(value: Any) -> str:
    """A parameter as it is looked for.

    >>> in_words("Random"), in_words(5), in_words(True), in_words([1, 2])
    ('random', '5', 'true', '[1,2]')
    """
    return (value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))).casefold()
