"""Test the standings, and their table."""

import random
import re

import pytest
from msgspec.structs import replace

from fairplay import Entrant
from fairplay.core.events import Fault
from fairplay.render.text import display_width
from fairplay.tournament.counted_match import CountedMatch, Ranking
from fairplay.tournament.rating.ratings import Ratings, rate_players
from fairplay.tournament.rating.standings import StandingsRow, standings
from fairplay.tournament.report.table import describe_significance, describe_unranked, format_standings
from tests.nonempty import nonempty
from tests.tournament.example_tournaments import HOSTILE, compute_standings, make_spec, random_matches

PLAYERS = tuple(Entrant("greedy", name) for name in ("ann", "bob", "cyd"))


def match(
    names: str, *places: int, scores: tuple[int, ...] = (), faults: tuple[Fault | None, ...] = ()
) -> CountedMatch:
    return CountedMatch(match=names, deal=0, names=tuple(names.split()), places=places, scores=scores, faults=faults)


def row_of(name: str, *counted: CountedMatch, ranking: Ranking = ()) -> StandingsRow:
    return next(row for row in standings(PLAYERS, counted, ranking, rate_players(counted)) if row.name == name)


def test_the_ratings_decide_who_is_first() -> None:
    tournament = make_spec(["ann", "bob", "cyd"])

    rows, ratings = compute_standings(tournament, random_matches(["cyd", "ann", "bob"], 200))

    assert [(row.place, row.name) for row in rows] == [(1, "cyd"), (2, "ann"), (3, "bob")]
    assert [row.name for row in rows] == [rating.name for rating in ratings.players]
    assert [row.address for row in rows] == ["./bots/2.py", "./bots/0.py", "./bots/1.py"]
    assert [(row.rating, row.rating_low, row.rating_high) for row in rows] == [
        (round(it.rating, 1), round(it.low or 0, 1), round(it.high or 0, 1)) for it in ratings.players
    ]


def test_neither_the_order_of_matches_nor_their_times_show() -> None:
    names = ["ann", "bob", "cyd", "dan", "eve"]
    counted = random_matches(names, 300, 4, bad="dan")
    shuffled = [replace(one, thinking_s=(9.0,) * 4, slowest_turn_s=(3.0,) * 4) for one in counted]
    random.Random(5).shuffle(shuffled)

    assert compute_standings(make_spec(names), shuffled)[0] == compute_standings(make_spec(names), counted)[0]


def test_players_whose_ratings_are_shown_as_equal_share_a_place() -> None:
    ratings = rate_players([match("ann bob cyd", 1, 1, 3), match("bob ann cyd", 1, 1, 3)])
    best, *others = ratings.players

    for more in (0, 0.001):
        ratings = replace(ratings, players=(replace(best, rating=best.rating + more), *others))
        assert [row.place for row in standings(PLAYERS, [], (), ratings)] == [1, 1, 3]


@pytest.mark.parametrize(
    ("best", "ranking", "rows"),
    [
        ("ann bob cyd", (("cyd",), ("ann", "bob")), [(1, "cyd"), (2, "ann"), (2, "bob")]),
        ("cyd bob ann", (("ann", "bob", "cyd"),), [(1, "cyd"), (1, "bob"), (1, "ann")]),
        ("ann bob cyd", (("bob",),), [(1, "bob"), (2, "ann"), (2, "cyd")]),
    ],
    ids=["before ratings", "ratings order those that share a rank", "players that are left out are last"],
)
def test_the_ranking_of_a_format_comes_before_ratings(best: str, ranking: Ranking, rows: list[tuple[int, str]]) -> None:
    counted = random_matches(best.split(), 100)

    assert [(row.place, row.name) for row in standings(PLAYERS, counted, ranking, rate_players(counted))] == rows


def test_an_expelled_player_is_behind_all_others() -> None:
    counted = random_matches(["ann", "bob", "cyd"], 100)
    counted.append(CountedMatch(match="x", deal=100, names=("ann", "bob"), places=(1, 2), expelled=("ann",)))

    rows, _ = compute_standings(make_spec(["ann", "bob", "cyd"]), counted)

    assert [(row.place, row.name, row.expelled) for row in rows] == [
        (1, "bob", False),
        (2, "cyd", False),
        (3, "ann", True),
    ]


def test_what_is_counted_is_right() -> None:
    counted = (
        match("ann bob", 1, 2, scores=(7, 3)),
        match("bob ann", 1, 1, scores=(4, 4)),
        match("cyd ann bob", 1, 3, 2, scores=(9, 1, 5)),
        match("bob cyd ann", 3, 1, 2, scores=(0, 9, 2)),
        match("bob cyd", 1, 2),
    )

    ann, bob = row_of("ann", *counted), row_of("bob", *counted)
    left = row_of("dan", match("dan bob", 1, 2))

    assert (ann.games, ann.points, ann.wins, ann.shared_wins) == (4, 2.0, 1, 1)
    assert (ann.mean_place, ann.mean_score, ann.faults) == (1.75, 3.5, {})
    assert bob.mean_score == 3.0  # in which a score of nothing counts
    assert (left.games, left.address) == (1, "")


def test_faults_are_counted_by_kind_even_if_the_match_is_not() -> None:
    ejected = match("ann bob", 1, 2, faults=(None, Fault.ILLEGAL))
    void = replace(match("bob ann", faults=(Fault.TIMED_OUT, None)), void="the host failed")

    row, all_out = (
        row_of("bob", ejected, ejected, void),
        row_of("ann", match("ann bob", 2, 2, faults=(Fault.GONE,) * 2)),
    )

    assert (row.faults, row.games) == ({"illegal": 2, "timed_out": 1}, 2)
    assert (all_out.games, all_out.points, all_out.wins, all_out.shared_wins, all_out.mean_place) == (1, 0.0, 0, 0, 2.0)
    assert (all_out.rating, all_out.note) == (None, "no rated matches")


def test_how_many_matches_the_ratings_leave_out_is_said() -> None:
    nothing, ranked = match("ann bob", 2, 2, faults=(Fault.CRASHED, Fault.GONE)), match("ann bob", 1, 2)

    assert describe_unranked([ranked, ranked]) == ""
    assert describe_unranked([ranked, nothing]) == "1 match gives no points, and no ratings: all players were ejected"
    assert describe_unranked([nothing] * 3).startswith("3 matches give no points")
    assert rate_players([ranked, nothing]) == rate_players([ranked])


def test_a_player_that_never_played_has_a_row_without_figures() -> None:
    row = row_of("cyd", match("ann bob", 1, 2))

    assert (row.place, row.games, row.rating, row.mean_place, row.note) == (3, 0, None, None, "never played")


def test_what_makes_a_rating_doubtful_is_said() -> None:
    counted = random_matches(["ann", "bob", "cyd"], 90, bad="cyd")

    rows, _ = compute_standings(make_spec(["ann", "bob", "cyd"]), counted)
    few, _ = compute_standings(make_spec(["ann", "bob", "cyd"]), counted[:4])

    assert rows[2].note.startswith("never scored")
    assert (rows[2].rating_low, rows[0].note) == (None, "")
    assert all("too few games" in row.note for row in nonempty(few))


def test_a_table_has_eighty_columns_for_short_names_and_two_kinds_of_faults() -> None:
    names = ["annabel", "bob", "cyd"]
    counted = random_matches(names, 100, bad="cyd")
    counted.append(match("bob annabel", 1, 2, faults=(None, Fault.ILLEGAL)))

    lines = format_standings(compute_standings(make_spec(names), counted)[0])

    assert " ".join(lines[0].split()) == "# name rating 95 % ranks games points score illegal crashed"
    assert max(map(display_width, lines)) <= 80
    assert lines[3].split()[:2] == ["3", "cyd"]
    assert "<" in lines[3]


def test_the_columns_of_a_table_are_straight() -> None:
    rows, _ = compute_standings(make_spec(HOSTILE), random_matches(HOSTILE, 200, 3))

    lines = format_standings(rows)[: len(rows) + 1]

    assert len({display_width(line) for line in lines}) == 1, "numbers end where their heading does"
    assert all(line.isprintable() for line in lines)


def test_a_table_explains_its_marks() -> None:
    spec, few = make_spec(["ann", "bob", "cyd"]), match("ann cyd", 1, 2)
    expelled = replace(match("ann bob", 1, 2), expelled=("bob",))
    every_fault = [match("ann bob", 1, 2, faults=(None, fault)) for fault in Fault]

    _, ann, _, bob, *below = format_standings(compute_standings(spec, [expelled, few])[0])
    *_, last = format_standings(compute_standings(spec, [*random_matches(["ann", "bob"], 200), few])[0])
    heading, _, worst, *_ = format_standings(compute_standings(make_spec(["ann", "bob"]), every_fault)[0])

    assert (ann.split()[0], ann.split()[2][-1], bob.split()[0]) == ("1", "?", "3x")
    assert below == ["? too few games to rely on", "x expelled from the tournament"]
    assert last == "? too few games to rely on"  # which is true of cyd alone
    assert (heading.split()[-1], worst.split()[-1]) == ("faults", str(len(Fault)))
    before_the_first_match = format_standings(standings(PLAYERS, (), (), Ratings()))
    assert [line.split()[:2] for line in before_the_first_match[1:]] == [["1", "ann"], ["1", "bob"], ["1", "cyd"]]


@pytest.mark.parametrize(
    ("names", "apart", "said"),
    [
        ("ann", "", ""),
        ("ann bob", "", "no two players are significantly different"),
        ("ann bob", "ann>bob", "ann is better than bob"),
        (
            "ann bob cyd dan",
            "ann>cyd ann>dan bob>cyd bob>dan cyd>dan",
            "ann and bob are better than cyd, dan; cyd is better than dan; ann, bob",
        ),
        ("ann bob cyd", "ann>cyd", "ann is better than cyd; ann, bob; bob, cyd"),
        ("bob ann cyd", "bob>ann", "bob is better than ann; bob, cyd; ann, cyd"),
        (
            "a b c d e f g",
            "a>b a>c a>d a>e a>f a>g b>g",
            "7 of 21 pairs are significantly different; a is better than all others; b is better than 1 of 6 others",
        ),
    ],
)
def test_significant_differences_are_described_in_a_sentence(names: str, apart: str, said: str) -> None:
    pairs = [(better, worse) for better, _, worse in (pair.partition(">") for pair in apart.split())]

    told = re.sub(
        r"(\w+) and (\w+) are not significantly different", r"\1, \2", describe_significance(names.split(), pairs)
    )

    assert told == said
