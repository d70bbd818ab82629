"""Show a room to all who look at it in browsers: each picture is drawn once for all of them, and not too often.

A picture goes out as the lines that are new in it, for whoever has the one before. Nobody waits for whoever looks: one
that is slow gets the newest when it can take it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from fairplay.core.errors import FairplayError
from fairplay.core.events import Ejected, Ended
from fairplay.page.packing import rewritten
from fairplay.page.replay import in_words
from fairplay.referee.closing import surely
from fairplay.server.browser.painting import Board, Studio
from fairplay.server.logs import warn
from fairplay.server.spectating.hub import Happened, Hub

PAUSE = 0.25  # seconds from picture to picture
SILENCE = 15.0  # seconds after which something is said in any case, so that a dead line is noticed
BEAT = b": \n\n"  # which browsers pass over
LOOKS = {  # as room.js asks for them
    "light": {"dark": False, "small": False},
    "dark": {"dark": True, "small": False},
    "light-small": {"dark": False, "small": True},
    "dark-small": {"dark": True, "small": True},
}

encode = msgspec.json.Encoder().encode


class Said(msgspec.Struct, frozen=True, array_like=True):
    """A fact in words."""

    number: int
    seat: int
    words: str
    is_out: bool


class Frame(msgspec.Struct, frozen=True):
    """A moment of the match, as text for browsers."""

    number: int
    after: int  # the number of the one before
    whole: bytes
    new: bytes  # for whoever has the one before
    is_last: bool


class Showing:
    """One room, from when somebody looks at it until nobody does."""

    def __init__(self, hub: Hub, studio: Studio) -> None:
        self.looking: Counter[str] = Counter()  # how many there are, by look
        self._hub = hub
        self._studio = studio
        self._frames: dict[str, Frame] = {}
        self._pictures: dict[str, tuple[int, Any, str]] = {}  # the event's number, what was seen, and the picture
        self._number = 0
        self._stopped = False
        self._changed, self._painted = asyncio.Event(), asyncio.Event()
        self._painting = asyncio.create_task(self._paint())
        hub.add(self)

    def offer(self, text: bytes) -> bool:
        """Note that something has happened; it is drawn when there is time."""
        self._changed.set()
        return True

    def stop(self) -> None:
        """Let those who look go."""
        self._stopped = True
        self._painted.set()

    async def close(self) -> None:
        """Nobody looks any more."""
        self._hub.remove(self)
        self._painting.cancel()
        await surely(asyncio.wait([self._painting]))

    async def frames(self, look: str) -> AsyncGenerator[bytes, None]:
        """What happens, as a stream of server-sent events, to the end of the match."""
        self.looking[look] += 1
        self._changed.set()
        number = 0
        try:
            while not self._stopped:
                frame = self._frames.get(look)
                if frame is None or frame.number == number:
                    if not await is_set(self._painted):
                        yield BEAT
                    continue
                yield frame.new if frame.after == number else frame.whole
                number = frame.number
                if frame.is_last:
                    return
        finally:
            self.looking[look] -= 1
            if not self.looking[look]:
                del self.looking[look]
                self._frames.pop(look, None)
                self._pictures.pop(look, None)

    async def _paint(self) -> None:
        """Draw whatever is new, for every look that somebody wants."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._hub.last is None:
                continue
            for look in tuple(self.looking):
                try:
                    await self._draw(look, self._hub.last)
                except FairplayError as error:
                    warn("a picture failed", room=self._hub.room, why=str(error))
            self._painted.set()
            self._painted = asyncio.Event()
            await asyncio.sleep(PAUSE)

    async def _draw(self, look: str, last: Happened) -> None:
        drawn, before, picture = self._pictures.get(look, (-1, None, ""))
        if drawn == last.seq:
            return
        said = tuple(Said(seq, fact.seat, in_words(fact), isinstance(fact, Ejected)) for seq, fact in self._hub.recent)
        match = last.match
        view = match.game.pack(match.view(None))
        lines = picture.split("\n")
        if view != before:
            job = Board(match.game.name, match.game.public_parameters(), match.names, view, before, **LOOKS[look])
            picture = await self._studio.drawn(job)
        now, old = moment(last, said), self._frames.get(look)
        self._number += 1
        self._frames[look] = Frame(
            number=self._number,
            after=-1 if old is None else old.number,
            whole=as_event("position", now | {"picture": picture}),
            new=as_event("position", now | {"lines": rewritten(lines, picture.split("\n"))}),
            is_last=isinstance(last.event, Ended),
        )
        self._pictures[look] = last.seq, view, picture


def moment(last: Happened, said: tuple[Said, ...]) -> dict[str, Any]:
    """What is said of a moment beside its picture; nothing of it is hidden from spectators."""
    match = last.match
    return {
        "seq": last.seq,
        "game": match.game.name,
        "names": match.names,
        "turn": match.turn,
        "scores": match.game.scores(match.state),
        "out": {ejected.seat: ejected.fault.value for ejected in match.ejected},
        "said": said,
        "over": isinstance(last.event, Ended),
        "best": sorted(match.result.ranking[0]) if isinstance(last.event, Ended) and match.result.ranking else [],
    }


def as_event(name: str, value: Any) -> bytes:
    """A server-sent event; there is no end of a line in JSON."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode(value))


async def is_set(event: asyncio.Event) -> bool:
    """Wait for it; False: it took too long."""
    try:
        async with asyncio.timeout(SILENCE):
            return await event.wait()
    except TimeoutError:
        return False
