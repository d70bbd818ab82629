"""Test the stream of a room to slow and quick viewers."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
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
from tests.server.spectators import MatchEvents, play_match_events

Frames = AsyncGenerator[bytes, None]


def data_in(frame: bytes) -> dict[str, Any]:
    """The data of a server-sent event."""
    found: dict[str, Any] = json.loads(frame.partition(b"data: ")[2])
    return found


async def next_frame(frames: Frames) -> bytes:
    """The next event; empty: there is none."""
    return await anext(frames, b"")


@asynccontextmanager
async def open_stream(
    events: MatchEvents | None = None,
) -> AsyncIterator[tuple[Hub, RoomStream, Callable[[str], Frames]]]:
    """A hub that has observed these events, its stream, and a function that adds a viewer with a theme."""
    hub, pool = Hub("r1", "the ice"), RenderPool()
    for event, match in events or ():
        hub.observe(event, match)
    stream, opened = RoomStream(hub, pool), list[Frames]()

    def view(theme: str) -> Frames:
        opened.append(stream.frames(theme))
        return opened[-1]

    try:
        yield hub, stream, view
    finally:
        for frames in opened:
            await frames.aclose()
        await stream.close()
        await pool.close()


def test_a_viewer_that_missed_a_picture_gets_the_next_one_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)

    async def work() -> None:
        async with open_stream() as (hub, _, view):
            quick, slow = view("light"), view("light")
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

    asyncio.run(work())


def test_a_viewer_that_comes_back_sees_the_board_before_the_next_move() -> None:
    async def work() -> None:
        async with open_stream() as (hub, _, view):
            other, first, again = view("dark"), view("light"), view("light")
            hub.observe(*play_match_events("fish", 2)[0])
            await anext(other)  # stays, so that the stream goes on
            shown = await anext(first)
            await first.aclose()

            assert data_in(await anext(again)) == data_in(shown)

    asyncio.run(work())


def test_a_picture_that_cannot_be_drawn_delays_no_later_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_fails = f"mkdir {tmp_path}/begun 2>/dev/null && exit 1; exec {' '.join(rendering.RENDER_COMMAND)}"
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sh", "-c", first_fails))
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)

    async def work() -> None:
        async with open_stream() as (hub, stream, view):
            waiting = asyncio.create_task(next_frame(view("light")))
            try:
                first, second = play_match_events("fish", 2)[:2]
                hub.observe(*first)
                while not (tmp_path / "begun").exists():
                    await asyncio.sleep(0)
                hub.observe(*second)
                await asyncio.wait([waiting, stream._render_task], return_when=asyncio.FIRST_COMPLETED)

                assert waiting.done()
                assert data_in(waiting.result())["seq"] == 1
            finally:
                waiting.cancel()
                await asyncio.wait([waiting])

    asyncio.run(work())


def test_a_viewer_that_waits_for_the_first_move_is_disconnected_at_once_when_a_server_stops() -> None:
    async def work(loop: VirtualTimeLoop) -> bytes:
        async with open_stream() as (_, stream, view):
            waiting = asyncio.create_task(next_frame(view("light")))
            await asyncio.sleep(1)
            stream.stop()
            return await waiting

    assert run_in_virtual_time(work) == b""


def test_only_the_last_facts_are_sent_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_RECENT_FACTS", 3)

    async def work() -> list[int]:
        async with open_stream() as (hub, _, view):
            frames = view("light")
            for event, match in play_match_events("fish", 2)[:6]:
                hub.observe(event, match)
                await hub.wait_until_sent()
            return [fact[0] for fact in data_in(await anext(frames))["facts"]]

    assert asyncio.run(work()) == [3, 4, 5]


def test_a_viewer_that_comes_late_gets_the_moves_before_it() -> None:
    async def work() -> dict[str, Any]:
        async with open_stream(play_match_events("fish", 2)[:4]) as (_, _, view):
            return data_in(await anext(view("light")))

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
