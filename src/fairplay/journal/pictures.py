"""Draw the positions of a recorded match."""

from collections.abc import Iterator
from typing import Any

from fairplay.core.game import Seat
from fairplay.games import game_info
from fairplay.journal.replay import RecordedMatch


def picture_at(recorded: RecordedMatch, facts: int | None, seat: Seat | None = None, **look: Any) -> str:
    """The picture after so many facts (default: all) as this seat sees it (default: as spectators do)."""
    after = len(recorded.entries) if facts is None else facts
    match = recorded.match_after(after)
    before = recorded.match_after(after - 1).view(seat) if after else None
    return game_info(recorded.opening.game).svg(match.view(seat), match.names, before=before, **look)


def pictures(recorded: RecordedMatch, seat: Seat | None = None, **look: Any) -> Iterator[str]:
    """The pictures of the start and after each fact, in order."""
    svg, match, before = game_info(recorded.opening.game).svg, recorded.match_after(0), None
    yield svg(match.view(seat), match.names, **look)
    for fact in recorded.facts:
        before, match = match.view(seat), match.after(fact)
        yield svg(match.view(seat), match.names, before=before, **look)
