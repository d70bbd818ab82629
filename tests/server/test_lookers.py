"""Look at a room through a browser that is slow, beside one that is quick."""

import asyncio
import json
from typing import Any

import pytest

from fairplay.server import lookers
from fairplay.server.hub import Hub
from fairplay.server.lookers import Showing
from fairplay.server.painting import Studio
from tests.server.watchers import story


def data_in(frame: bytes) -> dict[str, Any]:
    """What a server-sent event is about."""
    found: dict[str, Any] = json.loads(frame.partition(b"data: ")[2])
    return found


def test_a_browser_that_missed_a_picture_gets_the_next_one_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookers, "PAUSE", 0.001)

    async def work() -> None:
        hub, studio = Hub("r1", "the ice"), Studio()
        showing = Showing(hub, studio)
        quick, slow = showing.frames("light"), showing.frames("light")
        try:
            first, second, third, fourth = story("fish", 2)[:4]
            hub.observe(*first)
            assert "picture" in data_in(await anext(quick))
            assert "picture" in data_in(await anext(slow))
            for event, match in (second, third):
                hub.observe(event, match)
                assert "lines" in data_in(await anext(quick))
            newest = data_in(await anext(slow))
            assert ("picture" in newest, newest["seq"]) == (True, 2)
            hub.observe(*fourth)
            assert "lines" in data_in(await anext(slow))
        finally:
            await quick.aclose()
            await slow.aclose()
            await showing.close()
            await studio.close()

    asyncio.run(work())


def test_a_browser_that_comes_back_sees_the_board_before_the_next_move() -> None:
    async def work() -> None:
        hub, studio = Hub("r1", "the ice"), Studio()
        showing = Showing(hub, studio)
        other, first, again = showing.frames("dark"), showing.frames("light"), showing.frames("light")
        try:
            hub.observe(*story("fish", 2)[0])
            await anext(other)  # which stays, so that the room is shown all the time
            shown = await anext(first)
            await first.aclose()

            assert data_in(await anext(again)) == data_in(shown)
        finally:
            for frames in (other, first, again):
                await frames.aclose()
            await showing.close()
            await studio.close()

    asyncio.run(work())
