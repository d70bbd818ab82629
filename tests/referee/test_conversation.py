"""Check that the referee sends the right messages to the right seats in the right order."""

from typing import Any

import msgspec
import pytest

from fairplay.core.events import Fault
from fairplay.core.game import News
from fairplay.core.match import Match
from fairplay.core.messages import Answered, Failed, Start, TakeTurn
from fairplay.games.fish import Fish
from fairplay.games.fish.examples import EXAMPLES
from fairplay.referee.conversation import AnyMatch, Call, conversation, winners_first
from tests.referee.conversation_log import GONE_FAILURE, run_conversation
from tests.toy import Play, State, Toy

NAMES = ("ann", "bob", "cyd")
# No player holds the 0, so none is eliminated. One card is left to draw, and ann will be told of it.
SHORT = State(((4,), (6,), (5,)), (1,), (), (), (0, 0, 0), order=(0, 1, 2), ranked=(0, 1, 2))


def toy(state: State = SHORT, **fields: Any) -> AnyMatch:
    return Match(Toy(), msgspec.structs.replace(state, **fields), NAMES)


def owing(*owed: News) -> AnyMatch:
    return msgspec.structs.replace(toy(pile=()), pending_news=owed)


def test_a_match_is_a_greeting_turns_with_news_and_an_end() -> None:
    _, notes = run_conversation(toy())

    assert notes == [
        "* started",
        "0 start",
        "1 start",
        "2 start",
        "0 turn",
        "* 0 acted",
        "0 news told 1",
        "1 turn",
        "* 1 acted",
        "2 turn",
        "* 2 acted",
        "0 turn",
        "* 0 acted",
        "1 end told [[1], [0, 2]]",
        "2 end told [[1], [0, 2]]",
        "0 end told [[1], [0, 2]]",
        "* ended [[1], [0, 2]]",
    ]


def test_all_players_are_greeted_with_their_views_in_turn_order() -> None:
    match = toy(order=(2, 0, 1))
    script = conversation(match)

    calls = [next(script), script.send(Answered(None)), script.send(Answered(None))]

    assert calls == [Call(seat, Start(seat, NAMES, match.view(seat))) for seat in (2, 0, 1)]


def test_a_turn_is_asked_with_the_view_of_the_seat_on_turn() -> None:
    match = toy()
    script = conversation(match)

    call = next(script)
    for _ in match.remaining_seats:
        call = script.send(Answered(None))

    assert call == Call(0, TakeTurn(match.view(0)))


def test_a_player_that_fails_at_the_greeting_gets_no_more_messages() -> None:
    final, notes = run_conversation(toy(), {"1 start": GONE_FAILURE})

    assert notes[:6] == [
        "* started",
        "0 start",
        "1 start",
        "* 1 ejected, gone at the greeting",
        "1 dismissed",
        "2 start",
    ]
    assert not [line for line in notes[5:] if line.startswith("1 ")]
    assert notes[-1] == "* ended [[2], [0]]"
    assert final.result.ejected == final.ejected


def test_a_match_ends_without_a_turn_if_all_players_fail_at_the_greeting() -> None:
    final, notes = run_conversation(toy(), {"0 start": GONE_FAILURE, "1 start": GONE_FAILURE, "2 start": GONE_FAILURE})

    assert [line for line in notes if "turn" in line or "end told" in line] == []
    assert notes[-1] == "* ended []"
    assert [ejected.seat for ejected in final.result.ejected] == [0, 1, 2]


def test_a_player_that_fails_at_its_turn_gets_no_more_messages() -> None:
    _, notes = run_conversation(toy(), {"0 turn": Failed(Fault.TIMED_OUT, "too late")})

    assert notes[4:8] == ["0 turn", "* 0 ejected, timed_out at the turn", "0 dismissed", "1 turn"]
    assert not [line for line in notes[7:] if line.startswith("0 ")]


def test_an_illegal_action_is_not_carried_out_at_all() -> None:
    final, notes = run_conversation(toy(), {"0 turn": Answered(Play(99))})

    assert "* 0 ejected, illegal at the turn" in notes
    assert final.ejected[0].why == "rule 2: you do not hold this card"
    assert 99 not in final.state.played


def test_news_comes_after_the_action_is_announced_and_before_the_next_turn() -> None:
    _, notes = run_conversation(toy())
    at = notes.index("0 news told 1")

    assert notes[at - 1 : at + 2] == ["* 0 acted", "0 news told 1", "1 turn"]


def test_a_player_that_fails_at_news_is_ejected_but_its_action_counts() -> None:
    final, notes = run_conversation(toy(), {"0 news": GONE_FAILURE})
    at = notes.index("0 news told 1")

    assert notes[at : at + 4] == ["0 news told 1", "* 0 ejected, gone at the news", "0 dismissed", "1 turn"]
    assert final.state.played == (4, 6, 5)
    assert final.state.aside == (1,)


def test_winners_are_told_the_end_first_then_the_rest_in_turn_order() -> None:
    state = msgspec.structs.replace(SHORT, hands=((), (), ()), pile=(), scores=(3, 9, 9), order=(2, 0, 1))

    _, notes = run_conversation(Match(Toy(), state, NAMES))

    assert [line[:5] for line in notes if "end told" in line] == ["2 end", "1 end", "0 end"]


def test_a_player_that_fails_at_the_end_is_removed_and_no_player_moves_up() -> None:
    final, notes = run_conversation(toy(), {"2 end": GONE_FAILURE})

    assert notes[-5:] == [
        "2 end told [[1], [0, 2]]",
        "* 2 ejected, gone at the end",
        "2 dismissed",
        "0 end told [[1], [0]]",
        "* ended [[1], [0]]",
    ]
    assert final.result.ranking == (frozenset({1}), frozenset({0}))


def test_an_emptied_first_group_stays_empty() -> None:
    final, notes = run_conversation(toy(), {"1 end": GONE_FAILURE})

    assert final.result.ranking == (frozenset(), frozenset({0, 2}))
    assert notes[-1] == "* ended [[], [0, 2]]"


def test_no_player_is_ranked_if_all_fail_at_the_end() -> None:
    final, _ = run_conversation(toy(), {"0 end": GONE_FAILURE, "1 end": GONE_FAILURE, "2 end": GONE_FAILURE})

    assert final.result.ranking == (frozenset(), frozenset())
    assert [ejected.seat for ejected in final.ejected] == [1, 2, 0]


def test_an_eliminated_player_gets_no_turn_and_no_news_any_more_but_exactly_one_end() -> None:
    match = toy(hands=((0, 8), (6, 7), (5,)), pile=(1, 2, 3))

    final, notes = run_conversation(match)
    after = notes[notes.index("* 0 acted") + 1 :]

    assert [line for line in after if line.startswith("0 ")] == ["0 end told [[1], [2], [0]]"]
    assert final.ejected == ()
    assert frozenset({0}) in final.result.ranking


@pytest.mark.parametrize("call", ["0 start", "0 news", "0 end"])
def test_an_answer_where_only_an_acknowledgement_was_due_is_malformed(call: str) -> None:
    final, _ = run_conversation(toy(), {call: Answered("thanks")})

    assert [(ejected.seat, ejected.fault) for ejected in final.ejected] == [(0, Fault.MALFORMED)]


# A match that goes on from the middle.


def test_pending_news_is_told_before_the_first_turn() -> None:
    _, notes = run_conversation(owing(News(1, "one"), News(0, "two")))

    assert notes[4:7] == ["1 news told one", "0 news told two", "0 turn"]


def test_a_player_that_fails_at_news_is_not_told_its_other_news() -> None:
    _, notes = run_conversation(owing(News(1, "one"), News(0, "two"), News(1, "three")), {"1 news": GONE_FAILURE})

    assert notes[4:9] == [
        "1 news told one",
        "* 1 ejected, gone at the news",
        "1 dismissed",
        "0 news told two",
        "0 turn",
    ]


def test_pending_news_survives_the_failure_of_another_player_at_the_greeting() -> None:
    _, notes = run_conversation(owing(News(1, "one"), News(2, "two")), {"2 start": GONE_FAILURE})

    assert notes[3:8] == ["2 start", "* 2 ejected, gone at the greeting", "2 dismissed", "1 news told one", "0 turn"]


def test_a_resumed_match_that_is_over_has_a_greeting_and_an_end() -> None:
    _, notes = run_conversation(Match(Fish(), EXAMPLES["tie"], NAMES))

    assert [line.split(" told ")[0] for line in notes] == [
        *("* started", "0 start", "1 start", "2 start"),
        *("0 end", "1 end", "2 end", "* ended [[0, 1], [2]]"),
    ]


def test_an_ejected_player_of_a_resumed_match_gets_no_messages() -> None:
    halfway, _ = run_conversation(toy(), {"1 start": GONE_FAILURE})
    match = toy().after(halfway.ejected[0])

    _, notes = run_conversation(match)

    assert not [line for line in notes if line.startswith("1 ")]
    assert notes[:3] == ["* started", "0 start", "2 start"]


# Fish through the same conversation.


def test_a_stuck_player_is_not_asked_and_an_ejection_can_free_it() -> None:
    match: AnyMatch = Match(Fish(), EXAMPLES["freed by an ejection"], NAMES)

    _, kept = run_conversation(match)
    _, freed = run_conversation(match, {"1 start": GONE_FAILURE})

    assert [line for line in kept if line.startswith("0 turn")] == []
    assert [line for line in freed if line.startswith("0 turn")] != []


def test_without_remaining_players_there_is_no_winner() -> None:
    match: AnyMatch = Match(Fish(), EXAMPLES["star"], ("ann", "bob"))

    final, notes = run_conversation(match, {"0 turn": GONE_FAILURE, "1 turn": GONE_FAILURE})

    assert final.result.ranking == ()
    assert notes[-1] == "* ended []"
    assert winners_first(final, final.result) == ()
