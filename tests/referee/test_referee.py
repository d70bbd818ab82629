"""Check that a referee seats players and runs one match after another."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from fairplay.core.chance import seed_commitment, seed_from_text
from fairplay.core.errors import BadRequest, HostFault
from fairplay.core.events import Acted, Ended, Event, Started
from fairplay.core.messages import Answer, Answered, Message
from fairplay.core.roles import NullRecord
from fairplay.games.fish import Fish, View
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.referee import Referee, deal_match, distinct_names, print_warning
from tests.match_ids import without_id
from tests.toy import Toy

FISH = Fish(rows=4, columns=4)
TOY = Toy()
SEED = seed_from_text("host")


def first(view: View) -> Any:
    return next(FISH.actions(view))


def first_of_toy(view: Any) -> Any:
    return next(TOY.actions(view))


class Watching:
    def __init__(self, note: Callable[[str], None] = lambda text: None) -> None:
        self.heard: list[Event] = []
        self.note = note

    def observe(self, event: Event, match: AnyMatch) -> None:
        self.heard.append(event)
        self.note(f"told {type(event).__name__}")


class Writing(NullRecord):
    """A record that notes down what it is given, and can be made to fail."""

    def __init__(self, note: Callable[[str], None] = lambda text: None, fails_at: int = 10**9) -> None:
        self.begun: list[AnyMatch] = []
        self.closed = 0
        self.written: list[tuple[Event, Answer | None]] = []
        self.note = note
        self.fails_at = fails_at
        self.time = 0.0

    def begin(self, match: AnyMatch) -> "Writing":
        self.begun.append(match)
        if self.fails_at < 0:
            raise HostFault("no room to write")
        return self

    def clock(self) -> float:
        self.time += 1
        return self.time

    def write(self, event: Event, message: Message | None, answer: Answer | None) -> bool:
        if len(self.written) == self.fails_at:
            raise HostFault("the disk is full")
        self.written.append((event, answer))
        self.note(f"wrote {type(event).__name__}")
        return False

    def receipt(self) -> None:
        return None

    def close(self) -> None:
        self.closed += 1


# Who watches.


def test_a_second_subscription_returns_false() -> None:
    referee, watching = Referee(), Watching()

    assert referee.subscribe(watching) is True
    assert referee.subscribe(watching) is False


def test_removing_an_observer_that_is_not_subscribed_returns_false() -> None:
    referee, watching = Referee(), Watching()

    assert referee.remove(watching) is False
    referee.subscribe(watching)
    assert referee.remove(watching) is True
    assert referee.remove(watching) is False


def test_observers_are_compared_by_identity() -> None:
    class Alike(Watching):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    referee, one, two = Referee(), Alike(), Alike()

    assert [referee.subscribe(one), referee.subscribe(two), referee.remove(two)] == [True, True, True]
    referee.run(FISH, [first, first], seed=SEED)
    assert (bool(one.heard), bool(two.heard)) == (True, False)


def test_an_observer_subscribed_twice_receives_each_event_once() -> None:
    referee, watching = Referee(), Watching()
    referee.subscribe(watching)
    referee.subscribe(watching)

    match = referee.run(FISH, [first, first], seed=SEED)

    assert watching.heard.count(Ended(match.result)) == 1


def test_a_dropped_observer_is_named_on_stderr_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    print_warning("observer Watching was dropped")

    assert capsys.readouterr().err == "fairplay: observer Watching was dropped\n"


# One match after another.


def test_a_referee_runs_any_number_of_matches() -> None:
    referee, watching = Referee(), Watching()
    referee.subscribe(watching)

    matches = [referee.run(FISH, [first, first], seed=SEED) for _ in range(3)]

    assert without_id(matches[0]) == without_id(matches[1]) == without_id(matches[2])
    assert len({match.id for match in matches}) == 3
    assert sum(isinstance(event, Started) for event in watching.heard) == 3


def test_a_match_inside_a_match_is_refused_and_the_first_continues() -> None:
    referee = Referee()
    errors: list[BadRequest] = []

    def ask_for_more(view: View) -> Any:
        with pytest.raises(BadRequest, match="another referee") as refused:
            referee.run(FISH, [first, first])
        errors.append(refused.value)
        return first(view)

    match = referee.run(FISH, [ask_for_more, first], seed=SEED)

    assert errors != []
    assert without_id(match) == without_id(Referee().run(FISH, [first, first], seed=SEED))


def test_a_match_that_was_stopped_leaves_the_referee_free() -> None:
    referee = Referee()

    with pytest.raises(HostFault):
        referee.run(FISH, [first, first], record=Writing(fails_at=3).begin)

    assert referee.run(FISH, [first, first], seed=SEED).turn is None


def test_the_same_seed_and_the_same_players_make_the_same_match() -> None:
    matches = [Referee().run(Fish(), [first, first, first], seed=SEED) for _ in range(2)]

    assert without_id(matches[0]) == without_id(matches[1])


def test_without_a_seed_each_match_has_a_new_one() -> None:
    records = [Writing() for _ in range(3)]

    for record in records:
        Referee().run(FISH, [first, first], record=record.begin)

    seeds = {record.begun[0].seed for record in records}
    assert len(seeds) == 3
    assert all(seed is not None and len(seed) == 32 for seed in seeds)


# Who sits where.


def seating(game: Any, ages: list[int] | None, strategy: Any) -> tuple[str, ...]:
    names = ["ann", "bob", "cyd", "dan"]
    return Referee().run(game, [strategy] * 4, names=names, ages=ages, seed=SEED).names


def test_in_fish_the_youngest_is_first() -> None:
    assert seating(FISH, [30, 20, 40, 10], first) == ("dan", "bob", "ann", "cyd")


def test_in_other_games_the_oldest_is_first() -> None:
    assert seating(TOY, [30, 20, 40, 10], first_of_toy) == ("cyd", "ann", "bob", "dan")


@pytest.mark.parametrize(("game", "strategy"), [(FISH, first), (TOY, first_of_toy)], ids=["fish", "toy"])
def test_equal_ages_sit_in_the_order_given(game: Any, strategy: Any) -> None:
    assert seating(game, [7, 7, 7, 7], strategy) == ("ann", "bob", "cyd", "dan")


def test_without_ages_players_sit_in_the_order_given() -> None:
    assert seating(TOY, None, first_of_toy) == ("ann", "bob", "cyd", "dan")


def test_names_are_seated_with_their_players() -> None:
    def cheat(view: View) -> Any:
        return {"type": "place", "at": [9, 9]}

    match = Referee().run(FISH, [first, cheat, first], names=["ann", "bob", "cyd"], ages=[3, 1, 2], seed=SEED)

    assert match.names == ("bob", "cyd", "ann")
    assert [match.names[ejected.seat] for ejected in match.ejected] == ["bob"]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_wrong_number_of_players_is_refused(count: int) -> None:
    with pytest.raises(BadRequest, match=f"fish is for 2 to 4 players, not for {count}"):
        Referee().run(FISH, [first] * count)


@pytest.mark.parametrize(
    ("player", "why"),
    [
        (
            "greedy",
            "'greedy' is the name of a player, and a Referee takes players: write built_in_strategy('fish', 'greedy')",
        ),
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


@pytest.mark.parametrize("seed", [7, "seven", 1.5])
def test_an_invalid_seed_is_refused_with_how_to_make_one(seed: Any) -> None:
    with pytest.raises(
        BadRequest, match=re.escape(f"a seed has 32 bytes, not {seed!r}: fairplay.core.chance.seed_from_text")
    ):
        Referee().run(FISH, [first, first], seed=seed)


def test_the_wrong_number_of_names_is_refused() -> None:
    with pytest.raises(BadRequest, match="there are 2 players, but 3 names"):
        Referee().run(FISH, [first, first], names=["ann", "bob", "cyd"])


def test_the_wrong_number_of_ages_is_refused() -> None:
    with pytest.raises(BadRequest, match="there are 2 players, but 1 ages"):
        Referee().run(FISH, [first, first], ages=[7])


def test_an_impossible_setup_is_refused_before_any_player_is_asked() -> None:
    referee, watching = Referee(), Watching()
    referee.subscribe(watching)

    with pytest.raises(BadRequest, match="too small"):
        referee.run(Fish(rows=2, columns=2), [first, first])

    assert watching.heard == []


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


def test_players_without_names_are_numbered_from_one() -> None:
    assert Referee().run(FISH, [first, first], seed=SEED).names == ("player-1", "player-2")


# What is written down.


def test_a_record_begins_with_the_dealt_match_and_its_seed() -> None:
    record = Writing()

    match = Referee().run(FISH, [first, first], names=["ann", "bob"], seed=SEED, record=record.begin)

    [begun] = record.begun
    assert (begun.state, begun.names, begun.seed) == (FISH.deal(2, SEED), match.names, SEED)
    assert begun.id == match.id != ""


def test_every_event_is_written_with_the_answer_that_led_to_it() -> None:
    record = Writing()

    match = Referee().run(TOY, [first_of_toy, first_of_toy], seed=SEED, record=record.begin)

    events = [event for event, _ in record.written]
    assert (events[0], events[-1]) == (Started(match.names, seed_commitment(SEED, match.id)), Ended(match.result))
    assert record.written[0][1] is record.written[-1][1] is None
    for event, answer in record.written[1:-1]:
        assert isinstance(event, Acted)
        assert answer == Answered(event.action, took=1.0)


def test_the_record_is_written_before_observers_are_informed() -> None:
    notes: list[str] = []
    referee = Referee()
    referee.subscribe(Watching(notes.append))

    referee.run(TOY, [first_of_toy, first_of_toy], seed=SEED, record=Writing(notes.append).begin)

    assert [note.replace("wrote", "told") for note in notes[::2]] == notes[1::2]
    assert all(note.startswith("wrote") for note in notes[::2])


@pytest.mark.parametrize("fails_at", [-1, 0, 1, 2, 7])
def test_a_failing_record_stops_the_match_without_an_ejection(fails_at: int) -> None:
    referee, watching, record = Referee(), Watching(), Writing(fails_at=fails_at)
    referee.subscribe(watching)

    with pytest.raises(HostFault):
        referee.run(FISH, [first, first], seed=SEED, record=record.begin)

    assert watching.heard == [event for event, _ in record.written]
    assert record.closed == (fails_at >= 0)
    assert len(watching.heard) == max(fails_at, 0)
    assert all(isinstance(event, Started | Acted) for event in watching.heard)


def test_an_event_that_was_not_recorded_is_not_announced() -> None:
    ended: list[str] = []

    class Player:
        def take_turn(self, view: View) -> Any:
            return first(view)

        def end(self, result: Any) -> None:
            ended.append("told")

    player: Any = Player()

    with pytest.raises(HostFault):
        Referee().run(FISH, [player, player], seed=SEED, record=Writing(fails_at=5).begin)

    assert ended == []
