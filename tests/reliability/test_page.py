"""Test that the page on reliability has a row for each meter that was read, and describes every meter."""

from datetime import date

from tests.nonempty import nonempty
from tests.reliability import page
from tests.reliability.meters import METERS
from tests.reliability.readings import Reading


def test_a_new_row_replaces_the_old_one_and_others_stay() -> None:
    old = page.render_table("", {"cuts": Reading(9, 1), "kills": Reading(7, 0)}, date(2026, 1, 2))
    text = f"<!-- figures -->\n{old}<!-- end of figures -->\n\n| `power` | is cut |\n"

    fresh = page.render_table(text, {"cuts": Reading(5000, 0)}, date(2026, 3, 4))

    kills, cuts = page.ROW.finditer(fresh)
    assert kills[0].startswith("| `kills` | 7 kills | 0 | keeps a few lines back | 2026-01-02 |")
    assert cuts[0].startswith("| `cuts` | 5,000 cuts | 0 | ") and cuts[0].endswith("| 2026-03-04 |")


def test_the_page_has_every_meter_and_no_failure() -> None:
    text = page.PAGE.read_text()

    for name in nonempty(METERS):
        assert f"| `{name}` | " in text.partition("## What the meters do")[2]
    for found in page.ROW.finditer(text.partition("## What the meters do")[0]):
        assert found[0].split("|")[3].strip() == "0", found[0]
