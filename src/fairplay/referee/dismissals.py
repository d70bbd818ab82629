"""Let ejected players go in the background: the match goes on, while an answer that comes too late is noted."""

from typing import TYPE_CHECKING

from fairplay.core.roles import AsyncChannel, Record
from fairplay.referee.closing import finished, surely
from fairplay.referee.referee import Dismiss

if TYPE_CHECKING:
    import asyncio


class Dismissals:
    """The players of one match that were ejected and are not gone yet."""

    def __init__(self) -> None:
        self._closing: list[asyncio.Task[None]] = []

    def begin(self, channel: AsyncChannel, dismiss: Dismiss, record: Record) -> None:
        """Begin to close the channel of a player, and to note by how much its answer is late."""
        import asyncio  # where all players are in this process, nobody needs it

        self._closing.append(asyncio.ensure_future(let_go(channel, dismiss, record)))

    async def finish(self) -> None:
        """Come back when all of them are gone; raise what went wrong."""
        while self._closing:
            await surely(finished(self._closing.pop()))


async def let_go(channel: AsyncChannel, dismiss: Dismiss, record: Record) -> None:
    """Close the channel of a player."""
    overrun = await channel.close(dismiss.ejected)
    if overrun is not None:
        record.write_late(dismiss.seat, overrun)
