"""Have boards and replays drawn by another process, kill it, and ask it for what may not be seen."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairplay import BadRequest, HostFault
from fairplay.games import GAMES, game_with, title
from fairplay.referee.host import dealt
from fairplay.server.browser import painting
from fairplay.server.browser.painting import Board, Replay, Studio
from tests.page.matches import record
from tests.some import some


def board(game: str = "fish") -> tuple[Board, str]:
    """A job, and what is to come of it."""
    match = dealt(game_with(game, title(game).quick), ("ann", "<b>", "cyd"), bytes(32))
    view, rules = match.view(None), match.game
    return Board(game, rules.public_parameters(), match.names, rules.pack(view)), title(game).svg(view, match.names)


def test_it_draws_what_would_be_drawn_here() -> None:
    async def drawn() -> list[str]:
        studio = Studio()
        try:
            return [await studio.drawn(board(game)[0]) for game in GAMES]
        finally:
            await studio.close()

    assert asyncio.run(drawn()) == [board(game)[1] for game in GAMES]


def test_it_is_started_anew_when_it_was_killed() -> None:
    async def tried() -> tuple[str, int]:
        studio = Studio()
        await studio.drawn(board()[0])
        [process] = studio._processes
        number = process.pid
        os.kill(number, signal.SIGKILL)
        with pytest.raises(HostFault):
            await studio.drawn(board()[0])
        again = await studio.drawn(board()[0])
        await studio.close()
        return again, number

    again, number = asyncio.run(tried())

    assert again == board()[1]
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_whoever_is_called_away_leaves_no_answer_behind_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tried(pause: float) -> str:
        studio = Studio()
        try:
            first = asyncio.create_task(studio.drawn(board("q")[0]))
            await asyncio.sleep(pause)
            first.cancel()
            await asyncio.wait([first])
            return await studio.drawn(board()[0])
        finally:
            await studio.close()

    for pause in some((0.0, 0.01, 0.2)):
        assert asyncio.run(tried(pause)) == board()[1]


def test_a_process_whose_picture_is_called_off_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "COMMAND", ("sleep", "1000"))

    async def tried() -> tuple[int | None, int]:
        studio = Studio()
        drawing = asyncio.create_task(studio.drawn(board()[0]))
        while not studio._processes:
            await asyncio.sleep(0)
        [process] = studio._processes
        drawing.cancel()
        await asyncio.wait([drawing])
        ended, left = process.returncode, len(studio._processes)
        await studio.close()
        return ended, left

    assert asyncio.run(tried()) == (-signal.SIGKILL, 0)


def test_one_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "LONGEST", 0.2)
    monkeypatch.setattr(painting, "COMMAND", ("sleep", "1000"))

    async def tried() -> None:
        studio = Studio()
        with pytest.raises(HostFault):
            await studio.drawn(board()[0])
        assert not studio._processes

    asyncio.run(tried())


def test_a_picture_that_is_too_long_is_given_up_and_its_process_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(painting, "MOST_BYTES", 2 * len(board()[1]) // 3)

    async def tried() -> int:
        studio = Studio()
        with pytest.raises(HostFault, match="ValueError"):
            await studio.drawn(board()[0])
        return len(studio._processes)

    assert asyncio.run(tried()) == 0


def test_a_replay_is_drawn_of_what_is_over_and_of_nothing_else(tmp_path: Path) -> None:
    over, sealed = record(tmp_path, "fish"), record(tmp_path, "fish", sealed=True)
    unfinished = tmp_path / "unfinished.jsonl"
    unfinished.write_bytes(b"".join(over.read_bytes().splitlines(keepends=True)[:5]))

    async def tried() -> str:
        studio = Studio()
        try:
            for file in some((sealed, unfinished, tmp_path / "none.jsonl", Path("/etc/passwd"))):
                with pytest.raises(BadRequest):
                    await studio.drawn(Replay(str(file)))
            return await studio.drawn(Replay(str(over)))
        finally:
            await studio.close()

    assert asyncio.run(tried()).startswith("<!-- The page of a recorded match")
