"""Forge what was recorded, with a chain made anew, and say how it is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay import BadJournal
from fairplay.journal.reenact import Unfinished
from fairplay.journal.replay import read
from fairplay.journal.verify import read_lawful, verify
from tests.journal.journals import Plain, plain, renumbered, sealed

Forgery = Callable[[list[Plain]], list[Plain]]


def forge(path: Path, forgery: Forgery) -> None:
    path.write_bytes(sealed(renumbered(forgery(plain(path)))))


def refused(path: Path, forgery: Forgery) -> tuple[int, str]:
    """The line and the reason for which a forgery is refused, by all that looks at journals."""
    forge(path, forgery)
    with pytest.raises(BadJournal) as caught:
        verify(read(path))
    assert not isinstance(caught.value, Unfinished)
    with pytest.raises(BadJournal, match=r"^line [0-9]+: .+$"):
        read_lawful(path)
    return caught.value.line, caught.value.why


def opening(**changes: Any) -> Forgery:
    return lambda lines: [{**lines[0], **changes}, *lines[1:]]


def players(names: str) -> Forgery:
    """That others have played, more of them perhaps, with a letter each for a name."""
    return lambda lines: [*({**one, "names": list(names)} for one in lines[:2]), *lines[2:]]


def line(number: int, **changes: Any) -> Forgery:
    return lambda lines: [*lines[: number - 1], {**lines[number - 1], **changes}, *lines[number:]]


def acted(seat: int, **action: Any) -> Plain:
    return {"type": "acted", "seat": seat, "action": action}


def ejected(seat: int, fault: str, moment: str) -> Plain:
    return {"type": "ejected", "seat": seat, "fault": fault, "moment": moment, "why": "because"}
