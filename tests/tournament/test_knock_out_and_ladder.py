"""Test which players advance in knock-outs, also in those of the courses, and which climb in ladders."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import Names, Ranking
from fairplay.tournament.courses import Course, FishCourse, TsuroCourse
from fairplay.tournament.formats.courses import fish_sizes, tsuro_sizes
from fairplay.tournament.formats.knock_out import MAX_EXTRA_SETS, draw_tables
from fairplay.tournament.settings import KnockOut, Ladder
from fairplay.tournament.spec import FormatSettings
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    Judge,
    MatchVerdict,
    all_tie,
    entrant_names,
    expel_all,
    lower_number_wins,
    make_spec,
    run_format,
    void_match,
)


def tables(matches: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted({tuple(sorted(seats)) for seats in matches})


def test_the_first_of_the_file_meets_the_second_in_the_last_game() -> None:
    eight, ranking = run_format(make_spec(8, KnockOut(2, 2)), lower_number_wins)
    six, _ = run_format(make_spec(6, KnockOut(2, 1)), lower_number_wins)

    rounds = [[("p00", "p03"), ("p01", "p02")], [("p00", "p01")]]
    first_rounds = [("p00", "p07"), ("p01", "p06"), ("p02", "p05"), ("p03", "p04")], [("p02", "p05"), ("p03", "p04")]
    for played, first in zip((eight, six), first_rounds, strict=True):
        assert [tables([entrant_names(spec) for spec in matches]) for matches in played] == [first, *rounds]
    assert ranking == (("p00",), ("p01",), ("p02", "p03"), ("p04", "p05", "p06", "p07"))


@pytest.mark.parametrize(("game", "table"), [("fish", 2), ("fish", 3), ("fish", 4), ("tsuro", 3), ("tsuro", 5)])
def test_a_knock_out_has_one_winner_and_ranks_all_players(game: str, table: int) -> None:
    for players in nonempty(range(table, 41)):
        rounds, ranking = run_format(make_spec(players, KnockOut(table, 1), game=game), lower_number_wins)

        assert ranking[0] == ("p00",)
        assert sorted(name for rank in ranking for name in rank) == [f"p{number:02}" for number in range(players)]
        if game == "fish":  # of which two can play, so that no table but those of the first round is smaller
            assert all(len(spec.entrants) == table for matches in rounds[1:] for spec in matches)
            assert table ** (len(rounds) - 1) < players <= table ** len(rounds)


@pytest.mark.parametrize(
    ("players", "table", "sizes", "drawn"),
    [(5, 4, [4], (4,)), (4, 3, [3], (3,)), (6, 3, [2, 3, 4], (3, 2)), (8, 3, [2, 3, 4], (3, 3, 2))],
)
def test_a_round_is_played_at_tables_that_are_not_larger_than_wanted(
    players: int, table: int, sizes: list[int], drawn: tuple[int, ...]
) -> None:
    assert draw_tables(players, table, sizes) == drawn  # though its winners may be too few for another


def expelling(*names: str) -> Judge:
    return lambda seats, turn: (lower_number_wins(seats, turn)[0], names)


def tied_without_third(seats: tuple[str, ...], turn: int) -> MatchVerdict:
    return (1,) * len(seats), ["p02"]


def ranks(*names: str) -> Ranking:
    return tuple(tuple(f"p0{number}" for number in rank) for rank in names)


@pytest.mark.parametrize(
    ("game", "players", "settings", "judge", "rounds", "ranking"),
    [
        ("fish", 4, KnockOut(2, 3), expelling("p00"), 2, ranks("1", "3", "2")),
        ("fish", 3, KnockOut(2, 1), expelling("p00"), 1, ranks("1", "2")),  # though it had a bye
        ("tsuro", 9, KnockOut(3, 2), expelling("p02", "p03", "p08"), 1, ranks("01", "4567")),  # too few for a game
        ("tsuro", 3, KnockOut(3, 2), tied_without_third, 1, ranks("0", "1")),  # and the file decides between equals
        ("fish", 2, KnockOut(2, 2), all_tie, 1 + MAX_EXTRA_SETS, ranks("0", "1")),
        ("fish", 2, KnockOut(2, 2), void_match, 1 + MAX_EXTRA_SETS, ranks("0", "1")),
        ("fish", 7, Ladder(4, 3, 2), all_tie, 4, ranks(*"0123456")),
        ("fish", 7, Ladder(4, 3, 2), void_match, 4, ranks(*"0123456")),
    ],
)
def test_equals_are_ranked_as_in_the_file_and_the_expelled_go_nowhere(
    game: str, players: int, settings: FormatSettings, judge: Judge, rounds: int, ranking: Ranking
) -> None:
    played, found = run_format(make_spec(players, settings, game=game), judge)

    assert (len(played), found) == (rounds, ranking)


def test_only_equals_play_again_if_they_are_enough_for_a_game() -> None:
    def two_first(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        if turn:
            return tuple(1 if name == max(seats) else 2 for name in seats), ()
        return tuple(1 if name in ("p01", "p02") else 3 for name in seats), ()

    for game, again in nonempty([("fish", ("p01", "p02")), ("tsuro", ("p00", "p01", "p02", "p03"))]):
        rounds, ranking = run_format(make_spec(4, KnockOut(4, 1), game=game), two_first)

        assert tables([entrant_names(spec) for spec in rounds[1]]) == [again]
        assert ranking[0] == (("p02",) if game == "fish" else ("p01",))


def test_a_player_can_climb_from_the_bottom_to_the_top_of_a_ladder() -> None:
    def by_number_backwards(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return tuple(len(seats) + 1 - place for place in lower_number_wins(seats, turn)[0]), ()

    for game, table in nonempty([("fish", 2), ("fish", 3), ("fish", 4), ("tsuro", 3), ("tsuro", 4), ("tsuro", 5)]):
        for players in nonempty(range(table, 15)):
            tournament = make_spec(players, Ladder(2 * players, table, 1), game=game)

            _, ranking = run_format(tournament, by_number_backwards)

            assert ranking == tuple((f"p{number:02}",) for number in reversed(range(players))), (game, table, players)


def test_only_neighbours_challenge_each_other() -> None:
    rounds, _ = run_format(make_spec(5, Ladder(2, 2, 2)), lower_number_wins)

    assert [tables([entrant_names(spec) for spec in matches]) for matches in rounds] == [
        [("p00", "p01"), ("p02", "p03")],
        [("p01", "p02"), ("p03", "p04")],
    ]
    assert [entrant_names(spec) for spec in rounds[0][:2]] == [("p00", "p01"), ("p01", "p00")]


def test_new_players_enter_a_ladder_at_the_bottom_and_others_may_leave() -> None:
    def second_expelled(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        return lower_number_wins(seats, turn)[0], ["p01"] if "p01" in seats else []

    new = Entrant("random", "a"), Entrant("random", "b")
    _, ranking = run_format(make_spec(4, Ladder(1, 2, 1)), second_expelled, lambda turn: new)

    assert ranking == (("p00",), ("p02",), ("p03",), ("a",), ("b",))


NEVER = 9


def places(count: int, rule: str) -> tuple[int, ...]:
    plain = tuple(range(1, count + 1))
    return {"last wins": plain[::-1], "all tie": (1,) * count, "two tie": (1, 1, *plain[2:])[:count]}[rule]


def fish_games(players: Sequence[str]) -> list[Sequence[str]]:
    """Fish §8 in other words: fours, but if one would be left over, a three and a two."""
    if len(players) <= 4:
        return [players] if players else []
    if len(players) == 5:
        return [players[:3], players[3:]]
    return [players[:4], *fish_games(players[4:])]


def tsuro_games(players: Sequence[str]) -> list[Sequence[str]]:
    """Tsuro §10 in other words."""
    if len(players) in (6, 7):
        return [players[:-3], players[-3:]]
    return [players] if len(players) <= 5 else [players[:5], *tsuro_games(players[5:])]


def fish_ends(left: Names, kicked: dict[str, int], rule: str, turn: int = 0, before: Names | None = None) -> Ranking:
    """The winners and the others by how far they came."""
    if len(left) < 2:
        return (left,)
    on: list[str] = []
    for game in fish_games(left):
        stay = [name for name in game if kicked[name] != turn]
        on += [name for name, place in zip(stay, places(len(stay), rule), strict=True) if place == 1]
    winners = tuple(on)
    losers = tuple(name for name in left if name not in on and kicked[name] != turn)
    last = len(left) <= 4 or winners == before
    ranks = (winners,) if last else fish_ends(winners, kicked, rule, turn + 1, winners)
    return (*ranks, losers) if losers else ranks


def tsuro_ends(left: Names, kicked: dict[str, int], rule: str, turn: int = 0) -> Ranking:
    if len(left) < 3:
        return (left,)
    on: list[str] = []
    for game in tsuro_games(left):
        stay = [name for name in game if kicked[name] != turn]
        found = places(len(stay), rule)
        ranks = [tuple(name for name, at in zip(stay, found, strict=True) if at == place) for place in sorted({*found})]
        if len(left) <= 5:
            return tuple(ranks) or ((),)
        on += [name for rank in ranks[:2] for name in rank]
    survivors = tuple(name for name in left if name in on)
    return (left,) if len(on) == len(left) else tsuro_ends(survivors, kicked, rule, turn + 1)


COURSES: list[tuple[str, Course, Any, Any]] = [
    ("fish", FishCourse(), fish_games, fish_sizes),
    ("tsuro", TsuroCourse(), tsuro_games, tsuro_sizes),
]


@pytest.mark.parametrize("players", range(2, 41))
def test_players_are_allocated_as_the_courses_say(players: int) -> None:
    everybody = [f"p{number:02}" for number in range(players)]
    for game, course, games, sizes in nonempty(COURSES[: 1 if players == 2 else 2]):
        rounds, _ = run_format(make_spec(players, course, game=game), lower_number_wins)

        assert [list(entrant_names(spec)) for spec in rounds[0]] == games(everybody)
        assert [len(spec.entrants) for spec in rounds[0]] == sizes(players)
        assert run_format(make_spec(players, course, game=game), expel_all)[1] == ((),)  # as none is left to win


def test_the_sizes_that_the_courses_write_down() -> None:
    fish = {5: [3, 2], 6: [4, 2], 7: [4, 3], 8: [4, 4], 9: [4, 3, 2], 10: [4, 4, 2], 13: [4, 4, 3, 2]}
    tsuro = {6: [3, 3], 7: [4, 3], 8: [5, 3], 9: [5, 4], 10: [5, 5], 11: [5, 3, 3], 12: [5, 4, 3], 20: [5] * 4}

    assert {players: fish_sizes(players) for players in fish} == fish
    assert {players: tsuro_sizes(players) for players in tsuro} == tsuro


@pytest.mark.parametrize("rule", ["last wins", "all tie", "two tie"])
@pytest.mark.parametrize("players", range(2, 9))
@pytest.mark.parametrize("game", ["fish", "tsuro"])
def test_with_ejections_at_any_time_the_tournament_ends_as_in_the_course(game: str, players: int, rule: str) -> None:
    rounds = 3 if players < 6 else 2 if players < 8 else 1  # in which players may be ejected
    settings, ends = (FishCourse(), fish_ends) if game == "fish" else (TsuroCourse(), tsuro_ends)
    everybody = tuple(f"p{number:02}" for number in range(players))
    for when in nonempty(product([*range(rounds), NEVER], repeat=players)):
        kicked = dict(zip(everybody, when, strict=True))

        def judged(seats: Names, turn: int, kicked: dict[str, int] = kicked) -> MatchVerdict:
            stay = [name for name in seats if kicked[name] != turn]
            found = dict(zip(stay, places(len(stay), rule), strict=True))
            out = [name for name in seats if name not in found]
            return tuple(found.get(name, len(stay) + 1) for name in seats), out

        _, ranking = run_format(make_spec(players, settings, game=game), judged)

        assert ranking == ends(everybody, kicked, rule), kicked
