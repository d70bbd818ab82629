"""Test that a tournament has the same standings, live and final, if its manager is killed at any step."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.journal.append_file import Disk
from fairplay.protocol.limits import Limits
from fairplay.terminal.progress import live_standings
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.events import MatchEnded, RoundBegan, TournamentEnded, TournamentObservers
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.result import LiveResult, TournamentResult, read_result
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import InlineExecutor, Runner, WorkerQueue, inline_runner
from fairplay.tournament.running.worker import TOKEN_FILE
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import Penalty
from fairplay.tournament.tournament_log import MatchCounted
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    Calling,
    EventCollector,
    facts_by_match,
    make_tournament,
    run_small_tournament,
    stable_parts,
)

PLAYERS = (
    f"bad={MISBEHAVING_PLAYERS}FailsOnSomeDeals",
    "random",
    "greedy",
    f"steady={MISBEHAVING_PLAYERS}FirstActionPlayer",
    f"cheat={MISBEHAVING_PLAYERS}Cheat",
)
TOURNAMENTS = {
    "round robin, played again": make_tournament(*PLAYERS, format=RoundRobin(games=10), default_penalty=Penalty.REPLAY),
    "duplicate": make_tournament(*PLAYERS, format=Duplicate(deals=4)),
    "swiss": make_tournament(*PLAYERS, format=Swiss(rounds=3)),
    "swiss, out of all": make_tournament(*PLAYERS, format=Swiss(rounds=3), default_penalty=Penalty.EXPEL),
    "knock-out": make_tournament(*PLAYERS, format=KnockOut()),
    "ladder": make_tournament(*PLAYERS, format=Ladder(rounds=3)),
    "course": make_tournament(*PLAYERS, format=FishCourse()),
}


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the process dies here, so files need not be synced."""
    monkeypatch.setattr(Disk, "sync", lambda disk, file: None)
    monkeypatch.setattr(Disk, "sync_directory", lambda disk, path: None)


class Dead(BaseException):
    """The process has come to a sudden end."""


class Dying(Disk):
    """A disk of a process that dies when it writes for the n-th time: before, in the middle, or behind it."""

    def __init__(self, writes: int, share: float) -> None:
        self._left = writes
        self._share = share

    def write(self, file: int, text: bytes) -> int:
        self._left -= 1
        if self._left:
            return Disk.write(file, text)
        Disk.write(file, text[: int(len(text) * self._share)])
        raise Dead


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_wherever_the_manager_dies_the_same_standings_come_out(name: str, tmp_path: Path) -> None:
    tournament, whole = TOURNAMENTS[name], tmp_path / "whole"
    expected = run_small_tournament(tournament, whole)
    writes = (whole / LOG_FILE).read_bytes().count(b"\n")
    assert writes > 6
    for write, is_behind in product(range(1, writes + 1), (False, True)):
        share = 1.0 if is_behind else (0.0, 0.5)[write % 2]
        directory, disk = tmp_path / f"{write}-{share}", Dying(write, share)
        with (
            pytest.raises(Dead),
            tournament_log.create_log(directory, tournament, disk=disk) as log,
            inline_runner() as workers,
        ):
            Manager(tournament, directory, log, workers, TournamentObservers([])).run()

        counted, ranking = run_small_tournament(tournament, directory)

        assert (stable_parts(counted), ranking) == (stable_parts(expected[0]), expected[1])
        steps = [json.loads(line) for line in (directory / LOG_FILE).read_bytes().splitlines()]
        assert set(Counter(step["counted"]["match"] for step in steps if step["type"] == "match").values()) == {1}
        assert sum(step["type"] == "end" for step in steps) == 1
        assert facts_by_match(directory) == facts_by_match(whole)


def test_what_is_over_is_not_played_again_and_has_deal_numbers_of_all_rounds(tmp_path: Path) -> None:
    tournament, collector = TOURNAMENTS["swiss"], EventCollector()
    counted, ranking = run_small_tournament(tournament, tmp_path)
    before = (tmp_path / LOG_FILE).read_bytes()

    assert run_small_tournament(tournament, tmp_path, observers=[collector]) == (counted, ranking)
    assert (tmp_path / LOG_FILE).read_bytes() == before
    assert {(event.matches, len(event.counted)) for event in collector.events_of(RoundBegan)} == {(2, 2)}
    assert len(collector.events_of(TournamentEnded)) == 1
    assert len({one.deal for one in counted}) == len(counted) > 4


def test_players_come_and_go_between_rounds_where_the_format_lets_them(tmp_path: Path) -> None:
    players = "random", "greedy", f"steady={MISBEHAVING_PLAYERS}FirstActionPlayer", "lookahead:1"
    tournament = make_tournament(*players, format=Swiss(rounds=4))

    def stop_at_third(event: RoundBegan) -> None:
        if event.number == 3:
            raise Dead

    with pytest.raises(Dead):
        run_small_tournament(tournament, tmp_path, observers=[Calling(RoundBegan, stop_at_third)])
    others = (*tournament.players[:3], Entrant("lookahead:2", "newcomer"))

    counted, ranking = run_small_tournament(replace(tournament, players=others), tmp_path)

    rounds = tournament_log.read_log(tmp_path).rounds
    before, after = {"greedy", "lookahead:1", "random", "steady"}, {"greedy", "newcomer", "random", "steady"}
    names = {number: {player.name for player in rounds[number]} for number in (1, 3, 4)}
    assert names == {1: before, 3: before, 4: after}  # as the third had begun
    assert set(counted[-1].names + counted[-2].names) == set(sum(ranking, ())) == after


def test_an_expelled_player_is_in_no_later_round(tmp_path: Path) -> None:
    players = (f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", "lookahead:1")
    tournament = make_tournament(*players, format=Swiss(rounds=3), default_penalty=Penalty.EXPEL)

    counted, ranking = run_small_tournament(tournament, tmp_path)

    rounds = tournament_log.read_log(tmp_path).rounds
    assert ["bad" in {player.name for player in rounds[number]} for number in (1, 2, 3)] == [True, False, False]
    assert [one.void for one in counted if one.void] == []
    assert sum("bad" in one.names for one in counted) == 1
    assert "bad" not in sum(ranking, ())
    final = read_result(tmp_path)
    rows = standings(final.spec.players, final.counted, final.ranking, rate_players(final.counted))
    assert {row.name: row.address for row in rows}["bad"] == f"{MISBEHAVING_PLAYERS}Cheat"


def test_the_hundred_thousandth_match_comes_behind_those_before(tmp_path: Path) -> None:
    ids = ["m00002", "m99999", "m100000"]
    with tournament_log.create_log(tmp_path, make_tournament()) as log:
        for id in reversed(ids):
            log.write(MatchCounted(counted=CountedMatch(match=id, deal=0, names=("random", "greedy"), places=(1, 2))))

    assert [one.match for one in read_result(tmp_path).counted] == ids


@pytest.mark.parametrize("guessable", [True, False])
def test_a_match_is_played_on_the_conditions_of_its_tournament(guessable: bool) -> None:
    watching = ("py:watching:Watcher",)
    tournament = make_tournament(
        limits=Limits(move=3.0), sandbox="none", pondering=True, observers=watching, guessable=guessable
    )

    match = tournament.match_spec(tournament.players[:2], 0)

    assert (match.limits, match.sandbox, match.guessable) == (tournament.limits, tournament.sandbox, guessable)
    assert (match.pondering, match.observers) == (tournament.pondering, tournament.observers)


def test_workers_elsewhere_find_the_token_of_their_manager_in_the_directory_of_journals(tmp_path: Path) -> None:
    runner = Runner([WorkerQueue(InlineExecutor)], shared=False)

    run_small_tournament(make_tournament("random", "greedy", format=RoundRobin(games=1)), tmp_path, lambda: runner)

    assert runner.token
    assert (tmp_path / MATCHES_DIR / TOKEN_FILE).read_text() == runner.token


def test_live_standings_need_no_reading_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament, seen = make_tournament(format=Swiss(rounds=2)), list[TournamentResult]()
    live = LiveResult(tournament, tmp_path)
    watching = [live, Calling(MatchEnded, lambda event: seen.append(live.result))]
    with monkeypatch.context() as patch:
        patch.setattr(tournament_log, "read_log_bytes", lambda directory: pytest.fail("the file was read"))
        run_small_tournament(tournament, tmp_path, observers=watching)
        lines = [live_standings(result) for result in seen]

    on_record = read_result(tmp_path)
    assert len(lines) == len(on_record.counted) > 1
    assert lines[-1] == live_standings(on_record)
    assert len({tuple(shown) for shown in lines}) > 1


def test_live_standings_of_a_tournament_that_goes_on_have_the_matches_before(tmp_path: Path) -> None:
    def stop_at_fourth(event: MatchEnded) -> None:
        if event.counted.match == "m00004":
            raise Dead

    tournament = make_tournament(format=RoundRobin(games=6))
    with pytest.raises(Dead):
        run_small_tournament(tournament, tmp_path, observers=[Calling(MatchEnded, stop_at_fourth)])
    before, live, told = read_result(tmp_path).counted, LiveResult(tournament, tmp_path), list[object]()

    watching = [live, Calling(RoundBegan, lambda event: told.append(live.result.counted))]
    run_small_tournament(tournament, tmp_path, observers=watching)

    assert told == [before] and len(before) == 4
    assert live_standings(live.result) == live_standings(read_result(tmp_path))
