"""Read recorded matches, and verify them."""

import os
from pathlib import Path
from typing import Any

from fairplay.app.arguments import describe
from fairplay.core.events import Receipt
from fairplay.core.game import Game
from fairplay.hosting.match_result import MatchResult, match_result
from fairplay.journal import replay, verification
from fairplay.journal.replay import RecordedMatch, journal_errors

PathArgument = str | os.PathLike[str]


def read_journal(path: PathArgument, game: Game[Any, Any, Any] | None = None) -> RecordedMatch:
    """The match that is recorded in a file. Raises BadRequest with the file and the line if it is not whole.

    A game that cannot be made from the record, as it has rules of your own, has to be given.
    """
    file = _parse_file(path)
    with journal_errors(file):
        return replay.read_journal(file, game)


def verify(
    *paths: PathArgument, receipt: Receipt | str | None = None, game: Game[Any, Any, Any] | None = None
) -> list[MatchResult]:
    """Referee recorded matches again; their results. Raises BadRequest with the file and the line that is wrong.

    A receipt of a player or an observer, as a value or a text SEQ:HEAD, is for one match.
    """
    if not paths:
        raise TypeError("verify() takes the path of at least one journal")
    held = verification.parse_receipt(receipt) if isinstance(receipt, str) else receipt
    if held is not None and len(paths) != 1:
        raise TypeError(f"a receipt is for one match, and there are {len(paths)} paths")
    return [_verify_file(_parse_file(path), held, game) for path in paths]


def _verify_file(file: Path, receipt: Receipt | None, game: Game[Any, Any, Any] | None) -> MatchResult:
    with journal_errors(file):
        match = verification.verify(replay.read_journal(file, game), receipt)
    return match_result(match, journal=file)


def _parse_file(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be the path of a journal, not {describe(path)}")
    return Path(path)
