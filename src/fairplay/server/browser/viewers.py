"""Stream a room to browser viewers: each picture is drawn once for all of them, and not too often.

A viewer that has the picture before gets only the lines that changed. No player waits for a viewer: a slow one gets the
newest picture when it can take it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.core.events import Ejected, Ended
from fairplay.page.packing import diff_lines
from fairplay.page.replay import describe_fact
from fairplay.referee.closing import finish_despite_cancellation
from fairplay.server.browser.rendering import BoardJob, RenderPool
from fairplay.server.logs import log_warning
from fairplay.server.spectating.hub import Hub, NumberedEvent

FRAME_INTERVAL_S = 0.25  # between pictures
HEARTBEAT_INTERVAL_S = 15.0  # so that a dead connection is noticed
HEARTBEAT = b": \n\n"  # ignored by browsers
THEMES = {  # as room.js requests them
    "light": {"dark": False, "small": False},
    "dark": {"dark": True, "small": False},
    "light-small": {"dark": False, "small": True},
    "dark-small": {"dark": True, "small": True},
}

encode = msgspec.json.Encoder().encode


class FactText(msgspec.Struct, frozen=True, array_like=True):
    """A fact as text for people."""

    number: int
    seat: int
    text: str
    is_out: bool


class Frame(msgspec.Struct, frozen=True):
    """A position of the match, as server-sent events."""

    number: int
    previous: int  # the number of the frame before
    full_event: bytes
    delta_event: bytes  # for a viewer that has the frame before
    is_last: bool


class RoomStream:
    """The stream of one room, while it has viewers."""

    def __init__(self, hub: Hub, renderer: RenderPool) -> None:
        self.viewer_counts: Counter[str] = Counter()  # by theme
        self._hub = hub
        self._renderer = renderer
        self._frames: dict[str, Frame] = {}
        self._pictures: dict[str, tuple[int, Any, str]] = {}  # by theme: the event's number, its view, and the picture
        self._number = 0
        self._stopped = False
        self._changed, self._rendered = asyncio.Event(), asyncio.Event()
        self._render_task = asyncio.create_task(self._render_loop())
        hub.add(self)

    def offer(self, text: bytes) -> bool:
        """Note that something has happened; it is drawn later."""
        self._changed.set()
        return True

    def stop(self) -> None:
        """End the streams of all viewers."""
        self._stopped = True
        self._rendered.set()

    async def close(self) -> None:
        """Stop drawing."""
        self._hub.remove(self)
        self._render_task.cancel()
        await finish_despite_cancellation(asyncio.wait([self._render_task]))

    async def frames(self, theme: str) -> AsyncGenerator[bytes, None]:
        """The server-sent events for one viewer, to the end of the match."""
        self.viewer_counts[theme] += 1
        self._changed.set()
        number = 0
        try:
            while not self._stopped:
                frame = self._frames.get(theme)
                if frame is None or frame.number == number:
                    if not await wait_for_event(self._rendered):
                        yield HEARTBEAT
                    continue
                yield frame.delta_event if frame.previous == number else frame.full_event
                number = frame.number
                if frame.is_last:
                    return
        finally:
            self.viewer_counts[theme] -= 1
            if not self.viewer_counts[theme]:
                del self.viewer_counts[theme]
                self._frames.pop(theme, None)
                self._pictures.pop(theme, None)

    async def _render_loop(self) -> None:
        """Draw new positions in all themes that have viewers."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._hub.last is None:
                continue
            for theme in tuple(self.viewer_counts):
                try:
                    await self._render(theme, self._hub.last)
                except FairplayError as error:
                    log_warning("cannot draw a board", room=self._hub.room, why=str(error))
            self._rendered.set()
            self._rendered = asyncio.Event()
            await asyncio.sleep(FRAME_INTERVAL_S)

    async def _render(self, theme: str, last: NumberedEvent) -> None:
        drawn, before, picture = self._pictures.get(theme, (-1, None, ""))
        if drawn == last.seq:
            return
        facts = tuple(
            FactText(seq, fact.seat, describe_fact(fact), isinstance(fact, Ejected)) for seq, fact in self._hub.recent
        )
        match = last.match
        view = match.game.pack(match.view(None))
        lines = picture.split("\n")
        if view != before:
            job = BoardJob(match.game.name, match.game.public_parameters(), match.names, view, before, **THEMES[theme])
            picture = await self._renderer.render(job)
        now, old = describe_position(last, facts), self._frames.get(theme)
        self._number += 1
        self._frames[theme] = Frame(
            number=self._number,
            previous=-1 if old is None else old.number,
            full_event=format_server_event("position", now | {"picture": picture}),
            delta_event=format_server_event("position", now | {"lines": diff_lines(lines, picture.split("\n"))}),
            is_last=isinstance(last.event, Ended),
        )
        self._pictures[theme] = last.seq, view, picture


def describe_position(last: NumberedEvent, facts: tuple[FactText, ...]) -> dict[str, Any]:
    """The public data that a page shows beside the picture."""
    match = last.match
    return {
        "seq": last.seq,
        "game": match.game.name,
        "names": match.names,
        "turn": match.turn,
        "scores": match.game.scores(match.state),
        "ejected": {ejected.seat: ejected.fault.value for ejected in match.ejected},
        "facts": facts,
        "over": isinstance(last.event, Ended),
        "winners": sorted(match.result.ranking[0]) if isinstance(last.event, Ended) and match.result.ranking else [],
    }


def format_server_event(name: str, value: Any) -> bytes:
    """Format a server-sent event; JSON contains no line ends."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(value))


async def wait_for_event(event: asyncio.Event) -> bool:
    """Wait for an event; False: it took too long."""
    try:
        async with asyncio.timeout(HEARTBEAT_INTERVAL_S):
            return await event.wait()
    except TimeoutError:
        return False
