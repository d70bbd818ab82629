"""Check that local players are told of every change by both drivers, without an effect on the match."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairplay.core.chance import seed_from_text
from fairplay.core.events import Acted, Ejected, Event, Fact, Fault
from fairplay.core.game import Moment, Seat
from fairplay.core.match import Match
from fairplay.games import make_game
from fairplay.hosting.table import AsyncLocalChannel
from fairplay.players.address import built_in_strategy
from fairplay.referee.conversation import AnyMatch
from fairplay.referee.drivers import play, play_async
from fairplay.referee.local_channel import LocalChannel
from fairplay.referee.referee import deal_match
from tests.toy import State, Toy, View

GAMES: dict[str, Any] = {
    "fish": make_game("fish", {"rows": 4, "columns": 4}),
    "tsuro": make_game("tsuro", {}),
    "q": make_game("q", {}),
}
BUILT_IN = {"fish": "greedy", "tsuro": "survivor", "q": "dag"}
each_driver = pytest.mark.parametrize("driver", ["play", "play_async"])


class Deaf:
    """A built-in player that wants to hear of nothing."""

    def __init__(self, name: str = "fish") -> None:
        self.take_turn = built_in_strategy(name, BUILT_IN[name], bytes(32))


class Listener(Deaf):
    """A built-in player that keeps the views of all changes, and does something with each."""

    def __init__(self, name: str = "fish", do: Callable[[int], object] = int) -> None:
        super().__init__(name)
        self.heard: list[Any] = []
        self.out: list[Fault] = []
        self._do = do

    def changed(self, view: Any) -> Any:
        self.heard.append(view)
        return self._do(len(self.heard))

    def ejected(self, fault: Fault, why: str) -> None:
        self.out.append(fault)


class Refereed:
    """A match by one of the drivers: what happens, and what spectators see after each fact."""

    def __init__(self, driver: str, match: AnyMatch, *players: Any) -> None:
        self.facts: list[Fact] = []
        self.views: list[Any] = []
        self.still_in: list[tuple[Seat, ...]] = []
        channels = [LocalChannel(player, match.game) for player in players]
        if driver == "play":
            self.final = play(match, channels, on_event=self._inform)
        else:
            table = [AsyncLocalChannel(channel) for channel in channels]
            self.final = asyncio.run(play_async(match, table, on_event=self._inform))

    def _inform(self, event: Event, match: AnyMatch) -> None:
        if isinstance(event, Acted | Ejected):
            self.facts.append(event)
            self.views.append(match.view(None))
            self.still_in.append(match.game.order(match.state))

    def views_of(self, seat: Seat) -> list[Any]:
        """Those for which a seat was still in the game."""
        return [view for view, still_in in zip(self.views, self.still_in, strict=True) if seat in still_in]


def match_of(name: str) -> AnyMatch:
    return deal_match(GAMES[name], ["ann", "bob", "cyd"], seed_from_text(name), match_id="m")


def refereed(driver: str, *players: Any) -> Refereed:
    return Refereed(driver, match_of("fish"), *players)


@each_driver
@pytest.mark.parametrize("name", GAMES)
def test_a_listener_gets_the_spectators_view_of_every_fact_until_eliminated(name: str, driver: str) -> None:
    ann, cyd = Listener(name), Listener(name)

    heard = Refereed(driver, match_of(name), ann, Deaf(name), cyd)
    unheard = Refereed("play", match_of(name), Deaf(name), Deaf(name), Deaf(name))

    assert len(heard.facts) > 5
    assert heard.facts == unheard.facts
    assert (ann.heard, cyd.heard) == (heard.views_of(0), heard.views_of(2))
    assert all(view.seat is None for view in ann.heard)


@each_driver
@pytest.mark.parametrize("error", [ValueError("a bad day"), SystemExit(1), RecursionError()])
def test_an_exception_in_changed_is_a_crash_at_the_next_message(error: BaseException, driver: str) -> None:
    def crash(number: int) -> None:
        if number == 4:
            raise error

    ann, bob = Listener(do=crash), Listener()

    played = refereed(driver, ann, bob, Deaf())

    (out,) = played.final.result.ejected
    assert out == Ejected(0, Fault.CRASHED, Moment.TURN, f"raised {type(error).__name__}")
    assert [fact.seat for fact in played.facts[: played.facts.index(out)]] == [0, 1, 2, 0, 1, 2]
    assert len(ann.heard) == 4  # it was not told of any more
    assert ann.out == [Fault.CRASHED]
    assert bob.heard == played.views  # also of the ejection


@each_driver
def test_an_exception_in_changed_after_the_game_is_a_crash_at_the_end(driver: str) -> None:
    last = len(refereed(driver, Deaf(), Deaf(), Deaf()).facts)

    def crash(number: int) -> None:
        if number == last:
            raise ValueError

    played = refereed(driver, Listener(do=crash), Deaf(), Deaf())

    assert [(out.seat, out.moment) for out in played.final.result.ejected] == [(0, Moment.END)]


@each_driver
def test_an_ejected_listener_gets_no_more_changes(driver: str) -> None:
    cheat, bob = Listener(), Listener()
    cheat.take_turn = lambda view: "no action"

    refereed(driver, cheat, bob, Deaf())

    assert (cheat.heard, cheat.out) == ([], [Fault.MALFORMED])
    assert len(bob.heard) > 5


@each_driver
def test_the_keyboard_is_heard_even_then(driver: str) -> None:
    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refereed(driver, Listener(do=interrupt), Deaf(), Deaf())


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
@pytest.mark.parametrize("player", [Strange(), Flagged(), Listener(do=str)], ids=["strange", "flagged", "answering"])
def test_an_attribute_of_that_name_or_a_return_value_does_no_harm(player: Any, driver: str) -> None:
    assert refereed(driver, player, Deaf(), Deaf()).final.result.ejected == ()


class Shy(Toy, frozen=True):
    """A game without a view for spectators."""

    def view(self, state: State, seat: Seat | None) -> View:
        assert seat is not None
        return super().view(state, seat)


def test_without_listeners_no_view_is_computed() -> None:
    game = Shy()
    match: AnyMatch = Match(game, game.deal(2, bytes(32)), ("ann", "bob"))

    final = play(match, [LocalChannel(lambda view: next(game.actions(view)), game)] * 2)

    assert final.result.ejected == ()
    with pytest.raises(AssertionError):
        final.view(None)
