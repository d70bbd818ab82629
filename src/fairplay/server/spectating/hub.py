"""Tell any number of spectators what happens in a match: a snapshot first, then every event as a patch.

docs/rooms.md has the lines. Spectators hear nothing but public things, and hold up nobody: what they are told is made
only if somebody watches, once for all of them, and after the player on turn was asked; and it is handed out in small
slices with pauses, in which the event loop looks after everybody else. Who cannot take a line skips to a snapshot.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Protocol

import msgspec

from fairplay.core.events import Ended, Event, Fact, Started
from fairplay.core.match import Match
from fairplay.observers.feed import as_plain, ejection
from fairplay.referee.gallery import NAME_OF
from fairplay.referee.host import complain
from fairplay.referee.local import describe
from fairplay.render.words import plain
from fairplay.server.spectating.patches import make_patch

SLICE = 8  # watchers that are told before the event loop looks after others
BREATH = 0.001  # seconds until the next ones are: an answer passes a few rounds of the loop, and would wait in each
MAX_RECENT_FACTS = 40
MOST_KEPT = 32  # events that are told one by one: who is farther behind gets a snapshot
AGAIN = 0.25  # seconds until those are tried again who could not take a line
PATIENCE = 10.0  # seconds for which that goes on when the match is over
NOTHING = -1  # in the place of a number: it was told nothing yet, and is due for a snapshot
BEHIND = -2  # and it could not take what it was to be told; it is due for a snapshot later
encode = msgspec.json.Encoder().encode


class Watcher(Protocol):
    """Who watches from elsewhere, as the line to somebody does."""

    def offer(self, text: bytes) -> bool:
        """Take a line at once; False: it cannot, now."""


class Happened(msgspec.Struct, frozen=True, gc=False):
    """An event with its number, when it happened, and the match after it."""

    seq: int
    at: float  # seconds since 1970
    event: Event
    match: Match[Any, Any, Any]


class Hub:
    """An observer that passes a match on to those who watch, who come and go at any time.

    All of it happens in the event loop in which the match is played.
    """

    def __init__(self, room: str = "", name: str = "", *, now: Callable[[], float] = time.time) -> None:
        self.room = room  # its id
        self.name = name
        self.last: Happened | None = None  # None: nothing has
        self.recent: deque[tuple[int, Fact]] = deque(maxlen=MAX_RECENT_FACTS)  # the last facts, with their numbers
        self._now = now
        self._told: dict[Watcher, int] = {}  # the number of the last event that each of them was told of
        self._news: list[Happened] = []  # of which nobody was told
        self._seen: tuple[int, dict[str, Any]] | None = None  # how things stood for spectators when they were told last
        self._kept: list[tuple[bytes, ...]] = []  # the last events up to that one, as lines
        self._text = (NOTHING, b"")  # the newest snapshot as a line, with its number
        self._round: Iterator[Watcher] | None = None  # those who are still to be told what is kept
        self._going: asyncio.Handle | None = None  # None: everybody was told
        self._again: asyncio.Handle | None = None  # None: nobody is behind
        self._over: float | None = None  # since when the match is, by the clock of the event loop

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """Those who watch."""
        return tuple(self._told)

    @property
    def watching(self) -> int:
        """How many they are."""
        return len(self._told)

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Note what happens; whoever watches is told when the event loop comes to it."""
        seq = 0 if self.last is None else self.last.seq + 1
        self.last = Happened(seq, self._now(), event, match)
        if isinstance(event, Fact):
            self.recent.append((seq, event))
        elif isinstance(event, Ended):
            self._over = asyncio.get_running_loop().time()
        if self._told:
            if len(self._news) == MOST_KEPT:
                self._forget()
            self._news.append(self.last)
            self._go()

    def add(self, watcher: Watcher) -> None:
        """Let somebody watch: it gets a snapshot, when there is something to see, and then a patch for every event."""
        if watcher not in self._told:
            self._told[watcher] = NOTHING
            self._tell(watcher)

    def remove(self, watcher: Watcher) -> None:
        """Tell somebody nothing more."""
        self._told.pop(watcher, None)
        if not self._told:
            self._forget()

    async def caught_up(self, within: float = 0.0) -> None:
        """Come back when everybody was told everything; so many seconds are for those who are behind."""
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        while self._going is not None or (BEHIND in self._told.values() and loop.time() < until):
            pause = BREATH if self._round is not None else 0
            await asyncio.sleep(pause if self._going is not None else AGAIN / 5)

    def snapshot(self) -> bytes:
        """The newest one, as a line; empty: there is nothing to see yet."""
        last = self.last
        if last is not None and self._text[0] != last.seq:
            seen = self._seen[1] if self._seen is not None and self._seen[0] == last.seq else as_seen(last.match)
            self._text = last.seq, as_line(self._whole(last, seen))
        return self._text[1]

    def _go(self) -> None:
        if self._going is None:
            go = self._go_on if len(self._told) <= SLICE else self._go_soon
            self._going = asyncio.get_running_loop().call_soon(go)

    def _go_soon(self) -> None:
        """Let a loop ask whoever is on turn first: some send nothing before all that is to be done soon is done."""
        self._going = asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Do a small part of what is to be done, and come back for the rest."""
        self._going = None
        if self._round is None:
            self._make_lines()
            self._round = iter(self.watchers)
        few = list(islice(self._round, SLICE))
        for watcher in few:
            self._tell(watcher)
        if len(few) < SLICE:
            self._round = None
        if self._told and self._round is not None:
            self._going = asyncio.get_running_loop().call_later(BREATH, self._go_on)
        elif self._told and self._news:
            self._go()

    def _make_lines(self) -> None:
        """Make lines of what nobody was told of."""
        for happened in self._news:
            now = as_seen(happened.match)
            if self._seen is not None:
                self._kept.append(self._lines(happened, self._seen[1], now))
            self._seen = happened.seq, now
        self._news.clear()
        del self._kept[:-MOST_KEPT]

    def _forget(self) -> None:
        """Let go of all that was made and is to be made: whoever watches will get a snapshot."""
        self._news.clear()
        self._kept.clear()
        self._seen = None

    def _tell(self, watcher: Watcher) -> None:
        """Tell somebody whatever is kept and new to it, or show it a snapshot."""
        told = self._told.get(watcher, BEHIND)
        if told == BEHIND or self.last is None:  # or it has gone
            return
        if self._seen is None:
            self._seen = self.last.seq, as_seen(self.last.match)
        made = self._seen[0]
        missing = made - told
        lines = [line for lines in self._kept[-missing:] for line in lines] if missing > 0 else []
        if told == NOTHING or missing > len(self._kept):
            made, lines = self.last.seq, [self.snapshot()]
        self._told[watcher] = max(told, made)
        if not all(self._takes(watcher, line) for line in lines) and watcher in self._told:
            self._told[watcher] = BEHIND
            self._try_later()

    def _takes(self, watcher: Watcher, line: bytes) -> bool:
        """Does it take a line? One that raises is dropped, as any observer is."""
        try:
            return watcher.offer(line)
        except Exception as error:
            complain(f"watcher {NAME_OF(type(watcher))} was dropped: {describe(error)[1]}")
            self.remove(watcher)
            return False

    def _try_later(self) -> None:
        loop = asyncio.get_running_loop()
        if self._again is None and (self._over is None or loop.time() < self._over + PATIENCE):
            self._again = loop.call_later(AGAIN, self._try_again)

    def _try_again(self) -> None:
        """Those who were behind may have a snapshot now."""
        self._again = None
        for watcher, told in self._told.items():
            if told == BEHIND:
                self._told[watcher] = NOTHING
                self._go()

    def _whole(self, happened: Happened, seen: dict[str, Any]) -> dict[str, Any]:
        """A snapshot."""
        event, match = happened.event, happened.match
        return {
            "type": "snapshot",
            "room": self.room,
            "name": self.name,
            "seq": happened.seq,
            "at": happened.at,
            "match": match.id,
            "game": match.game.name,
            "parameters": match.game.public_parameters(),
            "names": match.names,
            "commitment": match.commitment,
            "event": as_told(event, match),
            **seen,
        }

    def _lines(self, happened: Happened, before: dict[str, Any], now: dict[str, Any]) -> tuple[bytes, ...]:
        """What is said of an event: a patch, and when all is over how it stands, once more."""
        event, match = happened.event, happened.match
        patch = as_line(
            {
                "type": "patch",
                "room": self.room,
                "seq": happened.seq,
                "at": happened.at,
                "event": as_told(event, match),
                "patch": list(make_patch(before, now)),
            }
        )
        return (patch, as_line(self._whole(happened, now))) if isinstance(event, Ended) else (patch,)


def as_seen(match: Match[Any, Any, Any]) -> dict[str, Any]:
    """What spectators see of a match, as far as it changes."""
    return {
        "turn": match.turn,
        "view": match.game.pack(match.view(None)),
        "ejected": [ejection(ejected, match.names) for ejected in match.ejected],
    }


def as_told(event: Event, match: Match[Any, Any, Any]) -> dict[str, Any]:
    """An event as programs are told of it; what the start tells is in every snapshot."""
    return {"type": "started"} if isinstance(event, Started) else as_plain(event, match)


def as_line(message: dict[str, Any]) -> bytes:
    """A message on a line of ASCII, which breaks no terminal."""
    text = encode(message)
    return (text if text.isascii() else plain(message).encode()) + b"\n"
