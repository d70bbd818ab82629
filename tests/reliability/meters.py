"""List the meters of reliability, and run all or a part of one, with or without a planted bug."""

import time
from contextlib import nullcontext

from tests.reliability.crashes import CRASH_METER
from tests.reliability.cuts import CUT_METER
from tests.reliability.disks import DISK_METER
from tests.reliability.interval_coverage import COVERAGE_METER
from tests.reliability.kernels import ANSWER_METER, SANITIZER_METER
from tests.reliability.kills import KILL_METER
from tests.reliability.neighbours import NEIGHBOUR_METER
from tests.reliability.power_cuts import POWER_METER
from tests.reliability.readings import Meter, Reading
from tests.reliability.sequential_verdicts import VERDICT_METER
from tests.reliability.tampering import TAMPERING_METER
from tests.reliability.tournament_kills import TOURNAMENT_METER
from tests.reliability.untampered import CLEAN_METER

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


def take_reading(name: str, numbers: range, seed: bytes, bug: str = "") -> tuple[Reading, float]:
    """What a meter shows for these numbers, and how many seconds that took; the bug is one of its own."""
    meter, since = METERS[name], time.monotonic()
    planted = next((known.plant() for known in meter.bugs if known.name == bug), nullcontext())
    with planted:
        reading = meter.measure(numbers, seed)
    return reading, time.monotonic() - since
