"""Close connections in the background, and wait until all of them are closed."""

import asyncio

from fairplay.referee.closing import finish_despite_cancellation
from fairplay.transport.connection import Connection

LAST_MESSAGE_TIMEOUT_S = 0.25


class PendingCloses:
    """The connections that are being closed."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self, connection: Connection, last: bytes) -> None:
        """Send a last message, if there is one, and close the connection, in the background."""
        task = asyncio.create_task(connection.close(last, LAST_MESSAGE_TIMEOUT_S))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self) -> None:
        """Wait until all connections are closed, also those whose closing starts meanwhile."""
        while self._tasks:
            await finish_despite_cancellation(asyncio.wait(self._tasks.copy()))
