"""Follow a match by the lines that its hub sends: events, and what spectators see after each."""

from collections.abc import Mapping
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Receipt, Result, Started
from fairplay.core.game import Game, Seat
from fairplay.games import rules_of
from fairplay.server.spectating.patches import apply_patch_line

IDLE_LINE = b'{"type":"idle"}'  # for roaming spectators, while no match is played


class SpectatedMatch(msgspec.Struct, frozen=True):
    """A match as spectators know it."""

    id: str
    game: Game[Any, Any, Any]
    names: tuple[str, ...]
    turn: Seat | None
    number: int  # of the last event
    at: float  # when it happened, in seconds since 1970
    spectator_view: Any

    def view(self, seat: Seat | None) -> Any:
        """The view of spectators, for any seat."""
        return self.spectator_view


class Snapshot(msgspec.Struct, frozen=True):
    """The fields of a snapshot that a follower reads; docs/rooms.md has all of them."""

    match: str
    game: str
    parameters: dict[str, Any]
    names: tuple[str, ...]
    seq: int
    at: float
    event: dict[str, Any]
    turn: Seat | None
    view: Any
    commitment: str | None = None


class Follower:
    """Reads events from lines. A line that is not from a hub, or comes out of order, raises BadRequest."""

    def __init__(self) -> None:
        self._snapshot: dict[str, Any] | None = None

    def read_line(self, line: bytes) -> tuple[Event, SpectatedMatch] | None:
        """The event on a line, and the match after it; None: it is known already, or no match is played."""
        if line == IDLE_LINE:
            return None
        try:
            plain: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            before, self._snapshot = self._snapshot, self._apply(plain)
            known = msgspec.convert(self._snapshot, Snapshot)
            if before is not None and before["seq"] == known.seq:
                return None
            game = rules_of(known.game).with_public_parameters(known.parameters)
            view = game.unpack(known.view)
            event = read_event(known.event, game, known.names, known.commitment)
            check_seats(event, len(known.names))
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadRequest(f"not a line of a room: {type(error).__name__}") from None
        return event, SpectatedMatch(known.match, game, known.names, known.turn, known.seq, known.at, view)

    def _apply(self, plain: dict[str, Any]) -> dict[str, Any]:
        if plain["type"] == "snapshot":
            return plain
        if plain["type"] != "patch" or self._snapshot is None:
            raise BadRequest("not a line of a room: neither a snapshot nor a patch after one")
        return apply_patch_line(self._snapshot, plain)


def read_event(
    fields: Mapping[str, Any], game: Game[Any, Any, Any], names: tuple[str, ...], commitment: str | None = None
) -> Event:
    """Read an event from its fields."""
    match fields["type"]:
        case "started":
            return Started(names, commitment)
        case "acted":
            return Acted(msgspec.convert(fields["seat"], Seat), msgspec.convert(fields["action"], game.action))
        case "ejected":
            return read_ejection(fields)
    seats = {name: seat for seat, name in enumerate(names)}
    return Ended(
        Result(
            ranking=tuple(frozenset(seats[name] for name in group) for group in fields["ranking"]),
            ejected=tuple(read_ejection(one) for one in fields["ejected"]),
            scores=msgspec.convert(fields["scores"], tuple[int, ...] | None),
            seed=msgspec.convert(fields["seed"], str | None),
            receipt=msgspec.convert(fields["receipt"], Receipt | None),
        )
    )


def check_seats(event: Event, seats: int) -> None:
    """Raise ValueError if an event names a missing seat, or has not one score for each seat."""
    facts: tuple[Event, ...] = (event,)
    if isinstance(event, Ended):
        facts = event.result.ejected
        if event.result.scores is not None and len(event.result.scores) != seats:
            raise ValueError("not one score for each seat")
    if any(isinstance(fact, Fact) and fact.seat not in range(seats) for fact in facts):
        raise ValueError("no such seat")


def read_ejection(fields: Mapping[str, Any]) -> Ejected:
    """Read an ejection from its fields."""
    return msgspec.convert({**fields, "clause": fields["clause"] or "", "type": "ejected"}, Ejected)
