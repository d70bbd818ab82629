"""Say what others write: players, strategies, observers, channels and records."""

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
CloseReason = Ejected | Receipt | None  # what is said last: why one is out, a receipt for the result, or nothing
Cheat = Callable[[Any], Any]  # from a view to an illegal action, whose docstring begins with the clause; None: not now


class BuiltInPlayer(msgspec.Struct, frozen=True):
    """A strategy that comes with a game, known by its name.

    `make` is given the parameter behind the name ("" if there is none; BadRequest if it makes no sense) and 32 secret
    bytes of the seat's own. The strategy is a pure function of those and the view, so that a resumed match goes on
    as it would have.
    """

    description: str  # one line
    make: Callable[[str, bytes], Strategy[Any, Any]]
    is_slow: bool = False  # does it take its time, where there are no kernels? How long depends on its parameter


class Rated(msgspec.Struct, frozen=True):
    """How strong a built-in player was beside the others of its game, in Elo: who stands 100 higher scores 64 %."""

    rating: int
    low: int | None  # where the rating may be, in 95 of 100 measurements; None: anywhere below
    high: int | None
    matches: int


def built_in_player(name: str, description: str, choose: Callable[[bytes], Strategy[Any, Any]]) -> BuiltInPlayer:
    """A built-in player that takes no parameter, and is made from the seat's bytes alone."""

    def make(parameter: str, key: bytes) -> Strategy[Any, Any]:
        if parameter:
            raise BadRequest(f"{name} takes no parameter, so {parameter!r} makes no sense")
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
    """A built-in player that takes a number, and does so much: "tries {} tiles" is said to who gives another one."""

    def make(parameter: str, key: bytes) -> Strategy[Any, Any]:
        if parameter and not (re.fullmatch("[1-9][0-9]{0,8}", parameter) and int(parameter) in numbers):
            what = does.format(f"{numbers[0]} to {numbers[-1]}")
            raise BadRequest(f"{name} {what}, as in {name}:{default}; not {parameter!r}")
        return choose(int(parameter or default), key)

    return BuiltInPlayer(f"{description}; {name}:N, {default} if not said", make, is_slow)


class Player(Protocol):
    """Who sits at the table. Whatever it raises or returns, it hurts only itself.

    It may have more methods, which return nothing: start(seat, names, view) when the match begins, tell(news) for what
    only it is told, changed(view) after all that happens, with what spectators see (who is slow, or stopped meanwhile,
    hears of the newest), end(result) when the match is over, and as the last that it hears, wherever it is, either
    closing(receipt) once the result is on record, if there is one, or ejected(fault, why) if it was put out before.
    """

    def take_turn(self, view: Any) -> Any:
        """Answer with an action."""


class Observer(Protocol):
    """Who watches. It is trusted with the whole match, and is dropped when it raises."""

    def observe(self, event: Event, match: Match[Any, Any, Any]) -> None:
        """Hear an event, with the match as it stands after it."""


class Channel(Protocol):
    """The way to a player. It never raises: whatever goes wrong at the other end is a `Failed`.

    To a player that wants to hear of every change it also is a `referee.changes.ChangeListener`.
    """

    def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer."""

    def close(self, parting: CloseReason) -> None:
        """Say some bounded last words and cut the line; called once, by the driver."""


class AsyncChannel(Protocol):
    """The same, awaited. One may do more: see `CallbackChannel` and `PersistentChannel`."""

    async def ask(self, message: Message) -> Answer:
        """Say it, and wait for the answer."""

    async def close(self, parting: CloseReason) -> float | None:
        """Say some bounded last words and cut the line; called once, by the driver.

        Of a player that was ejected as it took too long: by how many seconds its answer came too late, if it came.
        """


class CallbackChannel(AsyncChannel, Protocol):
    """A channel over which one can ask without anybody waiting: to wake somebody for an answer takes a while."""

    def ask_with_callback(self, message: Message, then: Callable[[Answer | HostFault], None]) -> bool:
        """Say it, and have this called with the answer, or a fault of ours. False: it has to be awaited."""

    def stop_waiting(self) -> None:
        """Nobody wants to hear the answer any more."""


class PersistentChannel(AsyncChannel, Protocol):
    """A channel that outlasts a match, so that there may be nothing to wait for at its end."""

    def try_close(self, parting: CloseReason) -> bool:
        """Say the last words at once, and raise nothing. False: it has to be closed."""


class Record(Protocol):
    """Where one match is written down, before anybody is told. What it raises stops the match as a fault of ours."""

    def clock(self) -> float:
        """Seconds, for the time that players take."""

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        """Keep the event, with the message and the answer that led to it. True: settle before anybody is told."""

    def write_late_answer(self, seat: Seat, overrun: float) -> None:
        """Keep that the answer of an ejected player came so many seconds too late; that changes nothing."""

    def make_durable(self) -> None:
        """Come back when all that was written would survive a power cut, if that was asked for at all."""

    async def make_durable_async(self) -> None:
        """The same, awaited: whatever waits for a disk, the event loop does not."""

    def receipt(self) -> Receipt | None:
        """Where the record stands; None: it hands out no receipts."""

    def close(self) -> None:
        """Let go of it; a match that did not end stays unfinished."""


class NullRecord:
    """The record of a match that nobody keeps, where time stands still."""

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
