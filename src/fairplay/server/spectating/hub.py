"""Send a match to any number of spectators: a snapshot first, then every event as a patch.

docs/rooms.md describes the lines. Spectators get public information only, and delay no player: lines are made only
while there are spectators, once for all of them, and after the player on turn was asked; they are sent in small slices,
and the event loop does other work between two of them. A spectator that cannot take a line skips to a snapshot.
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

WATCHERS_PER_SLICE = 8  # watchers served before the event loop does other work
SLICE_INTERVAL_S = 0.001  # between slices: an answer takes a watchers rounds of the loop, and would wait in each
MAX_RECENT_FACTS = 40
MAX_KEPT_EVENTS = 32  # sent one by one; a watcher that is farther behind gets a snapshot
WATCHER_RETRY_INTERVAL_S = 0.25  # for watchers that could not take a line
SLOW_WATCHER_TIMEOUT_S = 10.0  # for retries when the match is over
NOTHING_SENT = -1  # instead of a number: nothing was sent yet, a snapshot is due
BEHIND = -2  # instead of a number: it could not take a line, a snapshot is due later
encode = msgspec.json.Encoder().encode


class Watcher(Protocol):
    """Takes the lines of a hub, as a connection does."""

    def offer(self, text: bytes) -> bool:
        """Take a line at once; False: it cannot now."""


class NumberedEvent(msgspec.Struct, frozen=True, gc=False):
    """An event with its number, when it happened, and the match after it."""

    seq: int
    at: float  # seconds since 1970
    event: Event
    match: Match[Any, Any, Any]


class Hub:
    """An observer that sends a match to watchers, which come and go at any time.

    It runs in the event loop in which the match is played.
    """

    def __init__(self, room: str = "", name: str = "", *, now: Callable[[], float] = time.time) -> None:
        self.room = room  # its id
        self.name = name
        self.last: NumberedEvent | None = None  # None: nothing has happened
        self.recent: deque[tuple[int, Fact]] = deque(maxlen=MAX_RECENT_FACTS)  # the last facts, with their numbers
        self._now = now
        self._sent: dict[Watcher, int] = {}  # by watcher: the number of the last event that was sent to it
        self._unsent: list[NumberedEvent] = []  # events without lines
        self._sent_view: tuple[int, dict[str, Any]] | None = None  # what spectators see after the last kept line
        self._kept_lines: list[tuple[bytes, ...]] = []  # the last events up to that one, as lines
        self._snapshot_line = (NOTHING_SENT, b"")  # the newest snapshot as a line, with its number
        self._slice_iterator: Iterator[Watcher] | None = None  # watchers that have yet to get the kept lines
        self._send_handle: asyncio.Handle | None = None  # None: nothing is to be sent
        self._retry_handle: asyncio.Handle | None = None  # None: no watcher is behind
        self._over_since: float | None = None  # when the match ended, by the clock of the event loop

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """The watchers."""
        return tuple(self._sent)

    @property
    def watcher_count(self) -> int:
        """How many watchers there are."""
        return len(self._sent)

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Note an event; watchers get it when the event loop comes to it."""
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
        """Add a watcher: it gets a snapshot as soon as there is one, and then a patch for every event."""
        if watcher not in self._sent:
            self._sent[watcher] = NOTHING_SENT
            self._send(watcher)

    def remove(self, watcher: Watcher) -> None:
        """Send no more to a watcher."""
        self._sent.pop(watcher, None)
        if not self._sent:
            self._drop_lines()

    async def wait_until_sent(self, timeout_s: float = 0.0) -> None:
        """Wait until all lines are sent; up to a timeout also to watchers that are behind."""
        loop = asyncio.get_running_loop()
        until = loop.time() + timeout_s
        while self._send_handle is not None or (BEHIND in self._sent.values() and loop.time() < until):
            pause = SLICE_INTERVAL_S if self._slice_iterator is not None else 0
            await asyncio.sleep(pause if self._send_handle is not None else WATCHER_RETRY_INTERVAL_S / 5)

    def snapshot(self) -> bytes:
        """The newest snapshot, as a line; empty: there is none yet."""
        last = self.last
        if last is not None and self._snapshot_line[0] != last.seq:
            state = (
                self._sent_view[1]
                if self._sent_view is not None and self._sent_view[0] == last.seq
                else spectator_state(last.match)
            )
            self._snapshot_line = last.seq, encode_line(self._snapshot_message(last, state))
        return self._snapshot_line[1]

    def _schedule(self) -> None:
        if self._send_handle is None:
            go = self._send_slice if len(self._sent) <= WATCHERS_PER_SLICE else self._reschedule
            self._send_handle = asyncio.get_running_loop().call_soon(go)

    def _reschedule(self) -> None:
        """Let the loop ask the player on turn first: some transports send only after all scheduled calls."""
        self._send_handle = asyncio.get_running_loop().call_soon(self._send_slice)

    def _send_slice(self) -> None:
        """Serve a watchers watchers, and schedule the rest."""
        self._send_handle = None
        if self._slice_iterator is None:
            self._make_lines()
            self._slice_iterator = iter(self.watchers)
        watchers = list(islice(self._slice_iterator, WATCHERS_PER_SLICE))
        for watcher in watchers:
            self._send(watcher)
        if len(watchers) < WATCHERS_PER_SLICE:
            self._slice_iterator = None
        if self._sent and self._slice_iterator is not None:
            self._send_handle = asyncio.get_running_loop().call_later(SLICE_INTERVAL_S, self._send_slice)
        elif self._sent and self._unsent:
            self._schedule()

    def _make_lines(self) -> None:
        """Make lines of the events that have none."""
        for happened in self._unsent:
            now = spectator_state(happened.match)
            if self._sent_view is not None:
                self._kept_lines.append(self._event_lines(happened, self._sent_view[1], now))
            self._sent_view = happened.seq, now
        self._unsent.clear()
        del self._kept_lines[:-MAX_KEPT_EVENTS]

    def _drop_lines(self) -> None:
        """Drop all lines and events: watchers will get a snapshot."""
        self._unsent.clear()
        self._kept_lines.clear()
        self._sent_view = None

    def _send(self, watcher: Watcher) -> None:
        """Send a watcher the kept lines that it has not got, or a snapshot."""
        sent = self._sent.get(watcher, BEHIND)
        if sent == BEHIND or self.last is None:  # or it was removed
            return
        if self._sent_view is None:
            self._sent_view = self.last.seq, spectator_state(self.last.match)
        made = self._sent_view[0]
        missing = made - sent
        lines = [line for lines in self._kept_lines[-missing:] for line in lines] if missing > 0 else []
        if sent == NOTHING_SENT or missing > len(self._kept_lines):
            made, lines = self.last.seq, [self.snapshot()]
        self._sent[watcher] = max(sent, made)
        if not all(self._offer(watcher, line) for line in lines) and watcher in self._sent:
            self._sent[watcher] = BEHIND
            self._schedule_retry()

    def _offer(self, watcher: Watcher, line: bytes) -> bool:
        """Offer a line to a watcher; one that raises is dropped, as any observer is."""
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
        """Send snapshots to the watchers that were behind."""
        self._retry_handle = None
        for watcher, sent in self._sent.items():
            if sent == BEHIND:
                self._sent[watcher] = NOTHING_SENT
                self._schedule()

    def _snapshot_message(self, last: NumberedEvent, state: dict[str, Any]) -> dict[str, Any]:
        event, match = last.event, last.match
        return {
            "type": "snapshot",
            "room": self.room,
            "name": self.name,
            "seq": last.seq,
            "at": last.at,
            "match": match.id,
            "game": match.game.name,
            "parameters": match.game.public_parameters(),
            "names": match.names,
            "commitment": match.commitment,
            "event": event_message(event, match),
            **state,
        }

    def _event_lines(self, happened: NumberedEvent, before: dict[str, Any], now: dict[str, Any]) -> tuple[bytes, ...]:
        """The lines of an event: a patch, and at the end of the match a snapshot."""
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
    """The part of a snapshot that changes."""
    return {
        "turn": match.turn,
        "view": match.game.pack(match.view(None)),
        "ejected": [ejection_fields(ejected, match.names) for ejected in match.ejected],
    }


def event_message(event: Event, match: Match[Any, Any, Any]) -> dict[str, Any]:
    """An event as in the event stream; the details of the start are in every snapshot."""
    return {"type": "started"} if isinstance(event, Started) else event_fields(event, match)


def encode_line(message: dict[str, Any]) -> bytes:
    """A message as a line of ASCII, which is safe for terminals."""
    text = encode(message)
    return (text if text.isascii() else format_json(message).encode()) + b"\n"
