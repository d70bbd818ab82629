"""Tell of ejections while matches are played."""

from pathlib import Path

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.events import Audience, PlayerEjected
from fairplay.tournament.live import Live
from fairplay.tournament.places import MATCHES
from fairplay.tournament.settings import RoundRobin
from tests.tournament.small_cups import BAD, Noting, cup_of, played


def test_an_ejection_is_told_once_though_its_match_is_resumed_by_another_worker(tmp_path: Path) -> None:
    cup, noting = cup_of(f"bad={BAD}Cheat", "greedy", format=RoundRobin(games=1)), Noting()
    played(cup, tmp_path)
    spec = MatchSpec(game="fish", entrants=cup.players, id="m00001", journal=str(tmp_path / MATCHES))
    live = Live(Audience([noting]))

    for _ in range(2):
        live.watch(spec)
        live.look()

    assert [event.name for event in noting.heard(PlayerEjected)] == ["bad"]
