"""Test that a server waits for all connections that it closes in the background."""

import asyncio

from fairplay.server.pending_closes import PendingCloses
from tests.players.scripted_connections import ScriptedConnection, VirtualTimeLoop, run_in_virtual_time


class Slow(ScriptedConnection):
    """A connection that takes a second to close; then it closes another one."""

    def __init__(self, pending_closes: PendingCloses, follower: ScriptedConnection | None = None) -> None:
        super().__init__()
        self._pending_closes = pending_closes
        self._follower = follower

    async def close(self, last: bytes, within: float) -> None:
        """Take a second."""
        await asyncio.sleep(1)
        await super().close(last, within)
        if self._follower is not None:
            self._pending_closes.close(self._follower, last)


def test_connections_that_close_because_another_was_closed_are_waited_for_too() -> None:
    async def work(loop: VirtualTimeLoop) -> list[bytes]:
        pending_closes = PendingCloses()
        follower = Slow(pending_closes)
        pending_closes.close(Slow(pending_closes, follower), b"bye")
        await pending_closes.wait()
        return [last for last, _ in follower.hung_up]

    assert run_in_virtual_time(work) == [b"bye"]
