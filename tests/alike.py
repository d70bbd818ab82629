"""Hold matches against one another that were played apart, and so have ids of their own."""

from typing import Any

from msgspec.structs import replace

from fairplay.core.match import Match


def without_id(match: Match[Any, Any, Any]) -> Match[Any, Any, Any]:
    """The match, whichever playing of it this was."""
    return replace(match, id="")
