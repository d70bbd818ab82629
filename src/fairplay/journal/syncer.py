"""Sync files in the background, in one thread for all of them, and many of them in one call."""

import os
import re
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import cache
from typing import Protocol

from fairplay.core.errors import HostFault

SYNC_INTERVAL_S = 0.02  # seconds between two rounds of syncing in the background
MAX_IDLE_ROUNDS = 25  # rounds without anything to sync, after which the thread in the background ends
MIN_FILES_TO_BATCH = 8  # files for which one call for their whole file system is faster
SLOW_SYNC_S, SLOW_SYNC_BACKOFF_S = 0.05, 5.0  # seconds: if such a call takes so long, none is made for a while
OnSynced = Callable[[], None]  # is called by the thread in the background, and raises nothing


class Syncable(Protocol):
    """A file that is appended to meanwhile."""

    def has_unsynced(self) -> bool:
        """Is there anything to sync?"""

    def sync_pending(self) -> bool:
        """Make everything durable that was appended so far. True: more has come."""

    def filesystem_id(self) -> int | None:
        """The number of the file system it is on; None: it has to be synced by itself."""

    def sync_filesystem(self) -> bool:
        """Make everything durable there; False: this file is closed. Raises OSError."""

    def timestamped_size(self) -> tuple[float, int]:
        """When, and how many bytes there are."""

    def mark_durable(self, since: float, size: int) -> bool:
        """So many bytes are, as they were then. True: more has come."""


class Syncer:
    """Syncs in the background what was appended to, in one thread for all files of this process.

    The thread ends by itself when there has been nothing to sync for a while.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, in a process that was forked: it has none of the threads, and others sync its parent's files."""
        self._lock = threading.Lock()
        self._wake = threading.Event()  # somebody waits
        self._queued: deque[Syncable] = deque()  # what is to be synced in the next round, noted without a lock
        self._dirty: dict[Syncable, list[OnSynced]] = {}  # what is to be synced, and who waits for it
        self._urgent: list[Syncable] = []  # of these, those that somebody waits for
        self._batch_disabled_until = 0.0  # until when
        self._running = False

    def sync_later(self, file: "Syncable") -> None:
        """Sync this file in the next round."""
        self._queued.append(file)
        if not self._running:
            with self._lock:
                self._start_thread()

    def sync_now(self, file: "Syncable", on_synced: OnSynced) -> None:
        """Sync this file at once, and call this when it was done; if it fails, whoever appends next is told."""
        with self._lock:
            self._dirty.setdefault(file, []).append(on_synced)
            self._urgent.append(file)
            self._wake.set()
            self._start_thread()

    def sync_round(self) -> bool:
        """Sync once what there is, what somebody awaits before all else; False: nothing was to be synced."""
        with self._lock:
            while self._queued:
                file = self._queued.popleft()
                if file.has_unsynced():  # a short match may be over by now
                    self._dirty.setdefault(file, [])
            left = list(self._dirty)
        alone = self._sync_together(left) if len(left) >= MIN_FILES_TO_BATCH else left
        for file in alone:
            self._sync_urgent()
            self._sync(file)
        self._sync_urgent()
        return bool(left)

    def _sync_together(self, files: list["Syncable"]) -> list["Syncable"]:
        """Sync those of many files that are on one file system in one call, unless that was slow; the others."""
        by_place: defaultdict[int | None, list[Syncable]] = defaultdict(list)
        for file in files:
            by_place[file.filesystem_id()].append(file)
        alone = by_place.pop(None, [])
        for together in by_place.values():
            if (
                len(together) < MIN_FILES_TO_BATCH
                or time.monotonic() < self._batch_disabled_until
                or not self._sync_filesystem(together)
            ):
                alone += together
        return alone

    def _sync_filesystem(self, files: list["Syncable"]) -> bool:
        """Sync all of these in one call; False: nothing came of it."""
        begun = time.monotonic()
        with self._lock:
            waiting = {file: self._dirty.pop(file) for file in files if file in self._dirty}
        behind = [(file, *file.timestamped_size()) for file in waiting]
        try:
            done = any(file.sync_filesystem() for file in files)
        except OSError:  # each of them finds out by itself what is wrong
            done = False
        if time.monotonic() - begun > SLOW_SYNC_S:  # somebody else may have much to write there
            self._batch_disabled_until = time.monotonic() + SLOW_SYNC_BACKOFF_S
        if not done:
            with self._lock:
                for file, those in waiting.items():
                    self._dirty.setdefault(file, []).extend(those)
            return False
        self._queued.extend(file for file, since, size in behind if file.mark_durable(since, size))
        for those in waiting.values():
            for told in those:
                told()
        return True

    def _sync_urgent(self) -> None:
        """Sync what somebody awaits by now."""
        while self._urgent:
            with self._lock:
                file = self._urgent.pop(0)
            self._sync(file)

    def _sync(self, file: "Syncable") -> None:
        with self._lock:
            waiting = self._dirty.pop(file, None)
        if waiting is None:  # it was synced meanwhile
            return
        if file.sync_pending():
            self.sync_later(file)
        for told in waiting:
            told()

    def _start_thread(self) -> None:
        if not self._running:
            try:
                threading.Thread(target=self._run_rounds, name="fairplay-sync", daemon=True).start()
            except RuntimeError as error:  # there are too many threads
                raise HostFault(f"no journal can be made durable: {error}") from None
            self._running = True

    def _run_rounds(self) -> None:
        idle = 0
        while True:
            self._wake.wait(SYNC_INTERVAL_S)
            self._wake.clear()
            idle = 0 if self.sync_round() else idle + 1
            with self._lock:
                if idle > MAX_IDLE_ROUNDS and not self._dirty:
                    self._running = False
                    if not self._queued:  # looked at only now: whoever notes something looks after that whether we run
                        return
                    self._running = True


def sync_filesystem(file: int) -> None:
    """Come back when the whole file system of an open file would survive a power cut."""
    call = load_syncfs()
    assert call is not None
    call(file)


@cache
def load_syncfs() -> Callable[[int], None] | None:
    """What does that; None: this machine does not, or would not tell if it fails."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if sys.platform != "linux" or release is None or (int(release[1]), int(release[2])) < (5, 8):
        return None
    import ctypes  # where few matches are played at once, nobody needs it

    try:
        function = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None

    def call(file: int) -> None:
        if function(file):
            raise OSError(ctypes.get_errno(), "the file system cannot be synced")

    return call
