"""Test that all spectators of a match get exactly the public state, and none delays another."""

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from fairplay import Ended
from fairplay.core.chance import SeededRandom
from fairplay.games import GAMES
from fairplay.games.fish import Fish
from fairplay.server.spectating import hub as hubs
from fairplay.server.spectating.hub import (
    MAX_KEPT_EVENTS,
    SLICE_INTERVAL_S,
    SLOW_WATCHER_TIMEOUT_S,
    WATCHER_RETRY_INTERVAL_S,
    WATCHERS_PER_SLICE,
    Hub,
    spectator_state,
)
from tests.nonempty import nonempty
from tests.server.spectators import SEED, MatchEvents, Spectator, current_snapshot, play_match_events

pytestmark = pytest.mark.virtual_time
each_game = pytest.mark.parametrize("game", GAMES)
TWO = play_match_events("fish", 2)


def new_hub(*watchers: Spectator) -> Hub:
    hub = Hub("r1", "the ice", now=lambda: 5.0)
    for watcher in watchers:
        hub.add(watcher)
    return hub


async def observe_all(hub: Hub, events: MatchEvents, after_each: Callable[[], Awaitable[None]] | None = None) -> None:
    for event, match in events:
        hub.observe(event, match)
        await (hub.wait_until_sent() if after_each is None else after_each())


def patches(first: int, last: int) -> list[tuple[str, int]]:
    """The types and numbers of patches from the first to the last."""
    return [("patch", seq) for seq in range(first, last + 1)]


# Lines.


async def test_a_snapshot_has_all_that_it_takes_to_draw_a_match() -> None:
    spectator, hub = Spectator(), new_hub()
    await observe_all(hub, TWO[:2])
    hub.add(spectator)

    match = TWO[1][1]
    [snapshot] = spectator.lines
    assert snapshot == {
        "type": "snapshot",
        "room": "r1",
        "name": "the ice",
        "seq": 1,
        "at": 5.0,
        "match": "fish-1",
        "game": "fish",
        "parameters": Fish(rows=5, columns=5).parameters(),
        "names": ["ann", "bob"],
        "commitment": match.commitment,
        "event": {"type": "acted", "name": "ann", "seat": 0, "action": snapshot["event"]["action"]},
        "turn": 1,
        "view": json.loads(json.dumps(match.game.pack(match.view(None)))),
        "ejected": [],
    }
    rules = Fish.with_public_parameters(snapshot["parameters"])
    assert rules.unpack(snapshot["view"]) == match.view(None)


async def test_a_patch_has_the_event_and_what_it_changed() -> None:
    spectator = Spectator()
    await observe_all(new_hub(spectator), TWO[:2])

    patch = spectator.lines[1]
    at = patch["event"]["action"]["at"]
    assert patch == {
        "type": "patch",
        "room": "r1",
        "seq": 1,
        "at": 5.0,
        "event": {"type": "acted", "name": "ann", "seat": 0, "action": {"type": "place", "at": at}},
        "patch": [
            {"op": "replace", "path": "/turn", "value": 1},
            {"op": "replace", "path": "/view/order", "value": [1, 0]},
            {"op": "add", "path": "/view/players/0/penguins/0", "value": at},
        ],
    }


async def test_ejections_are_in_the_snapshot_and_hostile_texts_are_escaped() -> None:
    spectator = Spectator()  # which asserts that all is ASCII, on one line
    await observe_all(new_hub(spectator), play_match_events("fish"))

    [ejected] = spectator.knows["ejected"]
    assert ejected["why"] == "rule 3.2: not \u202ehere\x1b[2J"
    told = [line["event"] for line in spectator.lines if line["event"]["type"] == "ejected"]
    assert told == [{"type": "ejected", **ejected}]


@each_game
async def test_a_final_snapshot_with_the_ranking_ends_a_match(game: str) -> None:
    spectator, events = Spectator(), play_match_events(game)
    await observe_all(new_hub(spectator), events)

    last, match = len(events) - 1, events[-1][1]
    assert spectator.received[-3:] == [("patch", last - 1), ("patch", last), ("snapshot", last)]
    names = [[match.names[seat] for seat in sorted(group)] for group in match.result.ranking]
    assert spectator.knows["event"]["ranking"] == names
    assert spectator.knows["turn"] is None
    assert spectator.lines[-2]["patch"] == []


async def test_times_of_events_are_wall_clock_times() -> None:
    times, spectator = iter(range(100, 200)), Spectator()
    hub = Hub(now=lambda: next(times))
    hub.add(spectator)
    await observe_all(hub, TWO[:3])

    assert [line["at"] for line in spectator.lines] == [100, 101, 102]


async def test_a_sealed_seed_stays_sealed() -> None:
    spectator = Spectator()
    sealed = [(event, replace(match, sealed=True)) for event, match in TWO[:-1]]
    final = sealed[-1][1]
    await observe_all(new_hub(spectator), [*sealed, (Ended(final.result), final)])

    assert spectator.knows["event"]["seed"] is None
    assert SEED.hex() not in json.dumps(spectator.lines)


# All watchers get the public state.


@each_game
async def test_a_snapshot_with_patches_is_the_state_after_every_event_for_any_watcher(game: str) -> None:
    events, spectators, hub = play_match_events(game), list[Spectator](), new_hub()
    for seq, (event, match) in enumerate(events):
        hub.observe(event, match)
        await hub.wait_until_sent()
        spectators.append(Spectator())
        hub.add(spectators[-1])
        now, packed = current_snapshot(hub), json.loads(json.dumps(match.game.pack(match.view(None))))
        assert (now["seq"], now["view"]) == (seq, packed)
        assert all(spectator.knows == now for spectator in spectators)

    last = len(events) - 1
    for joined, spectator in nonempty(enumerate(spectators[:-1])):
        assert spectator.received == [("snapshot", joined), *patches(joined + 1, last), ("snapshot", last)]


async def test_a_watcher_that_comes_between_an_event_and_its_patch_gets_the_event_once() -> None:
    early, late = Spectator(), Spectator()
    hub = new_hub(early)
    await hub.wait_until_sent()
    assert (early.lines, hub.snapshot()) == ([], b"")  # before the start
    await observe_all(hub, TWO[:3])
    assert early.lines[0]["event"] == {"type": "started"}
    for event, match in TWO[3:6]:
        hub.observe(event, match)
    hub.add(late)
    assert late.lines[0]["view"] == json.loads(json.dumps(spectator_state(TWO[5][1])["view"]))
    await observe_all(hub, TWO[6:8])

    assert late.received == [("snapshot", 5), *patches(6, 7)]
    assert early.received == [("snapshot", 0), *patches(1, 7)]


async def test_a_watcher_that_was_added_twice_gets_lines_once_and_a_removed_one_none() -> None:
    one, other = Spectator(), Spectator()
    hub = new_hub(one, other)
    await observe_all(hub, TWO[:2])
    hub.add(one)
    hub.remove(other)
    hub.remove(other)
    assert (hub.watcher_count, hub.watchers) == (1, (one,))
    await observe_all(hub, TWO[2:4])

    assert one.received == [("snapshot", 0), *patches(1, 3)]
    assert other.received == [("snapshot", 0), ("patch", 1)]


async def test_a_watcher_that_is_removed_while_lines_are_sent_affects_no_other() -> None:
    class Leaving(Spectator):
        def offer(self, text: bytes) -> bool:
            hub.remove(self)
            hub.remove(next_one)
            return super().offer(text)

    leaving, next_one, last = Leaving(), Spectator(), Spectator()
    hub = new_hub(leaving, next_one, last)
    await observe_all(hub, TWO)

    assert leaving.received == [("snapshot", 0)]
    assert next_one.received == []
    assert len(last.received) == len(TWO) + 1


# No watcher delays another.


@each_game
@pytest.mark.parametrize("number", range(5))
async def test_a_watcher_that_skips_lines_gets_newer_snapshots_and_the_end(game: str, number: int) -> None:
    events, lots = play_match_events(game), SeededRandom(bytes([number]))
    slow, quick = Spectator(lambda: lots.below(3) > 0), Spectator()
    hub = new_hub(slow, quick)
    await observe_all(hub, events, lambda: asyncio.sleep(WATCHER_RETRY_INTERVAL_S * lots.below(3) / 2))
    await hub.wait_until_sent(SLOW_WATCHER_TIMEOUT_S)

    assert slow.refused > 0
    assert slow.knows == quick.knows
    for (_, before), (kind, seq) in nonempty(pairwise(slow.received)):
        assert seq == before + 1 if kind == "patch" else seq >= before
    assert len(quick.received) == len(events) + 1


async def test_a_watcher_that_takes_nothing_is_offered_only_occasional_snapshots() -> None:
    never, quick, loop = Spectator(lambda: False), Spectator(), asyncio.get_running_loop()
    hub, begun = new_hub(never, quick), loop.time()
    await observe_all(hub, TWO)
    assert loop.time() == begun  # without waiting
    assert never.refused == 1
    await hub.wait_until_sent(SLOW_WATCHER_TIMEOUT_S + 5)

    assert loop.time() - begun == pytest.approx(SLOW_WATCHER_TIMEOUT_S + 5, abs=WATCHER_RETRY_INTERVAL_S)
    assert quick.knows["event"]["type"] == "ended"
    assert never.refused == pytest.approx(SLOW_WATCHER_TIMEOUT_S / WATCHER_RETRY_INTERVAL_S, abs=3)


async def test_a_watcher_that_was_behind_at_the_end_gets_the_result_later() -> None:
    ready = False
    slow = Spectator(lambda: ready)
    hub = new_hub(slow)
    await observe_all(hub, TWO)
    ready = True
    await hub.wait_until_sent(1.0)

    assert slow.received == [("snapshot", len(TWO) - 1)]
    assert slow.knows["event"]["type"] == "ended"


async def test_many_watchers_are_served_in_slices_between_other_work() -> None:
    spectators, counts, hub = [Spectator() for _ in range(100)], list[int](), new_hub()
    await observe_all(hub, TWO[:1])
    for spectator in spectators:
        hub.add(spectator)
    hub.observe(*TWO[1])
    assert [len(spectator.lines) for spectator in spectators] == [1] * 100  # the players are not delayed
    while hub._send_handle is not None:
        counts.append(sum(len(spectator.lines) - 1 for spectator in spectators))
        await asyncio.sleep(SLICE_INTERVAL_S / 2)

    steps = {after - before for before, after in pairwise(counts)}
    assert steps == {0, WATCHERS_PER_SLICE}  # there are pauses between slices
    assert all(spectator.received == [("snapshot", 0), ("patch", 1)] for spectator in spectators)


async def test_events_during_slices_reach_all_watchers_in_order() -> None:
    spectators = [Spectator() for _ in range(5 * WATCHERS_PER_SLICE)]
    hub, last = new_hub(*spectators), len(TWO) - 1
    await observe_all(hub, TWO[:1])
    await observe_all(hub, TWO[1:], lambda: asyncio.sleep(0))
    await hub.wait_until_sent()

    every = [("snapshot", 0), *patches(1, last), ("snapshot", last)]
    assert [spectator.received for spectator in spectators] == [every] * len(spectators)


async def test_a_spectator_that_leaves_and_comes_back_during_slices_gets_nothing_twice() -> None:
    spectators = [Spectator() for _ in range(3 * WATCHERS_PER_SLICE)]
    first, last = spectators[0], spectators[-1]
    hub = new_hub(*spectators)
    await observe_all(hub, TWO[:1])
    hub.observe(*TWO[1])
    while first.received[-1] != ("patch", 1):
        await asyncio.sleep(0)
    hub.observe(*TWO[2])
    hub.remove(last)
    hub.add(last)
    await hub.wait_until_sent()

    assert last.received == [("snapshot", 0), ("snapshot", 2)]
    assert first.received == [("snapshot", 0), *patches(1, 2)]


async def test_too_many_events_at_once_make_all_watchers_skip_to_a_snapshot() -> None:
    spectator, events = Spectator(), play_match_events("q")
    assert len(events) > MAX_KEPT_EVENTS + 10
    hub = new_hub(spectator)
    await observe_all(hub, events[:3])
    for event, match in events[3:]:
        hub.observe(event, match)
        assert len(hub._unsent) <= MAX_KEPT_EVENTS
    await hub.wait_until_sent()

    assert spectator.received == [("snapshot", 0), *patches(1, 2), ("snapshot", len(events) - 1)]


async def test_a_hub_keeps_only_the_last_events_of_a_long_match() -> None:
    events, hub = play_match_events("q"), new_hub(Spectator())
    assert len(events) > MAX_KEPT_EVENTS + 10
    await observe_all(hub, events)

    assert len(hub._kept_lines) == MAX_KEPT_EVENTS


async def test_a_watcher_that_raises_is_dropped_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    class Raising(Spectator):
        def offer(self, text: bytes) -> bool:
            raise ValueError("bad spectator")

    good = Spectator()
    hub = new_hub(Raising(), good)
    await observe_all(hub, TWO)

    assert hub.watchers == (good,)
    assert len(good.received) == len(TWO) + 1
    said = capsys.readouterr().err
    assert said.startswith("fairplay: watcher Raising was dropped: ValueError: bad spectator (test_hub.py, line ")
    assert said.count("\n") == 1


# A hub without watchers does nothing.


async def test_no_lines_are_made_without_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(match: Any) -> dict[str, Any]:
        nonlocal made
        made += 1
        return spectator_state(match)

    monkeypatch.setattr(hubs, "spectator_state", counted)
    hub, spectators, late = new_hub(), [Spectator() for _ in range(20)], Spectator()
    await observe_all(hub, TWO[:5])
    assert (made, hub._send_handle, hub._unsent) == (0, None, [])
    for spectator in spectators:
        hub.add(spectator)
    assert made == 1  # once for all of them
    await observe_all(hub, TWO[5:8])
    assert made == 4
    for spectator in spectators:
        hub.remove(spectator)
    await observe_all(hub, TWO[8:])
    assert made == 4
    assert (hub._sent_view, hub._unsent, hub._kept_lines) == (None, [], [])
    hub.add(late)
    assert made == 5
    assert late.received == [("snapshot", len(TWO) - 1)]


async def test_an_unused_hub_is_freed_though_a_watcher_was_behind() -> None:
    hub = new_hub(Spectator(lambda: False))
    await observe_all(hub, TWO)
    await asyncio.sleep(SLOW_WATCHER_TIMEOUT_S + 1)
    hub.remove(hub.watchers[0])

    assert (hub._retry_handle, hub._send_handle) == (None, None)
    assert [holder for holder in gc.get_referrers(hub) if isinstance(holder, asyncio.Handle)] == []
