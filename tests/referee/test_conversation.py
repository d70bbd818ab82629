"""Check that the referee sends the right messages to the right seats in the right order, and how it judges answers."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from fairplay.core.errors import HostFault
from fairplay.core.events import Acted, Ejected, Ended, Event, Fact, Fault, Started
from fairplay.core.game import Moment, News
from fairplay.core.match import Match
from fairplay.core.messages import Answer, Answered, End, Evidence, Failed, Message, Start, TakeTurn, Tell
from fairplay.core.roles import NULL_RECORD
from fairplay.games.fish import Action, Fish, Move, Place, View
from fairplay.games.fish.examples import EXAMPLES
from fairplay.referee.conversation import (
    AnyMatch,
    Call,
    CloseChannel,
    conversation,
    judge,
    judge_acknowledgement,
    winners_first,
)
from tests.toy import Play, State, Toy

NAMES = ("ann", "bob", "cyd")
# No player holds the 0, so none is eliminated. One card is left to draw, and ann will be told of it.
SHORT = State(((4,), (6,), (5,)), (1,), (), (), (0, 0, 0), order=(0, 1, 2), ranked=(0, 1, 2))
GONE, THANKS = Failed(Fault.GONE, "left the room"), Answered("thanks")
CHEAT = Answered(Play(99))


def toy(state: State = SHORT, **fields: Any) -> AnyMatch:
    return Match(Toy(), msgspec.structs.replace(state, **fields), NAMES)


def owing(*owed: News) -> AnyMatch:
    return msgspec.structs.replace(toy(pile=()), pending_news=owed)


def run_conversation(match: AnyMatch, answers: Mapping[str, Answer]) -> tuple[AnyMatch, list[str]]:
    """The final match, and the notes. Answers are given by what is noted of the call, like "0 turn"; otherwise players
    take the first legal action and acknowledge the rest."""
    notes: list[str] = []
    script = conversation(match, NULL_RECORD, lambda event, match: notes.append(describe_event(event)))
    answer: Answer | None = None
    try:
        request = next(script)
        while True:
            answer = Answered(None)
            if isinstance(request, Call):
                notes.append(f"{request.seat} {describe_message(request.message)}")
                answer = answers.get(notes[-1].split(" told ")[0]) or good_answer(match, request.message)
            elif isinstance(request, CloseChannel):
                notes.append(f"{request.seat} dismissed")
            request = script.send(answer)
    except StopIteration as end:
        return end.value, notes


def good_answer(match: AnyMatch, message: Message) -> Answer:
    return Answered(next(match.game.actions(message.view)) if isinstance(message, TakeTurn) else None)


def describe_message(message: Message) -> str:
    match message:
        case Start():
            return "start"
        case TakeTurn():
            return "turn"
        case Tell(news):
            return f"news told {news}"
        case End(result):
            return f"end told {[sorted(group) for group in result.ranking]}"


def describe_event(event: Event) -> str:
    match event:
        case Started():
            return "* started"
        case Acted(seat):
            return f"* {seat} acted"
        case Ejected(seat, fault, moment):
            return f"* {seat} ejected, {fault.value} at the {moment.value}"
        case Ended(result):
            return f"* ended {[sorted(group) for group in result.ranking]}"


def out(seat: int, why: str) -> str:
    return f"* {seat} ejected, {why}; {seat} dismissed"


GREETED = "* started; 0 start; 1 start; 2 start"
FIRST_TURN = "0 turn; * 0 acted; 0 news told 1"
OTHER_TURNS = "1 turn; * 1 acted; 2 turn; * 2 acted"
PLAYED = f"{GREETED}; {FIRST_TURN}; {OTHER_TURNS}; 0 turn; * 0 acted"
WITHOUT_0 = f"1 turn; * 1 acted; 1 news told 1; 2 turn; * 2 acted; 2 news told 4; {OTHER_TURNS}; " + (
    "2 end told [[2], [1]]; 1 end told [[2], [1]]; * ended [[2], [1]]"
)
STORIES: dict[str, tuple[AnyMatch, dict[str, Answer], str]] = {
    "a whole match": (
        toy(),
        {},
        f"{PLAYED}; 1 end told [[1], [0, 2]]; 2 end told [[1], [0, 2]]; 0 end told [[1], [0, 2]]; "
        "* ended [[1], [0, 2]]",
    ),
    "one fails at the greeting": (
        toy(),
        {"1 start": GONE},
        f"* started; 0 start; 1 start; {out(1, 'gone at the greeting')}; 2 start; {FIRST_TURN}; "
        "2 turn; * 2 acted; 2 news told 6; 0 turn; * 0 acted; 2 turn; * 2 acted; "
        "2 end told [[2], [0]]; 0 end told [[2], [0]]; * ended [[2], [0]]",
    ),
    "all fail at the greeting": (
        toy(),
        {"0 start": GONE, "1 start": GONE, "2 start": GONE},
        f"* started; 0 start; {out(0, 'gone at the greeting')}; 1 start; {out(1, 'gone at the greeting')}; "
        f"2 start; {out(2, 'gone at the greeting')}; * ended []",
    ),
    "one thanks for the greeting": (
        toy(),
        {"0 start": THANKS},
        f"* started; 0 start; {out(0, 'malformed at the greeting')}; 1 start; 2 start; {WITHOUT_0}",
    ),
    "one cheats": (toy(), {"0 turn": CHEAT}, f"{GREETED}; 0 turn; {out(0, 'illegal at the turn')}; {WITHOUT_0}"),
    "one fails at news": (
        toy(),
        {"0 news": GONE},
        f"{GREETED}; {FIRST_TURN}; {out(0, 'gone at the news')}; {OTHER_TURNS}; "
        "1 end told [[1], [2]]; 2 end told [[1], [2]]; * ended [[1], [2]]",
    ),
    "winners are told the end first": (
        toy(hands=((), (), ()), pile=(), scores=(3, 9, 9), order=(2, 0, 1)),
        {},
        "* started; 2 start; 0 start; 1 start; "
        "2 end told [[1, 2], [0]]; 1 end told [[1, 2], [0]]; 0 end told [[1, 2], [0]]; * ended [[1, 2], [0]]",
    ),
    "one fails at the end, and no player moves up": (
        toy(),
        {"2 end": GONE},
        f"{PLAYED}; 1 end told [[1], [0, 2]]; 2 end told [[1], [0, 2]]; {out(2, 'gone at the end')}; "
        "0 end told [[1], [0]]; * ended [[1], [0]]",
    ),
    "all fail at the end, and emptied groups stay empty": (
        toy(),
        {"0 end": GONE, "1 end": GONE, "2 end": GONE},
        f"{PLAYED}; 1 end told [[1], [0, 2]]; {out(1, 'gone at the end')}; 2 end told [[], [0, 2]]; "
        f"{out(2, 'gone at the end')}; 0 end told [[], [0]]; {out(0, 'gone at the end')}; * ended [[], []]",
    ),
    "an eliminated player has no turn and no news any more, but an end": (
        toy(hands=((0, 8), (6, 7), (5,)), pile=(1, 2, 3)),
        {},
        f"{GREETED}; 0 turn; * 0 acted; 1 turn; * 1 acted; 1 news told 1; 2 turn; * 2 acted; 2 news told 2; "
        f"1 turn; * 1 acted; 1 news told 3; 2 turn; * 2 acted; {OTHER_TURNS}; 1 turn; * 1 acted; "
        "1 end told [[1], [2], [0]]; 2 end told [[1], [2], [0]]; 0 end told [[1], [2], [0]]; * ended [[1], [2], [0]]",
    ),
    "pending news comes before the first turn": (
        owing(News(1, "one"), News(0, "two")),
        {},
        f"{GREETED}; 1 news told one; 0 news told two; 0 turn; * 0 acted; {OTHER_TURNS}; "
        "1 end told [[1], [2], [0]]; 0 end told [[1], [2], [0]]; 2 end told [[1], [2], [0]]; * ended [[1], [2], [0]]",
    ),
    "a player that fails at news is not told its other news": (
        owing(News(1, "one"), News(0, "two"), News(1, "three")),
        {"1 news": GONE},
        f"{GREETED}; 1 news told one; {out(1, 'gone at the news')}; 0 news told two; "
        "0 turn; * 0 acted; 0 news told 6; 2 turn; * 2 acted; 0 turn; * 0 acted; "
        "0 end told [[0], [2]]; 2 end told [[0], [2]]; * ended [[0], [2]]",
    ),
    "pending news survives the failure of another player": (
        owing(News(1, "one"), News(2, "two")),
        {"2 start": GONE},
        f"{GREETED}; {out(2, 'gone at the greeting')}; 1 news told one; 0 turn; * 0 acted; 0 news told 5; "
        "1 turn; * 1 acted; 0 turn; * 0 acted; 0 end told [[0], [1]]; 1 end told [[0], [1]]; * ended [[0], [1]]",
    ),
    "a match of Fish that is over": (
        Match(Fish(), EXAMPLES["tie"], NAMES),
        {},
        f"{GREETED}; 0 end told [[0, 1], [2]]; 1 end told [[0, 1], [2]]; 2 end told [[0, 1], [2]]; "
        "* ended [[0, 1], [2]]",
    ),
    "no player remains": (
        Match(Fish(), EXAMPLES["star"], ("ann", "bob")),
        {"0 turn": GONE, "1 turn": GONE},
        f"* started; 0 start; 1 start; 0 turn; {out(0, 'gone at the turn')}; 1 turn; {out(1, 'gone at the turn')}; "
        "* ended []",
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_the_right_messages_are_sent_in_the_right_order(story: str) -> None:
    match, answers, expected = STORIES[story]

    final, notes = run_conversation(match, answers)

    assert "; ".join(notes) == expected
    assert final.result.ejected == final.ejected


def test_messages_have_the_views_of_their_seats() -> None:
    match = toy(order=(2, 0, 1))
    script = conversation(match)

    calls = [next(script), *(script.send(Answered(None)) for _ in range(3))]

    starts = [Call(seat, Start(seat, NAMES, match.view(seat))) for seat in (2, 0, 1)]
    assert calls == [*starts, Call(2, TakeTurn(match.view(2)))]


def test_an_illegal_action_is_not_carried_out_and_one_before_a_failure_at_news_is() -> None:
    cheated, _ = run_conversation(toy(), {"0 turn": CHEAT})
    failed, _ = run_conversation(toy(), {"0 news": GONE})

    assert cheated.ejected[0].why == "rule 2: you do not hold this card"
    assert 99 not in cheated.state.played
    assert (failed.state.played, failed.state.aside) == ((4, 6, 5), (1,))


def test_an_ejected_player_of_a_resumed_match_gets_no_messages() -> None:
    halfway, _ = run_conversation(toy(), {"1 start": GONE})

    _, notes = run_conversation(toy().after(halfway.ejected[0]), {})

    assert not [line for line in notes if line.startswith("1 ")]
    assert notes[:3] == ["* started", "0 start", "2 start"]


def test_a_stuck_player_is_not_asked_and_an_ejection_can_free_it() -> None:
    match: AnyMatch = Match(Fish(), EXAMPLES["freed by an ejection"], NAMES)

    _, kept = run_conversation(match, {})
    _, freed = run_conversation(match, {"1 start": GONE})

    assert ("0 turn" in kept, "0 turn" in freed) == (False, True)


def test_without_a_ranking_there_is_no_winner() -> None:
    final, _ = run_conversation(toy(), {"0 start": GONE, "1 start": GONE, "2 start": GONE})

    assert winners_first(final, final.result) == ()


# How answers are judged.

FISH = Fish()
VIEW = FISH.view(EXAMPLES["start"], 0)


@pytest.mark.parametrize(
    ("seat", "action", "fact"),
    [
        (0, Place((2, 2)), Acted(0, Place((2, 2)))),
        (0, Place((9, 9)), Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")),
        (1, Place((2, 2)), Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 2.3: it is not your turn", "2.3")),
    ],
    ids=["legal", "illegal", "by the view of another seat"],
)
def test_an_action_is_a_fact_or_an_ejection_that_names_the_clause(seat: int, action: Action, fact: Fact) -> None:
    assert judge(FISH, FISH.view(EXAMPLES["start"], seat), seat, Answered(action)) == fact


def test_an_action_of_the_wrong_stage_is_illegal_not_malformed() -> None:
    fact = judge(FISH, VIEW, 0, Answered(Move((0, 0), (2, 0))))

    assert isinstance(fact, Ejected)
    assert (fact.fault, fact.why[:8]) == (Fault.ILLEGAL, "rule 3.4")


@pytest.mark.parametrize("fault", Fault)
def test_a_failure_is_an_ejection_with_its_own_fault_at_its_moment(fault: Fault) -> None:
    failed = Failed(fault, "it went wrong", evidence=Evidence("a secret"))

    assert judge(FISH, VIEW, 0, failed) == Ejected(0, fault, Moment.TURN, "it went wrong")
    for moment in (Moment.GREETING, Moment.NEWS, Moment.END):
        assert judge_acknowledgement(1, moment, failed) == Ejected(1, fault, moment, "it went wrong")


@pytest.mark.parametrize("value", [0, "", False, (), "void", Place((0, 0))])
def test_only_none_is_an_acknowledgement(value: object) -> None:
    assert judge_acknowledgement(1, Moment.NEWS, Answered(None)) is None
    for moment in (Moment.GREETING, Moment.NEWS, Moment.END):
        ejected = judge_acknowledgement(1, moment, Answered(value))
        assert ejected is not None
        assert (ejected.seat, ejected.fault, ejected.moment) == (1, Fault.MALFORMED, moment)


@pytest.mark.parametrize("verdict", [False, True, "illegal"])
def test_rules_whose_check_returns_a_value_are_a_host_fault(verdict: object) -> None:
    class ByValue(Fish, frozen=True):
        def check(self, view: View, action: Action) -> None:
            return verdict  # type: ignore[return-value]  # which is the mistake

    game = ByValue(rows=3, columns=3)
    view = game.view(game.deal(2, bytes(32)), 0)

    with pytest.raises(HostFault, match=r"the rules of fish returned .*: check returns None, and raises IllegalAction"):
        judge(game, view, 0, Answered(Place((0, 0))))
