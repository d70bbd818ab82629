"""Test that every meter is green on the code as it is, and red with a planted bug."""

import pytest
from _pytest.mark.structures import ParameterSet

from fairplay.core.chance import seed_from_text
from tests.reliability.meters import METERS, take_reading
from tests.reliability.readings import Reading, make_reading

SEED = seed_from_text("reliability")
NEEDS_CORES = {"neighbours"}  # on a busy host no player loses on time, whatever others do


def case(name: str, *bug: str) -> ParameterSet:
    """A meter, and a bug in it."""
    marks = [pytest.mark.alone] if name in NEEDS_CORES else []
    return pytest.param(name, *bug, marks=marks, id=": ".join((name, *bug)))


@pytest.mark.parametrize("name", [case(name) for name in METERS])
def test_a_meter_is_green(name: str) -> None:
    shown, _ = take_reading(name, METERS[name].small, SEED)

    assert (shown.failed, shown.failures) == (0, ())
    assert shown.tried > 0


@pytest.mark.parametrize(
    ("name", "bug"), [case(name, bug.name) for name, meter in METERS.items() for bug in meter.bugs]
)
def test_a_planted_bug_turns_its_meter_red(name: str, bug: str) -> None:
    shown, _ = take_reading(name, METERS[name].small, SEED, bug)

    assert 0 < shown.failed <= shown.tried
    assert shown.failures


def test_every_meter_has_a_bug_to_catch() -> None:
    assert all(meter.bugs for meter in METERS.values())


def test_a_reading_counts_failures_and_shows_the_first_few() -> None:
    shown = make_reading(["", "one", "", "two", "three", "four"])

    assert shown == Reading(6, 4, ("one", "two", "three"))


def test_readings_add_up() -> None:
    assert Reading(3, 1, ("one",)) + Reading(2, 1, ("two",)) == Reading(5, 2, ("one", "two"))
