"""Make ready what one program is started in: the words that start it, what it inherits, and who stops it."""

import os
from collections.abc import Sequence

from fairplay.players.freezing import Freezer, Kept, Unstopped, keeper
from fairplay.players.sandbox import Level, Sandbox, wrap


class Cell:
    """What one program is started in. Whoever makes one has to close it; once it has started, `leave` it."""

    def __init__(self, command: Sequence[str], sandbox: Sandbox) -> None:
        self.freezer: Freezer = Unstopped()
        self.inherited: list[int] = []  # descriptors
        self.enforced: list[str] = []
        kept: list[str] = []
        if sandbox.level is Level.STRICT:
            self.enforced += ["namespaces", "limits"]
            if not sandbox.pondering:
                self.freezer = stopped = Kept()
                self.inherited.append(stopped.end.detach())
                self.enforced.append("freezing")
                kept = keeper(self.inherited[-1])
        try:
            self.words = wrap(command, sandbox, kept)
        except BaseException:
            self.close()
            raise

    def leave(self) -> None:
        """Close here what the program has inherited."""
        for number in self.inherited:
            os.close(number)
        self.inherited.clear()

    def close(self) -> None:
        """Let go of all of it."""
        self.leave()
        self.freezer.close()
