"""Test the ratings: by hand, against a slow, plain fit, and with few games."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from math import exp, isfinite, log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.special import stdtr, stdtrit

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating import davidson
from fairplay.tournament.rating.ratings import Ratings, pair_p_values, rate_players, significant_pairs
from tests.nonempty import nonempty
from tests.python_path import python_path
from tests.tournament.example_tournaments import NAMES, duel_matches, random_tables, ratings_by_name

ELO = 400 / log(10)


def test_three_of_four_is_about_the_odds_of_three_and_equal_results_are_equal_ratings() -> None:
    found = ratings_by_name(rate_players(duel_matches(3000, 1000, "ann", "bob")))
    level = rate_players(duel_matches(20, 20, "bob", "ann"))

    assert found["ann"].rating - found["bob"].rating == pytest.approx(400 * log(3, 10), abs=0.5)
    assert (found["ann"].best_probability, found["ann"].best_rank, found["ann"].worst_rank) == (1.0, 1, 1)
    assert found["bob"].best_rank == found["bob"].worst_rank == 2
    assert [(it.name, it.rating, it.best_rank, it.worst_rank) for it in level.players] == [
        ("ann", 0.0, 1, 2),
        ("bob", 0.0, 1, 2),
    ]
    assert level.significant_pairs == ()


def test_ratings_are_the_same_in_another_process_with_one_thread() -> None:
    script = (
        "from random import Random; from fairplay.tournament.rating.ratings import rate_players;"
        "from tests.tournament.example_tournaments import random_tables;"
        "print(rate_players(random_tables(Random(3), 400, 6)))"
    )
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "7", "PYTHONPATH": python_path()}

    found = subprocess.check_output([sys.executable, "-c", script], env=environment, text=True, timeout=60)

    assert found == f"{rate_players(random_tables(Random(3), 400, 6))}\n"


@pytest.mark.parametrize("wins", [False, True])
def test_a_player_that_never_scored_or_never_lost_has_one_bound(wins: bool) -> None:
    counted, sign = duel_matches(30, 30, "ann", "bob"), 1 if wins else -1
    for deal, name in ((100, "ann"), (200, "bob")):
        counted += duel_matches(30, 0, *(("zoe", name) if wins else (name, "zoe")), deal=deal)

    found = ratings_by_name(rate_players(counted))

    zoe = found["zoe"]
    assert (zoe.one_sided, zoe.too_few) == ("never lost" if wins else "never scored", False)
    none, bound = (zoe.high, zoe.low) if wins else (zoe.low, zoe.high)
    # sixty games, so that an expected score of 1 - 0.025^(1/60) = 0.0596 is the most: against two equals, without draws
    assert none is None and bound is not None
    assert bound == pytest.approx(sign * 400 * log(0.9404 / 0.0596, 10), abs=15)
    assert sign * zoe.rating > sign * bound
    assert found["ann"].rating == found["bob"].rating == 0  # who alone are the reference
    assert (found["ann"].one_sided, found["bob"].one_sided) == ("", "")


@pytest.mark.parametrize(("wins", "are_told_apart"), [(5, False), (6, True), (20, True)])
def test_a_player_that_won_all_of_six_games_is_significantly_better(wins: int, are_told_apart: bool) -> None:
    """2 / 2^6 is 0.03, and 2 / 2^5 is 0.06."""
    assert bool(rate_players(duel_matches(wins, 0, "ann", "bob")).significant_pairs) == are_told_apart


@pytest.mark.parametrize(
    ("wins", "losses", "too_few"),
    [(5, 4, True), (6, 4, False), (38, 2, True), (37, 3, False), (9, 0, True), (10, 0, False), (200, 0, False)],
)
def test_too_few_games_are_said_but_not_because_one_has_won_many(wins: int, losses: int, too_few: bool) -> None:
    found = rate_players(duel_matches(wins, losses, "ann", "bob")).players

    assert [one.too_few for one in found] == [too_few] * 2
    assert [one.one_sided for one in found] == (["", ""] if losses else ["never lost", "never scored"])


def test_with_too_few_other_results_the_interval_is_no_narrower_than_the_model_says() -> None:
    found = ratings_by_name(rate_players(duel_matches(38, 2, "ann", "bob")))["ann"]

    assert found.low is not None
    # the odds are 38 : 2, whose logarithm has a variance of 1/38 + 1/2 at least, and ann has half of it
    assert found.rating - found.low > 2.0 * ELO * np.sqrt(1 / 38 + 1 / 2) / 2


def test_a_seat_that_won_all_of_four_games_may_still_be_worth_nothing() -> None:
    orders = (("ann", "bob"), ("bob", "ann"))
    counted = [CountedMatch(match="", deal=deal, names=orders[deal % 2], places=(1, 2)) for deal in range(4)]

    first, second = rate_players(counted).seats

    assert first.low < 0 < first.advantage
    assert second.advantage < 0 < second.high


def test_a_player_between_two_that_are_one_sided_has_an_interval() -> None:
    found = rate_players([*duel_matches(20, 0, "ann", "bob"), *duel_matches(5, 0, "bob", "cyd", deal=50)])

    bob = ratings_by_name(found)["bob"]
    assert sum(one.rating for one in found.players) == pytest.approx(0, abs=1e-3)
    assert bob.low is not None and bob.high is not None
    assert bob.low < bob.rating - 1 and bob.high > bob.rating + 1


def test_a_player_that_won_all_games_does_not_differ_significantly_from_one_with_few_games() -> None:
    found = rate_players([*duel_matches(5, 0, "ann", "cyd"), *duel_matches(1, 2, "bob", "cyd", deal=50)])

    assert ratings_by_name(found)["ann"].one_sided == "never lost"
    assert found.significant_pairs == ()


def test_an_interval_can_be_checked_by_hand() -> None:
    games_played, prior, reach = 12, 1 / 4**2, 2.200985  # of Student's t, with 11 degrees of freedom

    found = rate_players(duel_matches(6, 6, "ann", "bob"))

    ann = ratings_by_name(found)["ann"]
    assert (ann.rating, ann.low is None) == (0, False)
    curvature = games_played * (1 - found.tie_parameter / (2 + found.tie_parameter)) / 4
    variance = games_played * (1 / 2) ** 2 / (2 * curvature + prior) ** 2 * games_played / (games_played - 1)
    assert ann.high == pytest.approx(ELO * reach * np.sqrt(variance), rel=1e-4)


def test_the_probability_of_being_best_is_that_of_students_t() -> None:
    ann = ratings_by_name(rate_players(duel_matches(7, 3, "ann", "bob")))["ann"]

    assert ann.low is not None
    error = (ann.rating - ann.low) / stdtrit(9, 0.975)
    assert ann.best_probability == pytest.approx(stdtr(9, ann.rating / error), abs=0.005)


def test_players_that_never_met_are_not_significantly_different() -> None:
    found = rate_players([*duel_matches(300, 100, "ann", "bob"), *duel_matches(350, 50, "cyd", "dan", deal=1000)])

    assert set(found.significant_pairs) == {("ann", "bob"), ("cyd", "dan")}
    assert {(one.best_rank, one.worst_rank) for one in found.players} == {(1, 3), (2, 4)}
    assert 0.2 < ratings_by_name(found)["ann"].best_probability < 0.5


def test_ranks_count_significant_differences() -> None:
    found = rate_players(random_tables(Random(7), 600, players=6))
    better = {one.name: sum(pair[1] == one.name for pair in found.significant_pairs) for one in found.players}
    worse = {one.name: sum(pair[0] == one.name for pair in found.significant_pairs) for one in found.players}

    assert 3 <= len(found.significant_pairs) < 15
    for one in nonempty(found.players):
        assert (one.best_rank, one.worst_rank) == (1 + better[one.name], 6 - worse[one.name])
        assert one.best_rank <= one.worst_rank


@pytest.mark.parametrize(
    ("strengths", "groups", "pairs"),
    [
        # two errors are p = 0.0455, enough for the last of three pairs, but not for the first (0.05 / 3)
        ([9.0, 2.0, 0.0], [10**6] * 3, [[0, 1], [0, 2], [1, 2]]),
        ([9.0, 1.9, 0.0], [10**6] * 3, [[0, 1], [0, 2]]),
        ([2.0, 1.0, 0.0], [10**6] * 3, []),
        ([0.0, 9.0, 0.1], [10**6] * 3, [[1, 0], [1, 2]]),
        # 2.3 errors are p = 0.0214, too much for the first of three pairs; 2.29 would do for the second
        ([2.3, 0.01, 0.0], [10**6] * 3, []),
        # three errors are p = 0.0028 among many groups, but 0.058 with three degrees of freedom
        ([3.0, 0.0], [1000, 1000], [[0, 1]]),
        ([3.0, 0.0], [1000, 4], []),
    ],
)
def test_significant_pairs_are_those_of_holm(strengths: list[float], groups: list[int], pairs: list[list[int]]) -> None:
    strength = np.array(strengths)
    p_values = pair_p_values(strength, np.ones((len(strength),) * 2), np.array(groups))

    assert np.argwhere(significant_pairs(strength, p_values)).tolist() == pairs


def test_matches_that_do_not_count_rate_no_player() -> None:
    void = CountedMatch(match="1", deal=3, names=("zoe", "ann"), void="a fault of the host")
    alone = CountedMatch(match="1", deal=0, names=("ann",), places=(1,))
    counted = random_tables(Random(8), 30)

    assert rate_players([void]) == rate_players([alone]) == rate_players([]) == Ratings()
    assert rate_players([*counted, void]) == rate_players(counted)


@st.composite
def anything(draw: st.DrawFn) -> list[CountedMatch]:
    found = []
    for number in range(draw(st.integers(0, 12))):
        names = draw(st.permutations(NAMES))[: draw(st.integers(1, 5))]
        places = draw(st.lists(st.integers(1, 3), min_size=len(names), max_size=len(names)))
        shared = tuple(1 + sum(other < mine for other in places) for mine in places)
        found.append(CountedMatch(match=f"{number}", deal=draw(st.integers(0, 4)), names=tuple(names), places=shared))
    return found


@settings(deadline=None)
@given(anything(), st.randoms(use_true_random=False))
def test_whatever_happens_all_is_finite_and_makes_sense(counted: list[CountedMatch], lots: Random) -> None:
    found = rate_players(counted)
    shuffled = [replace(one, deal=7 * one.deal - 100) for one in counted]
    lots.shuffle(shuffled)

    assert rate_players(shuffled) == found
    assert {one.name for one in found.players} == {n for one in counted if len(one.names) > 1 for n in one.names}
    for one in found.players:
        assert isfinite(one.rating) and isfinite(one.best_probability)
        assert one.low is None or (isfinite(one.low) and one.low <= one.rating)
        assert one.high is None or (isfinite(one.high) and one.rating <= one.high)
        assert (one.low is None) == (one.one_sided == "never scored")
        assert (one.high is None) == (one.one_sided == "never lost")
        assert 1 <= one.best_rank <= one.worst_rank <= len(found.players)
        assert one.too_few
    for seat in found.seats:
        assert isfinite(seat.advantage) and seat.low < seat.advantage < seat.high
    if found.players:
        assert sum(one.best_probability for one in found.players) == pytest.approx(1)
        keys = [(-one.rating, one.name) for one in found.players]
        assert keys == sorted(keys)


def test_the_bound_of_a_player_that_never_lost_counts_deals_instead_of_games() -> None:
    others, once = duel_matches(30, 30, "cyd", "bob", deal=500), duel_matches(20, 0, "ann", "bob")

    alone, copied = (ratings_by_name(rate_players([*others, *once * times]))["ann"] for times in (1, 5))

    assert (copied.one_sided, copied.games, copied.groups) == ("never lost", 100, 20)
    assert copied.low == pytest.approx(alone.low, abs=5)


def plain_likelihood(at: davidson.Floats, counted: Sequence[CountedMatch], names: Sequence[str], seats: int) -> float:
    strength, seat, log_nu = at[: len(names)], at[len(names) : -1], at[-1]
    total = -(strength**2).sum() / 32 - (seat**2).sum() / 200 - (log_nu + 1) ** 2 / 18
    return float(-total) - sum(plain_game(at, one, names) for one in counted)


def plain_game(at: davidson.Floats, one: CountedMatch, names: Sequence[str]) -> float:
    total, size = 0.0, len(one.names)
    for a in range(size):
        for b in range(a + 1, size):
            first, second = (names.index(one.names[seat]) for seat in (a, b))
            apart = at[first] + at[len(names) + a] - at[second] - at[len(names) + b]
            weights = {1: exp(apart / 2), -1: exp(-apart / 2), 0: exp(at[-1])}
            outcome = (one.places[b] > one.places[a]) - (one.places[b] < one.places[a])
            total += log(weights[outcome] / sum(weights.values())) / (size - 1)
    return total


def numerical_slope(
    function: Callable[[davidson.Floats], float], at: davidson.Floats, step: float = 1e-5
) -> davidson.Floats:
    eye = np.eye(len(at)) * step
    return np.array([(function(at + way) - function(at - way)) / (2 * step) for way in eye])


def test_the_fit_agrees_with_a_plain_fit_and_numerical_derivatives() -> None:
    from scipy.optimize import minimize  # these take a second to load, and every worker reads this file
    from scipy.stats import t as student

    counted = random_tables(Random(1), 60)
    names, seats = sorted({name for one in counted for name in one.names}), 4
    width = len(names) + seats + 1

    def likelihood(at: davidson.Floats) -> float:
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
        assert rating.low is not None and rating.rating == pytest.approx(ELO * contrast @ at, abs=0.05)
        assert rating.rating - rating.low == pytest.approx(ELO * reach, rel=1e-3)
    for seat in nonempty(found.seats):
        contrast = np.zeros(width)
        contrast[len(names) : -1] = -1 / seats
        contrast[len(names) + seat.seat] += 1
        reach = student.ppf(0.975, len(deals) - 1) * np.sqrt(contrast @ spread @ contrast)
        assert seat.advantage == pytest.approx(ELO * contrast @ at, abs=0.05)
        assert seat.high - seat.advantage == pytest.approx(ELO * reach, rel=1e-3)


def test_a_pair_of_ejected_players_is_left_out_of_the_fit() -> None:
    seats = np.array([[0, 1, 2]] * 4)
    ejected, tied = (np.array([places] * 4) for places in ([1, 3, 3], [1, 2, 2]))

    met = davidson.pairwise_results([davidson.Tables(np.arange(4), seats, ejected)], 3)

    assert {tuple(pair) for pair in met.ends[:2].T.tolist()} == {(0, 1), (0, 2)}
    assert len(davidson.pairwise_results([davidson.Tables(np.arange(4), seats, tied)], 3).group) == 3 * 4


def test_the_fit_converges_though_nearly_all_games_were_tied() -> None:
    seats, places = np.array([[0, 1]] * 11), np.array([[1, 2], *[[1, 1]] * 10])
    pairs = davidson.pairwise_results([davidson.Tables(np.arange(11), seats, places)], 2)

    fit = davidson.fit_model(pairs)

    middle = np.array([0.0] * 4 + [davidson.PRIOR_LOG_NU])
    assert davidson.group_gradients(pairs, fit.estimate).sum(0) == pytest.approx(
        fit.prior * (fit.estimate - middle), abs=1e-6
    )
