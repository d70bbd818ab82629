"""Run the command with a planted bug: it does not remember which matches of a tournament were counted."""

from typing import Any

from fairplay.cli.main import main
from fairplay.tournament.tournament_log import MatchCounted, TournamentLog

take = TournamentLog.apply


def skip_counted(self: TournamentLog, line: Any) -> None:
    """Pass over what was counted, if it is read again."""
    if self._file is not None or not isinstance(line, MatchCounted):
        take(self, line)


TournamentLog.apply = skip_counted  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
