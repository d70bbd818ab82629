"""Test that the same matches of a round are played at any speed."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.counted_match import CountedMatch, entrant_names
from fairplay.tournament.running.schedule import Schedule, ScheduledMatch, window_size
from tests.tournament.small_tournaments import make_tournament

PLAYERS = [f"p{number}" for number in range(8)]
TOURNAMENT = make_tournament(*(f"{name}=random" for name in PLAYERS))


def matches(count: int) -> list[ScheduledMatch]:
    """Each player with the next one, in turns."""
    seats = [
        [TOURNAMENT.players[number % 8], TOURNAMENT.players[(number + 1 + number // 8) % 8]] for number in range(count)
    ]
    seats = [pair if pair[0] != pair[1] else [TOURNAMENT.players[0], TOURNAMENT.players[1]] for pair in seats]
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

    assert first is not None
    assert (first.id, schedule.left) == ("m00015", 5)
    assert [spec.id for spec in iter(schedule.next_match, None)] == ["m00016", "m00017", "m00018", "m00019", "m00003"]
