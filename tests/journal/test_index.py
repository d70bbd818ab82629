"""Test that the index of a library is up to date, and only a cache."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairplay.journal import index
from fairplay.journal.library import Query, find_matches
from fairplay.journal.summary import Status
from tests.journal.libraries import (
    FISH,
    ReadCounter,
    execute_sql,
    fill_directory,
    first_action_strategy,
    game_names,
    journal_of_game,
    match_ids,
    open_index,
    record_match,
    truncate_journal,
)
from tests.nonempty import nonempty
from tests.privileges import without_privileges

Damage = Callable[[Path], object]  # to the file


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return fill_directory(tmp_path / "games")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The only one in its directory."""
    return record_match(tmp_path / "games", FISH, [first_action_strategy(FISH)] * 2)


def test_nothing_is_read_twice(directory: Path) -> None:
    first, second = ReadCounter(), ReadCounter()
    before = find_matches(directory, progress=first)

    after = find_matches(directory, progress=second)

    assert sorted(first.read) == sorted(match_ids(before))
    assert second.read == []
    assert after == before


def test_a_match_that_went_on_is_read_again_and_no_other(directory: Path) -> None:
    path = journal_of_game(directory, "fish")
    whole = truncate_journal(path, 6)
    assert [one.facts for one in find_matches(directory, Query(status=Status.UNFINISHED))] == [4]
    lines = whole.splitlines(keepends=True)

    path.write_bytes(b"".join(lines[:8]))
    assert [one.facts for one in find_matches(directory, Query(status=Status.UNFINISHED))] == [6]
    path.write_bytes(whole)
    reading = ReadCounter()
    found = find_matches(directory, Query(game="fish"), progress=reading)

    assert reading.read == [path.stem]
    assert [(one.status, one.facts) for one in found] == [(Status.FINISHED, len(lines) - 3)]


def test_a_change_is_noticed_even_if_size_and_time_are_as_before(directory: Path) -> None:
    path = journal_of_game(directory, "fish")
    before = path.stat()

    path.write_bytes(path.read_bytes().replace(b"ann", b"amy"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert [one.status for one in find_matches(directory, Query(game="fish"))] == [Status.DAMAGED]


def test_a_deleted_match_is_forgotten(directory: Path) -> None:
    journal_of_game(directory, "tsuro").unlink()

    assert game_names(find_matches(directory)) == ["q", "fish"]
    assert find_matches(directory, Query(players=("cyd",))) == []
    with open_index(directory / index.INDEX_FILE) as connection:
        assert connection.execute("select count(*) from seats").fetchone() == (4,)


def test_a_journal_that_vanishes_while_it_is_read_is_left_out(directory: Path) -> None:
    def vanish(ids: Sequence[str]) -> Sequence[str]:
        (directory / f"{ids[0]}.jsonl").unlink()
        return ids

    assert len(find_matches(directory, progress=vanish)) == 2


def overwrite_inside(path: Path) -> None:
    kept = path.read_bytes()
    path.write_bytes(kept[:4096] + b"\xa5" * (len(kept) - 4096))


def add_garbage_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(os.urandom(9000))
    path.with_name(f"{path.name}-shm").write_bytes(os.urandom(32768))


def replace_by_other_database(path: Path) -> None:
    path.unlink()
    execute_sql("create table cookies (name text)")(path)


DAMAGES: dict[str, Damage] = {
    "garbage": lambda path: path.write_bytes(os.urandom(20_000)),
    "emptied": lambda path: path.write_bytes(b""),
    "deleted": Path.unlink,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "overwritten inside": overwrite_inside,
    "garbage in the log": add_garbage_log,
    "of an older schema": execute_sql("pragma user_version = 1"),
    "of another program": replace_by_other_database,
    "without a table": execute_sql("drop table seats"),
    "with a changed summary": execute_sql("update matches set summary = replace(summary, 'finished', 'damaged!')"),
    "with a summary of another kind": execute_sql("update matches set summary = 17"),
    "readable by all": lambda path: path.chmod(0o644),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_that_is_not_as_it_was_is_made_anew_without_asking(damage: Damage, directory: Path) -> None:
    truncate_journal(journal_of_game(directory, "fish"), 5)
    (directory / "junk.jsonl").write_text("junk")
    before, fish = find_matches(directory), find_matches(directory, Query(players=("bob",), game="fish"))

    damage(directory / index.INDEX_FILE)

    assert find_matches(directory) == before
    assert find_matches(directory, Query(players=("bob",), game="fish")) == fish
    reading = ReadCounter()
    find_matches(directory, progress=reading)
    assert reading.read == []  # the new one is kept
    assert stat.S_IMODE((directory / index.INDEX_FILE).stat().st_mode) == 0o600


def test_any_damage_of_any_byte_is_survived(directory: Path) -> None:
    before = find_matches(directory)
    path = directory / index.INDEX_FILE
    kept = path.read_bytes()

    for place in nonempty(range(0, len(kept), 251)):
        path.write_bytes(kept[:place] + bytes([kept[place] ^ 0x81]) + kept[place + 1 :])
        assert find_matches(directory) == before, place


def test_the_index_is_private_from_its_first_moment_and_stands_alone(directory: Path) -> None:
    mask = os.umask(0)
    modes: list[int] = []

    def watch(ids: Sequence[str]) -> Sequence[str]:
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in directory.glob(f"{index.INDEX_FILE}*"))
        return ids

    try:
        find_matches(directory, progress=watch)
    finally:
        os.umask(mask)

    assert modes == [0o600]  # with no log beside it


def link_to_database_elsewhere(path: Path) -> None:
    elsewhere = path.parent.parent / "precious.sqlite"
    execute_sql("create table precious (x)")(elsewhere)
    path.symlink_to(elsewhere)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent.parent / "nowhere")


@pytest.mark.parametrize("block", [link_to_database_elsewhere, link_to_nothing, Path.mkdir])
def test_a_link_is_removed_and_a_directory_left_alone_like_all_else(block: Damage, journal: Path) -> None:
    directory = journal.parent
    block(directory / index.INDEX_FILE)
    others = {file: file.read_bytes() for file in directory.parent.iterdir() if file.is_file()}

    assert match_ids(find_matches(directory)) == [journal.stem]
    assert match_ids(find_matches(directory, Query(players=("bob",)))) == [journal.stem]
    assert {file: file.read_bytes() for file in directory.parent.iterdir() if file.is_file()} == others
    assert not (directory / index.INDEX_FILE).is_symlink()
    assert {file.name for file in directory.iterdir()} == {journal.name, index.INDEX_FILE}


def test_a_directory_that_cannot_be_written_to_is_left_alone(directory: Path) -> None:
    directory.chmod(0o500)
    try:
        with without_privileges():
            found = find_matches(directory)
    finally:
        directory.chmod(0o700)

    assert game_names(found) == ["q", "tsuro", "fish"]
    assert not (directory / index.INDEX_FILE).exists()


def test_an_index_that_another_process_is_writing_to_is_not_waited_for_for_ever(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = find_matches(directory)
    truncate_journal(journal_of_game(directory, "fish"), 5)
    monkeypatch.setattr(index, "INDEX_LOCK_TIMEOUT_S", 0.0)
    inode = (directory / index.INDEX_FILE).stat().st_ino

    with open_index(directory / index.INDEX_FILE) as other:
        other.execute("begin immediate")
        during = find_matches(directory)
        assert (directory / index.INDEX_FILE).stat().st_ino == inode  # nor thrown away
        other.execute("rollback")

    assert game_names(during) == game_names(before)
    assert during[-1].status is Status.UNFINISHED
    assert find_matches(directory) == during


FIND = """
import sys
from fairplay.journal.library import find_matches
sys.stdin.readline()
for one in find_matches(sys.argv[1]):
    print(one.id, one.status.value, one.facts)
"""


def copy_journal(path: Path, copies: int) -> None:
    for number in range(copies):
        path.with_name(f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())


@pytest.mark.parametrize("before", [None, "garbage", "of an older schema"])
def test_several_processes_can_index_a_directory_at_once(before: str | None, journal: Path) -> None:
    copy_journal(journal, 450)  # more than go into one transaction
    directory, pipe = journal.parent, subprocess.PIPE
    if before is not None:
        find_matches(directory)
        DAMAGES[before](directory / index.INDEX_FILE)
    command = [sys.executable, "-c", FIND, str(directory)]
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(3)]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in processes]

    expected = "".join(f"{one.id} {one.status.value} {one.facts}\n" for one in find_matches(directory))
    assert expected.count("finished") == 451
    assert ended == [(expected, "")] * 3
    with open_index(directory / index.INDEX_FILE) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        assert connection.execute("select count(*) from matches").fetchone() == (451,)
        assert connection.execute("select count(*) from seats").fetchone() == (902,)


def test_interrupted_indexing_keeps_its_progress(journal: Path) -> None:
    copy_journal(journal, index.JOURNALS_PER_TRANSACTION + 50)

    def interrupt(ids: Sequence[str]) -> Any:
        yield from ids[: index.JOURNALS_PER_TRANSACTION + 1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_matches(journal.parent, progress=interrupt)
    reading = ReadCounter()

    assert len(find_matches(journal.parent, progress=reading)) == index.JOURNALS_PER_TRANSACTION + 51
    assert len(reading.read) == 51
