"""Define meters of reliability and their readings: the number of attempts, of failures, and the first failures."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import msgspec

from fairplay.core.chance import SeededRandom, derive_seed

MAX_SHOWN_FAILURES = 3

Measure = Callable[[range, bytes], "Reading"]  # from the numbers of what is tried, and a seed for all of them
Plant = Callable[[], AbstractContextManager[object]]  # a bug, for as long as the context is open


class Reading(msgspec.Struct, frozen=True):
    tried: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()  # the first few

    def __add__(self, other: "Reading") -> "Reading":
        failures = (*self.failures, *other.failures)[:MAX_SHOWN_FAILURES]
        return Reading(self.tried + other.tried, self.failed + other.failed, failures)


class Meter(msgspec.Struct, frozen=True):
    """A meter at its full size and at a small one; with the same seed a number means the same in every run."""

    unit: str  # what is counted
    measure: Measure
    full: range
    least: int  # so many have to be tried at full size
    small: range
    parts: int  # into which the full size is split, to be shared among processes
    bugs: dict[str, Plant]


def measure_each(trials: Callable[[int, bytes], Iterable[str]]) -> Measure:
    """Measure by what went wrong in each trial of each number, or nothing."""
    return lambda numbers, seed: make_reading(trial for number in numbers for trial in trials(number, seed))


def make_reading(trials: Iterable[str]) -> Reading:
    tried, failures = 0, []
    for failure in trials:
        tried += 1
        if failure:
            failures.append(failure)
    return Reading(tried, len(failures), tuple(failures[:MAX_SHOWN_FAILURES]))


def make_lots(seed: bytes, number: int) -> SeededRandom:
    """The lots of one number, whatever else is drawn."""
    return SeededRandom(derive_seed(seed, f"lots {number}"))


def make_seed(seed: bytes, number: int) -> bytes:
    """The seed of the match of one number."""
    return derive_seed(seed, f"match {number}")
