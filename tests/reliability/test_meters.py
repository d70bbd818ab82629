"""Test that every meter is green on the code as it is, red with a planted bug, and described on its page."""

from datetime import date

import pytest

from fairplay.core.chance import seed_from_text
from tests.nonempty import nonempty
from tests.reliability.meters import METERS, PAGE, ROW, render_table, take_reading
from tests.reliability.readings import Reading, make_reading

SEED = seed_from_text("reliability")
CASES = [
    pytest.param(
        name,
        bug,
        marks=[pytest.mark.alone] * (name == "neighbours"),  # on a busy host no player loses on time
        id=f"{name}: {bug or 'green'}",
    )
    for name, meter in METERS.items()
    for bug in ("", *meter.bugs)
]


@pytest.mark.parametrize(("name", "bug"), CASES)
def test_a_meter_is_green_and_a_planted_bug_turns_it_red(name: str, bug: str) -> None:
    shown, _ = take_reading(name, METERS[name].small, SEED, bug)

    assert (shown.failed > 0) == bool(shown.failures) == bool(bug), shown
    assert 0 < shown.tried >= shown.failed


def test_every_meter_has_a_bug_to_catch() -> None:
    assert all(meter.bugs for meter in METERS.values())


def test_a_reading_counts_failures_and_shows_the_first_few() -> None:
    shown = make_reading(["", "one", "", "two", "three", "four"])

    assert shown == Reading(6, 4, ("one", "two", "three"))
    assert Reading(3, 1, ("one",)) + Reading(2, 1, ("two",)) == Reading(5, 2, ("one", "two"))


def test_a_new_row_replaces_the_old_one_and_others_stay() -> None:
    old = render_table("", {"cuts": Reading(9, 1), "kills": Reading(7, 0)}, date(2026, 1, 2))
    text = f"<!-- figures -->\n{old}<!-- end of figures -->\n\n| `power` | is cut |\n"

    fresh = render_table(text, {"cuts": Reading(5000, 0)}, date(2026, 3, 4))

    kills, cuts = ROW.finditer(fresh)
    assert kills[0].startswith("| `kills` | 7 kills | 0 | keeps a few lines back | 2026-01-02 |")
    assert cuts[0].startswith("| `cuts` | 5,000 cuts | 0 | ") and cuts[0].endswith("| 2026-03-04 |")


def test_the_page_has_every_meter_and_no_failure() -> None:
    figures, _, descriptions = PAGE.read_text().partition("## What the meters do")

    for name in nonempty(METERS):
        assert f"| `{name}` | " in descriptions
    for found in ROW.finditer(figures):
        assert found[0].split("|")[3].strip() == "0", found[0]
