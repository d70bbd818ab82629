"""Check that each listed file exists, that each test belongs to one run, and that a run imports what it needs."""

from pathlib import Path

import pytest

from tests.nonempty import nonempty
from tests.running.long import FIRST_TESTS, LONG_TESTS, is_left_out, kind_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("listed", [*LONG_TESTS, *FIRST_TESTS])
def test_each_listed_file_is_there(listed: str) -> None:
    assert (ROOT / listed).exists()


def test_each_file_is_imported_by_its_run_and_left_out_by_the_other() -> None:
    for file in nonempty((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        directories = [f"{directory.as_posix()}/" for directory in Path(name).parents if directory != Path()]
        chosen, other = ("long", "quick") if name.startswith(LONG_TESTS) else ("quick", "long")

        assert not any(is_left_out(part, run) for part in (name, *directories) for run in (chosen, "nightly", ""))
        assert is_left_out(name, other)


def test_each_test_belongs_to_one_run(request: pytest.FixtureRequest) -> None:
    for item in nonempty(request.session.items):
        assert {mark.name for mark in item.iter_markers()} & {"quick", "long", "nightly"} == {kind_of(item)}
