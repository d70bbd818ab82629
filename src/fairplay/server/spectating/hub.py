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
from fairplay.observers.feed import ejection_fields, event_fields
from fairplay.referee.local_channel import describe_exception
from fairplay.referee.observers import NAME_OF
from fairplay.referee.referee import print_warning
from fairplay.render.formatting import format_json
from fairplay.server.spectating.patches import make_patch

WATCHERS_PER_SLICE = 8  # watchers that are told before the event loop looks after others
SLICE_INTERVAL_S = (
    0.001  # seconds until the next ones are: an answer passes a few rounds of the loop, and would wait in each
)
MAX_RECENT_FACTS = 40
MAX_KEPT_EVENTS = 32  # events that are told one by one: who is farther behind gets a snapshot
WATCHER_RETRY_INTERVAL_S = 0.25  # seconds until those are tried again who could not take a line
SLOW_WATCHER_TIMEOUT_S = 10.0  # seconds for which that goes on when the match is over
NOTHING_SENT = -1  # in the place of a number: it was told nothing yet, and is due for a snapshot
BEHIND = -2  # and it could not take what it was to be told; it is due for a snapshot later
encode = msgspec.json.Encoder().encode


class Watcher(Protocol):
    """Who watches from elsewhere, as the line to somebody does."""

    def offer(self, text: bytes) -> bool:
        """Take a line at once; False: it cannot, now."""


class NumberedEvent(msgspec.Struct, frozen=True, gc=False):
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
        self.last: NumberedEvent | None = None  # None: nothing has
        self.recent: deque[tuple[int, Fact]] = deque(maxlen=MAX_RECENT_FACTS)  # the last facts, with their numbers
        self._now = now
        self._sent: dict[Watcher, int] = {}  # the number of the last event that each of them was told of
        self._unsent: list[NumberedEvent] = []  # of which nobody was told
        self._sent_view: tuple[int, dict[str, Any]] | None = (
            None  # how things stood for spectators when they were told last
        )
        self._kept_lines: list[tuple[bytes, ...]] = []  # the last events up to that one, as lines
        self._snapshot_line = (NOTHING_SENT, b"")  # the newest snapshot as a line, with its number
        self._slice_iterator: Iterator[Watcher] | None = None  # those who are still to be told what is kept
        self._send_handle: asyncio.Handle | None = None  # None: everybody was told
        self._retry_handle: asyncio.Handle | None = None  # None: nobody is behind
        self._over_since: float | None = None  # since when the match is, by the clock of the event loop

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """Those who watch."""
        return tuple(self._sent)

    @property
    def watcher_count(self) -> int:
        """How many they are."""
        return len(self._sent)

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Note what happens; whoever watches is told when the event loop comes to it."""
        seq = 0 if self.last is None else self.last.seq + 1
        self.last = NumberedEvent(seq, self._now(), event, match)
        if isinstance(event, Fact):
            self.recent.append((seq, event))
        elif isinstance(event, Ended):
            self._over_since = asyncio.get_running_loop().time()
        if self._sent:
            if len(self._unsent) == MAX_KEPT_EVENTS:
                self._drop_lines()
            self._unsent.append(self.last)
            self._schedule()

    def add(self, watcher: Watcher) -> None:
        """Let somebody watch: it gets a snapshot, when there is something to see, and then a patch for every event."""
        if watcher not in self._sent:
            self._sent[watcher] = NOTHING_SENT
            self._send(watcher)

    def remove(self, watcher: Watcher) -> None:
        """Tell somebody nothing more."""
        self._sent.pop(watcher, None)
        if not self._sent:
            self._drop_lines()

    async def wait_until_sent(self, within: float = 0.0) -> None:
        """Come back when everybody was told everything; so many seconds are for those who are behind."""
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        while self._send_handle is not None or (BEHIND in self._sent.values() and loop.time() < until):
            pause = SLICE_INTERVAL_S if self._slice_iterator is not None else 0
            await asyncio.sleep(pause if self._send_handle is not None else WATCHER_RETRY_INTERVAL_S / 5)

    def snapshot(self) -> bytes:
        """The newest one, as a line; empty: there is nothing to see yet."""
        last = self.last
        if last is not None and self._snapshot_line[0] != last.seq:
            seen = (
                self._sent_view[1]
                if self._sent_view is not None and self._sent_view[0] == last.seq
                else spectator_state(last.match)
            )
            self._snapshot_line = last.seq, encode_line(self._snapshot_message(last, seen))
        return self._snapshot_line[1]

    def _schedule(self) -> None:
        if self._send_handle is None:
            go = self._send_slice if len(self._sent) <= WATCHERS_PER_SLICE else self._reschedule
            self._send_handle = asyncio.get_running_loop().call_soon(go)

    def _reschedule(self) -> None:
        """Let a loop ask whoever is on turn first: some send nothing before all that is to be done soon is done."""
        self._send_handle = asyncio.get_running_loop().call_soon(self._send_slice)

    def _send_slice(self) -> None:
        """Do a small part of what is to be done, and come back for the rest."""
        self._send_handle = None
        if self._slice_iterator is None:
            self._make_lines()
            self._slice_iterator = iter(self.watchers)
        few = list(islice(self._slice_iterator, WATCHERS_PER_SLICE))
        for watcher in few:
            self._send(watcher)
        if len(few) < WATCHERS_PER_SLICE:
            self._slice_iterator = None
        if self._sent and self._slice_iterator is not None:
            self._send_handle = asyncio.get_running_loop().call_later(SLICE_INTERVAL_S, self._send_slice)
        elif self._sent and self._unsent:
            self._schedule()

    def _make_lines(self) -> None:
        """Make lines of what nobody was told of."""
        for happened in self._unsent:
            now = spectator_state(happened.match)
            if self._sent_view is not None:
                self._kept_lines.append(self._event_lines(happened, self._sent_view[1], now))
            self._sent_view = happened.seq, now
        self._unsent.clear()
        del self._kept_lines[:-MAX_KEPT_EVENTS]

    def _drop_lines(self) -> None:
        """Let go of all that was made and is to be made: whoever watches will get a snapshot."""
        self._unsent.clear()
        self._kept_lines.clear()
        self._sent_view = None

    def _send(self, watcher: Watcher) -> None:
        """Tell somebody whatever is kept and new to it, or show it a snapshot."""
        told = self._sent.get(watcher, BEHIND)
        if told == BEHIND or self.last is None:  # or it has gone
            return
        if self._sent_view is None:
            self._sent_view = self.last.seq, spectator_state(self.last.match)
        made = self._sent_view[0]
        missing = made - told
        lines = [line for lines in self._kept_lines[-missing:] for line in lines] if missing > 0 else []
        if told == NOTHING_SENT or missing > len(self._kept_lines):
            made, lines = self.last.seq, [self.snapshot()]
        self._sent[watcher] = max(told, made)
        if not all(self._offer(watcher, line) for line in lines) and watcher in self._sent:
            self._sent[watcher] = BEHIND
            self._schedule_retry()

    def _offer(self, watcher: Watcher, line: bytes) -> bool:
        """Does it take a line? One that raises is dropped, as any observer is."""
        try:
            return watcher.offer(line)
        except Exception as error:
            print_warning(f"watcher {NAME_OF(type(watcher))} was dropped: {describe_exception(error)[1]}")
            self.remove(watcher)
            return False

    def _schedule_retry(self) -> None:
        loop = asyncio.get_running_loop()
        if self._retry_handle is None and (
            self._over_since is None or loop.time() < self._over_since + SLOW_WATCHER_TIMEOUT_S
        ):
            self._retry_handle = loop.call_later(WATCHER_RETRY_INTERVAL_S, self._retry)

    def _retry(self) -> None:
        """Those who were behind may have a snapshot now."""
        self._retry_handle = None
        for watcher, told in self._sent.items():
            if told == BEHIND:
                self._sent[watcher] = NOTHING_SENT
                self._schedule()

    def _snapshot_message(self, happened: NumberedEvent, seen: dict[str, Any]) -> dict[str, Any]:
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
            "event": event_message(event, match),
            **seen,
        }

    def _event_lines(self, happened: NumberedEvent, before: dict[str, Any], now: dict[str, Any]) -> tuple[bytes, ...]:
        """What is said of an event: a patch, and when all is over how it stands, once more."""
        event, match = happened.event, happened.match
        patch = encode_line(
            {
                "type": "patch",
                "room": self.room,
                "seq": happened.seq,
                "at": happened.at,
                "event": event_message(event, match),
                "patch": list(make_patch(before, now)),
            }
        )
        return (patch, encode_line(self._snapshot_message(happened, now))) if isinstance(event, Ended) else (patch,)


def spectator_state(match: Match[Any, Any, Any]) -> dict[str, Any]:
    """What spectators see of a match, as far as it changes."""
    return {
        "turn": match.turn,
        "view": match.game.pack(match.view(None)),
        "ejected": [ejection_fields(ejected, match.names) for ejected in match.ejected],
    }


def event_message(event: Event, match: Match[Any, Any, Any]) -> dict[str, Any]:
    """An event as programs are told of it; what the start tells is in every snapshot."""
    return {"type": "started"} if isinstance(event, Started) else event_fields(event, match)


def encode_line(message: dict[str, Any]) -> bytes:
    """A message on a line of ASCII, which breaks no terminal."""
    text = encode(message)
    return (text if text.isascii() else format_json(message).encode()) + b"\n"
