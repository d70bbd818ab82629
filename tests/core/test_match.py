"""Check that a match is an immutable value that changes only by facts."""

from typing import Any

import msgspec
import pytest

from fairplay.core.events import Acted, Ejected, Fact, Fault
from fairplay.core.game import Game, Moment, News
from fairplay.core.match import Match
from fairplay.games.fish import Fish, Place
from fairplay.games.fish.examples import EXAMPLES
from fairplay.games.fish.state import state_of
from tests.toy import Play, State, Toy

ToyMatch = Match[Any, Any, Any]
NAMES = ("ann", "bob", "cyd")
DEALT = State(((4, 5), (6, 7), (0, 9)), (1, 2), (), (), (0, 0, 0), order=(0, 1, 2), ranked=(0, 1, 2))


def toy(state: State = DEALT, owed: tuple[News, ...] = ()) -> ToyMatch:
    return Match(Toy(), state, NAMES, pending_news=owed)


def out(seat: int, moment: Moment) -> Ejected:
    return Ejected(seat, Fault.GONE, moment, "left")


def test_a_match_asks_its_game() -> None:
    match = toy()

    assert match.turn == 0
    assert match.view(1) == Toy().view(DEALT, 1)
    assert match.view(None) == Toy().view(DEALT, None)


def test_an_action_changes_the_state_and_the_pending_news() -> None:
    match = toy()

    after = match.after(Acted(0, Play(4)))

    assert after.state.hands[0] == (5, 1)
    assert after.pending_news == (News(0, 1),)
    assert after.turn == 1


def test_the_match_before_a_fact_is_unchanged() -> None:
    match = toy()

    match.after(Acted(0, Play(4)))
    match.after(out(1, Moment.TURN))

    assert match == toy()


def test_a_match_is_immutable() -> None:
    match = toy()

    with pytest.raises(AttributeError):
        match.names = ()  # type: ignore[misc]


def test_news_is_pending_until_the_next_action() -> None:
    match = toy().after(Acted(0, Play(4)))

    after = match.after(Acted(1, Play(6)))

    assert after.pending_news == (News(1, 2),)


def test_ejections_are_kept_in_order() -> None:
    first, second = out(2, Moment.GREETING), out(0, Moment.TURN)

    match = toy().after(first).after(second)

    assert match.ejected == (first, second)
    assert match.result.ejected == (first, second)


def test_an_ejection_at_a_turn_leaves_no_pending_news() -> None:
    match = toy().after(Acted(0, Play(4)))

    after = match.after(out(1, Moment.TURN))

    assert after.pending_news == ()


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


def test_a_failure_at_the_end_leaves_the_state_alone() -> None:
    state = EXAMPLES["tie"]
    match: ToyMatch = Match(Fish(), state, NAMES)

    after = match.after(out(0, Moment.END))

    assert after.state == state
    assert after.turn is None


def test_a_seat_ejected_at_the_end_is_removed_and_no_seat_moves_up() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    one_out = match.after(out(0, Moment.END))
    both_out = one_out.after(out(1, Moment.END))

    assert match.result.ranking == (frozenset({0, 1}), frozenset({2}))
    assert one_out.result.ranking == (frozenset({1}), frozenset({2}))
    assert both_out.result.ranking == (frozenset(), frozenset({2}))


def test_a_seat_ejected_before_the_end_is_not_ranked() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    after = match.after(out(0, Moment.GREETING))

    assert after.result.ranking == (frozenset({1}), frozenset({2}))


def test_remaining_seats_are_those_in_the_game_then_the_eliminated() -> None:
    match = toy(msgspec.structs.replace(DEALT, order=(2, 1)))

    assert match.remaining_seats == (2, 1, 0)
    assert match.after(out(0, Moment.GREETING)).remaining_seats == (2, 1)
    assert match.after(out(1, Moment.TURN)).remaining_seats == (2, 0)


def test_a_seat_ejected_at_the_end_does_not_remain() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    assert match.after(out(1, Moment.END)).remaining_seats == (0, 2)


def test_the_result_has_no_state_in_it() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    plain = msgspec.json.decode(msgspec.json.encode(match.result))

    assert sorted(plain) == ["ejected", "ranking", "scores"]
    assert [sorted(group) for group in plain["ranking"]] == [[0, 1], [2]]


def test_scores_are_by_seat_and_ejected_seats_keep_theirs() -> None:
    match = toy().after(Acted(0, Play(4))).after(out(0, Moment.TURN)).after(Acted(1, Play(6)))

    assert match.result.scores == (4, 6, 0)


def test_a_failure_at_the_end_changes_no_score() -> None:
    match: ToyMatch = Match(Fish(), EXAMPLES["tie"], NAMES)

    after = match.after(out(0, Moment.END))

    assert after.result.scores == match.result.scores == EXAMPLES["tie"].scores


def test_a_game_without_points_has_no_scores() -> None:
    class Pointless(Toy, frozen=True):
        def scores(self, state: State) -> Any:
            return Game.scores(self, state)

    match: ToyMatch = Match(Pointless(), DEALT, NAMES)

    assert match.result.scores is None
    assert b"scores" not in msgspec.json.encode(match.result)


def test_equal_facts_make_equal_matches() -> None:
    start: ToyMatch = Match(Fish(), state_of([[1, 2, 3]], [[], []], stage=EXAMPLES["start"].stage, each=1), ("a", "b"))
    facts: list[Fact] = [Acted(0, Place((0, 2))), out(1, Moment.TURN)]

    one = two = start
    for fact in facts:
        one, two = one.after(fact), two.after(fact)

    assert one == two
