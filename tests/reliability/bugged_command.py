"""Run the command with a planted bug, which is the first argument."""

import sys
from typing import Any
from unittest.mock import patch

from fairplay.cli.main import main
from fairplay.journal.append_file import AppendFile
from fairplay.tournament.tournament_log import MatchCounted, TournamentLog
from tests.reliability.readings import Plant

BUFFERED_LINES = 4  # lines
waiting: list[bytes] = []
append, apply = AppendFile.append, TournamentLog.apply


def append_late(file: AppendFile, text: bytes) -> bool:
    """Wait until there are enough lines, or the match is over."""
    waiting.append(text)
    if len(waiting) <= BUFFERED_LINES and not text.startswith(b'{"type":"result"'):
        return False
    kept_back = b"".join(waiting)
    waiting.clear()
    return append(file, kept_back)


def skip_counted(log: TournamentLog, line: Any) -> None:
    """Pass over what was counted, if it is read again."""
    if log._file is not None or not isinstance(line, MatchCounted):
        apply(log, line)


BUGS: dict[str, Plant] = {
    "keeps a few lines back": lambda: patch.object(AppendFile, "append", append_late),
    "forgets what was counted": lambda: patch.object(TournamentLog, "apply", skip_counted),
}

if __name__ == "__main__":
    with BUGS[sys.argv.pop(1)]():
        main()
