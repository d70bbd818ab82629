"""Hand out the matches of a round so that the same are played however quickly others end."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay.hosting.spec import MatchSpec
from fairplay.tournament.counted import Counted, names_of
from fairplay.tournament.running.schedule import Schedule, Scheduled, window_of
from tests.tournament.small_cups import cup_of

PLAYERS = [f"p{number}" for number in range(8)]
CUP = cup_of(*(f"{name}=random" for name in PLAYERS))


def matches(count: int) -> list[Scheduled]:
    """Everybody sits with the next, by turns."""
    seats = [[CUP.players[number % 8], CUP.players[(number + 1 + number // 8) % 8]] for number in range(count)]
    seats = [pair if pair[0] != pair[1] else [CUP.players[0], CUP.players[1]] for pair in seats]
    return [Scheduled(replace(CUP.match(pair, n), id=f"m{n:05}"), n) for n, pair in enumerate(seats)]


def run(schedule_of: list[Scheduled], at_once: int, expelling: dict[str, str], lots: Any, can_expel: bool) -> Any:
    """Play with so many at once, which end in any order; what was played, and what was cancelled."""
    counted: dict[str, Counted] = {}
    cancelled: list[str] = []
    began: list[str] = []

    def count(match: Scheduled, expelled: tuple[str, ...] = ()) -> None:
        names = names_of(match.spec.entrants)
        counted[match.spec.id] = Counted(match=match.spec.id, deal=match.deal, names=names, expelled=expelled)

    def cancel(match: Scheduled, out: tuple[str, ...]) -> None:
        cancelled.append(match.spec.id)
        count(match)

    schedule = Schedule(schedule_of, counted, expelled=["p7"], can_expel=can_expel, cancel=cancel)
    by_id, playing = {match.spec.id: match for match in schedule_of}, list[MatchSpec]()
    while True:
        while len(playing) < at_once and (spec := schedule.take()) is not None:
            playing.append(spec)
            began.append(spec.id)
        if not playing:
            return sorted(began), cancelled
        spec = playing.pop(lots.randrange(len(playing)))
        name = expelling.get(spec.id)
        count(by_id[spec.id], (name,) if name and name in names_of(spec.entrants) else ())


@pytest.mark.parametrize("can_expel", [True, False])
def test_however_many_play_at_once_and_in_whatever_order_they_end_the_same_are_played(can_expel: bool) -> None:
    all_matches = matches(400)
    expelling = {match.spec.id: match.spec.entrants[0].name for match in all_matches[30::97]} if can_expel else {}
    expected = run(all_matches, 1, expelling, random.Random(0), can_expel)
    assert len(expected[1]) > 60  # those of p7, at least

    for seed in range(20):
        lots = random.Random(seed)
        assert run(all_matches, lots.randint(2, 50), expelling, lots, can_expel) == expected


def test_who_is_expelled_plays_until_the_window_is_over_and_no_longer() -> None:
    all_matches = matches(300)
    out = all_matches[10].spec.entrants[0].name

    began, _ = run(all_matches, 1, {"m00010": out}, random.Random(1), True)

    theirs = [match.deal for match in all_matches if out in names_of(match.spec.entrants) and match.spec.id in began]
    assert max(theirs) < 10 + window_of(all_matches) == 26
    assert any(number > 10 for number in theirs)


def test_what_was_counted_before_is_not_played_again_and_what_is_tried_again_comes_last() -> None:
    all_matches = matches(20)
    counted = {m.spec.id: Counted(match=m.spec.id, deal=m.deal, names=()) for m in all_matches[:15]}
    schedule = Schedule(all_matches, counted, expelled=(), can_expel=True, cancel=lambda match, out: None)

    first = schedule.take()
    schedule.again.append(all_matches[3].spec)

    assert first is not None
    assert (first.id, schedule.left) == ("m00015", 5)
    assert [spec.id for spec in iter(schedule.take, None)] == ["m00016", "m00017", "m00018", "m00019", "m00003"]
