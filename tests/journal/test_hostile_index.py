"""Test that a library works with a hostile, foreign or locked index."""

import os
import sqlite3
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fairplay.journal import index
from fairplay.journal.library import Query, find_matches
from tests.cli.command import INSTALLED_COMMAND, run_fairplay
from tests.journal.libraries import ReadCounter, fill_directory, journal_of_game, match_ids

FOR_EVER = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
MOMENT = 2.0  # seconds: what nobody minds, also if the machine is busy


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = fill_directory(tmp_path / "games")
    find_matches(directory)
    return directory


@contextmanager
def inside(directory: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(directory / index.INDEX_FILE, isolation_level=None)) as connection:
        yield connection


def answered(directory: Path) -> str:
    """What the command says of the directory; what it does not say within a minute it never says."""
    done = subprocess.run(
        [INSTALLED_COMMAND, "library", "list", directory], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


# What is no index.


def a_trigger(event: str) -> Callable[[Path], None]:
    def trap(directory: Path) -> None:
        with inside(directory) as connection:
            connection.execute(f"create trigger t before {event} begin {FOR_EVER}; end")
            connection.execute("update matches set size = size + 1" if "update" not in event else "select 1")

    trap.__name__ = f"a trigger before {event}"
    return trap


def a_view_as_a_table(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("alter table matches rename to others")
        connection.execute(
            "create view matches as with recursive n(x) as (select 1 union all select x + 1 from n) "
            "select x as id, 0 as size, 0 as mtime_ns, 0 as ctime_ns, 0 as status, 0 as game, 0 as started, "
            "0 as summary from n"
        )


def one_table_more(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("create table more (x)")


def one_index_more(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("create index more on matches (abs(size))")


def one_column_more(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("alter table seats add column more text generated always as (upper(name))")


def a_check(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("pragma writable_schema = on")
        connection.execute(
            "update sqlite_master set sql = replace(sql, 'fault text', 'fault text check (length(zeroblob(1)) = 1)')"
        )


def pages_without_end(directory: Path) -> None:
    """A table of four levels, on each of which every branch leads to the same page: it has 10**11 rows."""
    path = directory / index.INDEX_FILE
    with inside(directory) as connection:
        (root,) = connection.execute("select rootpage from sqlite_master where name = 'matches'").fetchone()
        (size,) = connection.execute("pragma page_size").fetchone()
    content = bytearray(path.read_bytes())
    pages = len(content) // size
    kept = content[(root - 1) * size : root * size]  # with the rows
    levels = [root, pages + 1, pages + 2, pages + 3]
    content += bytes(size * 4)
    content[-size:] = kept
    for page, below in zip(levels, [*levels[1:], pages + 4], strict=True):
        cell = struct.pack(">IB", below, 1)
        count = (size - 12) // (len(cell) + 2)
        start = size - count * len(cell)
        pointers = b"".join(struct.pack(">H", start + number * len(cell)) for number in range(count))
        made = struct.pack(">BHHHBI", 5, 0, count, start, 0, below) + pointers
        content[(page - 1) * size : page * size] = made.ljust(start, b"\0") + cell * count
    struct.pack_into(">I", content, 28, pages + 4)  # how many pages there are
    path.write_bytes(content)


def a_link(directory: Path) -> None:
    path = directory / index.INDEX_FILE
    path.rename(directory.parent / "elsewhere.sqlite")
    path.symlink_to(directory.parent / "elsewhere.sqlite")


def another_name_of_a_file_elsewhere(directory: Path) -> None:
    (directory.parent / "elsewhere.sqlite").hardlink_to(directory / index.INDEX_FILE)


def a_pipe(ending: str) -> Callable[[Path], None]:
    def trap(directory: Path) -> None:
        path = directory / f"{index.INDEX_FILE}{ending}"
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    trap.__name__ = f"a pipe as {index.INDEX_FILE}{ending}"
    return trap


def a_leftover(ending: str) -> Callable[[Path], None]:
    def trap(directory: Path) -> None:
        (directory / f"{index.INDEX_FILE}{ending}").write_bytes(os.urandom(9000))

    trap.__name__ = f"something as {index.INDEX_FILE}{ending}"
    return trap


def a_leftover_by_which_a_file_elsewhere_is_to_be_deleted(directory: Path) -> None:
    """What SQLite takes for a transaction over several files that was broken off, of which one is left to delete."""
    path, precious = directory / index.INDEX_FILE, directory.parent / "precious"
    precious.write_text("all my letters")
    name, magic = bytes(precious), bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">IIIII", 0, 1, path.stat().st_size // 4096, 512, 4096)
    last = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (directory / f"{index.INDEX_FILE}-journal").write_bytes(head.ljust(512, b"\0") + last)


def with_a_log(directory: Path) -> None:
    with inside(directory) as connection:
        connection.execute("pragma journal_mode = wal")


def a_device(directory: Path) -> None:
    path = directory / index.INDEX_FILE
    path.unlink()
    path.symlink_to("/dev/zero")


def far_too_large(directory: Path) -> None:
    os.truncate(directory / index.INDEX_FILE, index.MAX_INDEX_BYTES + 1)


TRAPS = [
    a_trigger("insert on matches"),
    a_trigger("delete on seats"),
    a_trigger("update on parameters"),
    a_view_as_a_table,
    one_table_more,
    one_index_more,
    one_column_more,
    a_check,
    pages_without_end,
    a_link,
    another_name_of_a_file_elsewhere,
    a_device,
    far_too_large,
    with_a_log,
    a_leftover_by_which_a_file_elsewhere_is_to_be_deleted,
    *(a_pipe(ending) for ending in ("", *index.SQLITE_SUFFIXES)),
    *(a_leftover(ending) for ending in index.SQLITE_SUFFIXES),
]


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_a_trap_is_thrown_away_and_nothing_comes_of_it(trap: Callable[[Path], None], directory: Path) -> None:
    expected, before = run_fairplay("library", "list", str(directory)).out, find_matches(directory)
    trap(directory)
    elsewhere = {path: path.read_bytes() for path in directory.parent.iterdir() if path.is_file()}

    assert answered(directory) == expected
    assert {path: path.read_bytes() for path in directory.parent.iterdir() if path.is_file()} == elsewhere
    status = (directory / index.INDEX_FILE).lstat()
    assert stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_size < 10**6
    with inside(directory) as connection:
        made = connection.execute("select type, name, sql from sqlite_master order by name").fetchall()
        assert connection.execute("pragma journal_mode").fetchone() == ("delete",)
    assert [name for _, name, _ in made] == [
        "matches",
        "parameters",
        "parameters_of",
        "seats",
        "seats_of",
        "sqlite_autoindex_matches_1",
    ]
    reading = ReadCounter()
    assert find_matches(directory, progress=reading) == before
    assert reading.read == []


def test_an_index_of_another_user_is_not_used(directory: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    before = find_matches(directory)
    os.chown(directory / index.INDEX_FILE, 12345, 12345)

    assert find_matches(directory) == before
    assert (directory / index.INDEX_FILE).stat().st_uid == 0


# What an index can lie about.


def test_an_index_that_came_along_with_the_journals_is_not_believed(directory: Path) -> None:
    path = journal_of_game(directory, "fish")
    with inside(directory) as connection:
        connection.execute("delete from matches where id <> ?", (path.stem,))
        connection.execute("update matches set started = 0")
    copy = directory.parent / "copy"
    copy.mkdir()
    for file in directory.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
        os.utime(copy / file.name, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    reading = ReadCounter()

    assert len(find_matches(copy, Query(since=1.0), progress=reading)) == 3
    assert len(reading.read) == 3


def test_one_match_cannot_pass_for_another(directory: Path) -> None:
    before = find_matches(directory)
    one, two = match_ids(before)[:2]
    with inside(directory) as connection:
        connection.execute(
            "update matches set summary = (select summary from matches where id = ?) where id = ?", (one, two)
        )

    assert find_matches(directory) == before


# Who holds a lock.

FLOCK = "import fcntl, os; fcntl.flock(os.open(DIR, os.O_RDONLY), fcntl.LOCK_EX)"
EVERY_BYTE = "import fcntl; file = open(INDEX, 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX)"
EVERY_BYTE_OF_A_LOG = (
    "import fcntl, sqlite3; c = sqlite3.connect(INDEX); c.execute('pragma journal_mode = wal'); "
    "c.execute('delete from seats'); file = open(INDEX + '-shm', 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX)"
)
READING = "import sqlite3; c = sqlite3.connect(INDEX); c.execute('begin'); c.execute('select * from seats').fetchone()"
WRITING = "import sqlite3; c = sqlite3.connect(INDEX); c.execute('begin immediate')"
ALONE = (
    "import sqlite3; c = sqlite3.connect(INDEX); c.execute('pragma locking_mode = exclusive'); "
    "c.execute('begin exclusive'); c.execute('delete from seats'); c.commit()"
)
HOLDERS = {
    "the directory": FLOCK,
    "the file": EVERY_BYTE,
    "a log": EVERY_BYTE_OF_A_LOG,
    "the right to read": READING,
    "the right to write": WRITING,
    "all of it": ALONE,
}


@contextmanager
def held(directory: Path, how: str) -> Iterator[None]:
    """Let another process hold a lock."""
    names = f"DIR, INDEX = {str(directory)!r}, {str(directory / index.INDEX_FILE)!r}\n"
    program = [sys.executable, "-c", f"{names}{how}\nprint('held', flush=True)\nimport time; time.sleep(600)"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield
        finally:
            process.kill()


@pytest.mark.alone
@pytest.mark.parametrize("how", HOLDERS.values(), ids=HOLDERS.keys())
def test_a_locked_directory_is_not_waited_for(how: str, directory: Path) -> None:
    before = find_matches(directory)
    path = journal_of_game(directory, "fish")
    path.write_bytes(path.read_bytes())  # so that there is something to take in

    with held(directory, how):
        since = time.monotonic()
        during = find_matches(directory)
        seconds = time.monotonic() - since

    assert during == before
    assert seconds < MOMENT
    assert find_matches(directory) == before
