"""Check that local players are told of every change by both drivers, without an effect on the match."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fact, Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match
from fairplay.games import make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.journal.record import Journal
from fairplay.players.address import built_in_strategy
from fairplay.referee.changes import add_change_listeners
from fairplay.referee.conversation import AnyMatch, OnEvent, ignore_event
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import Referee, deal_match
from tests.journal_files import read_lines
from tests.toy import State, Toy, View

GAMES: dict[str, Any] = {
    "fish": make_game("fish", {"rows": 4, "columns": 4}),
    "tsuro": make_game("tsuro", {}),
    "q": make_game("q", {}),
}
BUILT_IN = {"fish": "greedy", "tsuro": "survivor", "q": "dag"}
each_game = pytest.mark.parametrize("name", GAMES)
each_driver = pytest.mark.parametrize("driver", ["play", "play_async"])


class Deaf:
    """A built-in player that wants to hear of nothing."""

    def __init__(self, name: str) -> None:
        self.take_turn = built_in_strategy(name, BUILT_IN[name], bytes(32))


class Listener(Deaf):
    """A built-in player that keeps the views of all changes, and does something with each."""

    def __init__(self, name: str, do: Callable[[int], Any] = lambda number: None) -> None:
        super().__init__(name)
        self.heard: list[Any] = []
        self.out: list[Fault] = []
        self._do = do

    def changed(self, view: Any) -> Any:
        self.heard.append(view)
        return self._do(len(self.heard))

    def ejected(self, fault: Fault, why: str) -> None:
        self.out.append(fault)


class Watching:
    """What happens, and what spectators see after each fact."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.views: list[Any] = []
        self.still_in: list[tuple[Seat, ...]] = []

    def inform(self, event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            self.facts.append(event)
            self.views.append(match.view(None))
            self.still_in.append(match.game.order(match.state))

    def views_of(self, seat: Seat) -> list[Any]:
        """Those for which a seat was still in the game."""
        return [view for view, still_in in zip(self.views, self.still_in, strict=True) if seat in still_in]


def refereed(driver: str, match: AnyMatch, players: list[Any], inform: OnEvent = ignore_event) -> AnyMatch:
    """A match by one of the drivers."""
    channels = [LocalChannel(player, match.game) for player in players]
    if driver == "play":
        return play(match, channels, on_event=inform)
    return asyncio.run(play_async(match, [AsyncLocalChannel(channel) for channel in channels], on_event=inform))


def match_of(name: str) -> AnyMatch:
    return deal_match(GAMES[name], ["ann", "bob", "cyd"], seed_from_text(name), match_id="m")


@each_driver
@each_game
def test_a_listener_gets_the_spectators_view_of_every_fact_until_eliminated(name: str, driver: str) -> None:
    ann, cyd, watching = Listener(name), Listener(name), Watching()

    refereed(driver, match_of(name), [ann, Deaf(name), cyd], watching.inform)

    assert len(watching.facts) > 5
    assert (ann.heard, cyd.heard) == (watching.views_of(0), watching.views_of(2))
    assert all(view.seat is None for view in ann.heard)


@each_driver
@each_game
def test_the_facts_are_the_same_with_and_without_change_listeners(name: str, driver: str) -> None:
    without, watching = Watching(), Watching()

    refereed("play", match_of(name), [Deaf(name) for _ in range(3)], without.inform)
    refereed(driver, match_of(name), [Listener(name), Deaf(name), Listener(name)], watching.inform)

    assert watching.facts == without.facts


@each_game
def test_the_journal_is_the_same_with_and_without_change_listeners(name: str, tmp_path: Path) -> None:
    def recorded(directory: str, players: list[Any]) -> list[dict[str, Any]]:
        journal = Journal(tmp_path / directory)
        match = Referee().run(
            GAMES[name],
            players,
            seed=seed_from_text(name),
            match_id="m",
            record=lambda match: journal.begin(match, players=("x",) * 3),
        )
        assert match.result.ejected == ()
        timeless = {"at", "took", "hash", "mark"}
        return [
            {key: it for key, it in line.items() if key not in timeless}
            for line in read_lines(tmp_path / directory / "m.jsonl")
        ]

    deaf = recorded("without", [Deaf(name) for _ in range(3)])

    assert recorded("with", [Listener(name) for _ in range(3)]) == deaf


@each_driver
@pytest.mark.parametrize("error", [ValueError("a bad day"), SystemExit(1), RecursionError()])
def test_an_exception_in_changed_is_a_crash_at_the_next_message(error: BaseException, driver: str) -> None:
    def crash(number: int) -> None:
        if number == 4:
            raise error

    ann, bob, watching = Listener("fish", crash), Listener("fish"), Watching()

    match = refereed(driver, match_of("fish"), [ann, bob, Deaf("fish")], watching.inform)

    (out,) = match.result.ejected
    assert (out.seat, out.fault, out.moment, out.why) == (
        0,
        Fault.CRASHED,
        Moment.TURN,
        f"raised {type(error).__name__}",
    )
    turns_before = [fact.seat for fact in watching.facts[: watching.facts.index(out)]]
    assert turns_before == [0, 1, 2, 0, 1, 2]
    assert len(ann.heard) == 4  # it was not told of any more
    assert ann.out == [Fault.CRASHED]
    assert bob.heard == watching.views  # also of the ejection


@each_driver
def test_an_exception_in_changed_after_the_game_is_a_crash_at_the_end(driver: str) -> None:
    watching, ann = Watching(), Listener("fish")
    refereed(driver, match_of("fish"), [Deaf("fish") for _ in range(3)], watching.inform)

    def crash(number: int) -> None:
        if number == len(watching.facts):
            raise ValueError

    ann = Listener("fish", crash)
    match = refereed(driver, match_of("fish"), [ann, Deaf("fish"), Deaf("fish")])

    assert [(out.seat, out.moment) for out in match.result.ejected] == [(0, Moment.END)]


@each_driver
def test_the_return_value_of_changed_is_ignored(driver: str) -> None:
    match = refereed(driver, match_of("fish"), [Listener("fish", lambda number: number), Deaf("fish"), Deaf("fish")])

    assert match.result.ejected == ()


@each_driver
def test_an_ejected_listener_gets_no_more_changes(driver: str) -> None:
    class Cheat(Listener):
        def __init__(self) -> None:
            super().__init__("fish")
            self.take_turn = lambda view: "no action"

    cheat, bob = Cheat(), Listener("fish")

    refereed(driver, match_of("fish"), [cheat, bob, Deaf("fish")])

    assert (cheat.heard, cheat.out) == ([], [Fault.MALFORMED])
    assert len(bob.heard) > 5


@each_driver
def test_the_keyboard_is_heard_even_then(driver: str) -> None:
    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refereed(driver, match_of("fish"), [Listener("fish", interrupt), Deaf("fish"), Deaf("fish")])


class Strange(Deaf):
    """It does not like to be asked what it has."""

    def __getattr__(self, name: str) -> Any:
        if name == "changed":
            raise SystemExit
        raise AttributeError(name)


class Flagged(Deaf):
    """It calls something else by that name."""

    changed = True


@each_driver
@pytest.mark.parametrize("player", [Strange, Flagged])
def test_a_player_without_the_method_changed_is_not_told_of_changes(player: type[Deaf], driver: str) -> None:
    match = refereed(driver, match_of("fish"), [player("fish"), Deaf("fish"), Deaf("fish")])

    assert match.result.ejected == ()


class Shy(Toy, frozen=True):
    """A game without a view for spectators."""

    def view(self, state: State, seat: Seat | None) -> View:
        assert seat is not None
        return super().view(state, seat)


@each_driver
def test_without_listeners_no_view_is_computed(driver: str) -> None:
    game = Shy()
    match = Match(game, game.deal(2, bytes(32)), ("ann", "bob"))

    final = refereed(driver, match, [lambda view: next(game.actions(view))] * 2)

    assert final.result.ejected == ()
    with pytest.raises(AssertionError):
        final.view(None)


def test_without_listeners_the_observer_function_is_unchanged() -> None:
    watching = Watching()

    assert add_change_listeners({0: LocalChannel(Deaf("fish"), GAMES["fish"])}, watching.inform) == watching.inform
    assert add_change_listeners({0: LocalChannel(Listener("fish"), GAMES["fish"])}, watching.inform) != watching.inform
