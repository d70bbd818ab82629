"""Hang up on people without waiting for them, and know when all of them are gone."""

import asyncio

from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import Connection

LAST_MESSAGE_TIMEOUT_S = 0.25  # seconds for what is said to somebody who has to go


class PendingCloses:
    """Those on whom one hangs up just now."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self, line: Connection, last: bytes) -> None:
        """Say some last words, and cut the line, soon."""
        task = asyncio.create_task(line.close(last, LAST_MESSAGE_TIMEOUT_S))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        """Come back when all lines are cut, of those too who leave because of that."""
        while self._tasks:
            await finish_despite_cancellation(asyncio.wait(self._tasks.copy()))
