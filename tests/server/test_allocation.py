"""Test that matches start as soon as all of their players are free."""

import asyncio
from collections.abc import Set

import pytest

from fairplay.server.allocation import Allocation


class Matches:
    """Matches that last until `end` is called."""

    def __init__(self) -> None:
        self.allocation = Allocation()
        self.playing: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    def begin(self, players: str) -> None:
        self._ends[players] = asyncio.Event()
        self.tasks[players] = asyncio.create_task(self._play(players, frozenset(players)))

    async def end(self, players: str) -> None:
        self._ends[players].set()
        await self.tasks[players]
        await asyncio.sleep(0)

    async def _play(self, players: str, ids: Set[str]) -> None:
        async with self.allocation.reserve(ids):
            self.playing.append(players)
            try:
                await self._ends[players].wait()
            finally:
                self.playing.remove(players)


async def begin_matches(*tables: str) -> Matches:
    matches = Matches()
    for table in tables:
        matches.begin(table)
    await asyncio.sleep(0)
    return matches


def test_a_player_plays_one_match_at_a_time_and_delays_no_other_match() -> None:
    async def play() -> None:
        matches = await begin_matches("ab", "ac", "cd", "bd")
        assert matches.playing == ["ab", "cd"]

        await matches.end("ab")
        assert matches.playing == ["cd"]

        await matches.end("cd")
        assert matches.playing == ["ac", "bd"]

        await matches.end("ac")
        await matches.end("bd")

    asyncio.run(play())


def test_of_two_matches_that_wait_for_one_player_only_the_first_begins_when_it_is_free() -> None:
    async def play() -> None:
        matches = await begin_matches("ab", "ac", "ad")

        await matches.end("ab")
        assert matches.playing == ["ac"]

        await matches.end("ac")
        assert matches.playing == ["ad"]
        await matches.end("ad")

    asyncio.run(play())


@pytest.mark.parametrize("granted", [False, True])
def test_a_cancelled_match_frees_its_players(granted: bool) -> None:
    async def play() -> None:
        matches = await begin_matches("ab", "bc")
        if granted:  # it is cancelled in the moment in which it may begin
            ending = asyncio.create_task(matches.end("ab"))
            while matches.playing:
                await asyncio.sleep(0)
        matches.tasks["bc"].cancel()
        with pytest.raises(asyncio.CancelledError):
            await matches.tasks["bc"]
        await (ending if granted else matches.end("ab"))

        matches.begin("abc")
        await asyncio.sleep(0)
        assert matches.playing == ["abc"]
        await matches.end("abc")

    asyncio.run(play())


def test_a_failed_match_frees_its_players() -> None:
    async def play() -> None:
        allocation = Allocation()
        with pytest.raises(OSError, match="no room"):
            async with allocation.reserve({"a", "b"}):
                raise OSError("no room")

        async with asyncio.timeout(5), allocation.reserve({"a", "b"}):
            pass

    asyncio.run(play())
