"""Test the lists of planted bugs: each fits its file, and its tests exist."""

from pathlib import Path

import pytest

from tests.planted.__main__ import is_caught
from tests.planted.bugs import TREE, Bug, bug_files, read_bugs

BUGS = [bug for path in bug_files() for bug in read_bugs(path)]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_fits_its_file_and_names_tests_that_are_there(bug: Bug) -> None:
    text = (TREE / bug.file).read_text()

    assert bug.apply_to(text) != text
    assert [other.name for other in BUGS].count(bug.name) == 1
    for test in bug.caught_by:
        path, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (TREE / path).read_text(), test


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A tree of one file and one test."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "total.py").write_text("def total(numbers):\n    return sum(numbers)\n")
    (tmp_path / "test_total.py").write_text(
        "from total import total\n\n\ndef test_total():\n    assert total([2, 2]) == 4\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("new", "test", "caught"),
    [
        ("2 * len(numbers)", "test_total", False),
        ("max(numbers)", "test_total", True),
        ("max(numbers)", "test_of_nothing", False),
    ],
    ids=["no test fails", "a test fails", "the test is missing"],
)
def test_a_bug_survives_unless_a_test_catches_it_and_is_removed_again(
    new: str, test: str, caught: bool, small_tree: Path
) -> None:
    bug = Bug("a bug", "src/total.py", "sum(numbers)", new, (f"test_total.py::{test}",))

    before = (small_tree / bug.file).read_text()

    assert is_caught(bug, small_tree, "") == caught
    assert (small_tree / bug.file).read_text() == before
    with pytest.raises(ValueError, match=r"occurs 0 times in src/total\.py"):
        bug.apply_to("def total(numbers): ...")
