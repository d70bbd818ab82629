"""Test that the penalties of the host are applied, and that every match has exactly one outcome."""

import errno
import json
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.journal.append_file import Disk
from fairplay.tournament import tournament_log
from fairplay.tournament.events import AttemptFailed, MatchBegan, MatchEnded, PlayerEjected, RoundBegan, SeedRevealed
from fairplay.tournament.layout import LOG_FILE
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.running.round_in_play import (
    MAX_HOST_FAULTS_IN_A_ROW,
    MAX_HOST_FAULTS_PER_MATCH,
    MAX_MATCH_ATTEMPTS,
    store_journal,
)
from fairplay.tournament.running.runners import (
    InlineExecutor,
    MatchSource,
    Runner,
    WorkerQueue,
    inline_runner,
    process_pool_runner,
    worker_died_outcome,
)
from fairplay.tournament.running.worker import PlayedMatch
from fairplay.tournament.settings import Duplicate, RoundRobin
from fairplay.tournament.spec import Penalty
from tests.nonempty import nonempty
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    SEED,
    EventCollector,
    facts_by_match,
    make_tournament,
    run_small_tournament,
)

EJECT, EXPEL, FORFEIT, REPLAY = Penalty


def test_an_ejected_player_is_last_in_the_match_and_plays_the_next(tmp_path: Path) -> None:
    tournament = make_tournament(f"bad={MISBEHAVING_PLAYERS}Cheat", "random", "greedy", format=RoundRobin(games=6))

    counted, _ = run_small_tournament(tournament, tmp_path)

    bad = [one for one in counted if "bad" in one.names]
    assert len(bad) == 4
    for one in bad:
        seat = one.names.index("bad")
        assert (one.places[seat], one.faults[seat], one.expelled) == (2, Fault.MALFORMED, ())
        assert one.scores[seat] == 0


def test_an_expelled_player_does_not_play_any_more(tmp_path: Path) -> None:
    faults = {Fault.CRASHED: EXPEL}
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}Crasher",
        f"{MISBEHAVING_PLAYERS}Cheat",
        "random",
        "greedy",
        format=RoundRobin(games=200),
        penalties=faults,
    )
    collector = EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    theirs = [one for one in counted if "bad" in one.names]
    sat = [one for one in theirs if one.places]
    assert (theirs[0].expelled, sat) == (("bad",), theirs[: len(sat)])
    assert 2 <= len(sat) <= 8
    assert {one.void for one in theirs[len(sat) :]} == {"cancelled, with expelled players: bad"}
    assert len(counted) == 200 == len(collector.events_of(MatchEnded))
    assert sum(MISBEHAVING_PLAYERS + "Cheat" in one.names for one in counted) == 100  # whose fault has another penalty


def test_the_ejected_share_the_last_place_and_a_forfeit_has_no_score(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}Crasher",
        f"worse={MISBEHAVING_PLAYERS}Cheat",
        "greedy",
        format=RoundRobin(games=6, table=3),
        penalties={Fault.MALFORMED: FORFEIT},
    )

    counted, _ = run_small_tournament(tournament, tmp_path)

    for one in nonempty(counted):
        by_name = dict(zip(one.names, zip(one.places, one.scores, strict=True), strict=True))
        assert by_name["worse"] == (3, None)
        assert by_name["bad"] == (3, 0)
        assert by_name["greedy"][0] == 1


@pytest.mark.parametrize("penalty", [EJECT, FORFEIT, REPLAY])
def test_two_ejected_players_are_both_last_without_points(penalty: Penalty, tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}Crasher",
        f"worse={MISBEHAVING_PLAYERS}Cheat",
        format=RoundRobin(games=2),
        default_penalty=penalty,
    )

    counted, _ = run_small_tournament(tournament, tmp_path)

    assert [one.places for one in counted] == [(2, 2)] * 2
    assert [one.points() for one in counted] == [{"bad": 0.0, "worse": 0.0}] * 2


def test_only_the_next_player_moves_into_an_empty_place(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}BadLoser", "random", "greedy", format=RoundRobin(games=6, table=3)
    )

    for one in nonempty(run_small_tournament(tournament, tmp_path)[0]):
        places = dict(zip(one.names, one.places, strict=True))
        assert places["bad"] == 3
        assert min(places.values()) == 1


def test_a_replayed_match_has_a_new_deal_and_one_outcome_counts(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}FailsOnSomeDeals", "greedy", format=RoundRobin(games=30), default_penalty=REPLAY
    )
    collector = EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    attempts = {one.match: int(one.attempt.partition("-")[2] or 1) for one in counted}
    assert set(attempts.values()) == {1, 2, 3}
    assert len(counted) == 30
    assert len(facts_by_match(tmp_path)) == sum(attempts.values())  # attempts are kept
    assert len(collector.events_of(AttemptFailed)) == sum(attempts.values()) - 30
    for one in counted:
        assert not one.faults or attempts[one.match] == 3  # the last one counts, whatever came of it
    assert any(one.faults for one in counted)


def test_a_replayed_match_of_a_shared_deal_keeps_its_deal(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}FailsOnSomeDeals", "greedy", format=Duplicate(deals=8), default_penalty=REPLAY
    )

    counted, _ = run_small_tournament(tournament, tmp_path)

    assert {one.attempt[-2:] for one in counted} == {"", "-3"}  # who takes offence at a deal does so again


def test_the_seed_of_a_shared_deal_is_revealed_when_its_last_match_is_over(tmp_path: Path) -> None:
    tournament, collector = make_tournament("random", "greedy", format=Duplicate(deals=3)), EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    told: list[Any] = [event for event in collector.events if isinstance(event, MatchEnded | SeedRevealed)]
    ended: dict[int, int] = {}
    for event in told:
        if isinstance(event, MatchEnded):
            ended[event.counted.deal] = ended.get(event.counted.deal, 0) + 1
        else:
            assert ended[event.deal] == 2
            assert len(bytes.fromhex(event.seed)) == 32
    assert len(collector.events_of(SeedRevealed)) == 3
    assert len({event.seed for event in collector.events_of(SeedRevealed)}) == 3
    with tournament_log.read_log(tmp_path) as log:
        assert log.revealed == {0, 1, 2}
    assert SEED.hex() not in {event.seed for event in collector.events_of(SeedRevealed)}
    assert len(counted) == 6


@pytest.mark.parametrize("kept", range(2, 8))
def test_a_resumed_round_reveals_each_shared_deal_once(kept: int, tmp_path: Path) -> None:
    tournament = make_tournament("random", "greedy", format=Duplicate(deals=2))
    run_small_tournament(tournament, tmp_path)
    log = tmp_path / LOG_FILE
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:kept]))

    run_small_tournament(tournament, tmp_path)

    deals = [line["deal"] for line in map(json.loads, log.read_text().splitlines()) if line["type"] == "seed_revealed"]
    assert sorted(deals) == [0, 1]


def test_a_match_that_always_kills_its_worker_is_void_and_the_others_count(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}KillsWorker", "random", "greedy", format=RoundRobin(games=3)
    )
    collector = EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, lambda: process_pool_runner(2), [collector])

    void = [one for one in counted if one.void]
    assert [set(one.names) for one in counted if not one.void] == [{"random", "greedy"}]
    assert {one.void for one in void} == {
        f"a fault of the host, {MAX_HOST_FAULTS_PER_MATCH} times: the worker that played it died"
    }
    assert len(collector.events_of(AttemptFailed)) == 2 * (MAX_HOST_FAULTS_PER_MATCH - 1)
    assert all(one.faults == () for one in counted)  # no player is to blame


def test_observers_get_all_events_and_disturb_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        def observe(self, event: object) -> None:
            raise RuntimeError("no")

    tournament, collector = (
        make_tournament(f"bad={MISBEHAVING_PLAYERS}Cheat", "random", format=RoundRobin(games=4)),
        EventCollector(),
    )

    counted, _ = run_small_tournament(tournament, tmp_path, inline_runner, [Failing(), collector])

    assert len(counted) == 4 == len(collector.events_of(MatchBegan)) == len(collector.events_of(MatchEnded))
    [began] = collector.events_of(RoundBegan)
    assert (began.number, began.matches, began.counted) == (1, 4, ())
    assert {event.name for event in collector.events_of(PlayerEjected)} == {"bad"}
    assert len(collector.events_of(PlayerEjected)) == 4
    assert caplog.text.count("an observer of the tournament failed") == 1


def test_faults_in_attempts_that_do_not_count_are_not_forgotten(tmp_path: Path) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}FailsOnSomeDeals", "greedy", format=RoundRobin(games=10), default_penalty=REPLAY
    )

    counted, _ = run_small_tournament(tournament, tmp_path)

    attempts = sum(int(one.attempt.partition("-")[2] or 1) - 1 for one in counted)
    assert attempts > 0
    assert [fault for one in counted for fault in one.earlier_faults] == [("bad", Fault.CRASHED)] * attempts
    rows = standings(tournament.players, counted, (), rate_players(counted))
    faults = {row.name: row.faults for row in rows}
    assert faults["bad"]["crashed"] == attempts + sum(bool(one.faults) for one in counted)
    assert faults["greedy"] == {}


def test_a_tournament_stops_when_matches_fail_in_a_row_and_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament, create = make_tournament("random", "greedy", format=RoundRobin(games=30)), Disk.create

    def failing(disk: Disk, path: str) -> int:
        if "/matches/" in path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return create(disk, path)

    with monkeypatch.context() as broken:
        broken.setattr(Disk, "create", failing)
        with pytest.raises(HostFault, match="20 attempts in a row"):
            run_small_tournament(tournament, tmp_path)

    assert tournament_log.read_log(tmp_path).counted == {}
    assert len(run_small_tournament(tournament, tmp_path)[0]) == 30


def test_failures_with_matches_that_end_between_them_do_not_stop_a_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament, create, tries = make_tournament("random", "greedy", format=RoundRobin(games=30)), Disk.create, count()

    def failing(disk: Disk, path: str) -> int:
        if "/matches/" in path and next(tries) % 2 == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return create(disk, path)

    monkeypatch.setattr(Disk, "create", failing)
    collector = EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    assert len(collector.events_of(AttemptFailed)) > MAX_HOST_FAULTS_IN_A_ROW
    assert len(counted) == 30


def test_failures_of_the_host_do_not_use_up_the_attempts_at_a_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament(
        f"bad={MISBEHAVING_PLAYERS}Crasher", "greedy", format=RoundRobin(games=1), default_penalty=REPLAY
    )
    create, tries = Disk.create, count(1)

    def failing(disk: Disk, path: str) -> int:
        if "/matches/" in path and next(tries) < MAX_MATCH_ATTEMPTS:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return create(disk, path)

    monkeypatch.setattr(Disk, "create", failing)

    ((match,), _) = run_small_tournament(tournament, tmp_path)

    assert [attempt.host_fault for attempt in tournament_log.read_log(tmp_path).attempts[match.match]] == [
        True,
        True,
        False,
        False,
    ]
    assert match.attempt == f"{match.match}-{MAX_MATCH_ATTEMPTS}"


def test_half_of_a_journal_that_was_sent_is_not_kept(tmp_path: Path) -> None:
    kept: list[Path] = []

    class Dying(Runner):
        """Its worker dies in the middle of the first match, far away."""

        def play(self, source: MatchSource) -> Iterator[PlayedMatch | None]:
            lost = source.next_match()
            assert lost is not None
            yield PlayedMatch(worker_died_outcome(lost), b"half of a line")
            kept.extend((tmp_path / "matches").iterdir())
            yield from super().play(source)

    tournament = make_tournament("random", "greedy", format=RoundRobin(games=1))

    ((match,), _) = run_small_tournament(tournament, tmp_path, lambda: Dying([WorkerQueue(InlineExecutor)]))

    assert kept == []
    assert match.places


def test_a_journal_that_was_sent_is_as_private_as_others(tmp_path: Path) -> None:
    run_small_tournament(make_tournament("random", "greedy", format=RoundRobin(games=1)), tmp_path)
    written, sent = tmp_path / "matches" / "m00001.jsonl", tmp_path / "matches" / "m00002.jsonl"

    store_journal(sent, written.read_bytes())

    assert sent.read_bytes() == written.read_bytes()
    assert sent.stat().st_mode == written.stat().st_mode
