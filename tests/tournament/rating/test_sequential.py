"""Test the sequential test: by hand, at its bounds, and with early decisions."""

from itertools import cycle, islice
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.rating.sequential import RunningTest, SequentialTest, group_score, sequential_status

EVEN = SequentialTest(0, 50)


def times(count: int, *scores: float) -> list[float]:
    return list(islice(cycle(scores), count))


def test_the_bounds_are_those_of_errors_of_four_in_a_hundred() -> None:
    low, high = EVEN.bounds

    assert high == pytest.approx(log(0.96 / 0.04))
    assert low == -high


def test_the_bounds_of_other_errors_are_stricter_by_the_same_share() -> None:
    low, high = SequentialTest(0, 50, alpha=0.01, beta=0.1).bounds

    assert high == pytest.approx(log((1 - 0.08) / 0.008))
    assert low == pytest.approx(log(0.08 / (1 - 0.008)))


def test_the_ratio_of_likelihoods_can_be_checked_by_hand() -> None:
    found = sequential_status(SequentialTest(0, 100), [1.0, 0.5, 0.0, 1.0])

    # the mean is 0.625, the variance (1 + 0.25 + 0 + 1) / 4 - 0.625^2 = 0.171875, mu1 = 1 / (1 + 10^-0.25) = 0.640065
    assert found.llr == pytest.approx(2 * log((0.171875 + 0.125**2) / (0.171875 + (0.625 - 0.640065) ** 2)), rel=1e-6)
    assert (found.deals, found.accepted) == (4, None)


def test_a_player_that_wins_all_is_better_after_some_twenty_deals() -> None:
    found = sequential_status(EVEN, times(100, 1.0))

    # 10.5 ln(0.25 / 0.428537^2) = 3.239 at 21 groups, and 3.085 at 20
    assert (found.accepted, found.deals) == ("elo1", 21)


def test_a_player_that_loses_all_is_not_better() -> None:
    assert sequential_status(EVEN, times(100, 0.0)).accepted == "elo0"


def test_nothing_is_decided_before_twenty_groups() -> None:
    running = RunningTest(SequentialTest(0, 400))
    found = [running.add(0.0) for _ in range(25)]

    assert found[10].llr < found[10].lower_bound
    assert [each.accepted for each in found[:19]] == [None] * 19
    assert found[19].accepted == "elo0"


def test_nothing_is_decided_before_ten_groups_differ_from_a_draw() -> None:
    running = RunningTest(SequentialTest(0, 100))
    found = [running.add(score) for score in times(200, *(0.5,) * 9, 0.75)]

    assert found[50].llr < found[50].lower_bound
    assert found[98].accepted is None  # the tenth that differs is the hundredth
    assert found[99].accepted == "elo0"


def test_draws_alone_decide_nothing() -> None:
    found = sequential_status(EVEN, times(500, 0.5))

    assert (found.accepted, found.expected_deals, found.deals) == (None, None, 500)


def test_what_is_decided_stays_so() -> None:
    running = RunningTest(EVEN)
    for _ in range(30):
        running.add(1.0)
    decided = running.verdict

    assert all(running.add(0.0) == decided for _ in range(100))


@pytest.mark.parametrize(("mean", "factor"), [(0.5, 5.85), (0.64, 5.85), (0.57, 10.1)])
def test_the_expected_deals_follow_wald_at_either_hypothesis_and_midway(mean: float, factor: float) -> None:
    elo1 = 400 * log(0.64 / 0.36, 10)
    found = sequential_status(SequentialTest(0, elo1), [mean - 0.36, mean + 0.36])

    assert found.expected_deals == pytest.approx(1.15 * factor * 0.36**2 / 0.14**2, rel=0.003)


def test_at_least_twenty_groups_are_expected() -> None:
    assert sequential_status(EVEN, [0.9, 1.0]).expected_deals == 20


def test_draws_increase_the_expected_deals() -> None:
    found = sequential_status(EVEN, times(40, *(0.5,) * 39, 0.6))

    assert found.expected_deals == 10 * 40


def test_hypotheses_that_are_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(BadRequest, match="elo0 has to be less than elo1, but they are 50 and 0"):
        RunningTest(SequentialTest(50, 0))


def test_a_deal_group_of_two_scores_what_the_first_scored() -> None:
    matches = [
        CountedMatch(match="1", deal=0, names=("ann", "bob"), places=(1, 2)),
        CountedMatch(match="2", deal=0, names=("bob", "ann"), places=(1, 1)),
    ]

    assert group_score(matches, "ann", "bob") == 0.75
    assert group_score(matches, "bob", "ann") == 0.25


def test_with_others_at_the_table_the_difference_in_points_counts() -> None:
    match = CountedMatch(match="1", deal=0, names=("ann", "cyd", "bob", "dan"), places=(2, 1, 3, 3))

    assert match.points() == {"ann": 2 / 3, "cyd": 1.0, "bob": 1 / 6, "dan": 1 / 6}
    assert group_score([match], "ann", "bob") == pytest.approx(0.75)


def test_matches_that_do_not_count_are_left_out() -> None:
    void = CountedMatch(match="1", deal=0, names=("ann", "bob"), void="cancelled")
    won = CountedMatch(match="2", deal=0, names=("ann", "bob"), places=(1, 2))

    assert group_score([void, won], "ann", "bob") == 1.0
    assert group_score([void], "ann", "bob") is None


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=60))
def test_swapping_the_players_gives_the_opposite_verdict(scores: list[float]) -> None:
    test = SequentialTest(-30, 30)
    one, other = sequential_status(test, scores), sequential_status(test, [1 - score for score in scores])

    assert one.llr == pytest.approx(-other.llr, abs=1e-6)
    assert {one.accepted, other.accepted} in ({None}, {"elo0", "elo1"})


@given(st.lists(st.floats(0, 1), max_size=60))
def test_a_running_test_agrees_with_the_status_of_all_deals(scores: list[float]) -> None:
    running = RunningTest(EVEN)
    for score in scores:
        running.add(score)

    assert running.verdict == sequential_status(EVEN, scores)
    assert running.verdict.deals <= len(scores)
    if running.verdict.accepted:
        assert running.verdict.deals >= 20
