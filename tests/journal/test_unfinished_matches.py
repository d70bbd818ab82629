"""Test that interrupted matches are found among all others."""

from pathlib import Path

import pytest

from fairplay import HostFault
from fairplay.journal.lines import Opening
from fairplay.journal.unfinished_matches import find_unfinished
from tests.journal.journals import first_action, record_match


def everything(opening: Opening) -> bool:
    return True


def cut(path: Path, size: int) -> Path:
    path.write_bytes(path.read_bytes()[:size])
    return path


def test_the_unfinished_are_found_the_oldest_first(tmp_path: Path) -> None:
    paths = [record_match(tmp_path, [first_action, first_action])[0] for _ in range(6)]
    for path in paths[::2]:
        cut(path, 1800)

    assert find_unfinished(tmp_path, everything) == paths[::2]


def test_only_the_wanted_are_found(tmp_path: Path) -> None:
    one, two = (cut(record_match(tmp_path, [first_action] * seats)[0], 1800) for seats in (2, 3))

    assert find_unfinished(tmp_path, lambda opening: len(opening.names) == 2) == [one]
    assert find_unfinished(tmp_path, lambda opening: opening.match == two.stem) == [two]


def test_a_match_is_unfinished_up_to_its_last_byte(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    whole = path.read_bytes()
    opening, last = whole.index(b"\n") + 1, whole.rindex(b"\n", 0, -1) + 1

    for size in (opening, opening + 1, last - 1, last, last + 5, last + 30, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert find_unfinished(tmp_path, everything) == [path]


def test_a_match_whose_opening_is_torn_never_began(tmp_path: Path) -> None:
    path, _ = record_match(tmp_path, [first_action, first_action])
    opening = path.read_bytes().index(b"\n")

    for size in (opening, opening - 1, 1, 0):
        cut(path, size)
        assert find_unfinished(tmp_path, everything) == []


@pytest.mark.parametrize("junk", [b"", b"\n", b"{}\n", b'{"type":"opening"', b"\xff\xfe\n", b"[" * 50000, b"\0" * 9999])
def test_other_files_are_passed_over(junk: bytes, tmp_path: Path) -> None:
    (tmp_path / "junk.jsonl").write_bytes(junk)
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "other.txt").write_text("hello")

    assert find_unfinished(tmp_path, everything) == []


def test_a_directory_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert find_unfinished(tmp_path / "none", everything) == []


def test_an_unreadable_directory_is_a_host_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(HostFault, match=r"cannot read the journals in .*: Not a directory"):
        find_unfinished(tmp_path / "file", everything)
