"""Tell a tournament that goes on from another one in its place."""

from typing import Any

import pytest
from msgspec.structs import fields, replace

from fairplay.core.events import Fault
from fairplay.hosting.spec import Entrant
from fairplay.protocol.limits import Limits
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.edits import edits
from fairplay.tournament.settings import Duplicate, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import Consequence, Cup, Gate

ANN, BOB, CYD = Entrant("greedy", "ann"), Entrant("/bots/bob.py", "bob"), Entrant("random", "cyd")
CUP = Cup(game="fish", players=(ANN, BOB), format=RoundRobin(), seed=bytes(32), parameters={"rows": 5})
OTHERS: dict[str, tuple[Any, list[str]]] = {
    "game": ("q", ["game was fish and is q"]),
    "players": ((ANN, CYD), ["cyd was added", "bob was removed"]),
    "format": (RoundRobin(games=7), ["format.games was 100 and is 7"]),
    "seed": (bytes([1]) * 32, ["the seed is another one"]),
    "parameters": ({"rows": 6}, ["parameters.rows was 5 and is 6"]),
    "limits": (Limits(first_move=3), ["limits.first was None and is 3"]),
    "sandbox": ("none", ["sandbox was auto and is none"]),
    "pondering": (True, ["pondering was False and is True"]),
    "gate": (Gate.SKIP, ["gate was warn and is skip"]),
    "faults": ({Fault.GONE: Consequence.REPLAY}, ["faults.gone was game and is replay"]),
    "default": (
        Consequence.FORFEIT,
        [f"faults.{fault.value} was game and is forfeit" for fault in Fault],
    ),
    "observers": (("py:a:B",), ["observers was () and is ('py:a:B',)"]),
}


def test_nobody_notices_that_nothing_was_edited() -> None:
    assert edits(CUP, CUP) == []
    assert {*OTHERS, "guessable"} == {field.name for field in fields(Cup)}  # or a new one could be edited unseen


@pytest.mark.parametrize("name", OTHERS)
def test_every_edit_is_told(name: str) -> None:
    value, told = OTHERS[name]

    assert edits(CUP, replace(CUP, **{name: value})) == told


def test_what_is_said_now_and_was_so_before_is_no_edit() -> None:
    said = replace(
        CUP,
        limits=Limits(),
        sandbox="auto",
        faults={Fault.GONE: Consequence.GAME},
        guessable=True,
        parameters={"rows": 5},
    )

    assert edits(CUP, said) == edits(said, CUP) == []


def test_in_a_course_everybody_who_misbehaves_is_out_whatever_is_said_of_faults() -> None:
    course = replace(CUP, format=FishCourse())

    assert edits(course, replace(course, default=Consequence.REPLAY)) == []


def test_another_format_is_another_tournament() -> None:
    told = edits(CUP, replace(CUP, format=Duplicate()))

    assert "format.kind was round-robin and is duplicate" in told
    assert "format.games was 100 and is missing" in told


@pytest.mark.parametrize("settings", [Swiss(), Ladder()], ids=lambda one: type(one).__name__)
def test_between_rounds_players_come_and_go_but_nobody_takes_over_a_name(settings: Any) -> None:
    cup = replace(CUP, format=settings)
    two = replace(CUP, players=(BOB, ANN))

    assert edits(cup, replace(cup, players=(CYD, ANN))) == []
    assert edits(cup, replace(cup, players=(ANN, CYD, BOB))) == []
    assert edits(cup, replace(cup, players=(CYD, BOB, ANN))) == ["the players are in another order"]
    assert edits(cup, replace(cup, players=(ANN, Entrant("random", "bob")))) == ["bob was /bots/bob.py and is random"]
    assert edits(CUP, two) == ["the players are in another order"]
