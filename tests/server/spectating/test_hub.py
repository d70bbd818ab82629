"""Test that all spectators of a match get exactly the public state, and none delays another."""

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable, Coroutine
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
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.server.spectators import SEED, MatchEvents, Spectator, current_snapshot, play_match_events

each_game = pytest.mark.parametrize("game", GAMES)
TWO = play_match_events("fish", 2)


def run_with_hub(work: Callable[[Hub, VirtualTimeLoop], Coroutine[Any, Any, None]]) -> Hub:
    """Run some work with a hub in virtual time; the hub."""
    hub = Hub("r1", "the ice", now=lambda: 5.0)
    run_in_virtual_time(lambda loop: work(hub, loop))
    return hub


async def observe_all(hub: Hub, events: MatchEvents, after_each: Callable[[], Awaitable[None]] | None = None) -> None:
    """Let a hub observe all events."""
    for event, match in events:
        hub.observe(event, match)
        await (hub.wait_until_sent() if after_each is None else after_each())


# Lines.


def test_a_snapshot_has_all_that_it_takes_to_draw_a_match() -> None:
    spectator = Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        await observe_all(hub, TWO[:2])
        hub.add(spectator)

    run_with_hub(work)
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


def test_a_patch_has_the_event_and_what_it_changed() -> None:
    spectator = Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, TWO[:2])

    run_with_hub(work)
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


def test_ejections_are_in_the_snapshot_and_hostile_texts_are_escaped() -> None:
    spectator = Spectator()  # which asserts that all is ASCII, on one line

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, play_match_events("fish"))

    run_with_hub(work)
    [ejected] = spectator.knows["ejected"]
    assert ejected["why"] == "rule 3.2: not \u202ehere\x1b[2J"
    assert [line["event"] for line in spectator.lines if line["event"]["type"] == "ejected"] == [
        {"type": "ejected", **ejected}
    ]


@each_game
def test_a_final_snapshot_with_the_ranking_ends_a_match(game: str) -> None:
    spectator, events = Spectator(), play_match_events(game)

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, events)

    run_with_hub(work)
    last = len(events) - 1
    assert spectator.received[-3:] == [("patch", last - 1), ("patch", last), ("snapshot", last)]
    match = events[-1][1]
    names = [[match.names[seat] for seat in sorted(group)] for group in match.result.ranking]
    assert spectator.knows["event"]["ranking"] == names
    assert spectator.knows["turn"] is None
    assert spectator.lines[-2]["patch"] == []


# All watchers get the public state.


@each_game
def test_a_snapshot_with_patches_is_the_state_after_every_event_for_any_watcher(game: str) -> None:
    events, spectators = play_match_events(game), list[Spectator]()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        for seq, (event, match) in enumerate(events):
            hub.observe(event, match)
            await hub.wait_until_sent()
            spectators.append(Spectator())
            hub.add(spectators[-1])
            now, packed = current_snapshot(hub), json.loads(json.dumps(match.game.pack(match.view(None))))
            assert (now["seq"], now["view"]) == (seq, packed)
            assert all(spectator.knows == now for spectator in spectators)

    run_with_hub(work)
    last = len(events) - 1
    for joined, spectator in nonempty(enumerate(spectators[:-1])):
        every = [("snapshot", joined), *(("patch", seq) for seq in range(joined + 1, last + 1)), ("snapshot", last)]
        assert spectator.received == every


def test_a_watcher_from_before_the_start_gets_a_snapshot_at_the_start() -> None:
    spectator = Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await hub.wait_until_sent()
        assert spectator.lines == []
        assert hub.snapshot() == b""
        await observe_all(hub, TWO)

    run_with_hub(work)
    assert spectator.received[:2] == [("snapshot", 0), ("patch", 1)]
    assert spectator.lines[0]["event"] == {"type": "started"}


def test_a_watcher_that_comes_between_an_event_and_its_patch_gets_the_event_once() -> None:
    early, late = Spectator(), Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(early)
        await observe_all(hub, TWO[:3])
        for event, match in TWO[3:6]:
            hub.observe(event, match)
        hub.add(late)
        await observe_all(hub, TWO[6:8])

    run_with_hub(work)
    assert late.received == [("snapshot", 5), ("patch", 6), ("patch", 7)]
    assert early.received == [("snapshot", 0), *(("patch", seq) for seq in range(1, 8))]


def test_a_watcher_that_comes_before_the_last_patch_is_sent_gets_the_newest_snapshot() -> None:
    early, late = Spectator(), Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(early)
        await observe_all(hub, TWO[:3])
        hub.observe(*TWO[3])
        hub.add(late)

    run_with_hub(work)
    assert late.lines[0]["view"] == json.loads(json.dumps(spectator_state(TWO[3][1])["view"]))


def test_a_watcher_that_was_added_twice_gets_lines_once_and_a_removed_one_none() -> None:
    one, other = Spectator(), Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(one)
        hub.add(other)
        await observe_all(hub, TWO[:2])
        hub.add(one)
        hub.remove(other)
        hub.remove(other)
        assert (hub.watcher_count, hub.watchers) == (1, (one,))
        await observe_all(hub, TWO[2:4])

    run_with_hub(work)
    assert one.received == [("snapshot", 0), ("patch", 1), ("patch", 2), ("patch", 3)]
    assert other.received == [("snapshot", 0), ("patch", 1)]


def test_a_watcher_that_is_removed_while_lines_are_sent_affects_no_other() -> None:
    class Leaving(Spectator):
        def offer(self, text: bytes) -> bool:
            hub.remove(self)
            hub.remove(next_one)
            return super().offer(text)

    hub, next_one, last = Hub(), Spectator(), Spectator()
    leaving = Leaving()

    async def work(loop: VirtualTimeLoop) -> None:
        for spectator in (leaving, next_one, last):
            hub.add(spectator)
        await observe_all(hub, TWO)

    run_in_virtual_time(work)
    assert leaving.received == [("snapshot", 0)]
    assert next_one.received == []
    assert len(last.received) == len(TWO) + 1


# No watcher delays another.


@each_game
@pytest.mark.parametrize("number", range(5))
def test_a_watcher_that_skips_lines_gets_newer_snapshots_and_the_end(game: str, number: int) -> None:
    events, lots = play_match_events(game), SeededRandom(bytes([number]))
    slow, quick = Spectator(lambda: lots.below(3) > 0), Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        async def a_while() -> None:
            await asyncio.sleep(WATCHER_RETRY_INTERVAL_S * lots.below(3) / 2)

        hub.add(slow)
        hub.add(quick)
        await observe_all(hub, events, a_while)
        await hub.wait_until_sent(SLOW_WATCHER_TIMEOUT_S)

    run_with_hub(work)
    assert slow.refused > 0
    assert slow.knows == quick.knows
    for (_, before), (kind, seq) in nonempty(pairwise(slow.received)):
        assert seq == before + 1 if kind == "patch" else seq >= before
    assert len(quick.received) == len(events) + 1


def test_a_watcher_that_takes_nothing_is_offered_only_occasional_snapshots() -> None:
    never, quick = Spectator(lambda: False), Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(never)
        hub.add(quick)
        begun = loop.time()
        await observe_all(hub, TWO)
        assert loop.time() == begun  # without waiting
        assert never.refused == 1
        await hub.wait_until_sent(SLOW_WATCHER_TIMEOUT_S + 5)
        assert loop.time() - begun == pytest.approx(SLOW_WATCHER_TIMEOUT_S + 5, abs=WATCHER_RETRY_INTERVAL_S)

    run_with_hub(work)
    assert quick.knows["event"]["type"] == "ended"
    assert never.refused == pytest.approx(SLOW_WATCHER_TIMEOUT_S / WATCHER_RETRY_INTERVAL_S, abs=3)


def test_a_watcher_that_was_behind_at_the_end_gets_the_result_later() -> None:
    ready = False
    slow = Spectator(lambda: ready)

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        nonlocal ready
        hub.add(slow)
        await observe_all(hub, TWO)
        ready = True
        await hub.wait_until_sent(1.0)

    run_with_hub(work)
    assert slow.received == [("snapshot", len(TWO) - 1)]
    assert slow.knows["event"]["type"] == "ended"


def test_many_watchers_are_served_in_slices_between_other_work() -> None:
    spectators = [Spectator() for _ in range(100)]
    counts: list[int] = []

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        await observe_all(hub, TWO[:1])
        for spectator in spectators:
            hub.add(spectator)
        hub.observe(*TWO[1])
        assert [len(spectator.lines) for spectator in spectators] == [1] * 100  # the players are not delayed
        while hub._send_handle is not None:
            counts.append(sum(len(spectator.lines) - 1 for spectator in spectators))
            await asyncio.sleep(SLICE_INTERVAL_S / 2)

    run_with_hub(work)
    steps = {after - before for before, after in pairwise(counts)}
    assert steps == {0, WATCHERS_PER_SLICE}  # there are pauses between slices
    assert all(spectator.received == [("snapshot", 0), ("patch", 1)] for spectator in spectators)


def test_events_during_slices_reach_all_watchers_in_order() -> None:
    spectators = [Spectator() for _ in range(5 * WATCHERS_PER_SLICE)]

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        await observe_all(hub, TWO[:1])
        for spectator in spectators:
            hub.add(spectator)
        await observe_all(hub, TWO[1:], lambda: asyncio.sleep(0))
        await hub.wait_until_sent()

    run_with_hub(work)
    last = len(TWO) - 1
    every = [("snapshot", 0), *(("patch", seq) for seq in range(1, last + 1)), ("snapshot", last)]
    assert [spectator.received for spectator in spectators] == [every] * len(spectators)


def test_a_watcher_that_is_removed_and_added_again_during_slices_gets_nothing_twice() -> None:
    spectators = [Spectator() for _ in range(3 * WATCHERS_PER_SLICE)]

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        await observe_all(hub, TWO[:1])
        for spectator in spectators:
            hub.add(spectator)
        hub.observe(*TWO[1])
        await asyncio.sleep(0)  # the first slice is sent
        hub.observe(*TWO[2])
        hub.remove(spectators[-1])
        hub.add(spectators[-1])
        await hub.wait_until_sent()

    run_with_hub(work)
    assert spectators[-1].received == [("snapshot", 0), ("snapshot", 2)]
    assert spectators[0].received == [("snapshot", 0), ("patch", 1), ("patch", 2)]


def test_too_many_events_at_once_make_all_watchers_skip_to_a_snapshot() -> None:
    spectator = Spectator()
    events = play_match_events("q")
    assert len(events) > MAX_KEPT_EVENTS + 10

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, events[:3])
        for event, match in events[3:]:
            hub.observe(event, match)
            assert len(hub._unsent) <= MAX_KEPT_EVENTS
        await hub.wait_until_sent()

    run_with_hub(work)
    assert spectator.received == [("snapshot", 0), ("patch", 1), ("patch", 2), ("snapshot", len(events) - 1)]


def test_a_hub_keeps_only_the_last_events_of_a_long_match() -> None:
    events = play_match_events("q")
    assert len(events) > MAX_KEPT_EVENTS + 10

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(Spectator())
        await observe_all(hub, events)

    assert len(run_with_hub(work)._kept_lines) == MAX_KEPT_EVENTS


def test_a_watcher_that_raises_is_dropped_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    class Raising:
        def offer(self, text: bytes) -> bool:
            raise ValueError("bad spectator")

    good = Spectator()

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(Raising())
        hub.add(good)
        await observe_all(hub, TWO)
        assert hub.watchers == (good,)

    run_with_hub(work)
    assert len(good.received) == len(TWO) + 1
    said = capsys.readouterr().err
    assert said.startswith("fairplay: watcher Raising was dropped: ValueError: bad spectator (test_hub.py, line ")
    assert said.count("\n") == 1


# A hub without watchers does nothing.


def test_no_lines_are_made_without_watchers(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(match: Any) -> dict[str, Any]:
        nonlocal made
        made += 1
        return spectator_state(match)

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        await observe_all(hub, TWO[:5])
        assert (made, hub._send_handle, hub._unsent) == (0, None, [])
        spectators = [Spectator() for _ in range(20)]
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

    monkeypatch.setattr(hubs, "spectator_state", counted)
    late = Spectator()
    run_with_hub(work)
    assert late.received == [("snapshot", len(TWO) - 1)]


def test_an_unused_hub_is_freed_though_a_watcher_was_behind() -> None:
    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(Spectator(lambda: False))
        await observe_all(hub, TWO)
        await asyncio.sleep(SLOW_WATCHER_TIMEOUT_S + 1)
        hub.remove(hub.watchers[0])
        assert (hub._retry_handle, hub._send_handle) == (None, None)

    hub = run_with_hub(work)
    holders = [holder for holder in gc.get_referrers(hub) if isinstance(holder, asyncio.Handle)]
    assert holders == []


def test_times_of_events_are_wall_clock_times() -> None:
    times = iter(range(100, 200))
    hub, spectator = Hub(now=lambda: next(times)), Spectator()

    async def work(loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, TWO[:3])

    run_in_virtual_time(work)
    assert [line["at"] for line in spectator.lines] == [100, 101, 102]


def test_a_sealed_seed_stays_sealed() -> None:
    spectator = Spectator()
    sealed = [(event, replace(match, sealed=True)) for event, match in TWO[:-1]]
    final = sealed[-1][1]

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        hub.add(spectator)
        await observe_all(hub, [*sealed, (Ended(final.result), final)])

    run_with_hub(work)
    assert spectator.knows["event"]["seed"] is None
    assert SEED.hex() not in json.dumps(spectator.lines)


def test_a_spectator_that_leaves_and_comes_back_during_slices_gets_nothing_twice() -> None:
    spectators = [Spectator() for _ in range(2 * WATCHERS_PER_SLICE)]
    first, last = spectators[0], spectators[-1]

    async def work(hub: Hub, loop: VirtualTimeLoop) -> None:
        for one in spectators:
            hub.add(one)
        await observe_all(hub, TWO[:1])
        hub.observe(*TWO[1])
        while first.received[-1] != ("patch", 1):
            await asyncio.sleep(0)
        hub.observe(*TWO[2])
        hub.remove(last)
        hub.add(last)
        await hub.wait_until_sent()

    run_with_hub(work)
    assert last.received == [("snapshot", 0), ("snapshot", 2)]
