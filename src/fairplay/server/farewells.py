"""Hang up on people without waiting for them, and know when all of them are gone."""

import asyncio

from fairplay.referee.closing import surely
from fairplay.transport.line import Line

LAST_WORDS = 0.25  # seconds for what is said to somebody who has to go


class Farewells:
    """Those on whom one hangs up just now."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def say(self, line: Line, last: bytes) -> None:
        """Say some last words, and cut the line, soon."""
        task = asyncio.create_task(line.hang_up(last, LAST_WORDS))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def said(self) -> None:
        """Come back when all lines are cut, of those too who leave because of that."""
        while self._tasks:
            await surely(asyncio.wait(self._tasks.copy()))
