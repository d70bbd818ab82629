"""Find interrupted matches in a directory of journals."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from fairplay.core.errors import BadRequest, HostFault
from fairplay.journal.files import MAX_JOURNAL_BYTES, open_journal_file
from fairplay.journal.lines import Opening

END_BYTES = 16 * 1024  # hold the whole first or last line of nearly all journals
decode_opening = msgspec.json.Decoder(Opening).decode


def find_unfinished(directory: Path | str, wanted: Callable[[Opening], bool]) -> list[Path]:
    """The files of unfinished matches with a wanted opening, the oldest first; only their ends are read."""
    found = []
    try:
        with os.scandir(directory) as files:
            paths = [Path(file.path) for file in files if file.name.endswith(".jsonl")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HostFault(f"cannot read the journals in {directory}: {error.strerror}") from error
    for path in paths:
        opening = opening_of_unfinished(path)
        if opening is not None and wanted(opening):
            found.append((opening.at, path))
    return [path for _, path in sorted(found)]


def has_begun(path: Path) -> bool:
    """Is there a journal with a whole first line? Without one the match was never announced."""
    try:
        with open_journal_file(path) as file:
            return file.readline(MAX_JOURNAL_BYTES).endswith(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:  # ValueError: no file can have this name
        raise BadRequest(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None


def opening_of_unfinished(path: Path) -> Opening | None:
    """The opening of a match without a result; None if the file holds anything else."""
    try:
        with open_journal_file(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - END_BYTES))
            whole = file.read().rpartition(b"\n")[0]  # without a torn last line
            if whole.rpartition(b"\n")[2].startswith(b'{"type":"result"'):
                return None
            file.seek(0)
            first = file.readline()
            return decode_opening(first) if first.endswith(b"\n") else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
