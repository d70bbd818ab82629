"""List the meters of reliability, run all or a part of one, with or without a planted bug, and write their rows."""

import re
import time
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import date

from tests.reliability.crashes import CRASH_METER
from tests.reliability.cuts import CUT_METER
from tests.reliability.disks import DISK_METER
from tests.reliability.interval_coverage import COVERAGE_METER
from tests.reliability.kernels import ANSWER_METER, SANITIZER_METER
from tests.reliability.kills import KILL_METER, TOURNAMENT_METER
from tests.reliability.neighbours import NEIGHBOUR_METER
from tests.reliability.power_cuts import POWER_METER
from tests.reliability.readings import Meter, Reading
from tests.reliability.sequential_verdicts import VERDICT_METER
from tests.reliability.tampering import TAMPERING_METER
from tests.reliability.untampered import CLEAN_METER
from tools.page_sections import replace_section
from tools.readme_tables import ROOT

METERS: dict[str, Meter] = {  # the slowest first, as processes share the work
    "tournaments": TOURNAMENT_METER,
    "kills": KILL_METER,
    "neighbours": NEIGHBOUR_METER,
    "cuts": CUT_METER,
    "disks": DISK_METER,
    "tampering": TAMPERING_METER,
    "crashes": CRASH_METER,
    "power": POWER_METER,
    "answers": ANSWER_METER,
    "sanitizers": SANITIZER_METER,
    "clean": CLEAN_METER,
    "coverage": COVERAGE_METER,
    "verdicts": VERDICT_METER,
}
PAGE = ROOT / "docs" / "reliability.md"
ROW = re.compile(r"^\| `(\w+)` \|.*$", re.MULTILINE)
HEAD = "| meter | what was tried | what failed | planted bugs that turn it red | measured on |\n|---|--:|--:|---|---|\n"


def take_reading(name: str, numbers: range, seed: bytes, bug: str = "") -> tuple[Reading, float]:
    """What a meter shows for these numbers, and how many seconds that took; the bug is one of its own."""
    meter, since = METERS[name], time.monotonic()
    with meter.bugs[bug]() if bug else nullcontext():
        reading = meter.measure(numbers, seed)
    return reading, time.monotonic() - since


def write_rows(readings: Mapping[str, Reading], day: date) -> None:
    table = render_table(PAGE.read_text("utf-8"), readings, day)
    PAGE.write_text(replace_section(PAGE, "figures", table), encoding="utf-8")


def render_table(text: str, readings: Mapping[str, Reading], day: date) -> str:
    """The table of a page with fresh rows for some meters, in the order of the meters."""
    figures = text.partition("<!-- figures -->")[2].partition("<!-- end of figures -->")[0]
    rows = {found[1]: found[0] for found in ROW.finditer(figures)}
    for name, reading in readings.items():
        tried, bugs = f"{reading.tried:,} {METERS[name].unit}", ", ".join(METERS[name].bugs)
        rows[name] = f"| `{name}` | {tried} | {reading.failed} | {bugs} | {day.isoformat()} |"
    return f"\n{HEAD}" + "".join(f"{rows[name]}\n" for name in METERS if name in rows)
