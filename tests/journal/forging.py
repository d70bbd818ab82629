"""Forge recorded matches with a valid chain of hashes, and return the error that every reader of journals raises."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal
from fairplay.journal.reenactment import Unfinished
from fairplay.journal.replay import read_journal
from fairplay.journal.verification import read_legal, verify
from tests.journal.journals import Plain, read_lines, renumber_lines, seal_lines

Forgery = Callable[[list[Plain]], list[Plain]]


def forge_journal(path: Path, forgery: Forgery) -> None:
    path.write_bytes(seal_lines(renumber_lines(forgery(read_lines(path)))))


def refusal_of_forgery(path: Path, forgery: Forgery) -> tuple[int, str]:
    """The line and the reason for which a forgery is refused, by all that looks at journals."""
    forge_journal(path, forgery)
    with pytest.raises(BadJournal) as caught:
        verify(read_journal(path))
    assert not isinstance(caught.value, Unfinished)
    with pytest.raises(BadJournal, match=r"^line [0-9]+: .+$"):
        read_legal(path)
    return caught.value.line, caught.value.why


def rewrite_opening(**changes: Any) -> Forgery:
    return lambda lines: [{**lines[0], **changes}, *lines[1:]]


def rename_players(names: str) -> Forgery:
    return lambda lines: [*({**one, "names": list(names)} for one in lines[:2]), *lines[2:]]


def edit_line(number: int, **changes: Any) -> Forgery:
    """Change fields of a line; the number -1 is the last line."""

    def edit(lines: list[Plain]) -> list[Plain]:
        edited, index = [*lines], number - (number > 0)
        edited[index] = {**lines[index], **changes}
        return edited

    return edit


def acted_line(seat: int, **action: Any) -> Plain:
    return {"type": "acted", "seat": seat, "action": action}


def ejected_line(seat: int, fault: str, moment: str) -> Plain:
    return {"type": "ejected", "seat": seat, "fault": fault, "moment": moment, "why": "because"}
