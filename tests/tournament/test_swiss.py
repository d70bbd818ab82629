"""Check the promises of Swiss tournaments, with any results and players that come and go."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.formats.pairing import pair_by_standing
from fairplay.tournament.formats.swiss import SwissScores
from fairplay.tournament.formats.table_sizes import choose_table_sizes
from fairplay.tournament.settings import Swiss
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    MatchVerdict,
    entrant_names,
    lower_number_wins,
    make_spec,
    run_format,
    void_match,
)

SMALL = {"rows": 2, "columns": 4}  # a board for two or four, as three have nine penguins


@settings(max_examples=100, deadline=None)
@given(
    players=st.integers(2, 17),
    table=st.sampled_from([2, 4]),
    rounds=st.integers(1, 7),
    small=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_players_may_come_and_go(players: int, table: int, rounds: int, small: bool, random: Random) -> None:
    points: defaultdict[str, Fraction] = defaultdict(Fraction)
    gone, come = defaultdict[int, set[str]](set), defaultdict[int, set[str]](set)

    def judged(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        if random.random() < 0.1:
            points.update({name: points[name] + Fraction(1, 2) for name in seats})
            return (), ()
        drawn = [random.randint(1, len(seats)) for _ in seats]
        places = [1 + sum(other < place for other in drawn) for place in drawn]
        for name, place in zip(seats, places, strict=True):
            points[name] += Fraction(2 * sum(other > place for other in places) + places.count(place) - 1, 2) / (
                len(seats) - 1
            )
        gone[turn] |= {name for name in seats if random.random() < 0.05}
        return tuple(places), [name for name in seats if name in gone[turn]]

    def arriving(turn: int) -> Sequence[Entrant]:
        come[turn - 1] |= {f"n{turn}"} if random.random() < 0.2 else set()
        return [Entrant("random", name) for name in come[turn - 1]]

    tournament = make_spec(players, Swiss(rounds, table), parameters=SMALL if small else {})
    played, ranking = run_format(tournament, judged, arriving)

    there, byes = {one.name for one in tournament.players}, Counter[str]()
    for turn, matches in enumerate(played):
        assert max(Counter(name for spec in matches for name in entrant_names(spec)).values()) == 1
        idle = there - {name for spec in matches for name in entrant_names(spec)}
        assert len(idle) == (len(there) % 2 if small else 0)
        assert all(byes[name] == min(byes[one] for one in there) for name in idle)
        byes.update(idle)
        points.update({name: points[name] + Fraction(1, 2) for name in idle})
        there = there - gone[turn] | come[turn]
    assert len(played) == rounds or len(there) < 2
    assert sorted(name for rank in ranking for name in rank) == sorted(there)
    totals = [{points[name] for name in rank} for rank in ranking if rank]
    assert all(len(rank) == 1 for rank in totals)
    assert totals == sorted(totals, key=max, reverse=True)


def test_tables_are_near_the_size_that_is_wanted() -> None:
    assert choose_table_sizes(20, 4, range(2, 5)) == (4, 4, 4, 4, 4)
    assert choose_table_sizes(21, 4, range(3, 6)) == (5, 4, 4, 4, 4)
    assert choose_table_sizes(22, 4, range(3, 6)) == (4, 4, 4, 4, 3, 3)
    assert choose_table_sizes(5, 3, [3]) == (3,)
    assert choose_table_sizes(7, 3, [3, 4]) == (4, 3)
    assert choose_table_sizes(2, 3, [3, 4, 5]) == ()
    for players, size in product(range(6, 60), (2, 3, 4)):
        assert max(abs(one - size) for one in choose_table_sizes(players, size, range(2, 5))) <= 1


def test_no_player_has_two_byes_before_each_had_one() -> None:
    for players in (3, 5, 9):
        tournament = make_spec(players, Swiss(3 * players, 2), parameters=SMALL)
        everybody = {one.name for one in tournament.players}
        rounds, _ = run_format(tournament, lower_number_wins)

        byes = [everybody - {name for spec in matches for name in entrant_names(spec)} for matches in rounds]

        assert [len(idle) for idle in byes] == [1] * (3 * players)
        for cycle in range(0, 3 * players, players):
            assert set.union(*byes[cycle : cycle + players]) == everybody


def test_a_bye_goes_to_the_last_for_half_a_point() -> None:
    rounds, _ = run_format(make_spec(5, Swiss(2, 2), parameters=SMALL), lower_number_wins)
    (first,), (second,) = (
        {f"p{number:02}" for number in range(5)} - {name for spec in matches for name in entrant_names(spec)}
        for matches in rounds
    )
    ((match,),), ranking = run_format(make_spec(3, Swiss(1, 2), parameters=SMALL), lower_number_wins)
    winner, loser = sorted(entrant_names(match))

    assert second in {max(entrant_names(spec)) for spec in rounds[0]}
    assert first != second
    assert ranking == ((winner,), *({("p00",), ("p01",), ("p02",)} - {(winner,), (loser,)}), (loser,))


def played(*seats: str, **result: Any) -> list[CountedMatch]:
    return [CountedMatch(match=names, deal=0, names=tuple(names), **result) for names in seats]


def test_of_equals_the_player_with_stronger_opponents_is_first() -> None:
    score = SwissScores()
    for seats in ("ab", "cd", "ac", "bd"):
        score.add([], played(seats, places=(1, 2)))
    score.add([], played("be", "cf", places=(2, 1)))
    score.add([], played("ef", places=(1, 2)))

    assert score.ranking("abcdef") == (("a", "e"), ("b",), ("c", "f"), ("d",))


def test_points_are_added_up_exactly_and_void_matches_are_no_meetings() -> None:
    thirds, void = SwissScores(), SwissScores()
    for _ in range(30):
        thirds.add([], played("abcd", places=(1, 2, 3, 4)))
    void.add([], played("ab", void="a fault of the host"))

    assert thirds.points == {"a": 30, "b": 20, "c": 10, "d": 0}
    assert (void.met, void.points) == ({}, {"a": Fraction(1, 2), "b": Fraction(1, 2)})


def test_winners_play_winners() -> None:
    rounds, _ = run_format(make_spec(16, Swiss(2, 2)), lower_number_wins)
    winners = {min(entrant_names(spec)) for spec in rounds[0]}

    assert all(len(winners & set(entrant_names(spec))) in (0, 2) for spec in rounds[1])


@pytest.mark.parametrize(
    ("players", "table", "rounds", "again"), [(16, 2, 7, 0), (8, 2, 7, 2), (9, 3, 4, 2), (24, 4, 4, 3)]
)
def test_few_meet_again(players: int, table: int, rounds: int, again: int) -> None:
    for seed in nonempty("abc"):
        played, _ = run_format(
            make_spec(players, Swiss(rounds, table), seed=seed, game="tsuro" if table > 2 else "fish"),
            lower_number_wins,
        )
        met = Counter(
            frozenset(pair) for one in played for spec in one for pair in combinations(entrant_names(spec), 2)
        )

        assert sum(times - 1 for times in met.values()) <= again


@pytest.mark.parametrize(("players", "table"), [(8, 2), (9, 2), (20, 2), (9, 3), (20, 4), (13, 4)])
def test_seats_are_balanced(players: int, table: int) -> None:
    for seed in nonempty("abc"):
        random = Random(seed)

        def judged(seats: tuple[str, ...], turn: int, random: Random = random) -> MatchVerdict:
            return tuple(random.sample(range(1, len(seats) + 1), len(seats))), ()

        rounds, _ = run_format(make_spec(players, Swiss(12, table), seed=seed), judged)
        sat = Counter((name, seat) for one in rounds for spec in one for seat, name in enumerate(entrant_names(spec)))
        each = [[sat[f"p{number:02}", seat] for seat in range(2)] for number in range(players)]

        assert max(max(one) - min(one) for one in each) <= 3


def test_the_first_round_is_drawn_and_equals_are_drawn_anew_each_round() -> None:
    firsts = {run_format(make_spec(8, Swiss(1, 2), seed=it), lower_number_wins)[0][0][0].entrants for it in "abcdefgh"}
    rounds, _ = run_format(make_spec(8, Swiss(6, 2)), void_match)

    assert len(firsts) > 4
    assert len({frozenset(frozenset(entrant_names(spec)) for spec in matches) for matches in rounds}) > 4


def test_pairs_change_tables_only_to_avoid_meetings() -> None:
    order, twos = "abcdefgh", [2, 2, 2, 2]
    often = {frozenset(pair): times for pair, times in {"ad": 5, "bc": 5, "ab": 2, "ac": 1, "bd": 1}.items()}

    assert pair_by_standing(order, twos, {}) == [tuple(order[at : at + 2]) for at in range(0, 8, 2)]
    assert pair_by_standing(order, [4, 4], {}) == [tuple("abcd"), tuple("efgh")]
    assert pair_by_standing(order, twos, {frozenset("ab"): 1})[:2] == [("a", "c"), ("b", "d")]
    assert pair_by_standing("abcd", [2, 2], often)[0] == ("a", "c")
    assert pair_by_standing(order, twos, {frozenset(pair): 3 for pair in combinations(order, 2)})[0] == ("a", "b")
