"""Compare matches that have different ids."""

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from fairplay.core.match import Match

FIXED_ID = "0123456789abcdef"


def without_id(match: Match[Any, Any, Any]) -> Match[Any, Any, Any]:
    """The match, whichever playing of it this was."""
    return replace(match, id="")


def fixed_match_id() -> AbstractContextManager[object]:
    """As long as this lasts, every match is given the same id, and so has the same commitment for the same seed."""
    return patch("fairplay.referee.referee.new_match_id", lambda: FIXED_ID)
