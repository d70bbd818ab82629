"""Test that no bad observer affects the match or the other observers."""

from collections.abc import Callable
from typing import Any

import pytest

from fairplay.core.events import Acted, Ejected, Ended, Event, Started
from fairplay.games.fish import Fish
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.observers import Observers
from fairplay.referee.referee import Referee
from tests.match_ids import fixed_match_id
from tests.misbehaviour.bad_observers import OBSERVERS, BadObserver, MisbehavingObserver, Nameless

FISH = Fish(rows=4, columns=4)
SEED = bytes(range(32))


class Listening:
    """A good observer."""

    def __init__(self) -> None:
        self.heard: list[tuple[Event, AnyMatch]] = []

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))


def first(view: Any) -> Any:
    return next(FISH.actions(view))


def late_cheat(view: Any) -> Any:
    return {"type": "place", "at": [9, 9]} if view.state.stage.value == "playing" else first(view)


def run(referee: Referee) -> AnyMatch:
    with fixed_match_id():
        return referee.run(FISH, [first, late_cheat, first], names=["ann", "bob", "cyd"], seed=SEED)


def undisturbed() -> tuple[AnyMatch, list[tuple[Event, AnyMatch]]]:
    referee, listening = Referee(), Listening()
    referee.subscribe(listening)
    return run(referee), listening.heard


FINAL, HEARD = undisturbed()
KINDS = [type(event) for event, _ in HEARD]
MOMENTS = [0, 1, 5, KINDS.index(Ejected), len(HEARD) - 1]  # the start, some action, an ejection, the end


def watched(bad: BadObserver, at: int) -> tuple[AnyMatch, MisbehavingObserver, list[Listening], list[str]]:
    """The match with it between two good observers."""
    reports: list[str] = []
    referee, before, after = Referee(reports.append), Listening(), Listening()
    watcher = bad.make_observer(referee, at)
    for observer in (before, watcher, after):
        referee.subscribe(observer)
    return run(referee), watcher, [before, after], reports


def test_the_match_of_bad_observers_has_every_kind_of_event() -> None:
    assert KINDS[0] is Started
    assert KINDS[-1] is Ended
    assert {Acted, Ejected} < set(KINDS)


@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize("name", OBSERVERS)
def test_a_bad_observer_changes_neither_the_match_nor_what_others_receive(name: str, at: int) -> None:
    final, _, good, _ = watched(OBSERVERS[name], at)

    assert final == FINAL
    assert [one.heard for one in good] == [HEARD, HEARD]


@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize("name", OBSERVERS)
def test_a_bad_observer_that_raises_is_dropped_and_reported_once(name: str, at: int) -> None:
    bad = OBSERVERS[name]

    _, watcher, _, reports = watched(bad, at)

    assert watcher.heard == (at + 1 if bad.dropped else len(HEARD))
    assert len(reports) == bad.dropped
    assert all(report.isprintable() and len(report) < 900 for report in reports)


def test_all_bad_observers_at_once_disturb_no_other_observer() -> None:
    reports: list[str] = []
    referee, listening = Referee(reports.append), Listening()
    for bad in OBSERVERS.values():
        referee.subscribe(bad.make_observer(referee, 3))
    referee.subscribe(listening)

    assert run(referee) == FINAL
    assert listening.heard == HEARD
    assert len(reports) == sum(bad.dropped for bad in OBSERVERS.values())


def test_an_observer_subscribed_by_another_watches_only_the_next_match() -> None:
    referee, friend = Referee(), Listening()

    class Bringing(Listening):
        def observe(self, event: Event, match: AnyMatch) -> None:
            referee.subscribe(friend)

    referee.subscribe(Bringing())
    run(referee)

    assert friend.heard == []
    run(referee)
    assert friend.heard == HEARD


class Incognito(metaclass=Nameless):
    """An observer whose class does not tell its name."""

    def observe(self, event: Event, match: AnyMatch) -> None:
        raise ValueError("a bad day")


def test_an_observer_without_a_name_is_dropped_like_any_other() -> None:
    def final() -> AnyMatch | None:  # pytest could not show the exception either
        referee = Referee(lambda report: None)
        referee.subscribe(Incognito())
        try:
            return run(referee)
        except LookupError:
            return None

    assert final() == FINAL


# A meter that cannot fail is no meter.


def test_the_test_of_bad_observers_detects_a_leaked_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(self: Observers, event: Event, match: AnyMatch) -> None:
        for observer in self._observers:
            observer.observe(event, match)

    monkeypatch.setattr(Observers, "notify", tell)

    with pytest.raises(ValueError):
        watched(OBSERVERS["raises ValueError"], 1)


def test_the_test_of_bad_observers_detects_dropping_the_wrong_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tell: Callable[..., None] = Observers.notify

    def careless(self: Observers, event: Event, match: AnyMatch) -> None:
        before = len(self._observers)
        tell(self, event, match)
        if len(self._observers) < before:
            self._observers = self._observers[:-1]

    monkeypatch.setattr(Observers, "notify", careless)
    _, _, good, _ = watched(OBSERVERS["raises ValueError"], 1)

    assert [one.heard for one in good] != [HEARD, HEARD]
