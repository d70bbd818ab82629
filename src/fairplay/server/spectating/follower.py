"""Follow a match by the lines that its hub says, as spectators elsewhere do: events, and what they see after each."""

from collections.abc import Mapping
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Receipt, Result, Started
from fairplay.core.game import Game, Seat
from fairplay.games import rules_of
from fairplay.server.spectating.patches import apply_patch_line

IDLE_LINE = b'{"type":"idle"}'  # what strollers hear while nothing is played


class SpectatedMatch(msgspec.Struct, frozen=True):
    """A match as far as spectators know it."""

    id: str
    game: Game[Any, Any, Any]
    names: tuple[str, ...]
    turn: Seat | None
    number: int  # of the last event
    at: float  # when it happened, in seconds since 1970
    spectator_view: Any  # what spectators see

    def view(self, seat: Seat | None) -> Any:
        """What spectators see, whoever asks."""
        return self.spectator_view


class Snapshot(msgspec.Struct, frozen=True):
    """What has to be in a snapshot; docs/rooms.md has all of it."""

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
    """Makes events of lines. Whatever is no line of a hub, or follows upon none, raises BadRequest."""

    def __init__(self) -> None:
        self._snapshot: dict[str, Any] | None = None

    def read_line(self, line: bytes) -> tuple[Event, SpectatedMatch] | None:
        """The event on a line, and the match after it; None: it was told before, or nothing is played."""
        if line == IDLE_LINE:
            return None
        try:
            plain: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            before, self._snapshot = self._snapshot, self._apply(plain)
            known = msgspec.convert(self._snapshot, Snapshot)
            if before is not None and before["seq"] == known.seq:
                return None
            game = rules_of(known.game).with_public_parameters(known.parameters)
            seen = game.unpack(known.view)
            event = read_event(known.event, game, known.names, known.commitment)
            check_seats(event, len(known.names))
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise BadRequest(f"no line of a room: {type(error).__name__}") from None
        return event, SpectatedMatch(known.match, game, known.names, known.turn, known.seq, known.at, seen)

    def _apply(self, plain: dict[str, Any]) -> dict[str, Any]:
        if plain["type"] == "snapshot":
            return plain
        if plain["type"] != "patch" or self._snapshot is None:
            raise BadRequest("no line of a room: neither a snapshot nor a patch after one")
        return apply_patch_line(self._snapshot, plain)


def read_event(
    told: Mapping[str, Any], game: Game[Any, Any, Any], names: tuple[str, ...], commitment: str | None = None
) -> Event:
    """An event as it was before it was told."""
    match told["type"]:
        case "started":
            return Started(names, commitment)
        case "acted":
            return Acted(msgspec.convert(told["seat"], Seat), msgspec.convert(told["action"], game.action))
        case "ejected":
            return read_ejection(told)
    seats = {name: seat for seat, name in enumerate(names)}
    return Ended(
        Result(
            ranking=tuple(frozenset(seats[name] for name in group) for group in told["ranking"]),
            ejected=tuple(read_ejection(one) for one in told["ejected"]),
            scores=msgspec.convert(told["scores"], tuple[int, ...] | None),
            seed=msgspec.convert(told["seed"], str | None),
            receipt=msgspec.convert(told["receipt"], Receipt | None),
        )
    )


def check_seats(event: Event, seats: int) -> None:
    """Raise ValueError if an event is about somebody who does not sit there, or leaves out the scores of some."""
    facts: tuple[Event, ...] = (event,)
    if isinstance(event, Ended):
        facts = event.result.ejected
        if event.result.scores is not None and len(event.result.scores) != seats:
            raise ValueError("there is a score for each seat")
    if any(isinstance(fact, Fact) and fact.seat not in range(seats) for fact in facts):
        raise ValueError("there is no such seat")


def read_ejection(told: Mapping[str, Any]) -> Ejected:
    """An ejection as it was before it was told."""
    return msgspec.convert({**told, "clause": told["clause"] or "", "type": "ejected"}, Ejected)
