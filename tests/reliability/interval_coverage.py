"""Simulate tournaments, and check that intervals cover the truth as often as they say, and equals stay equal."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from fairplay.core.chance import derive_seed
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
from tests.reliability.readings import MAX_SHOWN_FAILURES, Bug, Meter, Reading
from tests.reliability.simulated_tournaments import SCENARIOS, Scenario

RUNS = 500  # of each scenario, at full size
MEAN_COVERAGE_RANGE = (0.93, 0.97)  # of the contrasts of one kind
MIN_COVERAGE = 0.90  # of any contrast
MAX_FALSE_DIFFERENCES = 0.07  # of runs in which equals are significantly different
MAX_RARE_SHARE = (
    0.01  # floors and one-sided intervals cover more than they say; the upper limit is for where they are rarer
)
ALLOWED_STANDARD_ERRORS = 3.0  # standard errors that fewer runs are allowed for, beyond those of a full size


class CoverageResult(NamedTuple):
    """For each contrast and run: 1 if the interval covers the truth, 0 if not, not a number where there is none."""

    players: Floats
    pairs: Floats
    seats: Floats
    significant: Floats  # was any pair significantly different?
    special: float  # the share of contrasts with a floor or a one-sided interval


def measure_coverage(numbers: range, seed: bytes) -> Reading:
    """A number is a run of the scenario that is its remainder; what is demanded is demanded of all runs together."""
    failures, tried = [], 0
    for at, scenario in enumerate(SCENARIOS):
        runs = [number for number in numbers if number % len(SCENARIOS) == at]
        if runs:
            tried += len(runs)
            failures += [
                f"{scenario.name}: {failure}" for failure in find_deviations(scenario, simulate(scenario, runs, seed))
            ]
    return Reading(tried, len(failures), tuple(failures[:MAX_SHOWN_FAILURES]))


def find_deviations(scenario: Scenario, found: CoverageResult) -> Iterator[str]:
    """What is not as it has to be."""
    runs = len(found.significant)
    fewer = max(runs**-0.5 - RUNS**-0.5, 0)
    for kind, cases in (("players", found.players), ("pairs", found.pairs), ("seats", found.seats)):
        share = np.nanmean(cases)
        lenient = ALLOWED_STANDARD_ERRORS * fewer * (MEAN_COVERAGE_RANGE[0] * (1 - MEAN_COVERAGE_RANGE[0])) ** 0.5
        if share < MEAN_COVERAGE_RANGE[0] - lenient:
            yield f"{share:.1%} of {kind} are covered, less than {MEAN_COVERAGE_RANGE[0]:.0%}"
        if share > MEAN_COVERAGE_RANGE[1] + lenient and found.special < MAX_RARE_SHARE:
            yield f"{share:.1%} of {kind} are covered, more than {MEAN_COVERAGE_RANGE[1]:.0%}"
        worst = np.nanmean(cases, axis=0).min()
        if worst < MIN_COVERAGE - ALLOWED_STANDARD_ERRORS * fewer * (MIN_COVERAGE * (1 - MIN_COVERAGE)) ** 0.5:
            yield f"the worst of {kind} is covered in {worst:.1%}, less than {MIN_COVERAGE:.0%}"
    if (
        scenario.equal
        and found.significant.mean()
        > MAX_FALSE_DIFFERENCES
        + ALLOWED_STANDARD_ERRORS * fewer * (MAX_FALSE_DIFFERENCES * (1 - MAX_FALSE_DIFFERENCES)) ** 0.5
    ):
        share = found.significant.mean()
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
    """What there is to be covered."""
    return scenario.true_strengths(random_generator(seed, f"{scenario.name}: the truth"))


def random_generator(seed: bytes, name: str) -> np.random.Generator:
    """What is drawn under a name, whatever else is drawn."""
    return np.random.default_rng(int.from_bytes(derive_seed(seed, name)))


def planted_model_errors() -> AbstractContextManager[Any]:
    """The bug of errors as they would be if every game were drawn on its own, just as the model says."""

    def modelled(variance: Covariances, few: Bools) -> Floats:
        return np.sqrt(np.maximum(variance.modelled, MIN_ERROR_LOGITS**2))

    return patch.object(ratings, "standard_errors", modelled)


def planted_uncorrected_pairs() -> AbstractContextManager[Any]:
    """The bug of pairs that are compared as if there were no others."""

    def uncorrected_pairs(strength: Floats, p_values: Floats) -> Bools:
        return np.greater.outer(strength, strength) & (p_values < SIGNIFICANCE_LEVEL)

    return patch.object(ratings, "significant_pairs", uncorrected_pairs)


COVERAGE_METER = Meter(
    "simulated tournaments",
    measure_coverage,
    full=range(RUNS * len(SCENARIOS)),
    least=RUNS * len(SCENARIOS),
    small=range(40 * len(SCENARIOS)),
    bugs=(
        Bug("believes the model rather than the groups", planted_model_errors),
        Bug("tells pairs apart one by one", planted_uncorrected_pairs),
    ),
    parts=len(SCENARIOS),  # so that a part is all of a scenario
)
