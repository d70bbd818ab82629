"""Find that what is listed as long is there, and that it is marked."""

from pathlib import Path

import pytest

from tests.running.long import FIRST, LONG

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("listed", [*LONG, *FIRST])
def test_what_is_listed_is_there(listed: str) -> None:
    assert (ROOT / listed).exists()


def test_only_what_is_listed_is_marked(request: pytest.FixtureRequest) -> None:
    items = request.session.items

    marked = {item.nodeid for item in items if item.get_closest_marker("long") is not None}

    assert marked == {item.nodeid for item in items if item.nodeid.startswith(LONG)}
