"""Let a match begin as soon as all who are to play in it are free, as nobody plays in two at once."""

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import asynccontextmanager


class Allocation:
    """Who is busy, and which matches wait for whom."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._waiting: dict[asyncio.Future[None], Set[str]] = {}  # in the order in which they were asked for

    @asynccontextmanager
    async def reserve(self, ids: Set[str]) -> AsyncIterator[None]:
        """Come in when all of them are free; they are busy until we leave. Who waits longest comes first."""
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
            if self._waiting.pop(granted, None) is None:  # it was granted in the same moment
                self._release(ids)
            raise

    def _release(self, ids: Set[str]) -> None:
        self._busy -= ids
        for granted, wanted in list(self._waiting.items()):
            if not self._busy & wanted:
                del self._waiting[granted]
                self._busy |= wanted
                granted.set_result(None)
