"""Test how waiting clients are matched: when tables begin, how many play, and with whom."""

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from fairplay.server.matchmaking import MAX_PENALTY_S, PENALTY_S, POLICIES, Trust, WaitingClient, form_tables
from tests.nonempty import nonempty

OPEN: dict[str, Any] = {"min_players": 2, "max_players": 4, "wait": 10.0, "random": Random(1)}


def waiting(*since: float) -> list[WaitingClient]:
    return [WaitingClient(f"p{number}", time) for number, time in enumerate(since)]


def ids(tables: list[list[WaitingClient]]) -> list[list[str]]:
    return [[one.id for one in table] for table in tables]


def test_a_full_table_begins_at_once() -> None:
    assert ids(form_tables(waiting(0, 0, 0, 0), 0, **OPEN)) == [["p0", "p1", "p2", "p3"]]


def test_a_table_waits_for_more_players_until_the_time_is_up() -> None:
    assert form_tables(waiting(0, 5), 9.9, **OPEN) == []
    assert ids(form_tables(waiting(0, 5), 10, **OPEN)) == [["p0", "p1"]]


def test_the_time_of_a_client_that_waits_longest_counts_wherever_it_stands() -> None:
    first, second = waiting(0, 5)

    assert ids(form_tables([second, first], 10, **OPEN)) == [["p0", "p1"]]


def test_too_few_clients_for_a_table_wait_on() -> None:
    assert form_tables(waiting(0), 1000, **OPEN) == []


def test_too_few_clients_begin_if_free_seats_are_filled() -> None:
    assert form_tables(waiting(0), 9, has_fill=True, **OPEN) == []
    assert ids(form_tables(waiting(0), 10, has_fill=True, **OPEN)) == [["p0"]]


def test_the_time_of_those_who_came_later_is_not_up_with_that_of_others() -> None:
    assert ids(form_tables(waiting(0, 0, 0, 0, 9, 9), 10, **OPEN)) == [["p0", "p1", "p2", "p3"]]


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_seats_a_client_twice_and_the_longest_wait_comes_first(policy: str) -> None:
    for seed in nonempty(range(50)):
        waiting_clients = waiting(*(float(number) for number in range(11)))
        tables = form_tables(waiting_clients, 0, **OPEN | {"policy": policy, "random": Random(seed)})
        seated = Counter(one.id for table in tables for one in table)
        assert len(tables) == 2
        assert set(seated.values()) == {1}
        assert tables[0][0].id == "p0"
        assert all(before[0].since < after[0].since for before, after in pairwise(tables))


def test_the_shuffled_policy_draws_opponents() -> None:
    found = {
        tuple(
            ids(
                form_tables(
                    waiting(0, 1, 2, 3), 3, **OPEN | {"max_players": 2, "policy": "shuffled", "random": Random(seed)}
                )
            )[0]
        )
        for seed in range(30)
    }

    assert found == {("p0", "p1"), ("p0", "p2"), ("p0", "p3")}


def test_the_policy_least_met_seats_clients_that_have_met_least() -> None:
    first = WaitingClient("p0", 0, {"p1": 2, "p2": 1, "p3": 1})

    tables = form_tables([first, *waiting(0, 1, 2, 3)[1:]], 3, **OPEN | {"max_players": 2, "policy": "least-met"})

    assert ids(tables) == [["p0", "p2"], ["p1", "p3"]]


def test_a_client_that_does_not_begin_is_due_later_however_coarse_the_clock_is() -> None:
    early = 0
    for since in range(1000, 3000):  # milliseconds, in which a clock may count
        one = WaitingClient("ann", since / 1000, {})
        now = (since + 100) / 1000
        found = form_tables([one], now, min_players=2, max_players=2, wait=0.1, has_fill=True, random=Random(0))
        assert found or one.since + 0.1 > now
        early += not found
    assert early


def suspect(name: str, since: float, vanish_count: int = 3) -> WaitingClient:
    return WaitingClient(name, since, {}, Trust.SUSPECT, vanish_count)


@pytest.mark.parametrize("policy", POLICIES)
def test_suspects_play_with_each_other_while_enough_others_wait(policy: str) -> None:
    waiting_clients = [suspect("s0", 0), suspect("s1", 1), *waiting(50, 51)]

    tables = form_tables(waiting_clients, 60, **OPEN | {"max_players": 2, "policy": policy})

    assert ids(tables) == [["p0", "p1"], ["s0", "s1"]]


@pytest.mark.parametrize("seconds", [0.0, 1.0, 4.0])
def test_a_suspect_joins_others_that_are_too_few_after_a_penalty_that_doubles(seconds: float) -> None:
    tables = form_tables([suspect("s", 0), *waiting(0)], seconds, **OPEN | {"max_players": 2})

    assert bool(tables) == (seconds >= 4 * PENALTY_S)


def test_a_penalty_ends_after_a_minute_at_the_latest() -> None:
    assert suspect("s", 0, vanish_count=1000).mixes_at == MAX_PENALTY_S


def test_clients_that_would_only_wait_for_a_larger_table_are_not_mixed_with_suspects() -> None:
    waiting_clients = [suspect("s0", 0), suspect("s1", 0), *waiting(58, 59)]

    assert ids(form_tables(waiting_clients, 60, **OPEN)) == [["s0", "s1"]]
    assert ids(form_tables(waiting_clients, 68, **OPEN)) == [["p0", "p1"], ["s0", "s1"]]


def test_a_suspect_that_plays_with_a_trusted_client_is_at_no_other_table() -> None:
    tables = form_tables(
        [suspect("s0", 0), suspect("s1", 1), suspect("s2", 2), *waiting(0)], 60, **OPEN | {"max_players": 2}
    )

    assert sorted(name for table in ids(tables) for name in table) == ["p0", "s0", "s1", "s2"]


def test_suspects_do_not_play_before_their_penalty_is_over() -> None:
    assert form_tables([suspect("s0", 0), suspect("s1", 0)], PENALTY_S / 2, **OPEN | {"max_players": 2}) == []


def test_a_client_that_stayed_plays_with_others_at_once() -> None:
    waiting_clients = [WaitingClient("stayed", 0, {}, Trust.STAYED, 3), *waiting(0)]

    assert ids(form_tables(waiting_clients, 0, **OPEN | {"max_players": 2})) == [["p0", "stayed"]]
