"""Find that what is listed as long is there, is marked, and is read only where it is run."""

from pathlib import Path

import pytest

from tests.nonempty import nonempty
from tests.running.long import FIRST_TESTS, LONG_TESTS, is_left_out

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("listed", [*LONG_TESTS, *FIRST_TESTS])
def test_what_is_listed_is_there(listed: str) -> None:
    assert (ROOT / listed).exists()


def test_what_is_long_is_in_one_of_two_runs_and_everything_else_in_the_other() -> None:
    for file in nonempty((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        directories = [f"{directory.as_posix()}/" for directory in Path(name).parents if directory != Path()]
        chosen, other = ("long", "not long") if name.startswith(LONG_TESTS) else ("not long", "long")

        assert not any(is_left_out(part, chosen) for part in (name, *directories))
        assert is_left_out(name, other)
        assert not is_left_out(name, "")


def test_only_what_is_listed_is_marked(request: pytest.FixtureRequest) -> None:
    items = request.session.items

    marked = {item.nodeid for item in items if item.get_closest_marker("long") is not None}

    assert marked == {item.nodeid for item in items if item.nodeid.startswith(LONG_TESTS)}
