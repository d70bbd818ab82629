"""Simulate tournaments, and check that intervals cover the truth as often as they say, and equals stay equal."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from fairplay.tournament.rating import ratings
from fairplay.tournament.rating.davidson import Bools, Floats, pairwise_results
from fairplay.tournament.rating.ratings import (
    ELO_PER_LOGIT,
    MIN_ERROR_LOGITS,
    SIGNIFICANCE_LEVEL,
    Covariances,
    estimate,
    interval_quantile,
    to_ratings,
)
from tests.reliability.readings import Meter
from tests.reliability.simulated_tournaments import SCENARIOS, Scenario, allowance, measure_scenarios, random_generator

RUNS = 500  # of each scenario, at full size
MEAN_COVERAGE_RANGE = (0.93, 0.97)  # of the contrasts of one kind
MIN_COVERAGE = 0.90  # of any contrast
MAX_FALSE_DIFFERENCES = 0.07  # of runs in which equals are significantly different
MAX_RARE_SHARE = 0.01  # of floors and one-sided intervals, which cover more than they say, where the upper limit holds


class CoverageResult(NamedTuple):
    """For each contrast and run: 1 if the interval covers the truth, 0 if not, not a number where there is none."""

    players: Floats
    pairs: Floats
    seats: Floats
    significant: Floats  # was any pair significantly different?
    special: float  # the share of contrasts with a floor or a one-sided interval


def find_deviations(scenario: Scenario, runs: list[int], seed: bytes) -> Iterator[str]:
    found = simulate(scenario, runs, seed)
    for kind, cases in (("players", found.players), ("pairs", found.pairs), ("seats", found.seats)):
        share, lenient = np.nanmean(cases), allowance(MEAN_COVERAGE_RANGE[0], len(runs), RUNS)
        if share < MEAN_COVERAGE_RANGE[0] - lenient:
            yield f"{share:.1%} of {kind} are covered, less than {MEAN_COVERAGE_RANGE[0]:.0%}"
        if share > MEAN_COVERAGE_RANGE[1] + lenient and found.special < MAX_RARE_SHARE:
            yield f"{share:.1%} of {kind} are covered, more than {MEAN_COVERAGE_RANGE[1]:.0%}"
        worst = np.nanmean(cases, axis=0).min()
        if worst < MIN_COVERAGE - allowance(MIN_COVERAGE, len(runs), RUNS):
            yield f"the worst of {kind} is covered in {worst:.1%}, less than {MIN_COVERAGE:.0%}"
    share = found.significant.mean()
    if scenario.equal and share > MAX_FALSE_DIFFERENCES + allowance(MAX_FALSE_DIFFERENCES, len(runs), RUNS):
        yield f"equals are significantly different in {share:.1%} of runs, more than {MAX_FALSE_DIFFERENCES:.0%}"


def simulate(scenario: Scenario, runs: list[int], seed: bytes) -> CoverageResult:
    """Hold a tournament so many times, and look at every interval."""
    true_players, true_seats = true_strengths(scenario, seed)
    names = [chr(ord("a") + number) for number in range(len(scenario.strengths))]
    ones, others = np.triu_indices(len(names), 1)
    rows: list[tuple[Floats, Floats, Floats, bool]] = []
    special = 0.0
    for run in runs:
        chance = random_generator(seed, f"{scenario.name} {run}")
        here = estimate(names, pairwise_results([scenario.simulate(chance, scenario.deals)], len(names)))
        shown = to_ratings(here)
        one_sided = here.never_scored | here.never_lost
        centred = ELO_PER_LOGIT * (true_players - true_players[here.reference].mean())
        by_name = {row.name: row for row in shown.players}
        are_covered = [
            (row.low is None or row.low <= true) and (row.high is None or true <= row.high)
            for row, true in zip((by_name[name] for name in names), centred, strict=True)
        ]
        off = here.strength - true_players
        rarer = np.minimum(here.record.groups[ones], here.record.groups[others])
        reach = here.errors_between[ones, others] * interval_quantile(rarer - 1)
        two_sided = np.where(one_sided[ones] | one_sided[others], np.nan, np.abs(off[ones] - off[others]) <= reach)
        worth = ELO_PER_LOGIT * (true_seats - true_seats.mean())
        seats_are = [row.low <= true <= row.high for row, true in zip(shown.seats, worth, strict=True)]
        rows.append(
            (np.array(are_covered, float), two_sided, np.array(seats_are, float), bool(shown.significant_pairs))
        )
        special += (here.record.few | one_sided).mean() / len(runs)
    players, pairs, seats, apart = (np.array(column, float) for column in zip(*rows, strict=True))
    return CoverageResult(players, pairs[:, ~np.isnan(pairs).all(0)], seats, apart, special)


@lru_cache
def true_strengths(scenario: Scenario, seed: bytes) -> tuple[Floats, Floats]:
    return scenario.true_strengths(random_generator(seed, f"{scenario.name}: the truth"))


def believe_model(variance: Covariances, few: Bools) -> Floats:
    """The errors as they would be if every game were drawn on its own."""
    return np.sqrt(np.maximum(variance.modelled, MIN_ERROR_LOGITS**2))


def compare_pairs_alone(strength: Floats, p_values: Floats) -> Bools:
    """Compare each pair as if there were no others."""
    return np.greater.outer(strength, strength) & (p_values < SIGNIFICANCE_LEVEL)


COVERAGE_METER = Meter(
    "simulated tournaments",
    measure_scenarios(SCENARIOS, find_deviations),
    full=range(RUNS * len(SCENARIOS)),
    least=RUNS * len(SCENARIOS),
    small=range(40 * len(SCENARIOS)),
    parts=len(SCENARIOS),  # so that a part is all of a scenario
    bugs={
        "believes the model rather than the groups": lambda: patch.object(ratings, "standard_errors", believe_model),
        "tells pairs apart one by one": lambda: patch.object(ratings, "significant_pairs", compare_pairs_alone),
    },
)
