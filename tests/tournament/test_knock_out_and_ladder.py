"""Test which players advance in knock-outs, and which climb in ladders."""

from collections import Counter

import pytest

from fairplay.hosting.spec import Entrant
from fairplay.tournament.formats.knock_out import MAX_EXTRA_SETS, draw_tables
from fairplay.tournament.formats.ladder import neighbour_groups
from fairplay.tournament.settings import KnockOut, Ladder
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    MatchVerdict,
    all_tie,
    entrant_names,
    lower_number_wins,
    make_entrants,
    make_spec,
    run_format,
    void_match,
)


def tables(matches: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted({tuple(sorted(seats)) for seats in matches})


def test_the_first_of_the_file_meets_the_second_in_the_last_game() -> None:
    rounds, ranking = run_format(make_spec(8, KnockOut(2, 2)), lower_number_wins)

    assert [tables([entrant_names(spec) for spec in matches]) for matches in rounds] == [
        [("p00", "p07"), ("p01", "p06"), ("p02", "p05"), ("p03", "p04")],
        [("p00", "p03"), ("p01", "p02")],
        [("p00", "p01")],
    ]
    assert ranking == (("p00",), ("p01",), ("p02", "p03"), ("p04", "p05", "p06", "p07"))


def test_byes_go_to_the_first_and_only_in_the_first_round() -> None:
    rounds, ranking = run_format(make_spec(6, KnockOut(2, 1)), lower_number_wins)

    assert [tables([entrant_names(spec) for spec in matches]) for matches in rounds] == [
        [("p02", "p05"), ("p03", "p04")],
        [("p00", "p03"), ("p01", "p02")],
        [("p00", "p01")],
    ]
    assert ranking[-1] == ("p04", "p05")


@pytest.mark.parametrize("table", [2, 3, 4])
def test_a_knock_out_has_one_winner_and_ranks_all_players(table: int) -> None:
    for players in nonempty(range(table, 41)):
        rounds, ranking = run_format(make_spec(players, KnockOut(table, 1)), lower_number_wins)

        assert ranking[0] == ("p00",)
        assert sorted(name for rank in ranking for name in rank) == [f"p{number:02}" for number in range(players)]
        assert all(len(spec.entrants) == table for matches in rounds[1:] for spec in matches)
        assert table ** (len(rounds) - 1) < players <= table ** len(rounds)


@pytest.mark.parametrize("table", [3, 4, 5])
def test_where_two_cannot_play_they_are_not_what_is_left(table: int) -> None:
    for players in nonempty(range(table, 41)):
        _, ranking = run_format(make_spec(players, KnockOut(table, 1), game="tsuro"), lower_number_wins)

        assert len(ranking[0]) == 1, players
        assert sum(draw_tables(players, table, range(3, 6))) <= players


def test_a_round_is_played_though_its_winners_are_too_few_for_another() -> None:
    assert draw_tables(5, 4, [4]) == (4,)
    assert draw_tables(4, 3, [3]) == (3,)


def test_a_smaller_table_is_better_than_a_larger_one() -> None:
    assert draw_tables(6, 3, range(2, 5)) == (3, 2)
    assert draw_tables(8, 3, range(2, 5)) == (3, 3, 2)


def test_winners_that_are_too_few_for_a_game_share_the_first_place() -> None:
    def third_table_expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], seats if "p02" in seats else ()

    _, ranking = run_format(make_spec(9, KnockOut(3, 2), game="tsuro"), third_table_expelled)

    assert ranking == (("p00", "p01"), ("p04", "p05", "p06", "p07"))


def test_the_order_of_the_file_decides_between_equals_that_are_too_few_for_a_game() -> None:
    def third_expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return (1,) * len(seats), [name for name in seats if name == "p02"]

    rounds, ranking = run_format(make_spec(3, KnockOut(3, 2), game="tsuro"), third_expelled)

    assert (len(rounds), ranking) == (1, (("p00",), ("p01",)))


def test_seats_rotate_at_a_table() -> None:
    rounds, _ = run_format(make_spec(4, KnockOut(4, 8)), lower_number_wins)

    ((matches),) = rounds
    assert set(Counter((name, seat) for spec in matches for seat, name in enumerate(entrant_names(spec))).values()) == {
        2
    }


def test_equals_play_again_and_then_the_file_decides() -> None:
    for judge in (all_tie, void_match):
        rounds, ranking = run_format(make_spec(2, KnockOut(2, 2)), judge)

        assert len(rounds) == 1 + MAX_EXTRA_SETS
        assert ranking == (("p00",), ("p01",))


def test_only_equals_play_again_if_they_are_enough_for_a_game() -> None:
    def two_first(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        if turn:
            return tuple(1 if name == max(seats) else 2 for name in seats), ()
        return tuple(1 if name in ("p01", "p02") else 3 for name in seats), ()

    for game, again in nonempty([("fish", ("p01", "p02")), ("tsuro", ("p00", "p01", "p02", "p03"))]):
        rounds, ranking = run_format(make_spec(4, KnockOut(4, 1), game=game), two_first)

        assert tables([entrant_names(spec) for spec in rounds[1]]) == [again]
        assert ranking[0] == (("p02",) if game == "fish" else ("p01",))


def test_an_expelled_player_goes_nowhere() -> None:
    def first_expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], [name for name in seats if name == "p00"]

    _, ranking = run_format(make_spec(4, KnockOut(2, 3)), first_expelled)

    assert ranking == (("p01",), ("p03",), ("p02",))


def test_a_player_that_left_has_no_bye() -> None:
    def first_gone(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], ["p00"]

    _, ranking = run_format(make_spec(3, KnockOut(2, 1)), first_gone)

    assert ranking == (("p01",), ("p02",))


def test_a_player_can_climb_from_the_bottom_to_the_top_of_a_ladder() -> None:
    def by_number_backwards(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return tuple(len(seats) + 1 - place for place in lower_number_wins(seats, turn)[0]), ()

    for game, table in nonempty([("fish", 2), ("fish", 3), ("fish", 4), ("tsuro", 3), ("tsuro", 4), ("tsuro", 5)]):
        for players in nonempty(range(table, 15)):
            tournament = make_spec(players, Ladder(2 * players, table, 1), game=game)

            _, ranking = run_format(tournament, by_number_backwards)

            assert ranking == tuple((f"p{number:02}",) for number in reversed(range(players))), (game, table, players)


def test_on_a_ladder_equals_stay_where_they_are() -> None:
    for judge in (all_tie, void_match):
        rounds, ranking = run_format(make_spec(7, Ladder(4, 3, 2)), judge)

        assert len(rounds) == 4
        assert ranking == tuple((f"p{number:02}",) for number in range(7))


def test_only_neighbours_challenge_each_other() -> None:
    rounds, _ = run_format(make_spec(5, Ladder(2, 2, 2)), lower_number_wins)

    assert [tables([entrant_names(spec) for spec in matches]) for matches in rounds] == [
        [("p00", "p01"), ("p02", "p03")],
        [("p01", "p02"), ("p03", "p04")],
    ]
    assert [entrant_names(spec) for spec in rounds[0][:2]] == [("p00", "p01"), ("p01", "p00")]


def test_each_player_of_a_ladder_is_in_one_group() -> None:
    for players in range(1, 30):
        for size in (2, 3, 4, 5):
            for turn in (0, 1):
                groups = neighbour_groups(make_entrants(players), size, turn)

                assert [one for group in groups for one in group] == list(make_entrants(players))
                assert any(len(group) == size for group in groups) or players < size


def test_new_players_enter_a_ladder_at_the_bottom_and_others_may_leave() -> None:
    def second_expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], ["p01"] if "p01" in seats else []

    _, ranking = run_format(
        make_spec(4, Ladder(1, 2, 1)), second_expelled, lambda turn: [Entrant("random", "a"), Entrant("random", "b")]
    )

    assert ranking == (("p00",), ("p02",), ("p03",), ("a",), ("b",))
