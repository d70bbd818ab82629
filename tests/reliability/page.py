"""Write readings into docs/reliability.md: a row for each meter that was read, with the day."""

import re
from collections.abc import Iterable, Mapping
from datetime import date

from tests.reliability.meters import METERS
from tests.reliability.readings import Reading
from tools.page_sections import replace_section
from tools.readme_tables import ROOT

PAGE = ROOT / "docs" / "reliability.md"
ROW = re.compile(r"^\| `(\w+)` \|.*$", re.MULTILINE)
HEAD = "| meter | what was tried | what failed | planted bugs that turn it red | measured on |\n|---|--:|--:|---|---|\n"


def write_rows(readings: Mapping[str, Reading], day: date) -> None:
    """Write the rows of these meters anew, and leave all others as they are."""
    PAGE.write_text(
        replace_section(PAGE, "figures", render_table(PAGE.read_text("utf-8"), readings, day)), encoding="utf-8"
    )


def render_table(text: str, readings: Mapping[str, Reading], day: date) -> str:
    """The table of a page with fresh rows for some meters, in the order of the meters."""
    figures = text.partition("<!-- figures -->")[2].partition("<!-- end of figures -->")[0]
    rows = {found[1]: found[0] for found in ROW.finditer(figures)}
    rows |= {name: render_row(name, reading, day) for name, reading in readings.items()}
    return f"\n{HEAD}{join_rows(rows[name] for name in METERS if name in rows)}"


def render_row(name: str, reading: Reading, day: date) -> str:
    """What a meter showed."""
    bugs = ", ".join(bug.name for bug in METERS[name].bugs)
    return f"| `{name}` | {reading.tried:,} {METERS[name].unit} | {reading.failed} | {bugs} | {day.isoformat()} |"


def join_rows(rows: Iterable[str]) -> str:
    """Rows, one below the other."""
    return "".join(f"{one}\n" for one in rows)
