"""Tell players of every change that spectators see, if they want that, without waiting for them."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol, TypeGuard

from fairplay.core.events import Acted, Ejected, Event
from fairplay.core.game import Seat
from fairplay.referee.conversation import AnyMatch, OnEvent


class Change:
    """The view of spectators after a fact, computed once and encoded once for all listeners."""

    def __init__(self, match: AnyMatch) -> None:
        self.match = match
        self._line = b""

    @cached_property
    def view(self) -> Any:
        """The view of spectators."""
        return self.match.view(None)

    def encode_once(self, write: "Callable[[Change], bytes]") -> bytes:
        """The change as a line; all listeners use the same `write`."""
        if not self._line:
            self._line = write(self)
        return self._line


class ChangeListener(Protocol):
    """A channel that may pass on changes to its player."""

    on_change: Callable[[Change], None] | None  # takes a change at once and never raises; None: not wanted


def is_change_listener(channel: object) -> TypeGuard[ChangeListener]:
    """Can this channel pass on changes?"""
    return hasattr(channel, "on_change")


def add_change_listeners(channels: Mapping[Seat, object], inform: OnEvent) -> OnEvent:
    """Add the players that want to hear of changes, and are still in the game, behind other observers of events.

    Without such players this returns `inform` unchanged.
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
