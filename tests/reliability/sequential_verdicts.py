"""Let sequential tests decide what is known by construction, and check that they rarely err."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from math import log
from unittest.mock import patch

import numpy as np

from fairplay.tournament.rating import sequential
from fairplay.tournament.rating.davidson import Floats
from fairplay.tournament.rating.sequential import SequentialTest, SequentialVerdict, sequential_status
from tests.reliability.readings import Meter
from tests.reliability.simulated_tournaments import Scenario, allowance, measure_scenarios, random_generator

RUNS = 1_000  # of each scenario, at full size
MAX_ERROR_RATE = 0.064  # of either kind
HYPOTHESES_DISTANCE_ELO = 50.0  # in Elo, between the two hypotheses
MAX_DEAL_GROUPS = 20_000
DRAWN_GROUPS = 500  # at once
TRUTH_GROUPS = 400_000

SCENARIOS = (
    Scenario("decisive", (0.2, 0.0), 2, 1, seats=(0.3, -0.3)),
    Scenario("many draws", (3.0, 0.7), 2, 1, grain=40.0),  # unless one falls below 0
    Scenario("duplicate", (0.1, 0.0), 2, 1, duplicate=True, luck=1.5, wildness=(0.6, 1.4), gaussian=True, grain=0.5),
    Scenario("with fillers", (0.3, 0.0, 0.6, -0.6), 4, 1, seats=(0.4, 0.1, -0.1, -0.4), ejections=0.05),
)


def find_deviations(scenario: Scenario, runs: list[int], seed: bytes) -> Iterator[str]:
    for true, false in (("elo0", "elo1"), ("elo1", "elo0")):
        found = [one.accepted for one in decide_tests(scenario, true, runs, seed)]
        errors, right = found.count(false) / len(found), found.count(true) / len(found)
        if errors > MAX_ERROR_RATE + allowance(MAX_ERROR_RATE, len(runs), RUNS):
            yield f"where {true} is true, {false} is said in {errors:.1%}, more than {MAX_ERROR_RATE:.1%}"
        if right < 1 / 2:
            yield f"where {true} is true, that is said in no more than {right:.1%}"


def decide_tests(scenario: Scenario, true: str, runs: list[int], seed: bytes) -> Iterator[SequentialVerdict]:
    """The verdicts of tests one of whose hypotheses is exactly true."""
    mean = true_score(scenario, seed)
    elo = 400 * log(mean / (1 - mean), 10)
    lower = elo if true == "elo0" else elo - HYPOTHESES_DISTANCE_ELO
    test = SequentialTest(lower, lower + HYPOTHESES_DISTANCE_ELO)
    for run in runs:
        chance = random_generator(seed, f"{scenario.name}, {true}, {run}")
        draws = (simulated_scores(scenario, chance, DRAWN_GROUPS) for _ in range(MAX_DEAL_GROUPS // DRAWN_GROUPS))
        yield sequential_status(test, chain.from_iterable(draws))


@lru_cache
def true_score(scenario: Scenario, seed: bytes) -> float:
    """What the first scores against the second in the long run."""
    chance = random_generator(seed, f"{scenario.name}: the truth")
    return float(np.mean(simulated_scores(scenario, chance, TRUTH_GROUPS)))


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


VERDICT_METER = Meter(
    "sequential tests",
    measure_scenarios(SCENARIOS, find_deviations),
    full=range(RUNS * len(SCENARIOS)),
    least=RUNS * len(SCENARIOS),
    small=range(60 * len(SCENARIOS)),
    parts=len(SCENARIOS),  # so that a part is all of a scenario
    bugs={"decides at once": lambda: patch.multiple(sequential, MIN_TEST_DEALS=0, MIN_DECISIVE_DEALS=0)},
)
