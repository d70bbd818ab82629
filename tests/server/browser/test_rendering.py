"""Have boards and replays drawn by another process, kill it, and ask it for what may not be seen."""

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
    """A job, and what is to come of it."""
    match = deal_match(make_game(game, game_info(game).quick), ("ann", "<b>", "cyd"), bytes(32))
    view, rules = match.view(None), match.game
    return BoardJob(game, rules.public_parameters(), match.names, rules.pack(view)), game_info(game).svg(
        view, match.names
    )


def test_the_render_pool_draws_the_same_as_this_process() -> None:
    async def drawn() -> list[str]:
        studio = RenderPool()
        try:
            return [await studio.render(board(game)[0]) for game in GAMES]
        finally:
            await studio.close()

    assert asyncio.run(drawn()) == [board(game)[1] for game in GAMES]


def test_a_killed_render_process_is_replaced() -> None:
    async def tried() -> tuple[str, int]:
        studio = RenderPool()
        await studio.render(board()[0])
        [process] = studio._processes
        number = process.pid
        os.kill(number, signal.SIGKILL)
        with pytest.raises(HostFault):
            await studio.render(board()[0])
        again = await studio.render(board()[0])
        await studio.close()
        return again, number

    again, number = asyncio.run(tried())

    assert again == board()[1]
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_cancelled_job_leaves_no_answer_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tried(pause: float) -> str:
        studio = RenderPool()
        try:
            first = asyncio.create_task(studio.render(board("q")[0]))
            await asyncio.sleep(pause)
            first.cancel()
            await asyncio.wait([first])
            return await studio.render(board()[0])
        finally:
            await studio.close()

    for pause in nonempty((0.0, 0.01, 0.2)):
        assert asyncio.run(tried(pause)) == board()[1]


def test_the_process_of_a_cancelled_job_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))

    async def tried() -> tuple[int | None, int]:
        studio = RenderPool()
        drawing = asyncio.create_task(studio.render(board()[0]))
        while not studio._processes:
            await asyncio.sleep(0)
        [process] = studio._processes
        drawing.cancel()
        await asyncio.wait([drawing])
        ended, left = process.returncode, len(studio._processes)
        await studio.close()
        return ended, left

    assert asyncio.run(tried()) == (-signal.SIGKILL, 0)


def test_a_render_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "JOB_TIMEOUT_S", 0.2)
    monkeypatch.setattr(rendering, "RENDER_COMMAND", ("sleep", "1000"))

    async def tried() -> None:
        studio = RenderPool()
        with pytest.raises(HostFault):
            await studio.render(board()[0])
        assert not studio._processes

    asyncio.run(tried())


def test_a_picture_that_is_too_long_is_given_up_and_its_process_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_RESULT_BYTES", 2 * len(board()[1]) // 3)

    async def tried() -> int:
        studio = RenderPool()
        with pytest.raises(HostFault, match="ValueError"):
            await studio.render(board()[0])
        return len(studio._processes)

    assert asyncio.run(tried()) == 0


def test_only_finished_matches_have_replays(tmp_path: Path) -> None:
    over, sealed = record_match(tmp_path, "fish"), record_match(tmp_path, "fish", sealed=True)
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_bytes(b"".join(over.read_bytes().splitlines(keepends=True)[:5]))

    async def tried() -> str:
        studio = RenderPool()
        try:
            for file in nonempty((sealed, unfinished, tmp_path / "none.jsonl", Path("/etc/passwd"))):
                with pytest.raises(BadRequest):
                    await studio.render(ReplayJob(str(file)))
            return await studio.render(ReplayJob(str(over)))
        finally:
            await studio.close()

    assert asyncio.run(tried()).startswith("<!-- The page of a recorded match")
