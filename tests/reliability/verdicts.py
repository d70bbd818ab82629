"""Let sequential tests decide what is so by construction, and demand that they seldom err."""

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
from fairplay.tournament.rating.sequential import Test, Verdict, verdict
from tests.reliability.coverage import LENIENT, generator
from tests.reliability.cups import Scenario
from tests.reliability.readings import FEW, Bug, Meter, Reading

RUNS = 1_000  # of each scenario, at full size
ERROR = 0.064  # of either kind
WIDTH = 50.0  # in Elo, between the two hypotheses
MOST = 20_000  # deal groups
AT_ONCE = 500  # of them are drawn
FOR_TRUTH = 400_000

SCENARIOS = (
    Scenario("decisive", (0.2, 0.0), 2, 1, seats=(0.3, -0.3)),
    Scenario("many draws", (3.0, 0.7), 2, 1, grain=40.0),  # unless one falls below 0
    Scenario("duplicate", (0.1, 0.0), 2, 1, duplicate=True, luck=1.5, wildness=(0.6, 1.4), gaussian=True, grain=0.5),
    Scenario("with fillers", (0.3, 0.0, 0.6, -0.6), 4, 1, seats=(0.4, 0.1, -0.1, -0.4), ejections=0.05),
)


def verdicts(numbers: range, seed: bytes) -> Reading:
    """A number is a test in the scenario that is its remainder; errors are counted over all tests together."""
    failures, tried = [], 0
    for at, scenario in enumerate(SCENARIOS):
        runs = [number for number in numbers if number % len(SCENARIOS) == at]
        if runs:
            tried += len(runs)
            failures += [f"{scenario.name}: {failure}" for failure in missed(scenario, runs, seed)]
    return Reading(tried, len(failures), tuple(failures[:FEW]))


def missed(scenario: Scenario, runs: list[int], seed: bytes) -> Iterator[str]:
    """What is not as it has to be."""
    lenient = LENIENT * max(len(runs) ** -0.5 - RUNS**-0.5, 0) * (ERROR * (1 - ERROR)) ** 0.5
    for true, false in (("elo0", "elo1"), ("elo1", "elo0")):
        found = [one.decided for one in decided(scenario, true, runs, seed)]
        errors = found.count(false) / len(found)
        if errors > ERROR + lenient:
            yield f"where {true} is true, {false} is said in {errors:.1%}, more than {ERROR:.1%}"
        if found.count(true) < len(found) / 2:
            yield f"where {true} is true, that is said in no more than {found.count(true) / len(found):.1%}"


def decided(scenario: Scenario, true: str, runs: list[int], seed: bytes) -> Iterator[Verdict]:
    """The verdicts of tests one of whose hypotheses is exactly true."""
    mean = truth(scenario, seed)
    elo = 400 * log(mean / (1 - mean), 10)
    test = Test(elo, elo + WIDTH) if true == "elo0" else Test(elo - WIDTH, elo)
    for run in runs:
        chance = generator(seed, f"{scenario.name}, {true}, {run}")
        yield verdict(test, chain.from_iterable(scores(scenario, chance, AT_ONCE) for _ in range(MOST // AT_ONCE)))


@lru_cache
def truth(scenario: Scenario, seed: bytes) -> float:
    """What the first scores against the second in the long run."""
    return float(np.mean(scores(scenario, generator(seed, f"{scenario.name}: the truth"), FOR_TRUTH)))


def scores(scenario: Scenario, chance: np.random.Generator, groups: int) -> list[float]:
    """What the first scores against the second, whoever else sits there, one deal group after the other."""
    held = scenario.held(chance, groups)
    others = scenario.table - 1
    better = (held.places[:, None, :] > held.places[:, :, None]).sum(2)
    level = (held.places[:, None, :] == held.places[:, :, None]).sum(2) - 1
    points = (better + level / 2) / others
    first, second = (np.where(held.players == player, points, 0).sum(1) for player in (0, 1))
    by_order: Floats = (0.5 + (first - second) / 2).reshape(-1, groups)
    mean: list[float] = by_order.mean(0).tolist()
    return mean


def hasty() -> AbstractContextManager[Any]:
    """The bug of a test that decides as soon as it is over a bound."""
    return patch.multiple(sequential, GROUPS=0, DIFFERING=0)


VERDICTS = Meter(
    "sequential tests",
    verdicts,
    full=range(RUNS * len(SCENARIOS)),
    least=RUNS * len(SCENARIOS),
    small=range(60 * len(SCENARIOS)),
    bugs=(Bug("decides at once", hasty),),
    parts=len(SCENARIOS),  # so that a part is all of a scenario
)
