"""Test the knock-outs of the courses against a second version of their rules, for any results."""

from collections.abc import Sequence
from itertools import product

import pytest

from fairplay.tournament.counted_match import Names, Ranking
from fairplay.tournament.courses import Course, FishCourse, TsuroCourse
from fairplay.tournament.formats.courses import fish_sizes, tsuro_sizes
from tests.nonempty import nonempty
from tests.tournament.format_runs import (
    MatchVerdict,
    all_tie,
    entrant_names,
    expel_all,
    lower_number_wins,
    make_spec,
    run_format,
    void_match,
)

NEVER = 9
RULES = ("last wins", "all tie", "two tie")


def places(count: int, rule: str) -> tuple[int, ...]:
    """Of so many remaining players, by seat."""
    plain = tuple(range(1, count + 1))
    return {
        "last wins": plain[::-1],
        "all tie": (1,) * count,
        "two tie": (1, 1, *plain[2:])[:count],
    }[rule]


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
    """The ranks of the last game."""
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


@pytest.mark.parametrize("players", range(2, 41))
def test_fish_is_allocated_as_the_course_says(players: int) -> None:
    rounds, _ = run_format(make_spec(players, FishCourse()), lower_number_wins)
    everybody = [f"p{number:02}" for number in range(players)]

    assert [list(entrant_names(spec)) for spec in rounds[0]] == fish_games(everybody)
    assert [len(spec.entrants) for spec in rounds[0]] == fish_sizes(players)


@pytest.mark.parametrize("players", range(3, 41))
def test_tsuro_is_allocated_as_the_course_says(players: int) -> None:
    rounds, _ = run_format(make_spec(players, TsuroCourse(), game="tsuro"), lower_number_wins)
    everybody = [f"p{number:02}" for number in range(players)]

    assert [list(entrant_names(spec)) for spec in rounds[0]] == tsuro_games(everybody)
    assert [len(spec.entrants) for spec in rounds[0]] == tsuro_sizes(players)


def test_the_sizes_that_the_courses_write_down() -> None:
    fish = {5: [3, 2], 6: [4, 2], 7: [4, 3], 8: [4, 4], 9: [4, 3, 2], 10: [4, 4, 2], 13: [4, 4, 3, 2]}
    tsuro = {6: [3, 3], 7: [4, 3], 8: [5, 3], 9: [5, 4], 10: [5, 5], 11: [5, 3, 3], 12: [5, 4, 3], 20: [5] * 4}

    assert {players: fish_sizes(players) for players in fish} == fish
    assert {players: tsuro_sizes(players) for players in tsuro} == tsuro


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("players", range(2, 9))
@pytest.mark.parametrize("course", ["fish", "tsuro"])
def test_with_ejections_at_any_time_the_tournament_ends_as_in_the_course(course: str, players: int, rule: str) -> None:
    rounds = 3 if players < 7 else 2  # in which players may be ejected
    settings: Course = FishCourse() if course == "fish" else TsuroCourse()
    everybody = tuple(f"p{number:02}" for number in range(players))
    for when in nonempty(product([*range(rounds), NEVER], repeat=players)):
        kicked = dict(zip(everybody, when, strict=True))

        def judged(seats: Names, turn: int, kicked: dict[str, int] = kicked) -> MatchVerdict:
            stay = [name for name in seats if kicked[name] != turn]
            found = dict(zip(stay, places(len(stay), rule), strict=True))
            out = [name for name in seats if name not in found]
            return tuple(found.get(name, len(stay) + 1) for name in seats), out

        _, ranking = run_format(make_spec(players, settings, game=course), judged)

        ends = fish_ends if course == "fish" else tsuro_ends
        assert ranking == ends(everybody, kicked, rule), kicked


@pytest.mark.parametrize("players", [*range(5, 12), 40])
def test_two_rounds_with_the_same_winners_end_fish(players: int) -> None:
    for judge in (all_tie, void_match):
        rounds, ranking = run_format(make_spec(players, FishCourse()), judge)

        assert len(rounds) == 2
        assert ranking == (tuple(f"p{number:02}" for number in range(players)),)


@pytest.mark.parametrize("players", [*range(6, 12), 40])
def test_a_round_that_removes_no_player_ends_tsuro(players: int) -> None:
    for judge in (all_tie, void_match):
        rounds, ranking = run_format(make_spec(players, TsuroCourse(), game="tsuro"), judge)

        assert len(rounds) == 1
        assert ranking == (tuple(f"p{number:02}" for number in range(players)),)


@pytest.mark.parametrize("players", range(3, 41))
def test_if_all_players_are_ejected_none_wins(players: int) -> None:
    courses: list[tuple[Course, str]] = [(FishCourse(), "fish"), (TsuroCourse(), "tsuro")]
    for course, game in nonempty(courses):
        rounds, ranking = run_format(make_spec(players, course, game=game), expel_all)

        assert len(rounds) == 1
        assert ranking == ((),)


def test_players_of_fish_are_ranked_by_the_round_they_reached() -> None:
    _, ranking = run_format(make_spec(10, FishCourse()), lower_number_wins)

    assert ranking == (("p00",), ("p04", "p08"), ("p01", "p02", "p03", "p05", "p06", "p07", "p09"))


def test_of_tsuro_the_last_game_is_the_ranking() -> None:
    rounds, ranking = run_format(make_spec(7, TsuroCourse(), game="tsuro"), lower_number_wins)

    assert [entrant_names(spec) for spec in rounds[-1]] == [("p00", "p01", "p04", "p05")]
    assert ranking == (("p00",), ("p01",), ("p04",), ("p05",))
