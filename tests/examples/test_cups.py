"""Read the example cups, and let those misbehave who are there for that."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay import run
from fairplay.players.location import of_the_house
from fairplay.tournament.file import read_cup
from fairplay.tournament.spec import Cup
from tests.some import some

CUPS = Path(__file__).parents[2] / "examples" / "cups"
FAULTS = {
    "fish": {"crasher": "crashed (turn)", "sleeper": "timed_out (turn)"},
    "tsuro": {"parrot": "malformed (turn)", "flood": "flood (turn)"},
    "q": {"leaver": "crashed (news)", "mumbler": "malformed (farewell)"},
}
FILES = sorted(CUPS.glob("*.toml"))


def cup_of(game: str) -> Cup:
    return replace(read_cup(CUPS / f"{game}.toml"), seed=bytes(32))


def test_there_is_a_cup_for_every_game_listed_here() -> None:
    assert {file.stem: cup_of(file.stem).game for file in FILES} == {game: game for game in FAULTS}


@pytest.mark.parametrize("game", FAULTS)
def test_who_misbehaves_is_ejected_for_what_the_file_says(game: str) -> None:
    cup = cup_of(game)
    house = [one for one in cup.players if of_the_house(one.address, game)][1:]
    bad = [one for one in cup.players if not of_the_house(one.address, game)]

    for one in some(bad):
        outcome = run(cup.match([*house, one][-cup.rules().seats[0] :], 0))

        assert outcome.result is not None
        ejected = {outcome.names[out.seat]: f"{out.fault.value} ({out.moment.value})" for out in outcome.result.ejected}
        assert ejected[one.name] == FAULTS[game][one.name]
    assert [one.name for one in bad] == list(FAULTS[game])
