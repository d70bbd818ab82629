"""Test that a library works with a hostile, foreign or locked index."""

import os
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from fairplay.journal import index
from fairplay.journal.library import Query, find_matches
from tests.cli.command import INSTALLED_COMMAND, run_fairplay
from tests.journal.libraries import (
    ReadCounter,
    execute_sql,
    fill_directory,
    journal_of_game,
    match_ids,
    open_index,
)

Trap = Callable[[Path], object]  # set in the place of the index

ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n)"
COLUMNS = ", ".join(f"0 as {name}" for name in ("size", "mtime_ns", "ctime_ns", "status", "game", "started", "summary"))
MAX_LISTING_S = 60  # what is not listed by then never is
MAX_FINDING_S = 2.0  # seconds that are no waiting for a lock, also if the machine is busy


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    directory = fill_directory(tmp_path / "games")
    find_matches(directory)
    return directory


def add_trigger(event: str, then: str) -> Trap:
    return execute_sql(f"create trigger t before {event} begin {ENDLESS} select count(*) from n; end", then)


def make_pages_without_end(path: Path) -> None:
    """A table of four levels, on each of which every branch leads to the same page: it has 10**11 rows."""
    with open_index(path) as connection:
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


def replace_by_link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.sqlite"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def replace_by_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def replace_by_pipe(path: Path, suffix: str = "") -> None:
    pipe = path.with_name(path.name + suffix)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)


def leave_garbage(path: Path, suffix: str) -> None:
    path.with_name(path.name + suffix).write_bytes(os.urandom(9000))


def leave_journal_that_deletes_a_file_elsewhere(path: Path) -> None:
    """What SQLite takes for a transaction over several files that was broken off, of which one is left to delete."""
    precious = path.parent.parent / "precious"
    precious.write_text("all my letters")
    name, magic = bytes(precious), bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">IIIII", 0, 1, path.stat().st_size // 4096, 512, 4096)
    last = struct.pack(">I", 2**30 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    path.with_name(f"{path.name}-journal").write_bytes(head.ljust(512, b"\0") + last)


TRAPS: dict[str, Trap] = {
    "a trigger before insert": add_trigger("insert on matches", "update matches set size = size + 1"),
    "a trigger before delete": add_trigger("delete on seats", "update matches set size = size + 1"),
    "a trigger before update": add_trigger("update on parameters", "select 1"),
    "a view as a table": execute_sql(
        "alter table matches rename to others", f"create view matches as {ENDLESS} select x as id, {COLUMNS} from n"
    ),
    "one table more": execute_sql("create table more (x)"),
    "one index more": execute_sql("create index more on matches (abs(size))"),
    "one column more": execute_sql("alter table seats add column more text generated always as (upper(name))"),
    "a check": execute_sql(
        "pragma writable_schema = on",
        "update sqlite_master set sql = replace(sql, 'fault text', 'fault text check (length(zeroblob(1)) = 1)')",
    ),
    "pages without end": make_pages_without_end,
    "a link": replace_by_link,
    "another name": lambda path: (path.parent.parent / "elsewhere.sqlite").hardlink_to(path),
    "a device": replace_by_device,
    "far too large": lambda path: os.truncate(path, index.MAX_INDEX_BYTES + 1),
    "a log": execute_sql("pragma journal_mode = wal"),
    "a journal that deletes": leave_journal_that_deletes_a_file_elsewhere,
    "a pipe": replace_by_pipe,
    **{f"a pipe as {end}": partial(replace_by_pipe, suffix=end) for end in index.SQLITE_SUFFIXES},
    **{f"garbage as {end}": partial(leave_garbage, suffix=end) for end in index.SQLITE_SUFFIXES},
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_a_trap_is_thrown_away_and_nothing_comes_of_it(trap: Trap, directory: Path) -> None:
    expected, before = run_fairplay("library", "list", str(directory)).out, find_matches(directory)
    path = directory / index.INDEX_FILE
    trap(path)
    elsewhere = {path: path.read_bytes() for path in directory.parent.iterdir() if path.is_file()}

    command: list[str | Path] = [INSTALLED_COMMAND, "library", "list", directory]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_LISTING_S, check=False)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", expected)
    assert {path: path.read_bytes() for path in directory.parent.iterdir() if path.is_file()} == elsewhere
    status = path.lstat()
    assert stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_size < 10**6
    with open_index(path) as connection:
        names = sorted(name for (name,) in connection.execute("select name from sqlite_master"))
        assert connection.execute("pragma journal_mode").fetchone() == ("delete",)
    assert names == ["matches", "parameters", "parameters_of", "seats", "seats_of", "sqlite_autoindex_matches_1"]
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


def test_an_index_that_came_along_with_the_journals_is_not_believed(directory: Path) -> None:
    path = journal_of_game(directory, "fish")
    with open_index(directory / index.INDEX_FILE) as connection:
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
    with open_index(directory / index.INDEX_FILE) as connection:
        connection.execute(
            "update matches set summary = (select summary from matches where id = ?) where id = ?",
            match_ids(before)[:2],
        )

    assert find_matches(directory) == before


HOLDERS = {
    "the directory": "import fcntl, os; fcntl.flock(os.open(DIR, os.O_RDONLY), fcntl.LOCK_EX)",
    "the file": "import fcntl; file = open(INDEX, 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX)",
    "a log": "import fcntl; c.execute('pragma journal_mode = wal'); c.execute('delete from seats'); "
    "file = open(INDEX + '-shm', 'r+b'); fcntl.lockf(file, fcntl.LOCK_EX)",
    "the right to read": "c.execute('begin'); c.execute('select * from seats').fetchone()",
    "the right to write": "c.execute('begin immediate')",
    "all of it": "c.execute('pragma locking_mode = exclusive'); c.execute('begin exclusive'); "
    "c.execute('delete from seats'); c.commit()",
}


@contextmanager
def hold(directory: Path, how: str) -> Iterator[None]:
    names = f"DIR, INDEX = {str(directory)!r}, {str(directory / index.INDEX_FILE)!r}\n"
    program = (
        f"import sqlite3, time\n{names}c = sqlite3.connect(INDEX)\n{how}\nprint('held', flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "held\n"
            yield
        finally:
            process.kill()


@pytest.mark.alone
@pytest.mark.parametrize("how", HOLDERS.values(), ids=HOLDERS)
def test_a_locked_directory_is_not_waited_for(how: str, directory: Path) -> None:
    before = find_matches(directory)
    path = journal_of_game(directory, "fish")
    path.write_bytes(path.read_bytes())  # so that there is something to take in

    with hold(directory, how):
        since = time.monotonic()
        during = find_matches(directory)
        seconds = time.monotonic() - since

    assert during == before
    assert seconds < MAX_FINDING_S
    assert find_matches(directory) == before
