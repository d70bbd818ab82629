"""Define meters of reliability and their readings: the number of attempts, of failures, and the first failures."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import msgspec

from fairplay.core.chance import SeededRandom, derive_seed

MAX_SHOWN_FAILURES = 3

Measure = Callable[[range, bytes], "Reading"]  # from the numbers of what is tried, and a seed for all of them
Trials = Iterable[str]  # for each that was tried what went wrong, or nothing


class Reading(msgspec.Struct, frozen=True):
    """What a meter shows."""

    tried: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()  # the first few

    def __add__(self, other: "Reading") -> "Reading":
        return Reading(
            self.tried + other.tried, self.failed + other.failed, (*self.failures, *other.failures)[:MAX_SHOWN_FAILURES]
        )


class Bug(msgspec.Struct, frozen=True):
    """A bug to plant: for as long as the context is open."""

    name: str
    plant: Callable[[], AbstractContextManager[object]]


class Meter(msgspec.Struct, frozen=True):
    """A meter at its full size and at a small one; with the same seed a number means the same in every run."""

    unit: str  # what is counted
    measure: Measure
    full: range
    least: int  # so many have to be tried at full size
    small: range
    bugs: tuple[Bug, ...]
    parts: int  # into which the full size is split, to be shared among processes


def make_reading(trials: Trials) -> Reading:
    """Count what was tried, and what went wrong."""
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
