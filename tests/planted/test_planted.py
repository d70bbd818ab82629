"""Test the lists of planted bugs: each fits its file, and its tests exist."""

from pathlib import Path

import pytest

from tests.planted.__main__ import is_caught, run_tests
from tests.planted.bugs import TREE, Bug, bug_files, read_bugs

BUGS = [bug for path in bug_files() for bug in read_bugs(path)]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_fits_its_file_and_names_tests_that_are_there(bug: Bug) -> None:
    text = (TREE / bug.file).read_text()

    assert bug.apply_to(text) != text
    for test in bug.caught_by:
        path, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (TREE / path).read_text(), test


def test_no_two_planted_bugs_have_one_name() -> None:
    names = [bug.name for bug in BUGS]

    assert len(set(names)) == len(names)


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A tree of one file and one test."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "total.py").write_text("def total(numbers):\n    return sum(numbers)\n")
    (tmp_path / "test_total.py").write_text(
        "from total import total\n\n\ndef test_total():\n    assert total([2, 2]) == 4\n"
    )
    return tmp_path


def bug_in_total(new: str) -> Bug:
    """A change of the small tree."""
    return Bug("a bug", "src/total.py", "sum(numbers)", new, ("test_total.py::test_total",))


def test_a_bug_that_no_test_catches_survives(small_tree: Path) -> None:
    assert not is_caught(bug_in_total("2 * len(numbers)"), small_tree, "")


def test_a_bug_that_a_test_catches_is_removed_again(small_tree: Path) -> None:
    assert is_caught(bug_in_total("max(numbers)"), small_tree, "")
    assert run_tests(["test_total.py"], small_tree, "") == 0


def test_a_bug_whose_test_is_missing_survives(small_tree: Path) -> None:
    bug = Bug("a bug", "src/total.py", "sum(numbers)", "max(numbers)", ("test_total.py::test_of_nothing",))

    assert not is_caught(bug, small_tree, "")


def test_a_bug_whose_text_is_not_found_is_refused() -> None:
    with pytest.raises(ValueError, match=r"occurs 0 times in src/total\.py"):
        bug_in_total("max(numbers)").apply_to("def total(numbers): ...")
