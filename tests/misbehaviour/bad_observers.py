"""Define bad observers for tests: none of them changes a match."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from fairplay.core.errors import BadRequest
from fairplay.core.events import Event
from fairplay.core.roles import Observer
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.referee import Referee
from fairplay.testing.hostile_answers import IndescribableError, nested_list

ObserverBehaviour = Callable[[Referee, Observer, Event, AnyMatch], Any]
MANY_OBSERVERS = 50
SLEEP_S = 0.005  # seconds


class BadObserver(msgspec.Struct, frozen=True):
    """A kind of bad observer: what it does, and whether it is dropped for it."""

    name: str
    about: str  # in one line
    dropped: bool
    behaviour: ObserverBehaviour

    def make_observer(self, referee: Referee, at: int) -> "MisbehavingObserver":
        """One that is bad from the n-th event on, counted from 0."""
        return MisbehavingObserver(referee, self.behaviour, at)


class MisbehavingObserver:
    """An observer that does something from some event on, and counts."""

    def __init__(self, referee: Referee, deed: ObserverBehaviour, at: int) -> None:
        self.heard = 0
        self._referee = referee
        self._deed = deed
        self._at = at

    def observe(self, event: Event, match: AnyMatch) -> Any:
        self.heard += 1
        return self._deed(self._referee, self, event, match) if self.heard > self._at else None


class Silent:
    """An observer that does nothing."""

    def observe(self, event: Event, match: AnyMatch) -> None:
        pass


class Nameless(type):
    """What makes a class that does not tell its name."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]  # that is the point
        raise LookupError("it has none")


def raise_nameless() -> Exception:
    """An exception whose class does not tell its name; it is made when it is raised, as many tools ask for names."""
    made: Exception = Nameless("Incognito", (Exception,), {})("a bad day")
    return made


def raise_error(error: Callable[[], BaseException]) -> ObserverBehaviour:
    """The deed of raising this."""

    def deed(*_: Any) -> NoReturn:
        raise error()

    return deed


def sleep_a_moment(*_: Any) -> None:
    """takes its time."""
    time.sleep(SLEEP_S)


def recurse(*_: Any) -> Any:
    """calls itself until the stack is full."""
    return recurse()


def scribble_on_the_event(referee: Referee, own: Observer, event: Any, match: AnyMatch) -> None:
    """writes into the event."""
    event.seat = 0
    event.names = ()


def scribble_on_the_match(referee: Referee, own: Observer, event: Event, match: Any) -> None:
    """writes into the match."""
    match.ejected = ()


def run_another(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """has the same referee run another match."""
    referee.run(match.game, [lambda view: None] * len(match.names))


def insist_on_another(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """tries that, and hides that it was refused."""
    for call in (referee.run, lambda *_: referee.resume(match, [])):
        try:
            call(match.game, [])
        except BadRequest:
            continue
        raise AssertionError("the referee runs two matches at once")


def bring_friends(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """subscribes many others, and itself again."""
    for _ in range(MANY_OBSERVERS):
        referee.subscribe(Silent())
    referee.subscribe(own)


def leave(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """removes itself."""
    referee.remove(own)


def leave_and_come_back(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """removes itself, and subscribes again."""
    referee.remove(own)
    referee.subscribe(own)


def remove_other_observers(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """removes the other observers."""
    for other in tuple(referee._observers):
        referee.remove(other)


def bad_observer(name: str, deed: ObserverBehaviour, *, dropped: bool, about: str = "") -> BadObserver:
    """One of them."""
    return BadObserver(name, about or (deed.__doc__ or name).rstrip("."), dropped, deed)


OBSERVERS: dict[str, BadObserver] = {
    bad.name: bad
    for bad in (
        *(
            bad_observer(f"raises {error.__name__}", raise_error(error), dropped=True, about=f"raises {error.__name__}")
            for error in (
                ValueError,
                SystemExit,
                GeneratorExit,
                StopIteration,
                MemoryError,
                BadRequest,
                IndescribableError,
            )
        ),
        bad_observer(
            "raises what has no name", raise_error(raise_nameless), dropped=True, about="raises what has no name"
        ),
        bad_observer("recurses", recurse, dropped=True),
        bad_observer("blocks", sleep_a_moment, dropped=False),
        bad_observer("answers", lambda *_: nested_list(), dropped=False, about="returns a value"),
        bad_observer("scribbles on the event", scribble_on_the_event, dropped=True),
        bad_observer("scribbles on the match", scribble_on_the_match, dropped=True),
        bad_observer("runs another match", run_another, dropped=True),
        bad_observer("insists on another match", insist_on_another, dropped=False),
        bad_observer("brings friends", bring_friends, dropped=False),
        bad_observer("leaves", leave, dropped=False),
        bad_observer("leaves and comes back", leave_and_come_back, dropped=False),
        bad_observer("removes the others", remove_other_observers, dropped=False),
    )
}
