"""Write events as JSON lines, for other programs."""

from collections.abc import Callable
from typing import Any

from fairplay.core.events import Acted, Ejected, Ended, Event, Started
from fairplay.core.match import Match
from fairplay.render.formatting import format_json


class EventFeed:
    """An observer that writes one JSON object per event; docs/events.md lists their fields."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self.has_result = False

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        self._write(format_json(event_fields(event, match)) + "\n")
        self.has_result = isinstance(event, Ended)


def event_fields(event: Event, match: Match[Any, Any, Any]) -> dict[str, Any]:
    """The fields of an event as JSON; they hold public information only."""
    names = match.names
    match event:
        case Started():
            return {
                "type": "started",
                "match": match.id,
                "game": match.game.name,
                "parameters": match.game.public_parameters(),
                "names": names,
                "commitment": event.commitment,
                "view": match.game.pack(match.view(None)),
            }
        case Acted(seat, action):
            return {"type": "acted", "name": names[seat], "seat": seat, "action": action}
        case Ejected():
            return {"type": "ejected", **ejection_fields(event, names)}
        case Ended(result):
            return {
                "type": "ended",
                "ranking": [[names[seat] for seat in sorted(group)] for group in result.ranking],
                "ejected": [ejection_fields(ejected, names) for ejected in result.ejected],
                "scores": result.scores,
                "seed": result.seed,
                "receipt": result.receipt,
            }


def ejection_fields(ejected: Ejected, names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of an ejection."""
    return {
        "name": names[ejected.seat],
        "seat": ejected.seat,
        "fault": ejected.fault.value,
        "moment": ejected.moment.value,
        "clause": ejected.clause or None,
        "why": ejected.why,
    }
