"""Start each match as soon as all of its players are free: a player plays one match at a time."""

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import asynccontextmanager


class Allocation:
    """The players that are busy, and the matches that wait for players."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._waiting: dict[asyncio.Future[None], Set[str]] = {}  # in the order of the requests

    @asynccontextmanager
    async def reserve(self, ids: Set[str]) -> AsyncIterator[None]:
        """Wait until all of these players are free, and hold them meanwhile. The oldest request comes first."""
        await self._acquire(ids)
        try:
            yield
        finally:
            self._release(ids)

    async def _acquire(self, ids: Set[str]) -> None:
        if not self._busy & ids:
            self._busy |= ids
            return
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[granted] = ids
        try:
            await granted
        except asyncio.CancelledError:
            if self._waiting.pop(granted, None) is None:  # granted in the same moment
                self._release(ids)
            raise

    def _release(self, ids: Set[str]) -> None:
        self._busy -= ids
        for granted, wanted in list(self._waiting.items()):
            if not self._busy & wanted:
                del self._waiting[granted]
                self._busy |= wanted
                granted.set_result(None)
