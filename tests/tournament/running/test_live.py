"""Tell of ejections while matches are played."""

from pathlib import Path

import pytest

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.events import Audience, PlayerEjected
from fairplay.tournament.places import MATCHES
from fairplay.tournament.running.live import Live
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


def test_an_ejection_whose_line_is_half_written_is_told_as_soon_as_the_line_is_whole(tmp_path: Path) -> None:
    cup, noting = cup_of(f"bad={BAD}Cheat", "greedy", format=RoundRobin(games=1)), Noting()
    played(cup, tmp_path)
    journal = tmp_path / MATCHES / "m00001.jsonl"
    whole, live = journal.read_bytes(), Live(Audience([noting]))
    live.watch(MatchSpec(game="fish", entrants=cup.players, id=journal.stem, journal=str(journal.parent)))

    told = []
    for size in (whole.index(b'"type":"ejected"') + 20, len(whole)):
        journal.write_bytes(whole[:size])
        live.look()
        told.append(len(noting.heard(PlayerEjected)))

    assert told == [0, 1]


NO_SEAT = b',"seat":2,"fault":"illegal","moment":"turn","why":""},"type":"fact","seq":1,"at":0,"took":0}'


@pytest.mark.parametrize(
    "rest",
    [b"", NO_SEAT, b',"seat":0,"why":"\xff"}}', b',"more":%b' % (b"[" * 10_000)],
    ids=["half of it", "a seat that there is not", "no text", "too deep"],
)
def test_nothing_is_told_by_a_damaged_line_of_a_journal_and_nothing_fails(rest: bytes, tmp_path: Path) -> None:
    cup, noting = cup_of("random", "greedy"), Noting()
    (tmp_path / "m00001.jsonl").write_bytes(b'{"fact":{"type":"ejected"%b\n' % rest)
    live = Live(Audience([noting]))
    live.watch(MatchSpec(game="fish", entrants=cup.players, id="m00001", journal=str(tmp_path)))

    live.look()

    assert noting.events == []


def test_what_is_known_of_an_ejection_is_told_though_its_match_ended_meanwhile(tmp_path: Path) -> None:
    cup, noting = cup_of(f"bad={BAD}Crasher", "greedy", format=RoundRobin(games=1)), Noting()

    played(cup, tmp_path, observers=[noting])

    (ejected,) = noting.heard(PlayerEjected)
    assert "RuntimeError: enough" in (ejected.evidence.stderr or ejected.evidence.detail)
