"""Test the ratings: by hand, in any order, and with few games."""

import subprocess
import sys
from math import isfinite, log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.ratings import Ratings, pair_p_values, rate_players, significant_pairs
from tests.nonempty import nonempty
from tests.python_path import python_path
from tests.tournament.example_matches import NAMES, duel_matches, random_matches, ratings_by_name, tied_match

ELO = 400 / log(10)


def test_three_of_four_is_about_the_odds_of_three() -> None:
    found = ratings_by_name(rate_players(duel_matches(3000, 1000, "ann", "bob")))

    assert found["ann"].rating - found["bob"].rating == pytest.approx(400 * log(3, 10), abs=0.5)
    assert (found["ann"].best_probability, found["ann"].best_rank, found["ann"].worst_rank) == (1.0, 1, 1)
    assert found["bob"].best_rank == found["bob"].worst_rank == 2


def test_equal_results_are_equal_ratings() -> None:
    found = rate_players(duel_matches(20, 20, "bob", "ann"))

    assert [one.rating for one in found.players] == [0.0, 0.0]
    assert [one.name for one in found.players] == ["ann", "bob"]
    assert [(one.best_rank, one.worst_rank) for one in found.players] == [(1, 2), (1, 2)]
    assert found.significant_pairs == ()


def test_a_first_seat_that_always_wins_has_an_advantage() -> None:
    counted = [
        CountedMatch(match="", deal=deal, names=("ann", "bob")[:: (-1) ** deal], places=(1, 2)) for deal in range(40)
    ]
    found = rate_players(counted)

    assert [seat.seat for seat in found.seats] == [0, 1]
    assert found.seats[0].advantage == -found.seats[1].advantage > 200
    assert found.significant_pairs == ()


def test_names_may_be_exchanged() -> None:
    counted = random_matches(Random(2), 80, players=4)
    turned = dict(zip(["ann", "bob", "cyd", "dan"], ["dan", "cyd", "bob", "ann"], strict=True))
    others = [
        CountedMatch(match=one.match, deal=one.deal, names=tuple(turned[name] for name in one.names), places=one.places)
        for one in counted
    ]
    one, other = ratings_by_name(rate_players(counted)), ratings_by_name(rate_players(others))

    for name in nonempty(one):
        mine, its = one[name], other[turned[name]]
        assert (mine.rating, mine.low, mine.high) == pytest.approx((its.rating, its.low, its.high), abs=1e-5)
        assert (mine.best_rank, mine.worst_rank) == (its.best_rank, its.worst_rank)
        assert mine.best_probability == pytest.approx(its.best_probability, abs=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_games_does_not_change_a_bit(seed: int) -> None:
    counted = random_matches(Random(seed), 150)
    found = rate_players(counted)

    for turn in range(6):
        shuffled = list(counted)
        Random(turn).shuffle(shuffled)
        assert rate_players(iter(shuffled)) == found
    assert rate_players(reversed(counted)) == found


def test_ratings_are_the_same_in_another_process_with_one_thread() -> None:
    script = (
        "from random import Random; from fairplay.tournament.rating.ratings import rate_players;"
        "from tests.tournament.example_matches import random_matches;"
        "print(rate_players(random_matches(Random(3), 400, 6)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        env={"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "7", "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout

    assert found == f"{rate_players(random_matches(Random(3), 400, 6))}\n"


def test_deals_need_not_be_numbered_from_nought() -> None:
    counted = random_matches(Random(5), 40)
    others = [
        CountedMatch(match=one.match, deal=7 * one.deal - 100, names=one.names, places=one.places) for one in counted
    ]

    assert rate_players(others) == rate_players(counted)


def test_players_that_always_tie_are_level_with_wide_intervals() -> None:
    found = rate_players([tied_match("ann", "bob", deal=deal) for deal in range(30)])

    for one in nonempty(found.players):
        assert one.rating == 0
        assert one.low is not None and one.low < -100
        assert one.too_few
    assert found.tie_parameter > 10
    assert found.significant_pairs == ()


def test_games_of_one_deal_say_less_than_games_of_many() -> None:
    once = duel_matches(24, 16, "ann", "bob")
    alone, copied = ratings_by_name(rate_players(once))["ann"], ratings_by_name(rate_players(once * 5))["ann"]

    assert alone.high is not None and copied.high is not None
    assert copied.high - copied.rating == pytest.approx(alone.high - alone.rating, rel=0.1)
    assert (copied.games, copied.groups) == (200, 40)


def test_a_player_that_never_scored_has_no_lower_bound() -> None:
    counted = [
        *duel_matches(30, 30, "ann", "bob"),
        *duel_matches(30, 0, "ann", "zoe", deal=100),
        *duel_matches(30, 0, "bob", "zoe", deal=200),
    ]
    found = ratings_by_name(rate_players(counted))
    zoe = found["zoe"]

    assert (zoe.one_sided, zoe.low, zoe.too_few) == ("never scored", None, False)
    # sixty games, so that an expected score of 1 - 0.025^(1/60) = 0.0596 is the most: against two equals, without draws
    assert zoe.high == pytest.approx(400 * log(0.0596 / 0.9404, 10), abs=15)
    assert zoe.high is not None and zoe.rating < zoe.high
    assert found["ann"].rating == found["bob"].rating == 0  # who alone are the reference
    assert (found["ann"].one_sided, found["bob"].one_sided) == ("", "")


def test_a_player_that_never_lost_has_no_upper_bound() -> None:
    counted = [
        *duel_matches(20, 20, "ann", "bob"),
        *duel_matches(30, 0, "top", "ann", deal=100),
        *duel_matches(30, 0, "top", "bob", deal=200),
    ]
    top = rate_players(counted).players[0]

    assert (top.name, top.one_sided, top.high) == ("top", "never lost", None)
    assert top.low == pytest.approx(400 * log(0.9404 / 0.0596, 10), abs=15)
    assert top.low is not None and top.low < top.rating


@pytest.mark.parametrize(("wins", "are_told_apart"), [(5, False), (6, True), (20, True)])
def test_a_player_that_won_all_of_six_games_is_significantly_better(wins: int, are_told_apart: bool) -> None:
    """2 / 2^6 is 0.03, and 2 / 2^5 is 0.06."""
    assert bool(rate_players(duel_matches(wins, 0, "ann", "bob")).significant_pairs) == are_told_apart


def test_a_player_that_lost_all_games_is_significantly_last() -> None:
    crowd = [f"p{number}" for number in range(8)]
    counted = [
        one
        for number, name in enumerate(crowd)
        for one in (
            *duel_matches(10, 10, name, crowd[number - 1], deal=100 * number),
            *duel_matches(10, 10, name, crowd[number - 2], deal=100 * number + 20),
            *duel_matches(5, 0, name, "zoe", deal=100 * number + 40),
        )
    ]
    found = rate_players(counted)

    assert (found.players[-1].name, found.players[-1].best_rank, found.players[-1].worst_rank) == ("zoe", 9, 9)
    assert set(found.significant_pairs) == {(name, "zoe") for name in crowd}


@pytest.mark.parametrize(("groups", "others", "too_few"), [(9, 4, True), (10, 4, False), (40, 2, True), (40, 3, False)])
def test_too_few_games_are_said(groups: int, others: int, too_few: bool) -> None:
    counted = duel_matches(groups - others, others, "ann", "bob")

    assert [one.too_few for one in rate_players(counted).players] == [too_few] * 2


@pytest.mark.parametrize(("games", "too_few"), [(9, True), (10, False), (200, False)])
def test_many_games_are_not_too_few_because_one_has_won_all_of_them(games: int, too_few: bool) -> None:
    found = rate_players(duel_matches(games, 0, "ann", "bob")).players

    assert [(one.one_sided, one.too_few) for one in found] == [("never lost", too_few), ("never scored", too_few)]


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
    found = rate_players(random_matches(Random(7), 600, players=6))
    better = {one.name: sum(pair[1] == one.name for pair in found.significant_pairs) for one in found.players}
    worse = {one.name: sum(pair[0] == one.name for pair in found.significant_pairs) for one in found.players}

    assert 3 <= len(found.significant_pairs) < 15
    for one in nonempty(found.players):
        assert (one.best_rank, one.worst_rank) == (1 + better[one.name], 6 - worse[one.name])
        assert one.best_rank <= one.worst_rank


def test_holm_is_stricter_the_more_there_are_to_tell_apart() -> None:
    """A difference of 2.4 errors is one between two players, but not one among a dozen."""
    two = duel_matches(62, 38, "ann", "bob")
    crowd = [f"p{number}" for number in range(10)]
    others = [
        one
        for number, name in enumerate(crowd)
        for one in duel_matches(20, 20, name, crowd[number - 1], deal=1000 + 40 * number)
    ]

    assert rate_players(two).significant_pairs == (("ann", "bob"),)
    assert rate_players([*two, *others]).significant_pairs == ()


def apart(strengths: list[float], groups: list[int]) -> list[list[int]]:
    """The significant pairs, if all differences have an error of 1."""
    strength = np.array(strengths)
    return np.argwhere(
        significant_pairs(strength, pair_p_values(strength, np.ones((len(strength),) * 2), np.array(groups)))
    ).tolist()


def test_holm_relaxes_the_level_after_each_significant_pair() -> None:
    """Two errors are p = 0.0455, enough for the last of three pairs, but not for the first (0.05 / 3)."""
    many = [10**6] * 3

    assert apart([9.0, 2.0, 0.0], many) == [[0, 1], [0, 2], [1, 2]]
    assert apart([9.0, 1.9, 0.0], many) == [[0, 1], [0, 2]]
    assert apart([2.0, 1.0, 0.0], many) == []
    assert apart([0.0, 9.0, 0.1], many) == [[1, 0], [1, 2]]


def test_holm_ends_with_the_first_pair_that_is_not_significant() -> None:
    """2.3 errors are p = 0.0214, too much for the first of three pairs (0.05 / 3); 2.29 would do for the second."""
    assert apart([2.3, 0.01, 0.0], [10**6] * 3) == []


def test_the_player_with_fewer_groups_sets_the_degrees_of_freedom_of_a_pair() -> None:
    """Three errors are p = 0.0028 among many groups, but 0.058 with three degrees of freedom."""
    assert apart([3.0, 0.0], [1000, 1000]) == [[0, 1]]
    assert apart([3.0, 0.0], [1000, 4]) == []


@pytest.mark.parametrize(
    "counted",
    [
        [],
        [CountedMatch(match="1", deal=0, names=("ann", "bob"), void="cancelled")],
        [CountedMatch(match="1", deal=0, names=("ann",), places=(1,))],
    ],
    ids=["none", "void", "alone"],
)
def test_without_games_no_player_is_rated(counted: list[CountedMatch]) -> None:
    assert rate_players(counted) == Ratings()
    assert Ratings().players == ()


def test_void_matches_do_not_count() -> None:
    counted = random_matches(Random(8), 30)
    void = CountedMatch(match="void", deal=3, names=("zoe", "ann"), void="a fault of the host")

    assert rate_players([*counted, void]) == rate_players(counted)


def test_after_one_game_ratings_are_uncertain() -> None:
    found = ratings_by_name(rate_players(duel_matches(1, 0, "ann", "bob")))

    assert found["ann"].rating > 0 > found["bob"].rating
    assert found["ann"].one_sided == "never lost" and found["bob"].one_sided == "never scored"
    assert found["ann"].low is not None and found["ann"].low < found["bob"].rating
    assert 0.5 < found["ann"].best_probability < 0.95
    assert rate_players(duel_matches(1, 0, "ann", "bob")).significant_pairs == ()


def test_two_players_with_the_same_results_are_not_significantly_different() -> None:
    lots = Random(9)
    counted = []
    for deal in range(50):
        places = (1, 1, 3) if lots.random() < 0.5 else (2, 2, 1)
        counted += [
            CountedMatch(match="", deal=deal, names=names, places=places)
            for names in (("ann", "bob", "cyd"), ("bob", "ann", "cyd"))
        ]

    assert not {("ann", "bob"), ("bob", "ann")} & set(rate_players(counted).significant_pairs)


@st.composite
def anything(draw: st.DrawFn) -> list[CountedMatch]:
    """Any matches between a few players with any results."""
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
    shuffled = list(counted)
    lots.shuffle(shuffled)

    assert rate_players(shuffled) == found
    assert {one.name for one in found.players} == {n for one in counted if len(one.names) > 1 for n in one.names}
    for one in found.players:
        bounds = [bound for bound in (one.low, one.high) if bound is not None]
        assert all(isfinite(figure) for figure in (one.rating, one.best_probability, *bounds))
        assert one.low is None or one.low <= one.rating
        assert one.high is None or one.rating <= one.high
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


def test_a_program_that_loses_everything_in_thousands_of_games_is_still_finite() -> None:
    found = rate_players([*duel_matches(5000, 0, "ann", "bob"), *duel_matches(5000, 0, "ann", "cyd", deal=5000)])

    assert found.players[0].name == "ann"
    assert all(isfinite(one.rating) for one in found.players)


def test_the_bound_of_a_player_that_never_lost_counts_deals_instead_of_games() -> None:
    others, once = duel_matches(30, 30, "cyd", "bob", deal=500), duel_matches(20, 0, "ann", "bob")

    alone, copied = (ratings_by_name(rate_players([*others, *once * times]))["ann"] for times in (1, 5))

    assert (copied.one_sided, copied.games, copied.groups) == ("never lost", 100, 20)
    assert copied.low == pytest.approx(alone.low, abs=5)
