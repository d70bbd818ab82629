"""Test every format: what it refuses, that it ends with any results, and that a fault earns nothing."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.courses import FishCourse, TsuroCourse
from fairplay.tournament.formats.validation import check_format
from fairplay.tournament.formats.versus import sequential_status
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import FormatSettings, Penalty
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
from tests.tournament.small_tournaments import MISBEHAVING_PLAYERS, run_small_tournament
from tests.tournament.small_tournaments import make_tournament as small_tournament

OF_TWO: list[FormatSettings] = [Swiss(6, 2), KnockOut(2, 2), Ladder(6)]
OF_THREE: list[FormatSettings] = [KnockOut(3, 3), Ladder(6, 3), Duplicate(9, 3)]
FORMATS: list[tuple[str, int, FormatSettings]] = [
    *(("fish", players, settings) for players in (2, 3, 7, 16) for settings in (RoundRobin(20, 2), Duplicate(20, 2))),
    *(("fish", players, settings) for players in (2, 5, 9, 16) for settings in OF_TWO),
    *(("tsuro", players, settings) for players in (4, 5, 11) for settings in (RoundRobin(20, 4), Swiss(6, 4))),
    *(("tsuro", players, settings) for players in (3, 10) for settings in OF_THREE),
    *(("fish", players, FishCourse()) for players in (2, 5, 13)),
    *(("tsuro", players, TsuroCourse()) for players in (3, 6, 13)),
    *(("fish", players, Versus(games=300, table=players)) for players in (2, 4)),
]


def at_random(seed: str) -> Judge:
    random = Random(seed)

    def judged(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        if random.random() < 0.2:
            return (), [name for name in seats if random.random() < 0.2]
        return tuple(random.randint(1, 2) for _ in seats), [name for name in seats if random.random() < 0.1]

    return judged


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_every_format_ends_for_any_results(game: str, players: int, settings: FormatSettings) -> None:
    tournament = make_spec(players, settings, game=game)
    judges = [void_match, all_tie, expel_all, lower_number_wins, *map(at_random, "abcd")]

    def newcomers(turn: int) -> Sequence[Entrant]:
        return [Entrant("random", f"new {turn}")]

    for judge in nonempty(judges):
        for arriving in (newcomers, lambda turn: ()):
            rounds, ranking = run_format(tournament, judge, arriving)

            assert rounds
            ranked = [name for rank in ranking for name in rank]
            assert len(set(ranked)) == len(ranked)
            seated = {name for matches in rounds for spec in matches for name in entrant_names(spec)}
            assert judge is not expel_all or seated.isdisjoint(ranked)
            assert (ranking == ()) == isinstance(settings, RoundRobin | Duplicate | Versus)  # which ratings decide


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_the_same_seed_gives_the_same(game: str, players: int, settings: FormatSettings) -> None:
    one, other = (run_format(make_spec(players, settings, game=game), at_random("x")) for _ in range(2))

    assert one == other
    another = run_format(make_spec(players, settings, game=game, seed="another"), at_random("x"))
    assert {spec.seed for spec in one[0][0]}.isdisjoint(spec.seed for spec in another[0][0])


@pytest.mark.parametrize(
    ("game", "players", "settings", "says"),
    [
        ("fish", 3, RoundRobin(table=4), "round-robin needs at least 4 players, and there are 3"),
        ("fish", 0, RoundRobin(), "round-robin needs at least 2 players, and there are 0"),
        ("fish", 1, Ladder(), "ladder needs at least 2 players, and there are 1"),
        ("fish", 2, KnockOut(table=3), "knock-out needs at least 3 players, and there are 2"),
        ("fish", 6, Swiss(table=5), "fish takes 2 to 4 players, so there are no tables of 5"),
        ("tsuro", 6, Swiss(table=2), "tsuro takes 3 to 5 players, so there are no tables of 2"),
        ("tsuro", 6, FishCourse(), "fish-course is for games of 2 to 4 players, and tsuro takes 3 to 5"),
        ("fish", 6, TsuroCourse(), "tsuro-course is for games of 3 to 5 players, and fish takes 2 to 4"),
        ("fish", 1, FishCourse(), "fish-course needs at least 2 players, and there are 1"),
        ("tsuro", 2, TsuroCourse(), "tsuro-course needs at least 3 players, and there are 2"),
        ("fish", 3, Versus(), "versus at a table of 2 needs as many players, and there are 3"),
        ("fish", 2, Versus(table=3), "versus at a table of 3 needs as many players, and there are 2"),
        ("fish", 2, Versus(elo0=50, elo1=50), "elo0 = 50 has to be less than elo1 = 50"),
        ("fish", 2, Versus(elo0=10, elo1=-10), "elo0 = 10 has to be less than elo1 = -10"),
        ("fish", 2, Versus(elo0=float("nan")), "elo0 = nan has to be less"),
        ("fish", 2, Versus(elo1=1e9), "from -4000 to 4000"),
        ("fish", 2, Versus(games=1), "games = 1 is too few: one deal takes 2"),
        ("fish", 4, Duplicate(table=4), "all seat orders are too many at a table of 4; write orders = 'balanced'"),
        ("fish", 4, Duplicate(orders="some"), "there are no orders 'some'; there are all and balanced"),
        ("chess", 4, RoundRobin(), "chess"),
    ],
)
def test_what_cannot_be_played_is_refused(game: str, players: int, settings: FormatSettings, says: str) -> None:
    with pytest.raises(BadRequest) as refused:
        check_format(make_spec(players, settings, game=game))

    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_boards_too_small_for_the_players_and_players_of_one_name_are_refused() -> None:
    small, tournament = {"rows": 2, "columns": 4}, make_spec(2, RoundRobin())
    check_format(make_spec(4, RoundRobin(table=2), parameters=small))

    for settings in (RoundRobin(table=3), FishCourse()):
        with pytest.raises(BadRequest, match="3 players with 3 penguins each"):
            check_format(make_spec(4, settings, parameters=small))
    with pytest.raises(BadRequest, match="2 players are called 'p00'"):
        check_format(replace(tournament, players=tournament.players + tournament.players[:1]))


@pytest.mark.parametrize(
    "address", ["tcp:4000", "ws:4000", "client:7", "human", "in-process:tests.tournament.players:FirstActionPlayer"]
)
@pytest.mark.parametrize("settings", [Duplicate(), Versus()])
def test_a_player_that_is_not_restarted_may_not_see_a_hidden_deal_twice(
    address: str, settings: Any, tmp_path: Path
) -> None:
    tournament, bot = make_spec(2, settings, game="q"), tmp_path / "bot.py"
    bot.touch()
    guest = replace(tournament, players=(tournament.players[0], Entrant(address, "ann")))
    programs = Entrant(str(bot), "file"), Entrant("exec:./bot --fast", "program")

    for allowed in (tournament, replace(guest, game="fish"), replace(guest, format=RoundRobin())):
        check_format(allowed)
    check_format(replace(tournament, players=programs))  # which are restarted
    with pytest.raises(BadRequest, match=rf"ann \({address}\) is not .* all hands and the pile") as refused:
        check_format(guest)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("game", "players", "settings"),
    [
        *(("fish", 2, it) for it in (RoundRobin(), Duplicate(), Swiss(), KnockOut(), FishCourse(), Ladder(), Versus())),
        *(("fish", 2, it) for it in (Duplicate(table=2), Versus(games=2), Versus(elo0=-4000, elo1=4000))),
        ("fish", 3, Duplicate(table=3)),
        ("fish", 4, RoundRobin(table=4)),
        ("tsuro", 3, TsuroCourse()),
    ],
)
def test_what_just_fits_is_allowed(game: str, players: int, settings: FormatSettings) -> None:
    check_format(make_spec(players, settings, game=game))


CRASHING = {"p00", "p01"}  # who stand first in the file


def judge_faults(crashing: set[str]) -> Judge:
    """Let some be ejected from every match, p00 lose each one that it plays, and the lower number win."""

    def judge(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        able = sorted(set(seats) - crashing, key=lambda name: (name == "p00", name))
        return tuple(1 + able.index(name) if name in able else len(seats) for name in seats), ()

    return judge


def place_of_first(players: int, settings: FormatSettings, game: str, crashing: set[str]) -> int:
    tournament, counted = make_spec(players, settings, game=game), list[CountedMatch]()
    _, ranking = run_format(tournament, judge_faults(crashing), stored=counted)
    return next(
        row.place for row in standings(tournament.players, counted, ranking, rate_players(counted)) if row.name == "p00"
    )


@pytest.mark.parametrize(("game", "players", "settings"), FORMATS)
def test_a_fault_earns_no_more_than_playing_and_losing(game: str, players: int, settings: FormatSettings) -> None:
    ejected, loses = (place_of_first(players, settings, game, crashing) for crashing in (CRASHING, {"p01"}))

    assert ejected >= loses


@pytest.mark.parametrize("settings", [RoundRobin(60), Duplicate(30), Swiss(3), KnockOut(2, 2), Ladder(8)])
def test_two_players_that_are_always_ejected_are_behind_all_that_play(settings: FormatSettings) -> None:
    tournament, counted = make_spec(4, settings), list[CountedMatch]()

    _, ranking = run_format(tournament, judge_faults(CRASHING), stored=counted)

    rows = standings(tournament.players, counted, ranking, rate_players(counted))
    assert {row.name for row in rows[2:]} == CRASHING
    assert all(row.points == 0 for row in rows[2:])


def test_deals_from_which_both_were_ejected_decide_nothing_in_versus() -> None:
    settings, counted = Versus(games=80), list[CountedMatch]()

    run_format(make_spec(2, settings), judge_faults(CRASHING), stored=counted)

    assert len(counted) == 80
    assert sequential_status(make_spec(2, settings), settings, counted).deals == 0


def test_no_player_advances_from_a_table_whose_players_are_always_ejected() -> None:
    games = iter([(1, 2), (1, 2)])  # each wins from the first seat, and then both are always ejected

    _, ranking = run_format(make_spec(4, KnockOut(2, 2)), judge_faults({"p00", "p03"}))
    _, of_two = run_format(make_spec(2, KnockOut(2, 2)), lambda seats, turn: (next(games, (2, 2)), ()))

    assert ranking == (("p01",), ("p00", "p02", "p03"))
    assert of_two == (("p00",), ("p01",))  # as it was ranked once


@pytest.mark.parametrize("penalty", [Penalty.EJECT, Penalty.FORFEIT])
def test_a_player_that_crashes_before_losing_earns_no_more_than_by_playing_on(penalty: Penalty, tmp_path: Path) -> None:
    points = []
    for player in ("LeavesBeforeLosing", "FirstActionPlayer"):
        tournament = small_tournament(
            f"it={MISBEHAVING_PLAYERS}{player}", "greedy", format=RoundRobin(games=6), default_penalty=penalty
        )
        counted, _ = run_small_tournament(tournament, tmp_path / player)
        points.append(sum(one.points()["it"] for one in counted))

    assert points[0] == 0 <= points[1]
