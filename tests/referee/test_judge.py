"""Check how answers are judged."""

import pytest

from fairplay.core.errors import HostFault
from fairplay.core.events import Acted, Ejected, Fault
from fairplay.core.game import Moment
from fairplay.core.messages import Answered, Evidence, Failed
from fairplay.games.fish import Action, Fish, Move, Place, View
from fairplay.games.fish.examples import EXAMPLES
from fairplay.referee.conversation import judge, judge_acknowledgement

FISH = Fish()
VIEW = FISH.view(EXAMPLES["start"], 0)


def test_a_legal_action_is_a_fact() -> None:
    fact = judge(FISH, VIEW, 0, Answered(Place((2, 2))))

    assert fact == Acted(0, Place((2, 2)))


def test_an_illegal_action_is_an_ejection_that_names_the_clause() -> None:
    fact = judge(FISH, VIEW, 0, Answered(Place((9, 9))))

    assert fact == Ejected(0, Fault.ILLEGAL, Moment.TURN, "rule 3.2: there is no tile at [9, 9]", "3.2")


def test_an_action_of_the_wrong_stage_is_illegal_not_malformed() -> None:
    fact = judge(FISH, VIEW, 0, Answered(Move((0, 0), (2, 0))))

    assert isinstance(fact, Ejected)
    assert (fact.fault, fact.why[:8]) == (Fault.ILLEGAL, "rule 3.4")


def test_a_player_is_judged_by_the_view_it_was_shown() -> None:
    fact = judge(FISH, FISH.view(EXAMPLES["start"], 1), 1, Answered(Place((2, 2))))

    assert isinstance(fact, Ejected)
    assert fact.why == "rule 2.3: it is not your turn"


@pytest.mark.parametrize("fault", Fault)
def test_a_failure_is_an_ejection_with_its_own_fault(fault: Fault) -> None:
    fact = judge(FISH, VIEW, 0, Failed(fault, "it went wrong", evidence=Evidence("a secret")))

    assert fact == Ejected(0, fault, Moment.TURN, "it went wrong")


@pytest.mark.parametrize("moment", [Moment.GREETING, Moment.NEWS, Moment.END])
@pytest.mark.parametrize("fault", Fault)
def test_a_failure_to_acknowledge_is_an_ejection_at_that_moment(fault: Fault, moment: Moment) -> None:
    ejected = judge_acknowledgement(1, moment, Failed(fault, "it went wrong"))

    assert ejected == Ejected(1, fault, moment, "it went wrong")


def test_none_is_an_acknowledgement() -> None:
    assert judge_acknowledgement(0, Moment.NEWS, Answered(None)) is None


@pytest.mark.parametrize("moment", [Moment.GREETING, Moment.NEWS, Moment.END])
@pytest.mark.parametrize("value", [0, "", False, (), "void", Place((0, 0))])
def test_any_other_value_is_not_an_acknowledgement(value: object, moment: Moment) -> None:
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
