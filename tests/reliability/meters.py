"""List the meters, and take a reading: of all of a meter or of a part, with or without a planted bug."""

import time
from contextlib import nullcontext

from tests.reliability.clean import CLEAN
from tests.reliability.coverage import COVERAGE
from tests.reliability.crashes import CRASHES
from tests.reliability.cuts import CUTS
from tests.reliability.disks import DISKS
from tests.reliability.kernels import ANSWERS, WATCHED_CALLS
from tests.reliability.kills import KILLS
from tests.reliability.neighbours import NEIGHBOURS
from tests.reliability.power import POWER
from tests.reliability.readings import Meter, Reading
from tests.reliability.tampering import TAMPERING
from tests.reliability.tournaments import TOURNAMENTS
from tests.reliability.verdicts import VERDICTS

METERS: dict[str, Meter] = {  # what takes longest comes first, for those who share the work
    "tournaments": TOURNAMENTS,
    "kills": KILLS,
    "neighbours": NEIGHBOURS,
    "cuts": CUTS,
    "disks": DISKS,
    "tampering": TAMPERING,
    "crashes": CRASHES,
    "power": POWER,
    "answers": ANSWERS,
    "sanitizers": WATCHED_CALLS,
    "clean": CLEAN,
    "coverage": COVERAGE,
    "verdicts": VERDICTS,
}


def measured(name: str, numbers: range, seed: bytes, bug: str = "") -> tuple[Reading, float]:
    """What a meter shows for these numbers, and how many seconds that took; the bug is one of its own."""
    meter, since = METERS[name], time.monotonic()
    planted = next((known.plant() for known in meter.bugs if known.name == bug), nullcontext())
    with planted:
        reading = meter.measure(numbers, seed)
    return reading, time.monotonic() - since
