"""Pass notes between two programs in sandboxes, as the documentation says that it can be done."""

import pytest

from tests.players.machine import needs_strict
from tools.notes import WAYS, Way, measured
from tools.tables import ROOT


@needs_strict
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_way_to_pass_a_note_can_be_measured(way: Way) -> None:
    found = measured(way, notes=1)

    assert 0 <= found.right <= 1
    assert found.seconds > 0


def test_the_documentation_lists_every_way_to_pass_a_note_with_its_bandwidth() -> None:
    rows = (ROOT / "docs" / "sandbox.md").read_text().splitlines()

    for way in WAYS:
        (row,) = (line for line in rows if line.startswith(f"| {way.about} |"))
        _, _, bits, right, takes, _ = (cell.strip() for cell in row.split("|"))
        assert (bits, right[-1], takes[-3:]) == (str(way.width), "%", " ms")
