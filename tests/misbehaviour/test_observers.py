"""Test that no bad observer affects the match or the other observers."""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ejected, Ended, Event, Started
from fairplay.core.roles import Observer
from fairplay.games.fish import Fish
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.referee import Referee
from fairplay.testing.hostile_answers import IndescribableError, nested_list
from tests.match_ids import fixed_match_id

FISH = Fish(rows=4, columns=4)
Behaviour = Callable[[Referee, Observer, Event, Any], Any]


class Misbehaving:
    """An observer that does something from some event on, and counts."""

    def __init__(self, behaviour: Behaviour, referee: Referee, at: int) -> None:
        self.heard = 0
        self._behaviour, self._referee, self._at = behaviour, referee, at

    def observe(self, event: Event, match: AnyMatch) -> Any:
        self.heard += 1
        return self._behaviour(self._referee, self, event, match) if self.heard > self._at else None


class Listening:
    def __init__(self) -> None:
        self.heard: list[tuple[Event, AnyMatch]] = []

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))


class Nameless(type):
    """What makes a class that does not tell its name."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]  # that is the point
        raise LookupError("it has none")


def nameless_error() -> Exception:
    """An exception whose class does not tell its name; it is made when it is raised, as many tools ask for names."""
    made: Exception = Nameless("Incognito", (Exception,), {})("a bad day")
    return made


def raises(error: Callable[[], BaseException]) -> tuple[Behaviour, bool]:
    def behaviour(*_: Any) -> NoReturn:
        raise error()

    return behaviour, True


def recurse(*_: Any) -> Any:
    return recurse()


def write_into_the_event(referee: Referee, own: Observer, event: Any, match: AnyMatch) -> None:
    event.seat = 0
    event.names = ()


def insist_on_another(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    """Run another match, and hide that it was refused."""
    for call in (referee.run, lambda *_: referee.resume(match, [])):
        with pytest.raises(BadRequest):
            call(match.game, [])


def bring_friends(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    for _ in range(50):
        referee.subscribe(Listening())
    referee.subscribe(own)


def remove_other_observers(referee: Referee, own: Observer, event: Event, match: AnyMatch) -> None:
    for other in tuple(referee._observers):
        referee.remove(other)


OBSERVERS: dict[str, tuple[Behaviour, bool]] = {  # and whether they are dropped for it
    "raises ValueError": raises(ValueError),
    "raises SystemExit": raises(SystemExit),
    "raises GeneratorExit": raises(GeneratorExit),
    "raises StopIteration": raises(StopIteration),
    "raises MemoryError": raises(MemoryError),
    "raises BadRequest": raises(BadRequest),
    "raises what cannot be described": raises(IndescribableError),
    "raises what has no name": raises(nameless_error),
    "recurses": (recurse, True),
    "blocks": (lambda *_: time.sleep(0.005), False),
    "answers": (lambda *_: nested_list(), False),
    "writes into the event": (write_into_the_event, True),
    "writes into the match": (lambda referee, own, event, match: setattr(match, "ejected", ()), True),
    "runs another match": (lambda referee, own, event, match: referee.run(match.game, [first] * 3), True),
    "insists on another match": (insist_on_another, False),
    "brings friends": (bring_friends, False),
    "leaves": (lambda referee, own, *_: referee.remove(own), False),
    "leaves and comes back": (lambda referee, own, *_: [referee.remove(own), referee.subscribe(own)], False),
    "removes the others": (remove_other_observers, False),
}


def first(view: Any) -> Any:
    return next(FISH.actions(view))


def late_cheat(view: Any) -> Any:
    return {"type": "place", "at": [9, 9]} if view.state.stage.value == "playing" else first(view)


def run(referee: Referee, *observers: Observer) -> AnyMatch:
    for observer in observers:
        referee.subscribe(observer)
    with fixed_match_id():
        return referee.run(FISH, [first, late_cheat, first], names=["ann", "bob", "cyd"], seed=bytes(range(32)))


UNDISTURBED = Listening()
FINAL = run(Referee(), UNDISTURBED)
HEARD = UNDISTURBED.heard
KINDS = [type(event) for event, _ in HEARD]
MOMENTS = [0, 1, 5, KINDS.index(Ejected), len(HEARD) - 1]  # the start, some action, an ejection, the end


def test_the_match_of_bad_observers_has_every_kind_of_event() -> None:
    assert (KINDS[0], KINDS[-1]) == (Started, Ended)
    assert {Acted, Ejected} < set(KINDS)


@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize("name", OBSERVERS)
def test_a_bad_observer_changes_neither_the_match_nor_what_others_receive_and_is_dropped_if_it_raises(
    name: str, at: int
) -> None:
    (behaviour, dropped), reports = OBSERVERS[name], list[str]()
    referee, good = Referee(reports.append), [Listening(), Listening()]
    watcher = Misbehaving(behaviour, referee, at)

    assert run(referee, good[0], watcher, good[1]) == FINAL
    assert [one.heard for one in good] == [HEARD, HEARD]
    assert watcher.heard == (at + 1 if dropped else len(HEARD))
    assert len(reports) == dropped
    assert all(report.isprintable() and len(report) < 900 for report in reports)


def test_an_observer_subscribed_by_another_watches_only_the_next_match() -> None:
    referee, friend = Referee(), Listening()

    run(referee, Misbehaving(lambda *_: referee.subscribe(friend), referee, 0))

    assert friend.heard == []
    run(referee)
    assert friend.heard == HEARD


class Incognito(metaclass=Nameless):
    def observe(self, event: Event, match: AnyMatch) -> None:
        raise ValueError("a bad day")


def test_an_observer_without_a_name_is_dropped_like_any_other() -> None:
    def final() -> AnyMatch | None:  # pytest could not show the exception either
        try:
            return run(Referee(lambda report: None), Incognito())
        except LookupError:
            return None

    assert final() == FINAL
