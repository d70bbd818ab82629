"""Test with a real thread that a journal is synced while a player thinks, and not at its question or answer."""

import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fairplay.games.fish import Action, Fish, View
from fairplay.journal.append_file import Disk
from fairplay.journal.record import Journal
from fairplay.journal.syncer import Syncer
from fairplay.referee.referee import Referee

GAME = Fish(rows=3, columns=3, fish=1)


class Telling(Disk):
    """A disk that tells what was synced, and by whom."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.written = self.synced = 0
        self.threads: set[str] = set()

    def write(self, file: int, text: bytes) -> int:
        self.written += len(text)
        return super().write(file, text)

    def sync(self, file: int) -> None:
        size = self.written
        super().sync(file)
        with self.changed:
            self.synced = size
            self.threads.add(threading.current_thread().name)
            self.changed.notify_all()


class Patient:
    """A player that thinks until all that was written is synced."""

    def __init__(self, disk: Telling, deadline: float) -> None:
        self.waited: list[bool] = []
        self._disk = disk
        self._deadline = deadline

    def take_turn(self, view: View) -> Action:
        written = self._disk.written
        with self._disk.changed:
            self.waited.append(self._disk.changed.wait_for(lambda: self._disk.synced >= written, self._deadline))
        if not self.waited[-1]:
            raise TimeoutError("the journal was not synced")
        return next(GAME.actions(view))


def played(directory: Path, deadline: float) -> tuple[Telling, Patient, Any]:
    disk = Telling()
    player = Patient(disk, deadline)
    match = Referee().run(GAME, [player, player], seed=bytes(32), record=Journal(directory, disk=disk).begin)
    return disk, player, match


def test_a_journal_is_synced_while_a_player_thinks(tmp_path: Path) -> None:
    disk, player, match = played(tmp_path, deadline=10)

    assert all(player.waited)
    assert "fairplay-sync" in disk.threads
    assert match.result.ejected == ()


def test_a_player_waits_in_vain_if_nothing_is_synced_in_the_background(tmp_path: Path) -> None:
    with patch.object(Syncer, "sync_round", lambda _: True):
        disk, player, match = played(tmp_path, deadline=0.05)

    assert not player.waited[0]
    assert match.result.ejected
    assert "fairplay-sync" not in disk.threads
