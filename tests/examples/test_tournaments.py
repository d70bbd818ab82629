"""Test that the example tournaments can be read, and that their misbehaving players are ejected."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.hosting.run import run
from fairplay.players.location import is_built_in
from fairplay.tournament.spec import TournamentSpec
from fairplay.tournament.spec_file import read_tournament
from tests.nonempty import nonempty

TOURNAMENTS = Path(__file__).parents[2] / "examples" / "cups"
FAULTS = {
    "fish": {"crasher": "crashed (turn)", "sleeper": "timed_out (turn)"},
    "tsuro": {"parrot": "malformed (turn)", "flood": "flood (turn)"},
    "q": {"leaver": "crashed (news)", "mumbler": "malformed (end)"},
}
FILES = sorted(TOURNAMENTS.glob("*.toml"))


def tournament_of(game: str) -> TournamentSpec:
    return replace(read_tournament(TOURNAMENTS / f"{game}.toml"), seed=bytes(32))


def test_there_is_a_tournament_for_every_game_listed_here() -> None:
    assert {file.stem: tournament_of(file.stem).game for file in FILES} == {game: game for game in FAULTS}


@pytest.mark.parametrize("game", FAULTS)
def test_who_misbehaves_is_ejected_for_what_the_file_says(game: str) -> None:
    tournament = tournament_of(game)
    server = [one for one in tournament.players if is_built_in(one.address, game)][1:]
    bad = [one for one in tournament.players if not is_built_in(one.address, game)]

    for one in nonempty(bad):
        outcome = run(tournament.match_spec([*server, one][-tournament.rules().seats[0] :], 0))

        assert outcome.result is not None
        ejected = {outcome.names[out.seat]: f"{out.fault.value} ({out.moment.value})" for out in outcome.result.ejected}
        assert ejected[one.name] == FAULTS[game][one.name]
    assert [one.name for one in bad] == list(FAULTS[game])
