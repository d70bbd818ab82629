"""Test rounds: every match has one outcome at any speed, penalties are applied, and ejections are reported."""

import errno
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.core.errors import HostFault
from fairplay.core.events import Fault
from fairplay.hosting.spec import MatchSpec
from fairplay.journal.append_file import Disk
from fairplay.tournament import tournament_log
from fairplay.tournament.counted_match import CountedMatch, entrant_names
from fairplay.tournament.events import (
    AttemptFailed,
    MatchBegan,
    MatchEnded,
    PlayerEjected,
    RoundBegan,
    SeedRevealed,
    TournamentObservers,
)
from fairplay.tournament.layout import LOG_FILE, MATCHES_DIR
from fairplay.tournament.rating.ratings import rate_players
from fairplay.tournament.rating.standings import standings
from fairplay.tournament.running import round_in_play, runners
from fairplay.tournament.running.live_ejections import LiveEjections
from fairplay.tournament.running.schedule import Schedule, ScheduledMatch, window_size
from fairplay.tournament.running.worker import PlayedMatch
from fairplay.tournament.settings import Duplicate, RoundRobin
from fairplay.tournament.spec import Penalty, TournamentSpec
from tests.nonempty import nonempty
from tests.tournament.small_tournaments import (
    MISBEHAVING_PLAYERS,
    SEED,
    Calling,
    EventCollector,
    facts_by_match,
    make_tournament,
    run_small_tournament,
)


def bad_players(**names: str) -> tuple[str, ...]:
    return tuple(f"{name}={MISBEHAVING_PLAYERS}{kind}" for name, kind in names.items())


def test_an_expelled_player_does_not_play_any_more(tmp_path: Path) -> None:
    players, collector = bad_players(bad="Crasher", worse="Cheat"), EventCollector()
    tournament = make_tournament(
        *players, "random", "greedy", format=RoundRobin(games=200), penalties={Fault.CRASHED: Penalty.EXPEL}
    )

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    theirs = [one for one in counted if "bad" in one.names]
    sat = [one for one in theirs if one.places]
    assert (theirs[0].expelled, sat) == (("bad",), theirs[: len(sat)])
    assert 2 <= len(sat) <= 8
    assert {one.void for one in theirs[len(sat) :]} == {"cancelled, with expelled players: bad"}
    assert len(counted) == 200 == len(collector.events_of(MatchEnded))
    assert sum("worse" in one.names for one in counted) == 100  # whose fault has another penalty


@pytest.mark.parametrize("penalty", [Penalty.EJECT, Penalty.FORFEIT, Penalty.REPLAY])
def test_two_ejected_players_are_both_last_without_points(penalty: Penalty, tmp_path: Path) -> None:
    players = bad_players(bad="Crasher", worse="Cheat")
    tournament = make_tournament(*players, format=RoundRobin(games=2), default_penalty=penalty)

    counted, _ = run_small_tournament(tournament, tmp_path)

    assert [one.places for one in counted] == [(2, 2)] * 2
    assert [one.points() for one in counted] == [{"bad": 0.0, "worse": 0.0}] * 2


def test_the_ejected_share_the_last_place_and_a_forfeit_has_no_score(tmp_path: Path) -> None:
    penalties, three = {Fault.MALFORMED: Penalty.FORFEIT}, RoundRobin(games=6, table=3)
    players, losers = bad_players(bad="Crasher", worse="Cheat"), bad_players(bad="BadLoser")

    counted, _ = run_small_tournament(make_tournament(*players, "greedy", format=three, penalties=penalties), tmp_path)
    lost, _ = run_small_tournament(make_tournament(*losers, "random", "greedy", format=three), tmp_path / "lost")

    for one in nonempty(counted):
        by_name = dict(zip(one.names, zip(one.places, one.scores, one.faults, strict=True), strict=True))
        assert by_name["worse"] == (3, None, Fault.MALFORMED)
        assert by_name["bad"] == (3, 0, Fault.CRASHED)
        assert (by_name["greedy"][0], one.expelled) == (1, ())
    for one in nonempty(lost):
        assert one.places[one.names.index("bad")] == 3
        assert min(one.places) == 1  # as the next one moves into an empty place


@pytest.fixture
def replayed() -> TournamentSpec:
    """A tournament of a player that fails on some deals, whose matches are played again then."""
    players = *bad_players(bad="FailsOnSomeDeals"), "greedy"
    return make_tournament(*players, format=RoundRobin(games=30), default_penalty=Penalty.REPLAY)


def test_a_replayed_match_counts_once_and_no_fault_is_forgotten(replayed: TournamentSpec, tmp_path: Path) -> None:
    collector = EventCollector()

    counted, _ = run_small_tournament(replayed, tmp_path, observers=[collector])

    attempts = {one.match: int(one.attempt.partition("-")[2] or 1) for one in counted}
    again = sum(attempts.values()) - 30
    assert set(attempts.values()) == {1, 2, 3}
    assert len(counted) == 30
    assert len(facts_by_match(tmp_path)) == 30 + again  # attempts are kept
    assert len(collector.events_of(AttemptFailed)) == again
    for one in counted:
        assert not one.faults or attempts[one.match] == 3  # the last one counts, whatever came of it
    assert [fault for one in counted for fault in one.earlier_faults] == [("bad", Fault.CRASHED)] * again
    rows = standings(replayed.players, counted, (), rate_players(counted))
    assert {row.name: row.faults for row in rows} == {
        "bad": {"crashed": again + sum(bool(one.faults) for one in counted)},
        "greedy": {},
    }


def test_a_replayed_match_of_a_shared_deal_keeps_its_deal(replayed: TournamentSpec, tmp_path: Path) -> None:
    counted, _ = run_small_tournament(replace(replayed, format=Duplicate(deals=8)), tmp_path)

    assert {one.attempt[-2:] for one in counted} == {"", "-3"}  # who takes offence at a deal does so again


def test_the_seed_of_a_shared_deal_is_revealed_when_its_last_match_is_over(tmp_path: Path) -> None:
    tournament, collector = make_tournament("random", "greedy", format=Duplicate(deals=3)), EventCollector()

    counted, _ = run_small_tournament(tournament, tmp_path, observers=[collector])

    ended: Counter[int] = Counter()
    for event in collector.events:
        if isinstance(event, MatchEnded):
            ended[event.counted.deal] += 1
        elif isinstance(event, SeedRevealed):
            assert ended[event.deal] == 2
            assert len(bytes.fromhex(event.seed)) == 32
    seeds = {event.seed for event in collector.events_of(SeedRevealed)}
    assert len(collector.events_of(SeedRevealed)) == len(seeds) == 3
    assert SEED.hex() not in seeds
    assert tournament_log.read_log(tmp_path).revealed == {0, 1, 2}
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
    players, collector = (*bad_players(bad="KillsWorker"), "random", "greedy"), EventCollector()
    tournament, why = make_tournament(*players, format=RoundRobin(games=3)), "the worker that played it died"

    counted, _ = run_small_tournament(tournament, tmp_path, lambda: runners.process_pool_runner(2), [collector])

    void = [one for one in counted if one.void]
    assert [set(one.names) for one in counted if not one.void] == [{"random", "greedy"}]
    assert {one.void for one in void} == {
        f"a fault of the host, {round_in_play.MAX_HOST_FAULTS_PER_MATCH} times: {why}"
    }
    assert len(collector.events_of(AttemptFailed)) == 2 * (round_in_play.MAX_HOST_FAULTS_PER_MATCH - 1)
    assert all(one.faults == () for one in counted)  # no player is to blame


def test_observers_get_all_events_and_disturb_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: object) -> None:
        raise RuntimeError("no")

    tournament, collector = (
        make_tournament(*bad_players(bad="Cheat"), "random", format=RoundRobin(games=4)),
        EventCollector(),
    )

    counted, _ = run_small_tournament(tournament, tmp_path, runners.inline_runner, [Calling(object, fail), collector])

    assert len(counted) == 4 == len(collector.events_of(MatchBegan)) == len(collector.events_of(MatchEnded))
    [began] = collector.events_of(RoundBegan)
    assert (began.number, began.matches, began.counted) == (1, 4, ())
    assert [event.name for event in collector.events_of(PlayerEjected)] == ["bad"] * 4
    assert caplog.text.count("an observer of the tournament failed") == 1


def let_journals_fail(patch: pytest.MonkeyPatch, fails: Callable[[int], bool]) -> None:
    """Let no journal be made at some of the tries."""
    create, tries = Disk.create, count()

    def failing(disk: Disk, path: str) -> int:
        if "/matches/" in path and fails(next(tries)):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return create(disk, path)

    patch.setattr(Disk, "create", failing)


def test_a_tournament_stops_if_matches_fail_in_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tournament, collector = make_tournament("random", "greedy", format=RoundRobin(games=30)), EventCollector()
    with monkeypatch.context() as broken:
        let_journals_fail(broken, lambda number: True)
        with pytest.raises(HostFault, match="20 attempts in a row"):
            run_small_tournament(tournament, tmp_path)
    assert tournament_log.read_log(tmp_path).counted == {}

    let_journals_fail(monkeypatch, lambda number: number % 2 == 0)  # and matches end between the failures

    assert len(run_small_tournament(tournament, tmp_path, observers=[collector])[0]) == 30
    assert len(collector.events_of(AttemptFailed)) > round_in_play.MAX_HOST_FAULTS_IN_A_ROW


def test_failures_of_the_host_do_not_use_up_the_attempts_at_a_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament(
        *bad_players(bad="Crasher"), "greedy", format=RoundRobin(games=1), default_penalty=Penalty.REPLAY
    )
    let_journals_fail(monkeypatch, lambda number: number < round_in_play.MAX_MATCH_ATTEMPTS - 1)

    ((match,), _) = run_small_tournament(tournament, tmp_path)

    attempts = tournament_log.read_log(tmp_path).attempts[match.match]
    assert [attempt.host_fault for attempt in attempts] == [True, True, False, False]
    assert match.attempt == f"{match.match}-{round_in_play.MAX_MATCH_ATTEMPTS}"


def test_half_of_a_journal_that_was_sent_is_not_kept(tmp_path: Path) -> None:
    kept: list[Path] = []

    class Dying(runners.Runner):
        """Its worker dies in the middle of the first match, far away."""

        def play(self, source: runners.MatchSource) -> Iterator[PlayedMatch | None]:
            lost = source.next_match()
            assert lost is not None
            yield PlayedMatch(runners.worker_died_outcome(lost), b"half of a line")
            kept.extend((tmp_path / "matches").iterdir())
            yield from super().play(source)

    tournament = make_tournament("random", "greedy", format=RoundRobin(games=1))
    ((match,), _) = run_small_tournament(
        tournament, tmp_path, lambda: Dying([runners.WorkerQueue(runners.InlineExecutor)])
    )
    written, sent = tmp_path / "matches" / "m00001.jsonl", tmp_path / "matches" / "m00002.jsonl"

    round_in_play.store_journal(sent, written.read_bytes())

    assert kept == []
    assert match.places
    assert sent.read_bytes() == written.read_bytes()
    assert sent.stat().st_mode == written.stat().st_mode


def test_an_ejection_is_reported_once_when_its_line_is_complete(tmp_path: Path) -> None:
    players, collector, told = (f"bad={MISBEHAVING_PLAYERS}Crasher", "greedy"), EventCollector(), EventCollector()
    tournament = make_tournament(*players, format=RoundRobin(games=1))
    run_small_tournament(tournament, tmp_path, observers=[told])
    journal, live = tmp_path / MATCHES_DIR / "m00001.jsonl", LiveEjections(TournamentObservers([collector]))
    spec = MatchSpec(game="fish", entrants=tournament.players, id=journal.stem, journal=str(journal.parent))
    whole, reported = journal.read_bytes(), []

    live.watch(spec)
    for size in (whole.index(b'"type":"ejected"') + 20, len(whole)):
        journal.write_bytes(whole[:size])
        live.report_new()
        reported.append([event.name for event in collector.events_of(PlayerEjected)])
    live.watch(spec)
    live.report_new()

    assert reported == [[], ["bad"]]
    assert len(collector.events_of(PlayerEjected)) == 1
    (ejected,) = told.events_of(PlayerEjected)
    assert "RuntimeError: enough" in (ejected.evidence.stderr or ejected.evidence.detail)


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


PLAYERS = [f"p{number}" for number in range(8)]
TOURNAMENT = make_tournament(*(f"{name}=random" for name in PLAYERS))


def matches(count: int) -> list[ScheduledMatch]:
    """Each player with the next one, in turns."""
    players = TOURNAMENT.players
    pairs = [(players[number % 8], players[(number + 1 + number // 8) % 8]) for number in range(count)]
    seats = [pair if pair[0] != pair[1] else players[:2] for pair in pairs]
    return [ScheduledMatch(replace(TOURNAMENT.match_spec(pair, n), id=f"m{n:05}"), n) for n, pair in enumerate(seats)]


def run(schedule_of: list[ScheduledMatch], at_once: int, expelling: dict[str, str], lots: Any, can_expel: bool) -> Any:
    """Play with so many at once, which end in any order; what was played, and what was cancelled."""
    counted: dict[str, CountedMatch] = {}
    cancelled: list[str] = []
    began: list[str] = []

    def count(match: ScheduledMatch, expelled: tuple[str, ...] = ()) -> None:
        names = entrant_names(match.spec.entrants)
        counted[match.spec.id] = CountedMatch(match=match.spec.id, deal=match.deal, names=names, expelled=expelled)

    def cancel(match: ScheduledMatch, out: tuple[str, ...]) -> None:
        cancelled.append(match.spec.id)
        count(match)

    schedule = Schedule(schedule_of, counted, expelled=["p7"], can_expel=can_expel, cancel=cancel)
    by_id, playing = {match.spec.id: match for match in schedule_of}, list[MatchSpec]()
    while True:
        while len(playing) < at_once and (spec := schedule.next_match()) is not None:
            playing.append(spec)
            began.append(spec.id)
        if not playing:
            return sorted(began), cancelled
        spec = playing.pop(lots.randrange(len(playing)))
        name = expelling.get(spec.id)
        count(by_id[spec.id], (name,) if name and name in entrant_names(spec.entrants) else ())


@pytest.mark.parametrize("can_expel", [True, False])
def test_however_many_play_at_once_and_in_whatever_order_they_end_the_same_are_played(can_expel: bool) -> None:
    all_matches = matches(400)
    expelling = {match.spec.id: match.spec.entrants[0].name for match in all_matches[30::97]} if can_expel else {}
    expected = run(all_matches, 1, expelling, random.Random(0), can_expel)
    assert len(expected[1]) > 60  # those of p7, at least

    for seed in range(20):
        lots = random.Random(seed)
        assert run(all_matches, lots.randint(2, 50), expelling, lots, can_expel) == expected


def test_an_expelled_player_plays_only_until_the_end_of_the_window() -> None:
    all_matches = matches(300)
    out = all_matches[10].spec.entrants[0].name

    began, _ = run(all_matches, 1, {"m00010": out}, random.Random(1), True)

    theirs = [
        match.deal for match in all_matches if out in entrant_names(match.spec.entrants) and match.spec.id in began
    ]
    assert max(theirs) < 10 + window_size(all_matches) == 26
    assert any(number > 10 for number in theirs)


def test_counted_matches_are_not_played_again_and_retries_come_last() -> None:
    all_matches = matches(20)
    counted = {m.spec.id: CountedMatch(match=m.spec.id, deal=m.deal, names=()) for m in all_matches[:15]}
    schedule = Schedule(all_matches, counted, expelled=(), can_expel=True, cancel=lambda match, out: None)

    first = schedule.next_match()
    schedule.retries.append(all_matches[3].spec)

    assert first is not None and (first.id, schedule.left) == ("m00015", 5)
    assert [spec.id for spec in iter(schedule.next_match, None)] == ["m00016", "m00017", "m00018", "m00019", "m00003"]
