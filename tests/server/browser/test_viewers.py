"""Look at a room through a browser that is slow, beside one that is quick."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, Ejected, Ended, Fault, Moment
from fairplay.page.replay import describe_fact
from fairplay.server.browser import rendering, viewers
from fairplay.server.browser.rendering import RenderPool
from fairplay.server.browser.viewers import RoomStream, describe_position
from fairplay.server.spectating import hub as hub_module
from fairplay.server.spectating.hub import Hub, NumberedEvent
from tests.players.scripted_connections import VirtualTimeLoop, run_in_virtual_time
from tests.server.spectators import play_match_events


def data_in(frame: bytes) -> dict[str, Any]:
    """What a server-sent event is about."""
    found: dict[str, Any] = json.loads(frame.partition(b"data: ")[2])
    return found


async def next_of(frames: AsyncGenerator[bytes, None]) -> bytes:
    """The next event; empty: there is none."""
    return await anext(frames, b"")


def test_a_viewer_that_missed_a_picture_gets_the_next_one_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)

    async def work() -> None:
        hub, studio = Hub("r1", "the ice"), RenderPool()
        showing = RoomStream(hub, studio)
        quick, slow = showing.frames("light"), showing.frames("light")
        try:
            first, second, third, fourth = play_match_events("fish", 2)[:4]
            hub.observe(*first)
            assert "picture" in data_in(await anext(quick))
            assert "picture" in data_in(await anext(slow))
            for event, match in (second, third):
                hub.observe(event, match)
                assert "lines" in data_in(await anext(quick))
            newest = data_in(await anext(slow))
            assert ("picture" in newest, newest["seq"]) == (True, 2)
            hub.observe(*fourth)
            assert "lines" in data_in(await anext(slow))
        finally:
            await quick.aclose()
            await slow.aclose()
            await showing.close()
            await studio.close()

    asyncio.run(work())


def test_a_viewer_that_comes_back_sees_the_board_before_the_next_move() -> None:
    async def work() -> None:
        hub, studio = Hub("r1", "the ice"), RenderPool()
        showing = RoomStream(hub, studio)
        other, first, again = showing.frames("dark"), showing.frames("light"), showing.frames("light")
        try:
            hub.observe(*play_match_events("fish", 2)[0])
            await anext(other)  # which stays, so that the room is shown all the time
            shown = await anext(first)
            await first.aclose()

            assert data_in(await anext(again)) == data_in(shown)
        finally:
            for frames in (other, first, again):
                await frames.aclose()
            await showing.close()
            await studio.close()

    asyncio.run(work())


def test_a_picture_that_cannot_be_drawn_delays_no_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_fails = f"mkdir {tmp_path}/begun 2>/dev/null && exit 1; exec {' '.join(rendering.RENDER_COMMAND)}"
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sh", "-c", first_fails))
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)

    async def work() -> None:
        hub, studio = Hub("r1", "the ice"), RenderPool()
        showing = RoomStream(hub, studio)
        frames = showing.frames("light")
        looking = asyncio.create_task(next_of(frames))
        try:
            first, second = play_match_events("fish", 2)[:2]
            hub.observe(*first)
            while not (tmp_path / "begun").exists():
                await asyncio.sleep(0)
            hub.observe(*second)
            await asyncio.wait([looking, showing._render_task], return_when=asyncio.FIRST_COMPLETED)

            assert looking.done()
            assert data_in(looking.result())["seq"] == 1
        finally:
            looking.cancel()
            await asyncio.wait([looking])
            await frames.aclose()
            await showing.close()
            await studio.close()

    asyncio.run(work())


def test_a_viewer_that_waits_for_the_first_move_is_disconnected_at_once_when_a_server_stops() -> None:
    async def work(loop: VirtualTimeLoop) -> bytes:
        showing = RoomStream(Hub("r1", "the ice"), RenderPool())
        frames = showing.frames("light")
        looking = asyncio.create_task(next_of(frames))
        await asyncio.sleep(1)
        showing.stop()
        last = await looking
        await frames.aclose()
        await showing.close()
        return last

    assert run_in_virtual_time(work) == b""


def test_only_the_last_facts_are_sent_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_RECENT_FACTS", 3)

    async def work() -> list[int]:
        hub, studio = Hub("r1", "the ice"), RenderPool()
        showing = RoomStream(hub, studio)
        frames = showing.frames("light")
        try:
            for event, match in play_match_events("fish", 2)[:6]:
                hub.observe(event, match)
                await hub.wait_until_sent()
            return [fact[0] for fact in data_in(await anext(frames))["facts"]]
        finally:
            await frames.aclose()
            await showing.close()
            await studio.close()

    assert asyncio.run(work()) == [3, 4, 5]


def test_a_viewer_that_comes_late_gets_the_moves_before_it() -> None:
    async def work() -> dict[str, Any]:
        hub, studio = Hub("r1", "the ice"), RenderPool()
        for event, match in play_match_events("fish", 2)[:4]:
            hub.observe(event, match)
        showing = RoomStream(hub, studio)
        frames = showing.frames("light")
        try:
            return data_in(await anext(frames))
        finally:
            await frames.aclose()
            await showing.close()
            await studio.close()

    shown = asyncio.run(work())

    moves = [fact.action for fact, _ in play_match_events("fish", 2)[1:4] if isinstance(fact, Acted)]
    assert shown["seq"] == 3
    assert shown["facts"] == [
        [number, (number - 1) % 2, describe_fact(Acted(0, move)), False] for number, move in enumerate(moves, 1)
    ]


def test_no_player_wins_where_all_were_ejected() -> None:
    match = play_match_events("fish", 2)[0][1]
    for seat in (0, 1):
        match = match.after(Ejected(seat, Fault.GONE, Moment.TURN, "left"))

    shown = describe_position(NumberedEvent(3, 0.0, Ended(match.result), match), ())

    assert (shown["winners"], shown["over"]) == ([], True)
