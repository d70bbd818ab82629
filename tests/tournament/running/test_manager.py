"""Test that a tournament has the same final standings if its manager is killed at any step."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.hosting.spec import Entrant
from fairplay.journal.append_file import Disk
from fairplay.journal.replay import read_journal as read_journal
from fairplay.protocol.limits import Limits
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch
from fairplay.tournament.courses import FishCourse
from fairplay.tournament.events import RoundBegan, TournamentEnded, TournamentObservers
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.result import read_result
from fairplay.tournament.running.manager import Manager
from fairplay.tournament.running.runners import InlineExecutor, Runner, WorkerQueue, inline_runner
from fairplay.tournament.running.worker import TOKEN_FILE
from fairplay.tournament.settings import Duplicate, KnockOut, Ladder, RoundRobin, Swiss
from fairplay.tournament.spec import Penalty, TournamentSpec
from fairplay.tournament.tournament_log import MatchCounted
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
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


def attempt(tournament: TournamentSpec, directory: Path, disk: Disk) -> None:
    """Run it for as long as the disk lets us."""
    exists = tournament_log.log_exists(directory)
    log = (
        tournament_log.reopen_log(directory, disk=disk)
        if exists
        else tournament_log.create_log(directory, tournament, disk=disk)
    )
    with log, inline_runner() as workers:
        Manager(tournament, directory, log, workers, TournamentObservers([])).run()


def steps(directory: Path) -> list[Any]:
    return [json.loads(line) for line in (directory / LOG_FILE).read_bytes().splitlines()]


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_wherever_the_manager_dies_the_same_standings_come_out(name: str, tmp_path: Path) -> None:
    tournament, whole = TOURNAMENTS[name], tmp_path / "whole"
    expected = run_small_tournament(tournament, whole)
    writes = len(steps(whole))
    assert writes > 6
    for write in range(1, writes + 1):
        for share in (0.0, 0.5, 1.0):
            directory = tmp_path / f"{write}-{share}"
            with pytest.raises(Dead):
                attempt(tournament, directory, Dying(write, share))

            counted, ranking = run_small_tournament(tournament, directory)

            assert (stable_parts(counted), ranking) == (stable_parts(expected[0]), expected[1])
            each = Counter(step["counted"]["match"] for step in steps(directory) if step["type"] == "match")
            assert set(each.values()) == {1}
            assert sum(step["type"] == "end" for step in steps(directory)) == 1
            assert facts_by_match(directory) == facts_by_match(whole)


def test_what_is_over_is_not_played_again(tmp_path: Path) -> None:
    tournament, collector = TOURNAMENTS["swiss"], EventCollector()
    first = run_small_tournament(tournament, tmp_path)
    before = (tmp_path / LOG_FILE).read_bytes()

    assert run_small_tournament(tournament, tmp_path, observers=[collector]) == first
    assert (tmp_path / LOG_FILE).read_bytes() == before
    assert {(event.matches, len(event.counted)) for event in collector.events_of(RoundBegan)} == {(2, 2)}
    assert len(collector.events_of(TournamentEnded)) == 1


def test_players_come_and_go_between_rounds_where_the_format_lets_them(tmp_path: Path) -> None:
    tournament = make_tournament(
        "random", "greedy", f"steady={MISBEHAVING_PLAYERS}FirstActionPlayer", "lookahead:1", format=Swiss(rounds=4)
    )

    class Stopping:
        def observe(self, event: object) -> None:
            if isinstance(event, RoundBegan) and event.number == 3:
                raise Dead

    with pytest.raises(Dead):
        run_small_tournament(tournament, tmp_path, observers=[Stopping()])
    others = (*tournament.players[:3], Entrant("lookahead:2", "newcomer"))

    counted, ranking = run_small_tournament(replace(tournament, players=others), tmp_path)

    rounds = tournament_log.read_log(tmp_path).rounds
    assert [sorted(player.name for player in rounds[number]) for number in (1, 3, 4)] == [
        ["greedy", "lookahead:1", "random", "steady"],
        ["greedy", "lookahead:1", "random", "steady"],  # it had begun
        ["greedy", "newcomer", "random", "steady"],
    ]
    assert "newcomer" in counted[-1].names + counted[-2].names
    assert "lookahead:1" not in counted[-1].names + counted[-2].names
    assert "newcomer" in sum(ranking, ())


def test_deal_numbers_are_unique_across_rounds(tmp_path: Path) -> None:
    counted, _ = run_small_tournament(TOURNAMENTS["swiss"], tmp_path)

    assert len({one.deal for one in counted}) == len(counted) > 4


def test_an_expelled_player_is_in_no_later_round(tmp_path: Path) -> None:
    players = (f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", "lookahead:1")
    tournament = make_tournament(*players, format=Swiss(rounds=3), default_penalty=Penalty.EXPEL)

    counted, ranking = run_small_tournament(tournament, tmp_path)

    rounds = tournament_log.read_log(tmp_path).rounds
    assert ["bad" in {player.name for player in rounds[number]} for number in (1, 2, 3)] == [True, False, False]
    assert [one.void for one in counted if one.void] == []
    assert sum("bad" in one.names for one in counted) == 1
    assert "bad" not in sum(ranking, ())


def test_a_player_that_left_between_rounds_keeps_its_address_in_the_standings(tmp_path: Path) -> None:
    players = (f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", "lookahead:1")
    run_small_tournament(make_tournament(*players, format=Swiss(rounds=2), default_penalty=Penalty.EXPEL), tmp_path)

    final = read_result(tmp_path)

    rows = standings(final.spec.players, final.counted, final.ranking, rate_players(final.counted))
    assert {row.name: row.address for row in rows}["bad"] == f"{MISBEHAVING_PLAYERS}Cheat"


def test_the_hundred_thousandth_match_comes_behind_those_before(tmp_path: Path) -> None:
    ids = ["m00002", "m99999", "m100000"]
    with tournament_log.create_log(tmp_path, make_tournament()) as log:
        for id in reversed(ids):
            log.write(MatchCounted(counted=CountedMatch(match=id, deal=0, names=("random", "greedy"), places=(1, 2))))

    assert [one.match for one in read_result(tmp_path).counted] == ids


def test_a_match_is_played_on_the_conditions_of_its_tournament() -> None:
    tournament = make_tournament(
        limits=Limits(move=3.0), sandbox="none", pondering=True, observers=("py:watching:Watcher",)
    )

    match = tournament.match_spec(tournament.players[:2], 0)

    assert (match.limits, match.sandbox) == (tournament.limits, tournament.sandbox)
    assert (match.pondering, match.observers) == (tournament.pondering, tournament.observers)


def test_workers_elsewhere_find_the_token_of_their_manager_in_the_directory_of_journals(tmp_path: Path) -> None:
    runner = Runner([WorkerQueue(InlineExecutor)], shared=False)

    run_small_tournament(make_tournament("random", "greedy", format=RoundRobin(games=1)), tmp_path, lambda: runner)

    assert runner.token
    assert (tmp_path / MATCHES_DIR / TOKEN_FILE).read_text() == runner.token


@pytest.mark.parametrize("guessable", [True, False])
def test_the_journals_of_a_tournament_say_whether_its_seed_can_be_guessed(guessable: bool, tmp_path: Path) -> None:
    run_small_tournament(make_tournament("random", "greedy", format=RoundRobin(games=2), guessable=guessable), tmp_path)

    journals = sorted((tmp_path / MATCHES_DIR).glob("*.jsonl"))
    assert [read_journal(journal).opening.guessable for journal in journals] == [guessable] * 2
