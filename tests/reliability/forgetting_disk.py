"""Simulate a disk on which only synced data survives a power cut."""

import os
from pathlib import Path

from fairplay.journal.append_file import AppendFile
from fairplay.journal.syncer import Syncer
from tests.reliability.process_attempts import DroppableDisk


class ManualSyncer(Syncer):
    """A syncer without a thread: its rounds are made when the test wants them."""

    def _start_thread(self) -> None:
        pass


class ForgettingDisk(DroppableDisk):
    """A disk that knows what would be left of its files: their contents when they were last synced.

    A file whose name was not synced with its directory would not be there at all. Nothing is synced in the background
    but when a test makes a round of its syncer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.syncer = ManualSyncer()
        self.durable: dict[str, bytes] = {}  # by path: what was synced of each file
        self.named: set[str] = set()  # the files that a directory durably holds

    def create(self, path: str) -> int:
        file = super().create(path)
        self.durable[path] = b""
        return file

    def sync(self, file: int) -> None:
        self.durable[self.files[file]] = self.content(file)

    def sync_later(self, file: AppendFile) -> None:
        self.syncer.sync_later(file)

    def drop(self) -> None:
        super().drop()
        self.syncer.reset()

    def sync_directory(self, path: str) -> None:
        self.named |= {known for known in self.durable if Path(known).parent == Path(path)}

    def content(self, file: int) -> bytes:
        """All that is in an open file, durable or not."""
        return os.pread(file, os.fstat(file).st_size, 0)

    def durable_files(self) -> dict[str, bytes]:
        """What a power cut would leave, by path."""
        return {path: text for path, text in self.durable.items() if path in self.named}

    def cut_power(self) -> None:
        """Let only that be there."""
        self.drop()
        surviving = self.durable_files()
        for path in self.durable:
            Path(path).unlink(missing_ok=True)
        for path, text in surviving.items():
            Path(path).write_bytes(text)
        self.durable = surviving
