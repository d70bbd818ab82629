"""Test matches of two players, and the sequential test that decides when they are over."""

from collections import Counter
from functools import partial
from itertools import cycle, islice
from math import log
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.formats.versus import DEALS_PER_ROUND, sequential_status
from fairplay.tournament.rating import sequential
from fairplay.tournament.rating.sequential import RunningTest, SequentialTest, group_score
from fairplay.tournament.report.decision import describe_verdict
from fairplay.tournament.settings import RoundRobin, Versus
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    Judge,
    MatchVerdict,
    all_tie,
    entrant_names,
    lower_number_wins,
    make_spec,
    run_format,
    void_match,
)
from tests.tournament.small_tournaments import make_tournament


def often(share: float) -> Judge:
    random = Random("versus")

    def judged(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        won = random.random() < share
        return tuple(1 if (name == "p00") == won else 2 for name in seats), ()

    return judged


@pytest.mark.parametrize(("share", "decided"), [(0.75, "elo1"), (0.25, "elo0")])
def test_versus_stops_when_the_test_decides_and_what_is_decided_stays_so(share: float, decided: str) -> None:
    settings, counted = Versus(elo0=0, elo1=50), list[CountedMatch]()
    tournament, lost = make_spec(2, settings), (2, 1) if share > 0.5 else (1, 2)

    rounds, ranking = run_format(tournament, often(share), stored=counted)

    assert ranking == ()
    assert {len(matches) for matches in rounds} == {2 * DEALS_PER_ROUND}
    before = [match for match in counted if match.deal < DEALS_PER_ROUND * (len(rounds) - 1)]
    later = [
        CountedMatch(match=str(number), deal=1000 + number // 2, names=("p00", "p01"), places=lost)
        for number in range(2000)
    ]
    status = partial(sequential_status, tournament, settings)
    assert status(before).accepted is None
    assert status(counted).accepted == decided
    assert status(counted[::-1]) == status(counted + later) == status(counted)


@pytest.mark.parametrize("judge", [void_match, all_tie, often(0.525)])
def test_versus_stops_after_the_maximal_number_of_games(judge: Judge) -> None:
    rounds, _ = run_format(make_spec(2, Versus(elo0=0, elo1=30, games=185)), judge)

    assert [len(matches) for matches in rounds] == [40, 40, 40, 40, 24]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_each_deal_of_versus_has_each_player_in_each_seat_once(players: int) -> None:
    (matches,), _ = run_format(make_spec(players, Versus(games=10 * players, table=players)), all_tie)

    groups = [matches[at : at + players] for at in range(0, len(matches), players)]
    assert len({spec.seed for spec in matches}) == len(groups) == 10
    for group in nonempty(groups):
        assert len({spec.seed for spec in group}) == 1
        assert all(spec.sealed for spec in group)
        sat = Counter((name, seat) for spec in group for seat, name in enumerate(entrant_names(spec)))
        assert set(sat.values()) == {1}


def test_at_a_table_of_three_each_sits_behind_each_other_equally_often() -> None:
    (matches,), _ = run_format(make_spec(3, Versus(games=12, table=3)), all_tie)

    behind = Counter((seats[seat - 1], seats[seat]) for seats in map(entrant_names, matches) for seat in range(3))
    assert len(behind) == 6
    assert set(behind.values()) == {6}


def test_the_errors_that_are_asked_for_are_those_of_the_test() -> None:
    settings = Versus(alpha=0.01, beta=0.2)

    verdict = sequential_status(make_spec(2, settings), settings, [])

    assert (verdict.lower_bound, verdict.upper_bound) == SequentialTest(settings.elo0, settings.elo1, 0.01, 0.2).bounds


@pytest.mark.parametrize("name", ["p00", "p01", "p02"])
def test_versus_stops_when_a_player_is_expelled(name: str) -> None:
    def expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], [name] if turn == 1 else []

    assert len(run_format(make_spec(3, Versus(elo0=-1, elo1=1, table=3)), expelled)[0]) == 2


def test_a_deal_that_was_not_played_in_all_seats_says_nothing() -> None:
    settings = Versus()
    names = ("p00", "p01")
    matches = [
        CountedMatch(match="1", deal=0, names=names, places=(1, 2)),
        CountedMatch(match="2", deal=0, names=names[::-1], void="cancelled"),
        CountedMatch(match="3", deal=1, names=names, places=(1, 2)),
        CountedMatch(match="4", deal=1, names=names[::-1], places=(1, 2)),
        CountedMatch(match="5", deal=2, names=names, places=(1, 2)),  # of which the other match is missing
    ]

    assert sequential_status(make_spec(2, settings), settings, matches).deals == 1


TOURNAMENT = make_tournament("ann=greedy", "bob=random", format=Versus(elo0=0, elo1=50))


def deals(count: int, wins: int) -> list[CountedMatch]:
    """So many deals in both seat orders, of which ann wins so many; the others are shared."""
    matches: list[CountedMatch] = []
    for deal in range(count):
        first = (1, 2) if deal % 2 == 0 or deal < wins else (2, 1)
        for names in (("ann", "bob"), ("bob", "ann")):
            won = deal < wins
            places = ((1, 2) if names[0] == "ann" else (2, 1)) if won else first
            matches.append(CountedMatch(match=f"m{len(matches)}", deal=deal, names=names, places=places))
    return matches


@pytest.mark.parametrize(
    ("matches", "said"),
    [
        (deals(40, 30), "ann is better than bob, by 50 Elo rather than by 0: decided after 2"),
        (deals(4000, 0), "no decision between ann and bob after 4000 deals"),
        ([], "no decision between ann and bob after 0 deals"),
    ],
)
def test_the_sentence_names_the_decision_of_the_test(matches: list[CountedMatch], said: str) -> None:
    decided = describe_verdict(TOURNAMENT, matches)

    assert decided is not None and decided[0].startswith(said)


def test_a_worse_player_is_not_called_better_and_expected_deals_are_named() -> None:
    worse = describe_verdict(TOURNAMENT, [replace(one, places=one.places[::-1]) for one in deals(40, 40)])
    undecided = describe_verdict(TOURNAMENT, deals(12, 6))

    assert worse is not None and undecided is not None
    assert worse[0].startswith("ann is not better than bob by 50 Elo, but by 0 at most: decided after 2")
    assert undecided[0].endswith(" will be needed")
    assert undecided[1].accepted is None
    assert describe_verdict(make_tournament(format=RoundRobin()), deals(2, 1)) is None, "which has no test"


EVEN = SequentialTest(0, 50)


def times(count: int, *scores: float) -> list[float]:
    return list(islice(cycle(scores), count))


def test_the_bounds_follow_from_the_errors() -> None:
    low, high = EVEN.bounds
    stricter = SequentialTest(0, 50, alpha=0.01, beta=0.1)

    assert high == pytest.approx(log(0.96 / 0.04))
    assert low == -high
    assert stricter.bounds == pytest.approx((log(0.08 / (1 - 0.008)), log((1 - 0.08) / 0.008)))
    with pytest.raises(BadRequest, match="elo0 has to be less than elo1, but they are 50 and 0"):
        RunningTest(SequentialTest(50, 0))


def test_the_ratio_of_likelihoods_can_be_checked_by_hand() -> None:
    found = sequential.sequential_status(SequentialTest(0, 100), [1.0, 0.5, 0.0, 1.0])

    # the mean is 0.625, the variance (1 + 0.25 + 0 + 1) / 4 - 0.625^2 = 0.171875, mu1 = 1 / (1 + 10^-0.25) = 0.640065
    assert found.llr == pytest.approx(2 * log((0.171875 + 0.125**2) / (0.171875 + (0.625 - 0.640065) ** 2)), rel=1e-6)
    assert (found.deals, found.accepted) == (4, None)


def test_a_player_that_wins_all_is_better_after_some_twenty_deals_and_one_that_loses_all_is_not() -> None:
    found = sequential.sequential_status(EVEN, times(100, 1.0))

    # 10.5 ln(0.25 / 0.428537^2) = 3.239 at 21 groups, and 3.085 at 20
    assert (found.accepted, found.deals) == ("elo1", 21)
    assert sequential.sequential_status(EVEN, times(100, 0.0)).accepted == "elo0"


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
    found = sequential.sequential_status(EVEN, times(500, 0.5))

    assert (found.accepted, found.expected_deals, found.deals) == (None, None, 500)


@pytest.mark.parametrize(("mean", "factor"), [(0.5, 5.85), (0.64, 5.85), (0.57, 10.1)])
def test_the_expected_deals_follow_wald_at_either_hypothesis_and_midway(mean: float, factor: float) -> None:
    elo1 = 400 * log(0.64 / 0.36, 10)
    found = sequential.sequential_status(SequentialTest(0, elo1), [mean - 0.36, mean + 0.36])

    assert found.expected_deals == pytest.approx(1.15 * factor * 0.36**2 / 0.14**2, rel=0.003)
    assert sequential.sequential_status(EVEN, [0.9, 1.0]).expected_deals == 20  # at least
    assert (
        sequential.sequential_status(EVEN, times(40, *(0.5,) * 39, 0.6)).expected_deals == 10 * 40
    )  # because of draws


def test_a_deal_scores_the_difference_in_points_of_the_two() -> None:
    won = CountedMatch(match="1", deal=0, names=("ann", "bob"), places=(1, 2))
    tied, void = replace(won, names=("bob", "ann"), places=(1, 1)), replace(won, places=(), void="cancelled")
    of_four = replace(won, names=("ann", "cyd", "bob", "dan"), places=(2, 1, 3, 3))

    assert group_score([won, tied], "ann", "bob") == 0.75
    assert group_score([won, tied], "bob", "ann") == 0.25
    assert of_four.points() == {"ann": 2 / 3, "cyd": 1.0, "bob": 1 / 6, "dan": 1 / 6}
    assert group_score([of_four], "ann", "bob") == pytest.approx(0.75)
    assert group_score([void, won], "ann", "bob") == 1.0
    assert group_score([void], "ann", "bob") is None


@given(st.lists(st.floats(0, 1), max_size=60))
def test_a_running_test_agrees_with_the_status_of_all_deals(scores: list[float]) -> None:
    running = RunningTest(EVEN)
    for score in scores:
        running.add(score)

    assert running.verdict == sequential.sequential_status(EVEN, scores)
    assert running.verdict.deals <= len(scores)
    if running.verdict.accepted:
        assert running.verdict.deals >= 20
