"""Test the list of changes that make a file another tournament."""

from typing import Any

import pytest
from msgspec.structs import fields, replace

from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.settings import Duplicate, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import BotCheckPolicy, Penalty, TournamentSpec
from fairplay.tournament.spec_changes import spec_changes

ANN, BOB, CYD = Entrant("greedy", "ann"), Entrant("/bots/bob.py", "bob"), Entrant("random", "cyd")
TOURNAMENT = TournamentSpec(
    game="fish", players=(ANN, BOB), format=RoundRobin(), seed=bytes(32), parameters={"rows": 5}
)
OTHERS: dict[str, tuple[Any, list[str]]] = {
    "game": ("q", ["game was fish and is q"]),
    "players": ((ANN, CYD), ["cyd was added", "bob was removed"]),
    "format": (RoundRobin(games=7), ["format.games was 100 and is 7"]),
    "seed": (bytes([1]) * 32, ["the seed has changed"]),
    "parameters": ({"rows": 6}, ["parameters.rows was 5 and is 6"]),
    "limits": (Limits(first_move=3), ["limits.first was None and is 3"]),
    "sandbox": ("none", ["sandbox was auto and is none"]),
    "pondering": (True, ["pondering was False and is True"]),
    "bot_check": (BotCheckPolicy.SKIP, ["bot_check was warn and is skip"]),
    "penalties": ({Fault.GONE: Penalty.REPLAY}, ["penalties.gone was eject and is replay"]),
    "default_penalty": (
        Penalty.FORFEIT,
        [f"penalties.{fault.value} was eject and is forfeit" for fault in Fault],
    ),
    "observers": (("py:a:B",), ["observers was () and is ('py:a:B',)"]),
}


def test_an_unchanged_tournament_has_no_changes() -> None:
    assert spec_changes(TOURNAMENT, TOURNAMENT) == []
    assert {*OTHERS, "guessable"} == {
        field.name for field in fields(TournamentSpec)
    }  # or a new one could be edited unseen


@pytest.mark.parametrize("name", OTHERS)
def test_every_edit_is_described(name: str) -> None:
    value, told = OTHERS[name]

    assert spec_changes(TOURNAMENT, replace(TOURNAMENT, **{name: value})) == told


def test_writing_a_default_is_not_a_change() -> None:
    said = replace(
        TOURNAMENT,
        limits=Limits(),
        sandbox="auto",
        penalties={Fault.GONE: Penalty.EJECT},
        guessable=True,
        parameters={"rows": 5},
    )

    assert spec_changes(TOURNAMENT, said) == spec_changes(said, TOURNAMENT) == []


def test_in_the_format_of_a_course_penalties_change_nothing() -> None:
    course = replace(TOURNAMENT, format=FishCourse())

    assert spec_changes(course, replace(course, default_penalty=Penalty.REPLAY)) == []


def test_another_format_is_another_tournament() -> None:
    told = spec_changes(TOURNAMENT, replace(TOURNAMENT, format=Duplicate()))

    assert "format.kind was round-robin and is duplicate" in told
    assert "format.games was 100 and is missing" in told


@pytest.mark.parametrize("settings", [Swiss(), Ladder()], ids=lambda one: type(one).__name__)
def test_players_may_come_and_go_between_rounds_but_keep_their_names(settings: Any) -> None:
    tournament = replace(TOURNAMENT, format=settings)
    two = replace(TOURNAMENT, players=(BOB, ANN))

    assert spec_changes(tournament, replace(tournament, players=(CYD, ANN))) == []
    assert spec_changes(tournament, replace(tournament, players=(ANN, CYD, BOB))) == []
    assert spec_changes(tournament, replace(tournament, players=(CYD, BOB, ANN))) == [
        "the order of the players has changed"
    ]
    assert spec_changes(tournament, replace(tournament, players=(ANN, Entrant("random", "bob")))) == [
        "bob was /bots/bob.py and is random"
    ]
    assert spec_changes(TOURNAMENT, two) == ["the order of the players has changed"]
