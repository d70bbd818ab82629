"""Test the fit and its errors against a slow, plain one that has numerical derivatives."""

from collections.abc import Callable, Sequence
from math import exp, log
from random import Random

import numpy as np
import pytest

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.davidson import (
    PRIOR_LOG_NU,
    Floats,
    Tables,
    fit_model,
    group_gradients,
    pairwise_results,
)
from fairplay.tournament.rating.ratings import rate_players
from tests.nonempty import nonempty
from tests.tournament.example_matches import random_matches, ratings_by_name

ELO = 400 / log(10)


def plain_likelihood(at: Floats, counted: Sequence[CountedMatch], names: Sequence[str], seats: int) -> float:
    """Minus the logarithm of likelihood and prior, game by game."""
    strength, seat, log_nu = at[: len(names)], at[len(names) : -1], at[-1]
    total = -(strength**2).sum() / 32 - (seat**2).sum() / 200 - (log_nu + 1) ** 2 / 18
    return float(-total) - sum(plain_game(at, one, names) for one in counted)


def plain_game(at: Floats, one: CountedMatch, names: Sequence[str]) -> float:
    """The logarithm of the likelihood of one game."""
    total, size = 0.0, len(one.names)
    for a in range(size):
        for b in range(a + 1, size):
            first, second = (names.index(one.names[seat]) for seat in (a, b))
            apart = at[first] + at[len(names) + a] - at[second] - at[len(names) + b]
            weights = {1: exp(apart / 2), -1: exp(-apart / 2), 0: exp(at[-1])}
            outcome = (one.places[b] > one.places[a]) - (one.places[b] < one.places[a])
            total += log(weights[outcome] / sum(weights.values())) / (size - 1)
    return total


def numerical_slope(function: Callable[[Floats], float], at: Floats, step: float = 1e-5) -> Floats:
    eye = np.eye(len(at)) * step
    return np.array([(function(at + way) - function(at - way)) / (2 * step) for way in eye])


def test_the_fit_agrees_with_a_plain_fit_and_numerical_derivatives() -> None:
    from scipy.optimize import minimize  # these take a second to load, and every worker reads this file
    from scipy.stats import t as student

    counted = random_matches(Random(1), 60)
    names, seats = sorted({name for one in counted for name in one.names}), 4
    width = len(names) + seats + 1

    def likelihood(at: Floats) -> float:
        return plain_likelihood(at, counted, names, seats)

    start = np.zeros(width)
    at = minimize(likelihood, start, method="BFGS", options={"gtol": 1e-7}).x
    hessian = np.array(
        [
            (numerical_slope(likelihood, at + way, 1e-4) - numerical_slope(likelihood, at - way, 1e-4)) / 2e-4
            for way in np.eye(width) * 1e-4
        ]
    )
    deals = sorted({one.deal for one in counted})
    per_deal = []
    for deal in deals:
        of_deal = [one for one in counted if one.deal == deal]
        per_deal.append(numerical_slope(lambda x, o=of_deal: sum(plain_game(x, one, names) for one in o), at))  # type: ignore[misc]
    inverse = np.linalg.inv(hessian)
    spread = inverse @ sum(np.outer(slope, slope) for slope in per_deal) @ inverse * len(deals) / (len(deals) - 1)
    found = rate_players(counted)

    assert found.tie_parameter == pytest.approx(exp(at[-1]), rel=1e-3)
    for number, name in nonempty(enumerate(names)):
        contrast = np.zeros(width)
        contrast[: len(names)] = -1 / len(names)
        contrast[number] += 1
        groups = len({one.deal for one in counted if name in one.names})
        reach = student.ppf(0.975, groups - 1) * np.sqrt(contrast @ spread @ contrast)
        rating = ratings_by_name(found)[name]
        assert rating.groups == groups
        assert rating.low is not None
        assert rating.rating == pytest.approx(ELO * contrast @ at, abs=0.05)
        assert rating.rating - rating.low == pytest.approx(ELO * reach, rel=1e-3)
    for seat in nonempty(found.seats):
        contrast = np.zeros(width)
        contrast[len(names) : -1] = -1 / seats
        contrast[len(names) + seat.seat] += 1
        reach = student.ppf(0.975, len(deals) - 1) * np.sqrt(contrast @ spread @ contrast)
        assert seat.advantage == pytest.approx(ELO * contrast @ at, abs=0.05)
        assert seat.high - seat.advantage == pytest.approx(ELO * reach, rel=1e-3)


def test_the_order_of_games_does_not_change_a_bit_of_the_fit() -> None:
    chance = np.random.default_rng(1)
    players = chance.permuted(np.tile(np.arange(5), (300, 1)), axis=1)[:, :3]
    games = Tables(np.arange(300) // 3, players, chance.integers(1, 4, players.shape))
    order = chance.permutation(300)
    one, other = (pairwise_results([each], 5) for each in (games, Tables(*(column[order] for column in games))))

    assert fit_model(one).estimate.tobytes() == fit_model(other).estimate.tobytes()
    assert fit_model(one).information.tobytes() == fit_model(other).information.tobytes()
    assert (
        group_gradients(one, fit_model(one).estimate).tobytes()
        == group_gradients(other, fit_model(other).estimate).tobytes()
    )


def test_a_pair_of_ejected_players_is_left_out_of_the_fit() -> None:
    seats = np.array([[0, 1, 2]] * 4)
    ejected, tied = (np.array([places] * 4) for places in ([1, 3, 3], [1, 2, 2]))

    met = pairwise_results([Tables(np.arange(4), seats, ejected)], 3)

    assert {tuple(pair) for pair in met.ends[:2].T.tolist()} == {(0, 1), (0, 2)}
    assert len(pairwise_results([Tables(np.arange(4), seats, tied)], 3).group) == 3 * 4


def test_the_fit_converges_though_nearly_all_games_were_tied() -> None:
    seats, places = np.array([[0, 1]] * 11), np.array([[1, 2], *[[1, 1]] * 10])
    pairs = pairwise_results([Tables(np.arange(11), seats, places)], 2)

    fit = fit_model(pairs)

    middle = np.array([0.0] * 4 + [PRIOR_LOG_NU])
    assert group_gradients(pairs, fit.estimate).sum(0) == pytest.approx(fit.prior * (fit.estimate - middle), abs=1e-6)
