"""Check that a match is an immutable value that changes only by facts."""

from typing import Any

import msgspec
import pytest

from fairplay.core.events import Acted, Ejected, Fault
from fairplay.core.game import Game, Moment, News
from fairplay.core.match import Match
from fairplay.games.fish import Fish
from fairplay.games.fish.examples import EXAMPLES
from tests.toy import Play, State, Toy

ToyMatch = Match[Any, Any, Any]
NAMES = ("ann", "bob", "cyd")
DEALT = State(((4, 5), (6, 7), (0, 9)), (1, 2), (), (), (0, 0, 0), order=(0, 1, 2), ranked=(0, 1, 2))


def toy(state: State = DEALT, owed: tuple[News, ...] = ()) -> ToyMatch:
    return Match(Toy(), state, NAMES, pending_news=owed)


def out(seat: int, moment: Moment) -> Ejected:
    return Ejected(seat, Fault.GONE, moment, "left")


def test_an_action_changes_the_state_and_the_pending_news_of_a_new_match() -> None:
    first = toy().after(Acted(0, Play(4)))
    second = first.after(Acted(1, Play(6)))
    third = second.after(out(0, Moment.TURN))

    assert (first.state.hands[0], first.turn, first.pending_news) == ((5, 1), 1, (News(0, 1),))
    assert second.pending_news == (News(1, 2),)
    assert third.result.scores == (4, 6, 0)
    assert first.after(out(1, Moment.TURN)).pending_news == ()
    assert third.after(out(2, Moment.TURN)).result.ejected == (out(0, Moment.TURN), out(2, Moment.TURN))
    assert first != toy() == toy()


@pytest.mark.parametrize("moment", [Moment.NEWS, Moment.GREETING])
def test_news_of_an_ejected_seat_is_dropped_and_that_of_others_kept(moment: Moment) -> None:
    match = toy(owed=(News(0, "one"), News(1, "two"), News(0, "three")))

    after = match.after(out(0, moment))

    assert after.pending_news == (News(1, "two"),)


def test_the_game_is_told_the_moment_of_an_ejection() -> None:
    match = toy().after(Acted(0, Play(4)))

    at_news, at_greeting = match.after(out(0, Moment.NEWS)), match.after(out(0, Moment.GREETING))

    assert (at_news.state.pile, at_news.state.aside) == ((2, 5), (1,))
    assert (at_greeting.state.pile, at_greeting.state.aside) == ((2, 5, 1), ())


def test_a_seat_ejected_at_the_end_is_removed_and_no_seat_moves_up() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    one_out = match.after(out(0, Moment.END))
    both_out = one_out.after(out(1, Moment.END))

    assert match.result.ranking == (frozenset({0, 1}), frozenset({2}))
    assert one_out.result.ranking == (frozenset({1}), frozenset({2}))
    assert both_out.result.ranking == (frozenset(), frozenset({2}))
    assert match.after(out(0, Moment.GREETING)).result.ranking == (frozenset({1}), frozenset({2}))
    assert (both_out.state, both_out.turn, both_out.remaining_seats) == (EXAMPLES["tie"], None, (2,))
    assert both_out.result.scores == EXAMPLES["tie"].scores


def test_remaining_seats_are_those_in_the_game_then_the_eliminated() -> None:
    match = toy(msgspec.structs.replace(DEALT, order=(2, 1)))

    assert match.remaining_seats == (2, 1, 0)
    assert match.after(out(0, Moment.GREETING)).remaining_seats == (2, 1)
    assert match.after(out(1, Moment.TURN)).remaining_seats == (2, 0)


def test_the_result_has_no_state_in_it() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    plain = msgspec.json.decode(msgspec.json.encode(match.result))

    assert sorted(plain) == ["ejected", "ranking", "scores"]
    assert [sorted(group) for group in plain["ranking"]] == [[0, 1], [2]]


def test_a_game_without_points_has_no_scores() -> None:
    class Pointless(Toy, frozen=True):
        def scores(self, state: State) -> Any:
            return Game.scores(self, state)

    match: ToyMatch = Match(Pointless(), DEALT, NAMES)

    assert match.result.scores is None
    assert b"scores" not in msgspec.json.encode(match.result)
