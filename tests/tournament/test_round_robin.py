"""Test the numbers of meetings and seats in round robins and duplicates."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations
from math import factorial

import pytest

from fairplay.tournament.formats.seating import rotate_seats, seat_orders
from fairplay.tournament.settings import Duplicate, RoundRobin
from tests.nonempty import nonempty
from tests.tournament.format_runs import entrant_names, lower_number_wins, make_spec, run_format

GAMES = (1, 2, 3, 5, 7, 10, 16, 31, 45, 100, 301)
NAMED = {2: "fish", 3: "tsuro", 4: "tsuro", 5: "tsuro"}


def schedule(players: int, table: int, games: int) -> list[tuple[str, ...]]:
    (matches,), ranking = run_format(make_spec(players, RoundRobin(games, table), game=NAMED[table]), lower_number_wins)
    assert ranking == ()
    return [entrant_names(spec) for spec in matches]


def spread(counts: Counter[str] | Counter[frozenset[str]], of: int) -> int:
    """How much more often the commonest of so many things occurs than the rarest."""
    return max(counts.values(), default=0) - (min(counts.values()) if len(counts) == of else 0)


def meetings(matches: Sequence[tuple[str, ...]]) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for seats in matches for pair in combinations(seats, 2))


def seat_spread(matches: Sequence[tuple[str, ...]]) -> int:
    sat = Counter((name, seat) for seats in matches for seat, name in enumerate(seats))
    everybody, size = {name for name, _ in sat}, len(matches[0])
    return max(
        max(sat[name, seat] for seat in range(size)) - min(sat[name, seat] for seat in range(size))
        for name in everybody
    )


@pytest.mark.parametrize(
    ("players", "table"), [(players, table) for table in (2, 3, 4, 5) for players in (*range(table, 10), 11, 15, 20)]
)
def test_all_players_have_equally_many_games_and_each_seat_equally_often(players: int, table: int) -> None:
    for games in GAMES:
        matches = schedule(players, table, games)

        assert len(matches) == games
        assert spread(Counter(name for seats in matches for name in seats), players) <= 1
        assert seat_spread(matches) <= 1
        assert spread(meetings(matches), players * (players - 1) // 2) <= (1 if table == 2 else 4)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_seat_orders_have_each_player_in_each_seat_once_and_neighbours_evenly(size: int) -> None:
    behind: Counter[tuple[int, int]] = Counter()
    for mirrored in (False, True):
        orders = seat_orders(size, mirrored=mirrored)

        assert [sorted(column) for column in zip(*orders, strict=True)] == [list(range(size))] * size
        assert [sorted(order) for order in orders] == [list(range(size))] * size
        behind.update((order[seat - 1], order[seat]) for order in orders for seat in range(size))

    assert len(behind) == size * (size - 1)
    assert max(behind.values()) - min(behind.values()) <= (1 if size in (3, 5) else 2)
    if size % 2 == 0:
        directly = [(order[seat], order[seat + 1]) for order in seat_orders(size) for seat in range(size - 1)]
        assert sorted(directly) == sorted(permutations(range(size), 2))


def test_seats_rotate_if_all_players_sit_at_each_table() -> None:
    assert schedule(3, 3, 4) == [rotate_seats(("p00", "p01", "p02"), game) for game in range(4)]
    assert [rotate_seats("ab", game) for game in range(4)] == [("a", "b"), ("b", "a"), ("b", "a"), ("a", "b")]


@pytest.mark.parametrize(
    ("players", "table", "orders"),
    [(5, 2, "all"), (3, 3, "all"), (7, 3, "all"), (7, 3, "balanced"), (6, 4, "balanced"), (5, 5, "balanced")],
)
def test_each_deal_of_a_duplicate_is_played_in_all_seats(players: int, table: int, orders: str) -> None:
    (matches,), ranking = run_format(
        make_spec(players, Duplicate(24, table, orders), game=NAMED[table]), lower_number_wins
    )

    assert ranking == ()
    assert all(spec.sealed for spec in matches)
    seats = [entrant_names(spec) for spec in matches]
    groups = [
        [names for spec, names in zip(matches, seats, strict=True) if spec.seed == seed]
        for seed in {spec.seed for spec in matches}
    ]
    assert len(groups) == 24
    for group in nonempty(groups):
        assert len(set(group)) == len(group) == (factorial(table) if orders == "all" else table)
        assert len({frozenset(names) for names in group}) == 1
        sat = Counter((name, seat) for names in group for seat, name in enumerate(names))
        assert set(sat.values()) == {len(group) // table}
    assert spread(Counter(name for names in seats for name in names), players) <= len(matches) // 24


def test_neighbours_are_mirrored_every_second_time_of_the_same_players() -> None:
    (matches,), _ = run_format(make_spec(4, Duplicate(8, 3, "balanced"), game="tsuro"), lower_number_wins)

    behind = Counter((seats[at - 1], seats[at]) for seats in map(entrant_names, matches) for at in range(3))
    assert set(behind.values()) == {6}


def test_a_round_robin_is_open_about_its_seeds_and_draws_extra_games_by_lot() -> None:
    (matches,), _ = run_format(make_spec(4, RoundRobin(30, 2)), lower_number_wins)
    firsts = {
        entrant_names(spec)
        for seed in "abcdefgh"
        for spec in run_format(make_spec(9, RoundRobin(1, 2), seed=seed), lower_number_wins)[0][0]
    }

    assert not any(spec.sealed for spec in nonempty(matches))
    assert len({spec.seed for spec in matches}) == 30
    assert len(firsts) > 4
