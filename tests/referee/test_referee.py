"""Check that a referee seats players, runs one match after another, and that observers cannot disturb it."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from fairplay.core.chance import seed_commitment, seed_from_text
from fairplay.core.errors import BadRequest
from fairplay.core.events import Acted, Ended, Event, Started
from fairplay.core.messages import Answered
from fairplay.games.fish import Fish, View
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.referee import Referee, deal_match, distinct_names, print_warning
from tests.match_ids import without_id
from tests.referee.test_drivers import Listening, Stop
from tests.toy import Toy

FISH, TOY = Fish(rows=4, columns=4), Toy()
SEED = seed_from_text("host")
MAKE_SEED = "fairplay.core.chance.seed_from_text"
FOUR = ("ann", "bob", "cyd", "dan")
EVENTS = 18  # at least so many has the match that is observed


def first(view: Any) -> Any:
    return next((FISH if isinstance(view, View) else TOY).actions(view))


def cheat(view: Any) -> Any:
    return {"type": "place", "at": [9, 9]}


def run(referee: Referee) -> AnyMatch:
    return referee.run(FISH, [first, cheat, first], names=["ann", "bob", "cyd"], seed=SEED)


UNDISTURBED = without_id(run(Referee()))


class Watching:
    """An observer that remembers what it heard, and does something when it hears the n-th event."""

    def __init__(self, at: int = -1, do: Callable[[], object] = int) -> None:
        self.heard: list[tuple[Event, AnyMatch]] = []
        self._at, self._do = at, do

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.heard.append((event, match))
        if len(self.heard) == self._at + 1:
            self._do()


def raising(error: BaseException) -> Callable[[], None]:
    def raise_it() -> None:
        raise error

    return raise_it


def watched(*others: Any) -> tuple[AnyMatch, Watching, list[str]]:
    """A match that no observer may disturb, the last one, which heard the same as the first one, and the reports."""
    reports: list[str] = []
    referee, before, after = Referee(reports.append), Watching(), Watching()
    for observer in (before, *others, after):
        referee.subscribe(observer)
    match = run(referee)
    assert without_id(match) == UNDISTURBED
    assert before.heard == after.heard
    return match, after, reports


# Who sits where.


@pytest.mark.parametrize(
    ("game", "ages", "seated"),
    [
        (FISH, [30, 20, 40, 10], ("dan", "bob", "ann", "cyd")),
        (TOY, [30, 20, 40, 10], ("cyd", "ann", "bob", "dan")),
        *((game, ages, FOUR) for game in (FISH, TOY) for ages in ([7, 7, 7, 7], None)),
    ],
)
def test_players_are_seated_by_age_the_youngest_first_in_fish(
    game: Any, ages: list[int] | None, seated: tuple[str, ...]
) -> None:
    assert Referee().run(game, [first] * 4, names=FOUR, ages=ages, seed=SEED).names == seated


def test_names_are_seated_with_their_players() -> None:
    match = Referee().run(FISH, [first, cheat, first], names=["ann", "bob", "cyd"], ages=[3, 1, 2], seed=SEED)

    assert match.names == ("bob", "cyd", "ann")
    assert [match.names[ejected.seat] for ejected in match.ejected] == ["bob"]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["ann", "bob"], ["ann", "bob"]),
        (["ann", "ann", "ann"], ["ann", "ann-2", "ann-3"]),
        (["ann", "ann-2", "ann"], ["ann", "ann-2", "ann-3"]),
        (["ann", "ann", "ann-2"], ["ann", "ann-2", "ann-2-2"]),
        (["", ""], ["", "-2"]),
        ([], []),
    ],
)
def test_names_are_made_distinct(names: list[str], labels: list[str]) -> None:
    assert distinct_names(names) == labels


@pytest.mark.parametrize(
    ("game", "count", "options", "why"),
    [
        *((FISH, count, {}, f"fish is for 2 to 4 players, not for {count}") for count in (0, 1, 5)),
        (FISH, 2, {"names": ["ann", "bob", "cyd"]}, "there are 2 players, but 3 names"),
        (FISH, 2, {"ages": [7]}, "there are 2 players, but 1 ages"),
        (Fish(rows=2, columns=2), 2, {}, "too small"),
        *((FISH, 2, {"seed": it}, f"a seed has 32 bytes, not {it!r}: {MAKE_SEED}") for it in (7, "seven", 1.5)),
    ],
)
def test_an_impossible_match_is_refused_before_any_player_is_asked(
    game: Any, count: int, options: dict[str, Any], why: str
) -> None:
    referee, watching = Referee(), Watching()
    referee.subscribe(watching)

    with pytest.raises(BadRequest, match=re.escape(why)):
        referee.run(game, [first] * count, **options)

    assert watching.heard == []


@pytest.mark.parametrize(
    ("player", "why"),
    [
        ("greedy", "'greedy' is the name of a player, and a Referee takes players: write built_in_strategy('fish', "),
        (Toy, "Toy is a class, and a Referee takes players: write Toy()"),
        (7, "a int is not a player: it has no method take_turn(view)"),
        (None, "a NoneType is not a player: it has no method take_turn(view)"),
    ],
)
def test_an_invalid_player_is_refused_before_the_record_begins(player: Any, why: str) -> None:
    begun: list[Any] = []

    with pytest.raises(BadRequest, match=re.escape(why)):
        Referee().run(FISH, [first, player], seed=SEED, record=begun.append)  # type: ignore[arg-type]  # it is never called

    match = deal_match(FISH, ["ann", "bob"], SEED)
    with pytest.raises(BadRequest, match=re.escape(why)):
        Referee().resume(match, [first, player])
    assert begun == []


# One match after another, and what is written down.


class Writing(Listening):
    """A record that is begun with a match, if it does not fail at once, and has a clock of its own."""

    def __init__(self, fails_at: int = 10**9) -> None:
        super().__init__(fails_at)
        self.begun: list[AnyMatch] = []
        self.closed = 0
        self._time = 0.0

    def begin(self, match: AnyMatch) -> "Writing":
        self.begun.append(match)
        if self.left < 0:
            raise Stop
        return self

    def clock(self) -> float:
        self._time += 1
        return self._time

    def close(self) -> None:
        self.closed += 1


def test_a_referee_runs_any_number_of_matches() -> None:
    referee, watching, record = Referee(), Watching(), Writing()
    referee.subscribe(watching)

    matches = [referee.run(FISH, [first, first], seed=SEED) for _ in range(3)]
    for _ in range(3):
        referee.run(FISH, [first, first], record=record.begin)

    assert matches[0].names == ("player-1", "player-2")
    assert without_id(matches[0]) == without_id(matches[1]) == without_id(matches[2])
    assert len({match.id for match in matches}) == 3
    assert sum(isinstance(event, Started) for event, _ in watching.heard) == 6
    assert len({match.seed for match in record.begun}) == 3
    assert all(match.seed is not None and len(match.seed) == 32 for match in record.begun)


def test_a_record_has_the_dealt_match_and_each_event_with_its_answer_before_observers_are_informed() -> None:
    referee, record = Referee(), Writing()
    written_before: list[int] = []
    watching = Watching()
    for at in range(100):
        referee.subscribe(Watching(at, lambda: written_before.append(len(record.heard))))
    referee.subscribe(watching)

    match = referee.run(TOY, [first, first], names=["ann", "bob"], seed=SEED, record=record.begin)

    [begun] = record.begun
    assert (begun.state, begun.names, begun.seed) == (TOY.deal(2, SEED), match.names, SEED)
    assert begun.id == match.id != ""
    (started, no_answer), *turns, (ended, none_either) = record.heard
    assert (started, ended) == (Started(match.names, seed_commitment(SEED, match.id)), Ended(match.result))
    assert no_answer is none_either is None
    for event, answer in turns:
        assert isinstance(event, Acted)
        assert answer == Answered(event.action, took=1.0)
    assert written_before == list(range(1, len(record.heard) + 1))
    assert [event for event, _ in watching.heard] == [event for event, _ in record.heard]


@pytest.mark.parametrize("fails_at", [-1, 0, 1, 2, 7])
def test_a_failing_record_stops_the_match_without_an_ejection_or_an_announcement(fails_at: int) -> None:
    ended: list[Any] = []

    class Player:
        def take_turn(self, view: View) -> Any:
            return first(view)

        def end(self, result: Any) -> None:
            ended.append(result)

    referee, watching, record = Referee(), Watching(), Writing(fails_at)
    referee.subscribe(watching)

    with pytest.raises(Stop):
        referee.run(FISH, [Player(), Player()], seed=SEED, record=record.begin)

    events = [event for event, _ in watching.heard]
    assert ended == []
    assert events == [event for event, _ in record.heard]
    assert record.closed == (fails_at >= 0)
    assert len(events) == max(fails_at, 0)
    assert all(isinstance(event, Started | Acted) for event in events)
    assert referee.run(FISH, [first, first], seed=SEED).turn is None  # it is free for the next


# Observers.


def test_an_observer_receives_all_events_in_order_with_the_match_after_each() -> None:
    match, watching, _ = watched()

    events = [event for event, _ in watching.heard]
    assert events[0] == Started(("ann", "bob", "cyd"), seed_commitment(SEED, match.id))
    assert events[-1] == Ended(match.result)
    assert watching.heard[-1][1] == match
    for (_, before), (event, after) in pairwise(watching.heard):
        if isinstance(event, Acted):
            assert before.after(event) == after


ERRORS = [ValueError("no"), SystemExit(1), GeneratorExit(), StopIteration(), RecursionError()]


@pytest.mark.parametrize("at", range(EVENTS))
def test_an_observer_that_raises_is_dropped_without_an_effect(at: int) -> None:
    error = ERRORS[at % len(ERRORS)]
    bad = Watching(at, raising(error))

    _, last, reports = watched(bad, Watching(at // 2, raising(KeyError())))

    assert isinstance(last.heard[-1][0], Ended)
    assert len(bad.heard) == at + 1
    expected = (f"observer Watching was dropped: {type(error).__name__}: ", "observer Watching was dropped: KeyError: ")
    assert all(report.startswith(expected) for report in reports)
    assert len(reports) == 2


def test_a_keyboard_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        watched(Watching(3, raising(KeyboardInterrupt())))


def test_a_dropped_observer_is_named_on_stderr_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    print_warning("observer Watching was dropped")

    assert capsys.readouterr().err == "fairplay: observer Watching was dropped\n"


def test_an_observer_may_run_a_match_with_another_referee_but_not_with_its_own() -> None:
    reports: list[str] = []
    inner: list[AnyMatch] = []
    referee = Referee(reports.append)
    referee.subscribe(Watching(4, lambda: inner.append(run(Referee()))))
    referee.subscribe(Watching(4, lambda: run(referee)))

    assert without_id(run(referee)) == UNDISTURBED
    assert [without_id(match) for match in inner] == [UNDISTURBED]
    [report] = reports
    assert "this referee is running a match" in report


def test_observers_are_subscribed_dropped_and_removed_for_the_next_match() -> None:
    reports: list[str] = []
    referee, removed, late, dropped = Referee(reports.append), Watching(), Watching(), Watching(2, raising(KeyError()))
    subscribing = Watching(0, lambda: (referee.remove(removed), referee.subscribe(late)))
    for observer in (subscribing, removed, dropped):
        assert referee.subscribe(observer)
    assert not referee.subscribe(dropped)

    run(referee)
    heard = len(removed.heard)
    assert isinstance(removed.heard[-1][0], Ended)
    assert (len(late.heard), len(dropped.heard), len(reports)) == (0, 3, 1)

    run(referee)
    assert len(removed.heard) == heard
    assert isinstance(late.heard[0][0], Started)
    assert len(dropped.heard) == 3 + heard
    assert [referee.remove(late), referee.remove(late), referee.remove(removed)] == [True, False, False]


def test_events_and_matches_are_immutable_for_observers() -> None:
    class Meddling:
        def observe(self, event: Any, match: Any) -> None:
            match.state.scores = (100,)

    _, _, [report] = watched(Meddling())

    assert "Meddling was dropped: AttributeError" in report


class Alike(Watching):
    """An observer that compares equal to all others of its class, and to any object from the other side."""

    __hash__ = None  # type: ignore[assignment]  # what lies about being equal is in no set

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __ne__(self, other: object) -> bool:
        return False


class Unlike(Watching):
    """An observer that is equal to no object, not even to itself."""

    def __ne__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("kind", [Alike, Unlike])
def test_observers_are_subscribed_dropped_and_removed_by_identity(kind: type[Watching]) -> None:
    good, bad, last = kind(), kind(2, raising(ValueError())), kind()
    referee = Referee()

    _, watching, reports = watched(good, bad, last)

    assert len(good.heard) == len(last.heard) == len(watching.heard)
    assert len(bad.heard) == 3
    assert len(reports) == 1
    assert [referee.subscribe(good), referee.subscribe(last), referee.remove(last)] == [True, True, True]
    run(referee)
    assert len(good.heard) == 2 * len(last.heard)
