"""Test matches of two players, which are played until the test decides, or the games are over."""

from collections import Counter
from random import Random

import pytest

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.formats.versus import DEALS_PER_ROUND, sequential_status
from fairplay.tournament.rating.sequential import SequentialTest
from fairplay.tournament.settings import Versus
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


def often(share: float) -> Judge:
    """The first wins so often."""
    random = Random("versus")

    def judged(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        won = random.random() < share
        return tuple(1 if (name == "p00") == won else 2 for name in seats), ()

    return judged


@pytest.mark.parametrize(("share", "decided"), [(0.75, "elo1"), (0.25, "elo0")])
def test_versus_stops_when_the_test_decides(share: float, decided: str) -> None:
    settings, counted = Versus(elo0=0, elo1=50), list[CountedMatch]()
    tournament = make_spec(2, settings)

    rounds, ranking = run_format(tournament, often(share), stored=counted)

    assert ranking == ()
    assert {len(matches) for matches in rounds} == {2 * DEALS_PER_ROUND}
    before = [match for match in counted if match.deal < DEALS_PER_ROUND * (len(rounds) - 1)]
    assert sequential_status(tournament, settings, before).accepted is None
    assert sequential_status(tournament, settings, counted).accepted == decided
    assert sequential_status(tournament, settings, counted[::-1]) == sequential_status(tournament, settings, counted)


def test_what_was_decided_stays_decided() -> None:
    settings, counted = Versus(elo0=0, elo1=50), list[CountedMatch]()
    tournament = make_spec(2, settings)
    run_format(tournament, often(0.75), stored=counted)
    lost = [
        CountedMatch(match=str(number), deal=1000 + number // 2, names=("p00", "p01"), places=(2, 1))
        for number in range(2000)
    ]

    assert sequential_status(tournament, settings, counted + lost) == sequential_status(tournament, settings, counted)


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


def test_players_that_fill_the_table_do_not_change_the_verdict() -> None:
    def filler_differs(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return tuple(1 if name == "p02" else 2 for name in seats), ()

    settings, counted = Versus(games=600, table=3), list[CountedMatch]()
    tournament = make_spec(3, settings)
    run_format(tournament, filler_differs, stored=counted)

    verdict = sequential_status(tournament, settings, counted)
    assert (verdict.deals, verdict.accepted) == (200, None)


def test_versus_stops_when_a_player_is_expelled() -> None:
    for name in nonempty(["p00", "p01", "p02"]):

        def expelled(seats: tuple[str, ...], turn: int, name: str = name) -> MatchVerdict:
            return lower_number_wins(seats, turn)[0], [name] if turn == 1 else []

        rounds, _ = run_format(make_spec(3, Versus(elo0=-1, elo1=1, table=3)), expelled)

        assert len(rounds) == 2


def test_a_deal_that_was_not_played_in_all_seats_says_nothing() -> None:
    settings = Versus()
    tournament = make_spec(2, settings)
    matches = [
        CountedMatch(match="1", deal=0, names=("p00", "p01"), places=(1, 2)),
        CountedMatch(match="2", deal=0, names=("p01", "p00"), void="cancelled"),
        CountedMatch(match="3", deal=1, names=("p00", "p01"), places=(1, 2)),
        CountedMatch(match="4", deal=1, names=("p01", "p00"), places=(1, 2)),
    ]

    assert sequential_status(tournament, settings, matches).deals == 1


def test_a_deal_of_which_a_match_is_missing_says_nothing() -> None:
    settings = Versus()
    matches = [CountedMatch(match="1", deal=0, names=("p00", "p01"), places=(1, 2))]

    assert sequential_status(make_spec(2, settings), settings, matches).deals == 0
