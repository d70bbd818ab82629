"""Let players hear of every change that spectators see, if they want to; nobody waits for them."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeGuard

from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Seat
from fairplay.referee.conversation import AnyMatch, OnEvent


class Change:
    """A match after a fact, as spectators see it: worked out once, and written once, for all who hear of it."""

    def __init__(self, match: AnyMatch) -> None:
        self.match = match
        self._line = b""

    @cached_property
    def view(self) -> Any:
        """What spectators see."""
        return self.match.view(None)

    def encode_once(self, write: "Callable[[Change], bytes]") -> bytes:
        """The line in which it travels; all who ask for one have it written in the same way."""
        if not self._line:
            self._line = write(self)
        return self._line


class ChangeListener(Protocol):
    """A channel whose player may want to hear of changes."""

    on_change: Callable[[Change], None] | None  # takes a change at once, and raises nothing; None: it does not want to


def is_change_listener(channel: object) -> TypeGuard[ChangeListener]:
    """May its player want to hear of changes?"""
    return hasattr(channel, "on_change")


def add_change_listeners(channels: Mapping[Seat, object], inform: OnEvent) -> OnEvent:
    """What informs those who watch, and then those players who want to hear of changes and are still in the game.

    Where nobody wants to, nothing is added to what was there before.
    """
    listeners = {
        seat: channel.on_change
        for seat, channel in channels.items()
        if is_change_listener(channel) and channel.on_change is not None
    }
    if not listeners:
        return inform

    def tell(event: Event, match: AnyMatch) -> None:
        inform(event, match)
        if isinstance(event, Acted | Ejected):
            still_in = match.game.order(match.state)
            for seat in [seat for seat in listeners if seat not in still_in]:
                del listeners[seat]
            change = Change(match)
            for changed in listeners.values():
                changed(change)

    return tell
