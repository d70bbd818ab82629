"""Test the stream of a room to slow and quick viewers, and the processes that render its boards and replays."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fairplay import Acted, BadRequest, Ejected, Ended, Event, Fault, HostFault, Moment
from fairplay.games import GAMES, game_info, make_game
from fairplay.page.replay import describe_fact
from fairplay.referee.referee import deal_match
from fairplay.server.browser import rendering, viewers
from fairplay.server.browser.rendering import BoardJob, RenderPool, ReplayJob
from fairplay.server.browser.viewers import RoomStream, describe_position
from fairplay.server.spectating import hub as hub_module
from fairplay.server.spectating.hub import Hub, NumberedEvent
from tests.nonempty import nonempty
from tests.page.matches import record_match
from tests.server.browser.test_pages import first_job
from tests.server.spectators import AnyMatch, play_match_events

# Rendering


def board(game: str = "fish") -> tuple[BoardJob, str]:
    """A job and its expected result."""
    match = deal_match(make_game(game, game_info(game).quick), ("ann", "<b>", "cyd"), bytes(32))
    view, rules = match.view(None), match.game
    return BoardJob(game, rules.public_parameters(), match.names, rules.pack(view)), game_info(game).svg(
        view, match.names
    )


@asynccontextmanager
async def open_pool() -> AsyncIterator[RenderPool]:
    pool = RenderPool()
    try:
        yield pool
    finally:
        await pool.close()


@pytest.fixture
def pool() -> AbstractAsyncContextManager[RenderPool]:
    return open_pool()


async def test_the_render_pool_draws_the_same_as_this_process(pool: RenderPool) -> None:
    assert [await pool.render(board(game)[0]) for game in GAMES] == [board(game)[1] for game in GAMES]


async def test_a_killed_render_process_is_replaced(pool: RenderPool) -> None:
    await pool.render(board()[0])
    [process] = pool._processes
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(HostFault):
        await pool.render(board()[0])

    assert await pool.render(board()[0]) == board()[1]
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.2])
async def test_a_cancelled_job_leaves_no_answer_for_the_next_one(pause: float, pool: RenderPool) -> None:
    first = asyncio.create_task(pool.render(board("q")[0]))
    await asyncio.sleep(pause)
    first.cancel()
    await asyncio.wait([first])

    assert await pool.render(board()[0]) == board()[1]


async def test_the_process_of_a_cancelled_job_is_ended(pool: RenderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))
    drawing = asyncio.create_task(pool.render(board()[0]))
    while not pool._processes:
        await asyncio.sleep(0)
    [process] = pool._processes
    drawing.cancel()
    await asyncio.wait([drawing])

    assert (process.returncode, len(pool._processes)) == (-signal.SIGKILL, 0)


async def test_a_render_process_that_hangs_is_given_up(pool: RenderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "JOB_TIMEOUT_S", 0.2)
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))

    with pytest.raises(HostFault):
        await pool.render(board()[0])
    assert not pool._processes


async def test_a_picture_that_is_too_long_is_given_up_and_its_process_ended(
    pool: RenderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "MAX_RESULT_BYTES", 2 * len(board()[1]) // 3)

    with pytest.raises(HostFault, match="ValueError"):
        await pool.render(board()[0])
    assert not pool._processes


async def test_only_finished_matches_have_replays(pool: RenderPool, tmp_path: Path) -> None:
    over, sealed = record_match(tmp_path, "fish"), record_match(tmp_path, "fish", sealed=True)
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_bytes(b"".join(over.read_bytes().splitlines(keepends=True)[:5]))

    for file in nonempty((sealed, unfinished, tmp_path / "none.jsonl", Path("/etc/passwd"))):
        with pytest.raises(BadRequest):
            await pool.render(ReplayJob(str(file)))
    assert (await pool.render(ReplayJob(str(over)))).startswith("<!-- Lay out the page of a recorded match")


# Streams

Frames = AsyncGenerator[bytes, None]
ObservedEvent = tuple[Event, AnyMatch]
TWO = play_match_events("fish", 2)


def data_in(frame: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(frame.partition(b"data: ")[2])
    return found


async def next_frame(frames: Frames) -> bytes:
    """The next event; empty: there is none."""
    return await anext(frames, b"")


@asynccontextmanager
async def open_stream(*events: ObservedEvent) -> AsyncIterator[tuple[Hub, RoomStream, Callable[[str], Frames]]]:
    """A hub that has observed these events, its stream, and a function that adds a viewer with a theme."""
    hub, opened = Hub("r1", "the ice"), list[Frames]()
    for event, match in events:
        hub.observe(event, match)
    async with open_pool() as pool:
        stream = RoomStream(hub, pool)

        def view(theme: str) -> Frames:
            opened.append(stream.frames(theme))
            return opened[-1]

        try:
            yield hub, stream, view
        finally:
            for frames in opened:
                await frames.aclose()
            await stream.close()


async def test_a_viewer_that_missed_a_picture_gets_the_next_one_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)
    async with open_stream() as (hub, _, view):
        quick, slow = view("light"), view("light")
        hub.observe(*TWO[0])
        assert "picture" in data_in(await anext(quick))
        assert "picture" in data_in(await anext(slow))
        for event, match in TWO[1:3]:
            hub.observe(event, match)
            assert "lines" in data_in(await anext(quick))
        newest = data_in(await anext(slow))
        assert ("picture" in newest, newest["seq"]) == (True, 2)
        hub.observe(*TWO[3])
        assert "lines" in data_in(await anext(slow))


async def test_a_viewer_that_comes_back_sees_the_board_before_the_next_move() -> None:
    async with open_stream() as (hub, _, view):
        other, first, again = view("dark"), view("light"), view("light")
        hub.observe(*TWO[0])
        await anext(other)  # stays, so that the stream goes on
        shown = await anext(first)
        await first.aclose()

        assert data_in(await anext(again)) == data_in(shown)


async def test_a_picture_that_cannot_be_drawn_delays_no_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", first_job(tmp_path, "exit 1"))
    monkeypatch.setattr(viewers, "FRAME_INTERVAL_S", 0.001)
    async with open_stream() as (hub, stream, view):
        waiting = asyncio.create_task(next_frame(view("light")))
        try:
            hub.observe(*TWO[0])
            while not (tmp_path / "begun").exists():
                await asyncio.sleep(0)
            hub.observe(*TWO[1])
            await asyncio.wait([waiting, stream._render_task], return_when=asyncio.FIRST_COMPLETED)

            assert waiting.done()
            assert data_in(waiting.result())["seq"] == 1
        finally:
            waiting.cancel()
            await asyncio.wait([waiting])


@pytest.mark.virtual_time
async def test_a_viewer_that_waits_for_the_first_move_is_disconnected_at_once_when_a_server_stops() -> None:
    async with open_stream() as (_, stream, view):
        waiting = asyncio.create_task(next_frame(view("light")))
        await asyncio.sleep(1)
        stream.stop()

        assert await waiting == b""


async def test_only_the_last_facts_are_sent_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MAX_RECENT_FACTS", 3)
    async with open_stream() as (hub, _, view):
        frames = view("light")
        for event, match in TWO[:6]:
            hub.observe(event, match)
            await hub.wait_until_sent()

        assert [fact[0] for fact in data_in(await anext(frames))["facts"]] == [3, 4, 5]


async def test_a_viewer_that_comes_late_gets_the_moves_before_it() -> None:
    async with open_stream(*TWO[:4]) as (_, _, view):
        shown = data_in(await anext(view("light")))

    moves = [fact.action for fact, _ in TWO[1:4] if isinstance(fact, Acted)]
    assert shown["seq"] == 3
    assert shown["facts"] == [
        [number, (number - 1) % 2, describe_fact(Acted(0, move)), False] for number, move in enumerate(moves, 1)
    ]


def test_no_player_wins_where_all_were_ejected() -> None:
    match = TWO[0][1]
    for seat in (0, 1):
        match = match.after(Ejected(seat, Fault.GONE, Moment.TURN, "left"))

    shown = describe_position(NumberedEvent(3, 0.0, Ended(match.result), match), ())

    assert (shown["winners"], shown["over"]) == ([], True)
