"""Let sequential tests decide what is known by construction, and check that they rarely err."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import chain
from math import log
from typing import Any
from unittest.mock import patch

import numpy as np

from fairplay.tournament.rating import sequential
from fairplay.tournament.rating.davidson import Floats
from fairplay.tournament.rating.sequential import SequentialTest, SequentialVerdict, sequential_status
from tests.reliability.interval_coverage import ALLOWED_STANDARD_ERRORS, random_generator
from tests.reliability.readings import MAX_SHOWN_FAILURES, Bug, Meter, Reading
from tests.reliability.simulated_tournaments import Scenario

RUNS = 1_000  # of each scenario, at full size
MAX_ERROR_RATE = 0.064  # of either kind
HYPOTHESES_DISTANCE_ELO = 50.0  # in Elo, between the two hypotheses
MAX_DEAL_GROUPS = 20_000  # deal groups
DRAWN_GROUPS = 500  # of them are drawn
TRUTH_GROUPS = 400_000

SCENARIOS = (
    Scenario("decisive", (0.2, 0.0), 2, 1, seats=(0.3, -0.3)),
    Scenario("many draws", (3.0, 0.7), 2, 1, grain=40.0),  # unless one falls below 0
    Scenario("duplicate", (0.1, 0.0), 2, 1, duplicate=True, luck=1.5, wildness=(0.6, 1.4), gaussian=True, grain=0.5),
    Scenario("with fillers", (0.3, 0.0, 0.6, -0.6), 4, 1, seats=(0.4, 0.1, -0.1, -0.4), ejections=0.05),
)


def measure_verdicts(numbers: range, seed: bytes) -> Reading:
    """A number is a test in the scenario that is its remainder; errors are counted over all tests together."""
    failures, tried = [], 0
    for at, scenario in enumerate(SCENARIOS):
        runs = [number for number in numbers if number % len(SCENARIOS) == at]
        if runs:
            tried += len(runs)
            failures += [f"{scenario.name}: {failure}" for failure in find_deviations(scenario, runs, seed)]
    return Reading(tried, len(failures), tuple(failures[:MAX_SHOWN_FAILURES]))


def find_deviations(scenario: Scenario, runs: list[int], seed: bytes) -> Iterator[str]:
    """What is not as it has to be."""
    lenient = (
        ALLOWED_STANDARD_ERRORS
        * max(len(runs) ** -0.5 - RUNS**-0.5, 0)
        * (MAX_ERROR_RATE * (1 - MAX_ERROR_RATE)) ** 0.5
    )
    for true, false in (("elo0", "elo1"), ("elo1", "elo0")):
        found = [one.accepted for one in decide_tests(scenario, true, runs, seed)]
        errors = found.count(false) / len(found)
        if errors > MAX_ERROR_RATE + lenient:
            yield f"where {true} is true, {false} is said in {errors:.1%}, more than {MAX_ERROR_RATE:.1%}"
        if found.count(true) < len(found) / 2:
            yield f"where {true} is true, that is said in no more than {found.count(true) / len(found):.1%}"


def decide_tests(scenario: Scenario, true: str, runs: list[int], seed: bytes) -> Iterator[SequentialVerdict]:
    """The verdicts of tests one of whose hypotheses is exactly true."""
    mean = true_score(scenario, seed)
    elo = 400 * log(mean / (1 - mean), 10)
    test = (
        SequentialTest(elo, elo + HYPOTHESES_DISTANCE_ELO)
        if true == "elo0"
        else SequentialTest(elo - HYPOTHESES_DISTANCE_ELO, elo)
    )
    for run in runs:
        chance = random_generator(seed, f"{scenario.name}, {true}, {run}")
        yield sequential_status(
            test,
            chain.from_iterable(
                simulated_scores(scenario, chance, DRAWN_GROUPS) for _ in range(MAX_DEAL_GROUPS // DRAWN_GROUPS)
            ),
        )


@lru_cache
def true_score(scenario: Scenario, seed: bytes) -> float:
    """What the first scores against the second in the long run."""
    return float(
        np.mean(simulated_scores(scenario, random_generator(seed, f"{scenario.name}: the truth"), TRUTH_GROUPS))
    )


def simulated_scores(scenario: Scenario, chance: np.random.Generator, groups: int) -> list[float]:
    """What the first scores against the second, whatever other players there are, one deal group after the other."""
    held = scenario.simulate(chance, groups)
    others = scenario.table - 1
    better = (held.places[:, None, :] > held.places[:, :, None]).sum(2)
    level = (held.places[:, None, :] == held.places[:, :, None]).sum(2) - 1
    points = (better + level / 2) / others
    first, second = (np.where(held.players == player, points, 0).sum(1) for player in (0, 1))
    by_order: Floats = (0.5 + (first - second) / 2).reshape(-1, groups)
    mean: list[float] = by_order.mean(0).tolist()
    return mean


def planted_hasty_test() -> AbstractContextManager[Any]:
    """The bug of a test that decides as soon as it is over a bound."""
    return patch.multiple(sequential, MIN_TEST_DEALS=0, MIN_DECISIVE_DEALS=0)


VERDICT_METER = Meter(
    "sequential tests",
    measure_verdicts,
    full=range(RUNS * len(SCENARIOS)),
    least=RUNS * len(SCENARIOS),
    small=range(60 * len(SCENARIOS)),
    bugs=(Bug("decides at once", planted_hasty_test),),
    parts=len(SCENARIOS),  # so that a part is all of a scenario
)
