"""Test that ejections are reported while matches are played."""

from pathlib import Path

import pytest

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.events import PlayerEjected, TournamentObservers
from fairplay.tournament.layout import MATCHES_DIR
from fairplay.tournament.running.live_ejections import LiveEjections
from fairplay.tournament.settings import RoundRobin
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    EventCollector,
    make_tournament,
    run_small_tournament,
)


def test_an_ejection_is_reported_once_though_another_worker_resumes_its_match(tmp_path: Path) -> None:
    tournament, collector = (
        make_tournament(f"bad={MISBEHAVING_PLAYERS}Cheat", "greedy", format=RoundRobin(games=1)),
        EventCollector(),
    )
    run_small_tournament(tournament, tmp_path)
    spec = MatchSpec(game="fish", entrants=tournament.players, id="m00001", journal=str(tmp_path / MATCHES_DIR))
    live = LiveEjections(TournamentObservers([collector]))

    for _ in range(2):
        live.watch(spec)
        live.report_new()

    assert [event.name for event in collector.events_of(PlayerEjected)] == ["bad"]


def test_an_ejection_in_an_incomplete_line_is_reported_when_the_line_is_complete(tmp_path: Path) -> None:
    tournament, collector = (
        make_tournament(f"bad={MISBEHAVING_PLAYERS}Cheat", "greedy", format=RoundRobin(games=1)),
        EventCollector(),
    )
    run_small_tournament(tournament, tmp_path)
    journal = tmp_path / MATCHES_DIR / "m00001.jsonl"
    whole, live = journal.read_bytes(), LiveEjections(TournamentObservers([collector]))
    live.watch(MatchSpec(game="fish", entrants=tournament.players, id=journal.stem, journal=str(journal.parent)))

    told = []
    for size in (whole.index(b'"type":"ejected"') + 20, len(whole)):
        journal.write_bytes(whole[:size])
        live.report_new()
        told.append(len(collector.events_of(PlayerEjected)))

    assert told == [0, 1]


NO_SEAT = b',"seat":2,"fault":"illegal","moment":"turn","why":""},"type":"fact","seq":1,"at":0,"took":0}'


@pytest.mark.parametrize(
    "rest",
    [b"", NO_SEAT, b',"seat":0,"why":"\xff"}}', b',"more":%b' % (b"[" * 10_000)],
    ids=["half of it", "a seat that there is not", "no text", "too deep"],
)
def test_a_damaged_line_of_a_journal_reports_no_ejection_and_raises_nothing(rest: bytes, tmp_path: Path) -> None:
    tournament, collector = make_tournament("random", "greedy"), EventCollector()
    (tmp_path / "m00001.jsonl").write_bytes(b'{"fact":{"type":"ejected"%b\n' % rest)
    live = LiveEjections(TournamentObservers([collector]))
    live.watch(MatchSpec(game="fish", entrants=tournament.players, id="m00001", journal=str(tmp_path)))

    live.report_new()

    assert collector.events == []


def test_an_ejection_is_reported_with_its_evidence_after_the_end_of_its_match(tmp_path: Path) -> None:
    tournament, collector = (
        make_tournament(f"bad={MISBEHAVING_PLAYERS}Crasher", "greedy", format=RoundRobin(games=1)),
        EventCollector(),
    )

    run_small_tournament(tournament, tmp_path, observers=[collector])

    (ejected,) = collector.events_of(PlayerEjected)
    assert "RuntimeError: enough" in (ejected.evidence.stderr or ejected.evidence.detail)
