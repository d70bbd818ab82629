"""Try out that the index of a library is up to date, and only ever a cache."""

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
from fairplay.journal.library import Query, find
from fairplay.journal.summary import Status
from tests.journal.libraries import FISH, Reading, cut, fill, games, ids, of_game, play, simple
from tests.privileges import without_privileges
from tests.some import some


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill(tmp_path)


@contextmanager
def behind_its_back(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / index.INDEX)
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


def test_nothing_is_read_twice(folder: Path) -> None:
    first, second = Reading(), Reading()
    before = find(folder, watch=first)

    after = find(folder, watch=second)

    assert sorted(first.read) == sorted(ids(before))
    assert second.read == []
    assert after == before


def test_a_match_that_went_on_is_read_again_and_no_other(folder: Path) -> None:
    path = of_game(folder, "fish")
    whole = cut(path, 6)
    assert [one.facts for one in find(folder, Query(status=Status.UNFINISHED))] == [4]
    lines = whole.splitlines(keepends=True)

    path.write_bytes(b"".join(lines[:8]))
    assert [one.facts for one in find(folder, Query(status=Status.UNFINISHED))] == [6]
    path.write_bytes(whole)
    reading = Reading()
    found = find(folder, Query(game="fish"), watch=reading)

    assert reading.read == [path.stem]
    assert [(one.status, one.facts) for one in found] == [(Status.FINISHED, len(lines) - 3)]


def test_a_change_is_noticed_even_if_size_and_time_are_as_before(folder: Path) -> None:
    path = of_game(folder, "fish")
    before = path.stat()

    path.write_bytes(path.read_bytes().replace(b"ann", b"amy"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert [one.status for one in find(folder, Query(game="fish"))] == [Status.DAMAGED]


def test_a_deleted_match_is_forgotten(folder: Path) -> None:
    path = of_game(folder, "tsuro")

    path.unlink()

    assert games(find(folder)) == ["q", "fish"]
    assert find(folder, Query(players=("cyd",))) == []
    with behind_its_back(folder) as connection:
        assert connection.execute("select count(*) from seats").fetchone() == (4,)


def test_a_journal_that_vanishes_while_it_is_read_is_left_out(folder: Path) -> None:
    def vanish(ids: Sequence[str]) -> Sequence[str]:
        (folder / f"{ids[0]}.jsonl").unlink()
        return ids

    assert len(find(folder, watch=vanish)) == 2


def garbage(folder: Path) -> None:
    (folder / index.INDEX).write_bytes(os.urandom(20_000))


def emptied(folder: Path) -> None:
    (folder / index.INDEX).write_bytes(b"")


def deleted(folder: Path) -> None:
    (folder / index.INDEX).unlink()


def cut_short(folder: Path) -> None:
    path = folder / index.INDEX
    path.write_bytes(path.read_bytes()[:9000])


def overwritten_inside(folder: Path) -> None:
    path = folder / index.INDEX
    kept = path.read_bytes()
    path.write_bytes(kept[:4096] + b"\xa5" * (len(kept) - 4096))


def garbage_in_the_log(folder: Path) -> None:
    (folder / f"{index.INDEX}-wal").write_bytes(os.urandom(9000))
    (folder / f"{index.INDEX}-shm").write_bytes(os.urandom(32768))


def of_an_older_schema(folder: Path) -> None:
    with behind_its_back(folder) as connection:
        connection.execute("pragma user_version = 1")


def of_another_program(folder: Path) -> None:
    (folder / index.INDEX).unlink()
    with behind_its_back(folder) as connection:
        connection.execute("create table cookies (name text)")


def without_a_table(folder: Path) -> None:
    with behind_its_back(folder) as connection:
        connection.execute("drop table seats")


def with_a_changed_summary(folder: Path) -> None:
    with behind_its_back(folder) as connection:
        connection.execute("update matches set summary = replace(summary, 'finished', 'damaged!')")


def with_a_summary_of_another_kind(folder: Path) -> None:
    with behind_its_back(folder) as connection:
        connection.execute("update matches set summary = 17")


def readable_by_all(folder: Path) -> None:
    (folder / index.INDEX).chmod(0o644)


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
    damage: Callable[[Path], None], folder: Path
) -> None:
    cut(of_game(folder, "fish"), 5)
    (folder / "junk.jsonl").write_text("junk")
    before, fish = find(folder), find(folder, Query(players=("bob",), game="fish"))

    damage(folder)

    assert find(folder) == before
    assert find(folder, Query(players=("bob",), game="fish")) == fish
    reading = Reading()
    find(folder, watch=reading)
    assert reading.read == []  # the new one is kept
    assert stat.S_IMODE((folder / index.INDEX).stat().st_mode) == 0o600


def test_any_damage_of_any_byte_is_survived(folder: Path) -> None:
    before = find(folder)
    path = folder / index.INDEX
    kept = path.read_bytes()

    for place in some(range(0, len(kept), 251)):
        path.write_bytes(kept[:place] + bytes([kept[place] ^ 0x81]) + kept[place + 1 :])
        assert find(folder) == before, place


def test_the_index_is_private_from_its_first_moment_and_stands_alone(folder: Path) -> None:
    mask = os.umask(0)
    seen: list[int] = []

    def watch(ids: Sequence[str]) -> Sequence[str]:
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in folder.glob(f"{index.INDEX}*"))
        return ids

    try:
        find(folder, watch=watch)
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
    folder = tmp_path / "games"
    path = play(folder, FISH, [simple(FISH)] * 2)
    block(folder / index.INDEX)
    elsewhere = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}

    assert ids(find(folder)) == [path.stem]
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == elsewhere
    assert not (folder / index.INDEX).is_symlink()


def test_where_no_index_can_be_written_memory_has_to_do(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    path = play(folder, FISH, [simple(FISH)] * 2)
    a_directory(folder / index.INDEX)
    elsewhere = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}

    assert ids(find(folder)) == [path.stem]
    assert ids(find(folder, Query(players=("bob",)))) == [path.stem]
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == elsewhere
    assert {file.name for file in folder.iterdir()} == {path.name, index.INDEX}


def test_a_folder_that_cannot_be_written_to_is_left_alone(folder: Path) -> None:
    folder.chmod(0o500)
    try:
        with without_privileges():
            found = find(folder)
    finally:
        folder.chmod(0o700)

    assert games(found) == ["q", "tsuro", "fish"]
    assert not (folder / index.INDEX).exists()


def test_an_index_that_another_process_is_writing_to_is_not_waited_for_for_ever(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = find(folder)
    cut(of_game(folder, "fish"), 5)
    monkeypatch.setattr(index, "PATIENCE", 0.0)
    inode = (folder / index.INDEX).stat().st_ino

    with behind_its_back(folder) as other:
        other.execute("begin immediate")
        during = find(folder)
        assert (folder / index.INDEX).stat().st_ino == inode  # nor thrown away
        other.execute("rollback")

    assert games(during) == games(before)
    assert during[-1].status is Status.UNFINISHED
    assert find(folder) == during


ASK = """
import sys
from fairplay.journal.library import find
sys.stdin.readline()
for one in find(sys.argv[1]):
    print(one.id, one.status.value, one.facts)
"""


@pytest.mark.parametrize("before", [None, garbage, of_an_older_schema])
def test_several_processes_can_index_a_folder_at_once(before: Callable[[Path], None] | None, tmp_path: Path) -> None:
    path = play(tmp_path, FISH, [simple(FISH)] * 2)
    for number in range(450):  # more than go into one transaction
        (tmp_path / f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())
    if before is not None:
        find(tmp_path)
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

    expected = "".join(f"{one.id} {one.status.value} {one.facts}\n" for one in find(tmp_path))
    assert expected.count("finished") == 451
    assert ended == [(expected, "")] * 3
    with behind_its_back(tmp_path) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        assert connection.execute("select count(*) from matches").fetchone() == (451,)
        assert connection.execute("select count(*) from seats").fetchone() == (902,)


def test_who_is_interrupted_while_indexing_has_not_lost_what_was_done(tmp_path: Path) -> None:
    path = play(tmp_path, FISH, [simple(FISH)] * 2)
    for number in range(index.BATCH + 50):
        (tmp_path / f"copy-{number:03}.jsonl").write_bytes(path.read_bytes())

    def interrupted(ids: Sequence[str]) -> Any:
        yield from ids[: index.BATCH + 1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find(tmp_path, watch=interrupted)
    reading = Reading()

    assert len(find(tmp_path, watch=reading)) == index.BATCH + 51
    assert len(reading.read) == 51
