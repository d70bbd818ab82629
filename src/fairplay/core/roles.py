"""Define the interfaces for players, strategies, observers, channels and records."""

import re
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import msgspec

from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Ejected, Event, Receipt
from fairplay.core.game import Seat
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Message

V = TypeVar("V")
A = TypeVar("A")

Strategy = Callable[[V], A]  # a player without memory: from a view to an action
AnyStrategy = Strategy[Any, Any]
CloseReason = Ejected | Receipt | None  # an ejection, a receipt for the result, or nothing to say
Cheat = Callable[[Any], Any]  # from a view to an illegal action or None; its docstring begins with the clause


class BuiltInPlayer(msgspec.Struct, frozen=True):
    """A strategy that comes with a game and has a name.

    `make` takes the parameter behind the name ("" if there is none; BadRequest if it is invalid) and 32 secret bytes of
    the seat. The strategy is a pure function of both and the view, so that a resumed match continues as it would have.
    """

    description: str  # one line
    make: Callable[[str, bytes], Strategy[Any, Any]]
    is_slow: bool = False  # is it slow without kernels? How slow depends on its parameter


class Rated(msgspec.Struct, frozen=True):
    """The strength of a built-in player among those of its game, in Elo: 100 points more score 64 %."""

    rating: int
    low: int | None  # the 95 % confidence interval; None: no lower bound
    high: int | None
    matches: int


def built_in_player(name: str, description: str, choose: Callable[[bytes], Strategy[Any, Any]]) -> BuiltInPlayer:
    """A built-in player without a parameter."""

    def make(parameter: str, key: bytes) -> Strategy[Any, Any]:
        if parameter:
            raise BadRequest(f"{name} takes no parameter, not even {parameter!r}")
        return choose(key)

    return BuiltInPlayer(description, make)


def built_in_player_with_number(
    name: str,
    description: str,
    does: str,
    numbers: range,
    default: int,
    choose: Callable[[int, bytes], Strategy[Any, Any]],
    *,
    is_slow: bool = False,
) -> BuiltInPlayer:
    """A built-in player whose parameter is a number; `does`, as in "tries {} tiles", is part of its error message."""

    def make(parameter: str, key: bytes) -> Strategy[Any, Any]:
        if parameter and not (re.fullmatch("[1-9][0-9]{0,8}", parameter) and int(parameter) in numbers):
            what = does.format(f"{numbers[0]} to {numbers[-1]}")
            raise BadRequest(f"{name} {what}, as in {name}:{default}; not {parameter!r}")
        return choose(int(parameter or default), key)

    return BuiltInPlayer(f"{description}; {name}:N (default: {default})", make, is_slow)


class Player(Protocol):
    """A player. An exception or a wrong answer harms only the player itself.

    It may have more methods, which return nothing: start(seat, names, view) when the match begins; tell(news) for news;
    changed(view) after every fact, with the view of spectators (a slow or frozen player gets only the newest);
    end(result) when the match is over. The last call is closing(receipt) once the result is recorded, if there is a
    record, or ejected(fault, why) after an ejection.
    """

    def take_turn(self, view: Any) -> Any:
        """Answer with an action."""


class Observer(Protocol):
    """An observer of matches. It sees the whole match, hidden information included, and is dropped if it raises."""

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Receive an event and the match after it."""


class Channel(Protocol):
    """The way to one player. It never raises: a failure of the player is a `Failed`.

    A channel to a player that wants to hear of every change is a `referee.changes.ChangeListener` too.
    """

    def ask(self, message: Message) -> Answer:
        """Send a message and wait for the answer."""

    def close(self, reason: CloseReason) -> None:
        """Send the last message within a time limit and close the connection; the driver calls this once."""


class AsyncChannel(Protocol):
    """The async version of Channel. It may also be a `CallbackChannel` or a `PersistentChannel`."""

    async def ask(self, message: Message) -> Answer:
        """Send a message and wait for the answer."""

    async def close(self, reason: CloseReason) -> float | None:
        """Send the last message within a time limit and close the connection; the driver calls this once.

        After a timeout, returns by how many seconds the answer was late, if it came at all.
        """


class CallbackChannel(AsyncChannel, Protocol):
    """A channel that can call back with the answer, which is faster than waking a task."""

    def ask_with_callback(self, message: Message, then: Callable[[Answer | HostFault], None]) -> bool:
        """Send a message; `then` is called with the answer or a fault of the host. False: use `ask` instead."""

    def stop_waiting(self) -> None:
        """Drop the callback: the answer is not wanted any more."""


class PersistentChannel(AsyncChannel, Protocol):
    """A channel whose connection stays open after the match, so that closing may need no waiting."""

    def try_close(self, reason: CloseReason) -> bool:
        """Send the last message at once, without raising. False: use `close` instead."""


class Record(Protocol):
    """The record of one match, written before anything is announced. An exception stops the match as a host fault."""

    def clock(self) -> float:
        """The time in seconds, to measure players with."""

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Write an event, with the message and answer that led to it. True: make it durable before it is announced."""

    def write_late_answer(self, seat: Seat, overrun: float) -> None:
        """Write by how many seconds the answer of an ejected player was late; it changes nothing."""

    def make_durable(self) -> None:
        """Return when everything written would survive a power cut, if the record was asked to be durable."""

    async def make_durable_async(self) -> None:
        """The async version of make_durable: the event loop does not wait for the disk."""

    def receipt(self) -> Receipt | None:
        """The receipt for the lines so far; None: this record has no receipts."""

    def close(self) -> None:
        """Close the record; a match without a result stays unfinished."""


class NullRecord:
    """A record that keeps nothing and whose clock stands still."""

    def clock(self) -> float:
        return 0.0

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        return False

    def write_late_answer(self, seat: Seat, overrun: float) -> None:
        pass

    def make_durable(self) -> None:
        pass

    async def make_durable_async(self) -> None:
        pass

    def receipt(self) -> None:
        return None

    def close(self) -> None:
        pass


NULL_RECORD = NullRecord()
