"""Test that each known side channel between sandboxed programs can be measured, and is in the documentation."""

import pytest

from tests.players.machine import needs_strict
from tools.readme_tables import ROOT
from tools.side_channels import SIDE_CHANNELS, SideChannel, measure_channel


@needs_strict
@pytest.mark.parametrize("way", SIDE_CHANNELS, ids=lambda way: way.name)
def test_every_way_to_pass_a_note_can_be_measured(way: SideChannel) -> None:
    found = measure_channel(way, notes=1)

    assert 0 <= found.right <= 1
    assert found.seconds > 0


def test_the_documentation_lists_every_way_to_pass_a_note_with_its_bandwidth() -> None:
    rows = (ROOT / "docs" / "sandbox.md").read_text().splitlines()

    for way in SIDE_CHANNELS:
        (row,) = (line for line in rows if line.startswith(f"| {way.about} |"))
        _, _, bits, right, takes, _ = (cell.strip() for cell in row.split("|"))
        assert (bits, right[-1], takes[-3:]) == (str(way.width), "%", " ms")
