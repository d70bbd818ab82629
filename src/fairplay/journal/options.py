"""Define the options and errors of journals, for callers that need not load the rest."""

import re
from enum import Enum

from fairplay.core.errors import BadRequest

MATCH_ID = r"[A-Za-z0-9_-]{1,64}"


class Durability(Enum):
    """When a line is safe from a power cut. It always survives the end of this process."""

    ALWAYS = "always"  # before it is announced
    BATCH = "batch"  # soon after, in the background; the end of a match before it is announced
    OFF = "off"  # no guarantee: the operating system decides


ALWAYS, BATCH, OFF = Durability  # attribute access on an enum takes as long as two calls


class InUse(BadRequest):
    """A file that another process writes to."""


class Finished(BadRequest):
    """A match that has ended and cannot be resumed."""


class WithoutMac(BadRequest):
    """A journal without a MAC of our key, so its author is unknown."""


def check_match_id(text: str) -> None:
    """Raise BadRequest unless a match may have this id: it becomes the name of a file."""
    if re.fullmatch(MATCH_ID, text) is None:
        raise BadRequest(f"{text!r} is not a match id: use 1 to 64 letters, digits, - and _")
