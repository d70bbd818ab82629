"""Hang up on people, and wait until all of them are gone."""

import asyncio

from fairplay.server.farewells import Farewells
from tests.players.lines import Clockwork, Scripted, in_clockwork


class Slow(Scripted):
    """A line that takes a second to be cut; then another one is, because of that."""

    def __init__(self, farewells: Farewells, follower: Scripted | None = None) -> None:
        super().__init__()
        self._farewells = farewells
        self._follower = follower

    async def hang_up(self, last: bytes, within: float) -> None:
        """Take a second."""
        await asyncio.sleep(1)
        await super().hang_up(last, within)
        if self._follower is not None:
            self._farewells.say(self._follower, last)


def test_clients_that_leave_because_another_was_let_go_are_waited_for_too() -> None:
    async def work(loop: Clockwork) -> list[bytes]:
        farewells = Farewells()
        follower = Slow(farewells)
        farewells.say(Slow(farewells, follower), b"bye")
        await farewells.said()
        return [last for last, _ in follower.hung_up]

    assert in_clockwork(work) == [b"bye"]
