"""Test tournaments that are run from Python, up to their reports."""

from pathlib import Path

import pytest

import fairplay
from fairplay.core.errors import BadRequest
from fairplay.terminal.progress import live_standings
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.events import MatchEnded, RoundBegan, TournamentEvent
from fairplay.tournament.result import LiveResult, TournamentResult, read_result
from fairplay.tournament.settings import RoundRobin, Swiss
from tests.tournament.small_tournaments import make_tournament


class Watching:
    """An observer that keeps the standings after each match, computed from events."""

    def __init__(self, live: LiveResult) -> None:
        self.seen: list[TournamentResult] = []
        self._live = live

    def observe(self, event: TournamentEvent) -> None:
        self._live.observe(event)
        if isinstance(event, MatchEnded):
            self.seen.append(self._live.result)


class Stopping:
    """An observer that stops a tournament after some matches."""

    def __init__(self, matches: int) -> None:
        self._left = matches

    def observe(self, event: TournamentEvent) -> None:
        if isinstance(event, MatchEnded):
            self._left -= 1
            if not self._left:
                raise KeyboardInterrupt


def test_one_call_from_python_brings_ratings_results_and_a_report(tmp_path: Path) -> None:
    result = fairplay.run_tournament(make_tournament("random", "greedy"), directory=tmp_path, executor="here")

    assert result.finished
    assert [row.name for row in result.standings] == ["greedy", "random"]
    assert {one.name: one.rating > 0 for one in result.ratings.players} == {"greedy": True, "random": False}
    assert "Tournament of fish" in result.report.read_text(encoding="utf-8")
    assert (tmp_path / "results.json").is_file() and (tmp_path / "results.csv").is_file()


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fairplay.run_tournament(make_tournament("random", "greedy"), directory=tmp_path, executor="here")

    assert capfd.readouterr() == ("", "")


def test_a_tournament_without_a_seed_goes_on_with_the_one_that_was_drawn(tmp_path: Path) -> None:
    tournament = make_tournament("random", "greedy", seed=None)
    first = fairplay.run_tournament(tournament, directory=tmp_path, executor="here", report=False)

    again = fairplay.run_tournament(tournament, directory=tmp_path, executor="here", report=False)

    assert first.spec.seed is not None
    assert again == first


def test_a_tournament_that_cannot_be_played_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="--executor nobody: there is here, pool, dask"):
        fairplay.run_tournament(
            make_tournament("random", "greedy"), directory=tmp_path / "tournament", executor="nobody"
        )

    assert not (tmp_path / "tournament").exists()


def test_live_standings_need_no_reading_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament = make_tournament(format=Swiss(rounds=2))
    watching = Watching(LiveResult(tournament, tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(tournament_log, "read_log_bytes", lambda directory: pytest.fail("the file was read"))
        fairplay.run_tournament(tournament, directory=tmp_path, executor="here", observers=[watching], report=False)
        lines = [live_standings(result) for result in watching.seen]

    on_record = read_result(tmp_path)
    assert len(lines) == len(on_record.counted) > 1
    assert lines[-1] == live_standings(on_record)
    assert len({tuple(shown) for shown in lines}) > 1


def test_live_standings_of_a_tournament_that_goes_on_have_the_matches_before(tmp_path: Path) -> None:
    tournament, stopping = make_tournament(format=RoundRobin(games=6)), Stopping(4)
    with pytest.raises(KeyboardInterrupt):
        fairplay.run_tournament(tournament, directory=tmp_path, executor="here", observers=[stopping])
    before = read_result(tmp_path).counted
    live = LiveResult(tournament, tmp_path)
    told: list[tuple[CountedMatch, ...]] = []

    class Beginning:
        def observe(self, event: TournamentEvent) -> None:
            if isinstance(event, RoundBegan):
                told.append(live.result.counted)

    fairplay.run_tournament(
        tournament, directory=tmp_path, executor="here", observers=[live, Beginning()], report=False
    )

    assert told == [before] and len(before) == 4
    assert live_standings(live.result) == live_standings(read_result(tmp_path))
