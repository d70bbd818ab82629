"""Check in every format that a fault earns no more than playing and losing."""

from pathlib import Path

import pytest

from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.formats.versus import sequential_status
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import FormatSettings, Penalty
from tests.cli.command import run_fairplay
from tests.cli.tournament_files import INLINE_OPTIONS, read_results, write_tournament_file
from tests.tournament.format_runs import Judge, MatchVerdict, make_spec, run_format
from tests.tournament.small_tournaments import MISBEHAVING_PLAYERS, run_small_tournament
from tests.tournament.small_tournaments import make_tournament as small_tournament
from tests.tournament.test_every_format import FORMATS

CRASHING = {"p00", "p01"}  # who stand first in the file


def judged(crashing: set[str]) -> Judge:
    """Let some be ejected from every match, p00 lose each one that it plays, and the lower number win."""

    def judge(seats: tuple[str, ...], turn: int) -> MatchVerdict:
        able = sorted(set(seats) - crashing, key=lambda name: (name == "p00", name))
        return tuple(1 + able.index(name) if name in able else len(seats) for name in seats), ()

    return judge


def place_of_first(players: int, settings: FormatSettings, game: str, crashing: set[str]) -> int:
    tournament, counted = make_spec(players, settings, game=game), list[CountedMatch]()
    _, ranking = run_format(tournament, judged(crashing), stored=counted)
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

    _, ranking = run_format(tournament, judged(CRASHING), stored=counted)

    rows = standings(tournament.players, counted, ranking, rate_players(counted))
    assert {row.name for row in rows[2:]} == CRASHING
    assert all(row.points == 0 for row in rows[2:])


def test_no_player_advances_from_a_table_whose_players_are_always_ejected() -> None:
    _, ranking = run_format(make_spec(4, KnockOut(2, 2)), judged({"p00", "p03"}))

    assert ranking == (("p01",), ("p00", "p02", "p03"))


def test_a_player_that_was_ranked_once_advances_though_both_are_ejected_from_the_play_off() -> None:
    games = iter([(1, 2), (1, 2)])  # each wins from the first seat, and then both are always ejected

    _, ranking = run_format(make_spec(2, KnockOut(2, 2)), lambda seats, turn: (next(games, (2, 2)), ()))

    assert ranking == (("p00",), ("p01",))


def test_a_deal_from_which_both_were_ejected_decides_nothing_in_versus() -> None:
    settings, counted = Versus(games=80), list[CountedMatch]()
    tournament = make_spec(2, settings)

    run_format(tournament, judged(CRASHING), stored=counted)

    assert len(counted) == 80
    assert sequential_status(tournament, settings, counted).deals == 0


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


def test_files_that_do_not_parse_stand_behind_those_that_play(tmp_path: Path) -> None:
    for name in ("broken", "torn"):
        (tmp_path / f"{name}.py").write_text("def take_turn(view:\n")
    players = '[{ player = "./broken.py" }, { player = "./torn.py" }, { player = "random" }, { player = "greedy" }]'
    file = write_tournament_file(
        tmp_path, players=players, sandbox='"none"', format='{ kind = "round-robin", games = 12 }'
    )

    done = run_fairplay("tournament", str(file), *INLINE_OPTIONS)

    rows = read_results(tmp_path / "cup")["standings"]
    assert {row["name"]: row["points"] for row in rows[2:]} == {"broken": 0.0, "torn": 0.0}
    assert [row["place"] for row in rows[2:]] == [3, 3]
    assert {row["name"]: row["address"] for row in rows[2:]} == {"broken": "./broken.py", "torn": "./torn.py"}
    assert str(tmp_path) not in (tmp_path / "cup" / "results.csv").read_text()
    said = "2 matches give no points, and no ratings: all players were ejected"
    assert said in done.out.splitlines()
    assert said in (tmp_path / "cup" / "report.html").read_text()
