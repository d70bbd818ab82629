"""Test that tournaments that cannot be played are refused."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import BadRequest
from fairplay.hosting.spec import Entrant
from fairplay.tournament.courses import FishCourse, TsuroCourse
from fairplay.tournament.formats.validation import check_format
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss, Versus
from fairplay.tournament.spec import FormatSettings
from tests.tournament.format_runs import make_spec


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
def test_a_tournament_that_cannot_be_played_is_refused_in_one_line(
    game: str, players: int, settings: FormatSettings, says: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        check_format(make_spec(players, settings, game=game))

    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_board_too_small_for_the_players_is_refused() -> None:
    small = {"rows": 2, "columns": 4}
    check_format(make_spec(4, RoundRobin(table=2), parameters=small))
    for settings in (RoundRobin(table=3), FishCourse()):
        with pytest.raises(BadRequest, match="3 players with 3 penguins each"):
            check_format(make_spec(4, settings, parameters=small))


@pytest.mark.parametrize(
    "address", ["tcp:4000", "ws:4000", "client:7", "human", "in-process:tests.tournament.players:FirstActionPlayer"]
)
@pytest.mark.parametrize("settings", [Duplicate(), Versus()])
def test_a_player_that_is_not_restarted_may_not_see_a_hidden_deal_twice(address: str, settings: Any) -> None:
    tournament = make_spec(2, settings, game="q")
    guest = replace(tournament, players=(tournament.players[0], Entrant(address, "ann")))

    check_format(tournament)
    check_format(replace(guest, game="fish"))
    check_format(replace(guest, format=RoundRobin()))
    with pytest.raises(BadRequest, match=rf"ann \({address}\) is not .* all hands and the pile") as refused:
        check_format(guest)
    assert "\n" not in str(refused.value)


def test_a_program_that_is_restarted_may_play_a_hidden_deal_twice(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.touch()
    tournament = make_spec(2, Duplicate(), game="q")

    check_format(replace(tournament, players=(Entrant(str(bot), "file"), Entrant("exec:./bot --fast", "program"))))


def test_two_players_of_one_name_are_refused() -> None:
    tournament = make_spec(2, RoundRobin())

    with pytest.raises(BadRequest, match="2 players are called 'p00'"):
        check_format(replace(tournament, players=tournament.players + tournament.players[:1]))


@pytest.mark.parametrize(
    "settings", [RoundRobin(), Duplicate(), Swiss(), KnockOut(), FishCourse(), Ladder(), Versus(), Duplicate(table=2)]
)
def test_all_else_is_allowed(settings: FormatSettings) -> None:
    check_format(make_spec(2, settings))


@pytest.mark.parametrize(
    ("players", "settings"),
    [(2, Versus(games=2)), (2, Versus(elo0=-4000, elo1=4000)), (3, Duplicate(table=3)), (4, RoundRobin(table=4))],
)
def test_what_just_fits_is_allowed(players: int, settings: FormatSettings) -> None:
    check_format(make_spec(players, settings))


def test_the_tsuro_course_is_allowed() -> None:
    check_format(make_spec(3, TsuroCourse(), game="tsuro"))
