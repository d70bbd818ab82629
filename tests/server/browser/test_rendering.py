"""Test the rendering of boards and replays in other processes that may be killed, and what may not be shown."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairplay import BadRequest, HostFault
from fairplay.games import GAMES, game_info, make_game
from fairplay.referee.referee import deal_match
from fairplay.server.browser import rendering
from fairplay.server.browser.rendering import BoardJob, RenderPool, ReplayJob
from tests.nonempty import nonempty
from tests.page.matches import record_match


def board(game: str = "fish") -> tuple[BoardJob, str]:
    """A job and its expected result."""
    match = deal_match(make_game(game, game_info(game).quick), ("ann", "<b>", "cyd"), bytes(32))
    view, rules = match.view(None), match.game
    return BoardJob(game, rules.public_parameters(), match.names, rules.pack(view)), game_info(game).svg(
        view, match.names
    )


def test_the_render_pool_draws_the_same_as_this_process() -> None:
    async def draw_all() -> list[str]:
        pool = RenderPool()
        try:
            return [await pool.render(board(game)[0]) for game in GAMES]
        finally:
            await pool.close()

    assert asyncio.run(draw_all()) == [board(game)[1] for game in GAMES]


def test_a_killed_render_process_is_replaced() -> None:
    async def attempt() -> tuple[str, int]:
        pool = RenderPool()
        await pool.render(board()[0])
        [process] = pool._processes
        number = process.pid
        os.kill(number, signal.SIGKILL)
        with pytest.raises(HostFault):
            await pool.render(board()[0])
        again = await pool.render(board()[0])
        await pool.close()
        return again, number

    again, number = asyncio.run(attempt())

    assert again == board()[1]
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_cancelled_job_leaves_no_answer_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def attempt(pause: float) -> str:
        pool = RenderPool()
        try:
            first = asyncio.create_task(pool.render(board("q")[0]))
            await asyncio.sleep(pause)
            first.cancel()
            await asyncio.wait([first])
            return await pool.render(board()[0])
        finally:
            await pool.close()

    for pause in nonempty((0.0, 0.01, 0.2)):
        assert asyncio.run(attempt(pause)) == board()[1]


def test_the_process_of_a_cancelled_job_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))

    async def attempt() -> tuple[int | None, int]:
        pool = RenderPool()
        drawing = asyncio.create_task(pool.render(board()[0]))
        while not pool._processes:
            await asyncio.sleep(0)
        [process] = pool._processes
        drawing.cancel()
        await asyncio.wait([drawing])
        ended, left = process.returncode, len(pool._processes)
        await pool.close()
        return ended, left

    assert asyncio.run(attempt()) == (-signal.SIGKILL, 0)


def test_a_render_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "JOB_TIMEOUT_S", 0.2)
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))

    async def attempt() -> None:
        pool = RenderPool()
        with pytest.raises(HostFault):
            await pool.render(board()[0])
        assert not pool._processes

    asyncio.run(attempt())


def test_a_picture_that_is_too_long_is_given_up_and_its_process_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_RESULT_BYTES", 2 * len(board()[1]) // 3)

    async def attempt() -> int:
        pool = RenderPool()
        with pytest.raises(HostFault, match="ValueError"):
            await pool.render(board()[0])
        return len(pool._processes)

    assert asyncio.run(attempt()) == 0


def test_only_finished_matches_have_replays(tmp_path: Path) -> None:
    over, sealed = record_match(tmp_path, "fish"), record_match(tmp_path, "fish", sealed=True)
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_bytes(b"".join(over.read_bytes().splitlines(keepends=True)[:5]))

    async def attempt() -> str:
        pool = RenderPool()
        try:
            for file in nonempty((sealed, unfinished, tmp_path / "none.jsonl", Path("/etc/passwd"))):
                with pytest.raises(BadRequest):
                    await pool.render(ReplayJob(str(file)))
            return await pool.render(ReplayJob(str(over)))
        finally:
            await pool.close()

    assert asyncio.run(attempt()).startswith("<!-- Lay out the page of a recorded match")
