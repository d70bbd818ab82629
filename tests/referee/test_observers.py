"""Check that observers cannot disturb a match."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from fairplay.core.chance import seed_commitment
from fairplay.core.events import Acted, Ended, Event, Started
from fairplay.core.match import Match
from fairplay.games.fish import Fish, View
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.observers import Observers
from fairplay.referee.referee import Referee
from tests.match_ids import without_id

FISH = Fish(rows=4, columns=4)
SEED = bytes(range(32))
EVENTS = 18  # at least so many has the match from this seed


class Watching:
    """An observer that remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[tuple[Event, AnyMatch]] = []

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))


class Doing:
    """An observer that does something when it hears the n-th event."""

    def __init__(self, at: int, do: Callable[[], object]) -> None:
        self.calls = 0
        self._at, self._do = at, do

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.calls += 1
        if self.calls == self._at + 1:
            self._do()


def first(view: View) -> Any:
    return next(FISH.actions(view))


def cheat(view: View) -> Any:
    return {"type": "place", "at": [9, 9]}


def run(referee: Referee) -> AnyMatch:
    return referee.run(FISH, [first, cheat, first], names=["ann", "bob", "cyd"], seed=SEED)


def raising(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


UNDISTURBED = without_id(run(Referee()))


def watched(*others: Any) -> tuple[AnyMatch, Watching, Watching, list[str]]:
    """A match with good observers before and after others."""
    reports: list[str] = []
    referee, before, after = Referee(reports.append), Watching(), Watching()
    for observer in (before, *others, after):
        referee.subscribe(observer)
    return run(referee), before, after, reports


def test_an_observer_receives_all_events_in_order_with_the_match_after_each() -> None:
    match, watching, _, _ = watched()
    events = [event for event, _ in watching.heard]

    assert events[0] == Started(("ann", "bob", "cyd"), seed_commitment(SEED, match.id))
    assert events[-1] == Ended(match.result)
    assert without_id(match) == UNDISTURBED
    assert watching.heard[-1][1] == match
    assert all(
        before.after(event) == after
        for (_, before), (event, after) in pairwise(watching.heard)
        if isinstance(event, Acted)
    )


@pytest.mark.parametrize("at", range(EVENTS))
@pytest.mark.parametrize(
    "error", [ValueError("no"), SystemExit(1), GeneratorExit(), StopIteration(), RecursionError()], ids=repr
)
def test_the_result_is_the_same_whatever_an_observer_does(error: BaseException, at: int) -> None:
    bad = Doing(at, raising(error))

    match, before, after, reports = watched(bad)

    assert without_id(match) == UNDISTURBED
    assert before.heard == after.heard
    assert isinstance(after.heard[-1][0], Ended)
    assert bad.calls == at + 1
    assert len(reports) == 1
    assert reports[0].startswith(f"observer Doing was dropped: {type(error).__name__}: ")


def test_many_bad_observers_are_dropped_one_by_one() -> None:
    bad = [Doing(at % 3, raising(ValueError())) for at in range(9)]

    match, before, after, reports = watched(*bad)

    assert without_id(match) == UNDISTURBED
    assert before.heard == after.heard
    assert len(reports) == 9


def test_a_keyboard_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        watched(Doing(3, raising(KeyboardInterrupt())))


def test_an_observer_cannot_run_another_match_inside_the_first() -> None:
    reports: list[str] = []
    referee = Referee(reports.append)
    referee.subscribe(Doing(4, lambda: run(referee)))

    match = run(referee)

    assert without_id(match) == UNDISTURBED
    assert "this referee is running a match" in reports[0]


def test_an_observer_may_run_a_match_with_another_referee() -> None:
    inner: list[AnyMatch] = []

    match, _, _, reports = watched(Doing(4, lambda: inner.append(run(Referee()))))

    assert [without_id(one) for one in (match, *inner)] == [UNDISTURBED, UNDISTURBED]
    assert reports == []


def test_an_observer_removes_others_only_from_the_next_match_on() -> None:
    referee, victim = Referee(), Watching()
    referee.subscribe(Doing(0, lambda: referee.remove(victim)))
    referee.subscribe(victim)

    run(referee)
    after_one = len(victim.heard)
    run(referee)

    assert isinstance(victim.heard[-1][0], Ended)
    assert len(victim.heard) == after_one


def test_an_observer_subscribed_during_a_match_watches_the_next() -> None:
    referee, late = Referee(), Watching()
    referee.subscribe(Doing(2, lambda: referee.subscribe(late)))

    run(referee)
    during = list(late.heard)
    run(referee)

    assert during == []
    assert isinstance(late.heard[0][0], Started)


def test_an_observer_that_subscribes_many_others_changes_nothing() -> None:
    reports: list[str] = []
    referee = Referee(reports.append)
    referee.subscribe(Doing(0, lambda: [referee.subscribe(Watching()) for _ in range(1000)]))

    assert without_id(run(referee)) == UNDISTURBED
    assert reports == []


def test_a_dropped_observer_watches_the_next_match_again() -> None:
    reports: list[str] = []
    referee, bad = Referee(reports.append), Doing(0, raising(ValueError("once")))
    referee.subscribe(bad)

    run(referee)
    run(referee)

    assert len(reports) == 1
    assert bad.calls > EVENTS


def test_events_and_matches_are_immutable_for_observers() -> None:
    class Meddling:
        def observe(self, event: Any, match: Any) -> None:
            match.state.scores = (100,)

    match, before, after, reports = watched(Meddling())

    assert without_id(match) == UNDISTURBED
    assert before.heard == after.heard
    assert "Meddling was dropped: AttributeError" in reports[0]


def test_the_observers_of_a_match_are_fixed_when_it_begins() -> None:
    one, two = Watching(), Watching()
    observers = [one]
    notified = Observers(observers, lambda text: None)
    match: AnyMatch = Match(FISH, FISH.deal(2, SEED), ("ann", "bob"))

    observers.append(two)
    notified.notify(Started(match.names), match)

    assert one.heard == [(Started(("ann", "bob")), match)]
    assert two.heard == []


class Alike(Doing):
    """An observer that compares equal to all others of its class, and to any object from the other side."""

    __hash__ = None  # type: ignore[assignment]  # what lies about being equal is in no set

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __ne__(self, other: object) -> bool:
        return False


def test_of_equal_observers_only_the_one_that_raised_is_dropped() -> None:
    good, bad, last = Alike(-1, int), Alike(2, raising(ValueError())), Alike(-1, int)

    match, before, after, reports = watched(good, bad, last)

    assert without_id(match) == UNDISTURBED
    assert good.calls == last.calls == len(before.heard) == len(after.heard)
    assert bad.calls == 3
    assert len(reports) == 1


def test_an_observer_that_is_equal_to_no_object_is_dropped_if_it_raises() -> None:
    class Unlike(Doing):
        def __ne__(self, other: object) -> bool:
            return True  # of itself, too

    bad = Unlike(2, raising(ValueError()))

    _, before, after, reports = watched(bad)

    assert bad.calls == 3
    assert before.heard == after.heard
    assert len(reports) == 1
