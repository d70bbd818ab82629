"""List what can be asked of a journal, and why it may be refused: who records nothing need not load the rest."""

import re
from enum import Enum

from fairplay.core.errors import BadRequest

MATCH_ID = r"[A-Za-z0-9_-]{1,64}"


class Durability(Enum):
    """When a line is safe from a power cut. From the end of this process it is safe at once, whatever is chosen."""

    ALWAYS = "always"  # before anybody is told of it
    BATCH = "batch"  # soon after, in the background; the end of a match before anybody is told of it
    OFF = "off"  # whenever the operating system likes


ALWAYS, BATCH, OFF = Durability  # looked up as `Sync.OFF` each takes as long as two calls


class InUse(BadRequest):
    """A file that another process writes to."""


class Finished(BadRequest):
    """A match that has ended, so that nobody can go on with it."""


class WithoutMac(BadRequest):
    """A journal that does not bear our mark, so that nobody knows who wrote what it says."""


def check_match_id(text: str) -> None:
    """Raise BadRequest unless a match may have this id: it becomes the name of a file."""
    if re.fullmatch(MATCH_ID, text) is None:
        raise BadRequest(f"{text!r} is no id of a match: it has 1 to 64 letters, digits, - and _")
