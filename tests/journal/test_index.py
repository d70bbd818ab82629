"""Test that the index of a library is up to date, and only a cache."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fairplay.journal import index
from fairplay.journal.library import Query, find_matches
from fairplay.journal.summary import Status
from tests.journal.libraries import (
    FISH,
    ReadCounter,
    fill_directory,
    first_action_strategy,
    game_names,
    journal_of_game,
    match_ids,
    record_match,
    truncate_journal,
)
from tests.nonempty import nonempty
from tests.privileges import without_privileges


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return fill_directory(tmp_path)


@contextmanager
def behind_its_back(directory: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(directory / index.INDEX_FILE)
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


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
    path = journal_of_game(directory, "tsuro")

    path.unlink()

    assert game_names(find_matches(directory)) == ["q", "fish"]
    assert find_matches(directory, Query(players=("cyd",))) == []
    with behind_its_back(directory) as connection:
        assert connection.execute("select count(*) from seats").fetchone() == (4,)


def test_a_journal_that_vanishes_while_it_is_read_is_left_out(directory: Path) -> None:
    def vanish(ids: Sequence[str]) -> Sequence[str]:
        (directory / f"{ids[0]}.jsonl").unlink()
        return ids

    assert len(find_matches(directory, progress=vanish)) == 2


def garbage(directory: Path) -> None:
    (directory / index.INDEX_FILE).write_bytes(os.urandom(20_000))


def emptied(directory: Path) -> None:
    (directory / index.INDEX_FILE).write_bytes(b"")


def deleted(directory: Path) -> None:
    (directory / index.INDEX_FILE).unlink()


def cut_short(directory: Path) -> None:
    path = directory / index.INDEX_FILE
    path.write_bytes(path.read_bytes()[:9000])


def overwritten_inside(directory: Path) -> None:
    path = directory / index.INDEX_FILE
    kept = path.read_bytes()
    path.write_bytes(kept[:4096] + b"\xa5" * (len(kept) - 4096))


def garbage_in_the_log(directory: Path) -> None:
    (directory / f"{index.INDEX_FILE}-wal").write_bytes(os.urandom(9000))
    (directory / f"{index.INDEX_FILE}-shm").write_bytes(os.urandom(32768))


def of_an_older_schema(directory: Path) -> None:
    with behind_its_back(directory) as connection:
        connection.execute("pragma user_version = 1")


def of_another_program(directory: Path) -> None:
    (directory / index.INDEX_FILE).unlink()
    with behind_its_back(directory) as connection:
        connection.execute("create table cookies (name text)")


def without_a_table(directory: Path) -> None:
    with behind_its_back(directory) as connection:
        connection.execute("drop table seats")


def with_a_changed_summary(directory: Path) -> None:
    with behind_its_back(directory) as connection:
        connection.execute("update matches set summary = replace(summary, 'finished', 'damaged!')")


def with_a_summary_of_another_kind(directory: Path) -> None:
    with behind_its_back(directory) as connection:
        connection.execute("update matches set summary = 17")


def readable_by_all(directory: Path) -> None:
    (directory / index.INDEX_FILE).chmod(0o644)


DAMAGES = [
    garbage,
    emptied,
    deleted,
    cut_short,
    overwritten_inside,
    garbage_in_the_log,
    of_an_older_schema,
    of_another_program,
    without_a_table,
    with_a_changed_summary,
    with_a_summary_of_another_kind,
    readable_by_all,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_index_that_is_not_as_it_was_is_made_anew_without_asking(
    damage: Callable[[Path], None], directory: Path
) -> None:
    truncate_journal(journal_of_game(directory, "fish"), 5)
    (directory / "junk.jsonl").write_text("junk")
    before, fish = find_matches(directory), find_matches(directory, Query(players=("bob",), game="fish"))

    damage(directory)

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
    seen: list[int] = []

    def watch(ids: Sequence[str]) -> Sequence[str]:
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in directory.glob(f"{index.INDEX_FILE}*"))
        return ids

    try:
        find_matches(directory, progress=watch)
    finally:
        os.umask(mask)

    assert seen == [0o600]  # with no log beside it


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link_to_a_database_elsewhere(path: Path) -> None:
    elsewhere = path.parent.parent / "precious.sqlite"
    with sqlite3.connect(elsewhere) as connection:
        connection.execute("create table precious (x)")
    connection.close()
    path.symlink_to(elsewhere)


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "nowhere")


@pytest.mark.parametrize("block", [a_link_to_a_database_elsewhere, a_dangling_link])
def test_a_link_is_thrown_away_and_what_it_leads_to_is_left_alone(
    block: Callable[[Path], None], tmp_path: Path
) -> None:
    directory = tmp_path / "games"
    path = record_match(directory, FISH, [first_action_strategy(FISH)] * 2)
    block(directory / index.INDEX_FILE)
    elsewhere = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}

    assert match_ids(find_matches(directory)) == [path.stem]
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == elsewhere
    assert not (directory / index.INDEX_FILE).is_symlink()


def test_where_no_index_can_be_written_memory_has_to_do(tmp_path: Path) -> None:
    directory = tmp_path / "games"
    path = record_match(directory, FISH, [first_action_strategy(FISH)] * 2)
    a_directory(directory / index.INDEX_FILE)
    elsewhere = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}

    assert match_ids(find_matches(directory)) == [path.stem]
    assert match_ids(find_matches(directory, Query(players=("bob",)))) == [path.stem]
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == elsewhere
    assert {file.name for file in directory.iterdir()} == {path.name, index.INDEX_FILE}


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

    with behind_its_back(directory) as other:
        other.execute("begin immediate")
        during = find_matches(directory)
        assert (directory / index.INDEX_FILE).stat().st_ino == inode  # nor thrown away
        other.execute("rollback")

    assert game_names(during) == game_names(before)
    assert during[-1].status is Status.UNFINISHED
    assert find_matches(directory) == during


ASK = """
import sys
from fairplay.journal.library import find_matches
sys.stdin.readline()
for one in find_matches(sys.argv[1]):
    print(one.id, one.status.value, one.facts)
"""


@pytest.mark.parametrize("before", [None, garbage, of_an_older_schema])
def test_several_processes_can_index_a_directory_at_once(before: Callable[[Path], None] | None, tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    for number in range(450):  # more than go into one transaction
        (tmp_path / f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())
    if before is not None:
        find_matches(tmp_path)
        before(tmp_path)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ASK, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=120) for process in processes]

    expected = "".join(f"{one.id} {one.status.value} {one.facts}\n" for one in find_matches(tmp_path))
    assert expected.count("finished") == 451
    assert ended == [(expected, "")] * 3
    with behind_its_back(tmp_path) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        assert connection.execute("select count(*) from matches").fetchone() == (451,)
        assert connection.execute("select count(*) from seats").fetchone() == (902,)


def test_interrupted_indexing_keeps_its_progress(tmp_path: Path) -> None:
    path = record_match(tmp_path, FISH, [first_action_strategy(FISH)] * 2)
    for number in range(index.JOURNALS_PER_TRANSACTION + 50):
        (tmp_path / f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())

    def interrupted(ids: Sequence[str]) -> Any:
        yield from ids[: index.JOURNALS_PER_TRANSACTION + 1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_matches(tmp_path, progress=interrupted)
    reading = ReadCounter()

    assert len(find_matches(tmp_path, progress=reading)) == index.JOURNALS_PER_TRANSACTION + 51
    assert len(reading.read) == 51
