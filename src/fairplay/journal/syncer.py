"""Sync files in the background, with one thread for all files and one call for many of them."""

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

SYNC_INTERVAL_S = 0.02  # between two rounds of syncing in the background
MAX_IDLE_ROUNDS = 25  # rounds without work, after which the background thread ends
MIN_FILES_TO_BATCH = 8  # from here on one call for the whole file system is faster
SLOW_SYNC_S, SLOW_SYNC_BACKOFF_S = 0.05, 5.0  # after such a slow call none is made for a while
OnSynced = Callable[[], None]  # is called by the background thread, and raises nothing


class Syncable(Protocol):
    """A file to sync, which another thread appends to."""

    def has_unsynced(self) -> bool:
        """Is there anything to sync?"""

    def sync_pending(self) -> bool:
        """Make everything durable that was appended so far. True: more was appended meanwhile."""

    def filesystem_id(self) -> int | None:
        """The id of the file system that holds the file; None: the file has to be synced by itself."""

    def sync_filesystem(self) -> bool:
        """Sync the file system that holds the file. False: this file is closed. Raises OSError."""

    def timestamped_size(self) -> tuple[float, int]:
        """The time now, and the size."""

    def mark_durable(self, since: float, size: int) -> bool:
        """Note that so many bytes, the size at that time, are durable. True: more was appended meanwhile."""


class Syncer:
    """Syncs all files of this process in one background thread, which ends after a while without work."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start afresh in a forked child: it has no threads, and its parent syncs the parent's files."""
        self._lock = threading.Lock()
        self._wake = threading.Event()  # set when a caller waits
        self._queued: deque[Syncable] = deque()  # files for the next round, added without a lock
        self._dirty: dict[Syncable, list[OnSynced]] = {}  # files to sync, and the callbacks that wait for each
        self._urgent: list[Syncable] = []  # those of them that a caller waits for
        self._batch_disabled_until = 0.0
        self._running = False

    def sync_later(self, file: "Syncable") -> None:
        """Sync this file in the next round."""
        self._queued.append(file)
        if not self._running:
            with self._lock:
                self._start_thread()

    def sync_now(self, file: "Syncable", on_synced: OnSynced) -> None:
        """Sync this file at once, then call `on_synced`; if it fails, the next append raises the error."""
        with self._lock:
            self._dirty.setdefault(file, []).append(on_synced)
            self._urgent.append(file)
            self._wake.set()
            self._start_thread()

    def sync_round(self) -> bool:
        """Sync all waiting files, the urgent ones first. False: there were none."""
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
        """Sync many files of one file system in one call, unless that was slow; return the remaining files."""
        by_filesystem: defaultdict[int | None, list[Syncable]] = defaultdict(list)
        for file in files:
            by_filesystem[file.filesystem_id()].append(file)
        alone = by_filesystem.pop(None, [])
        for together in by_filesystem.values():
            if (
                len(together) < MIN_FILES_TO_BATCH
                or time.monotonic() < self._batch_disabled_until
                or not self._sync_filesystem(together)
            ):
                alone += together
        return alone

    def _sync_filesystem(self, files: list["Syncable"]) -> bool:
        """Sync all of these files in one call. False: it failed."""
        begun = time.monotonic()
        with self._lock:
            waiting = {file: self._dirty.pop(file) for file in files if file in self._dirty}
        behind = [(file, *file.timestamped_size()) for file in waiting]
        try:
            done = any(file.sync_filesystem() for file in files)
        except OSError:  # each file will report its own error
            done = False
        if time.monotonic() - begun > SLOW_SYNC_S:  # other processes may have much to write there
            self._batch_disabled_until = time.monotonic() + SLOW_SYNC_BACKOFF_S
        if not done:
            with self._lock:
                for file, callbacks in waiting.items():
                    self._dirty.setdefault(file, []).extend(callbacks)
            return False
        self._queued.extend(file for file, since, size in behind if file.mark_durable(since, size))
        for callbacks in waiting.values():
            for on_synced in callbacks:
                on_synced()
        return True

    def _sync_urgent(self) -> None:
        """Sync the files that callers wait for by now."""
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
        for on_synced in waiting:
            on_synced()

    def _start_thread(self) -> None:
        if not self._running:
            try:
                threading.Thread(target=self._run_rounds, name="fairplay-sync", daemon=True).start()
            except RuntimeError as error:  # there are too many threads
                raise HostFault(f"cannot sync journals in the background: {error}") from None
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
                    if not self._queued:  # looked at only now: `sync_later` adds first, then looks whether we run
                        return
                    self._running = True


def sync_filesystem(file: int) -> None:
    """Return when the whole file system of an open file would survive a power cut."""
    call = load_syncfs()
    assert call is not None
    call(file)


@cache
def load_syncfs() -> Callable[[int], None] | None:
    """The system call `syncfs`; None: there is none here, or it does not report errors."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    if sys.platform != "linux" or release is None or (int(release[1]), int(release[2])) < (5, 8):
        return None
    import ctypes  # not needed where few matches are played at once

    try:
        function = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return None

    def call(file: int) -> None:
        if function(file):
            raise OSError(ctypes.get_errno(), "the file system cannot be synced")

    return call
