"""Test how time limits are parsed, and turns charged to a time bank."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.core.events import Result
from fairplay.core.messages import End, Message, Start, TakeTurn, Tell
from fairplay.protocol.limits import Limits, TimeBudget, parse_limits

TURN = TakeTurn(None)
OTHERS: list[Message] = [Start(0, ("ann",), None), Tell(()), End(Result((), ()))]


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("2.5", Limits(move=2.5)),
        ("move=2.5", Limits(move=2.5)),
        ("3", Limits(move=3.0)),
        ("start=20", Limits(start_up=20.0)),
        ("first=20", Limits(first_move=20.0)),
        ("bank=60,increment=0.5", Limits(bank=60.0, increment=0.5)),
        ("2,first=20,bank=60,start=30", Limits(move=2.0, start_up=30.0, first_move=20.0, bank=60.0)),
        ("arrival=9,increment=0", Limits(arrival=9.0, increment=0.0)),
        ("2,people=60", Limits(move=2.0, people=60.0)),
        ("86400", Limits(move=86400.0)),
        ("1e-3", Limits(move=0.001)),
    ],
)
def test_limits_are_parsed_from_text(text: str, limits: Limits) -> None:
    assert parse_limits(text) == limits


NO_NUMBERS = ("", "0", "-1", "86401", "1e9", "nan", "inf", "-inf", "1e999", "soon", "1;2", "1 2")
NO_NAMES = ("bank", "bank=", "=1", "goodbye=1", "first_move=1", "Move=1", "bank=0", "increment=-1")
NO_LISTS = (",", "1,", "1,2", "move=1,2", "2,move=1", "bank=1,bank=2")


@pytest.mark.parametrize("text", [*NO_NUMBERS, *NO_NAMES, *NO_LISTS])
def test_invalid_limits_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        parse_limits(text)

    assert "is not a time limit" in str(refused.value)
    assert "write seconds" in str(refused.value).lower()
    assert "\n" not in str(refused.value)


def test_limits_can_be_encoded_and_decoded() -> None:
    limits = parse_limits("2,bank=60")

    assert msgspec.json.decode(msgspec.json.encode(limits), type=Limits) == limits
    assert msgspec.json.decode(msgspec.json.encode(Limits()))["move"] == 5.0


def test_without_a_bank_every_turn_has_the_same_limit() -> None:
    budget = TimeBudget(Limits(move=5.0))

    for _ in range(100):
        assert budget.limit_for(TURN) == 5.0
        budget.spend(TURN, 4.9)


def test_the_first_turn_may_have_a_limit_of_its_own() -> None:
    budget = TimeBudget(Limits(move=5.0, first_move=60.0))

    assert budget.limit_for(OTHERS[0]) == 5.0
    assert budget.limit_for(TURN) == 60.0
    budget.spend(TURN, 30.0)
    assert budget.limit_for(TURN) == 5.0


def test_messages_other_than_turns_have_the_move_limit_and_are_not_charged() -> None:
    budget = TimeBudget(Limits(move=5.0, first_move=60.0, bank=3.0))

    for message in OTHERS:
        assert budget.limit_for(message) == 5.0
        budget.spend(message, 4.0)

    assert budget.limit_for(TURN) == 3.0


def test_a_turn_is_charged_to_the_bank_and_at_most_what_is_left() -> None:
    budget = TimeBudget(Limits(move=5.0, bank=8.0))

    budget.spend(TURN, 4.0)
    assert budget.limit_for(TURN) == 4.0
    budget.spend(TURN, 3.5)
    assert budget.limit_for(TURN) == 0.5
    budget.spend(TURN, 2.0)
    assert budget.limit_for(TURN) == 0.0


def test_the_increment_comes_after_the_turn() -> None:
    budget = TimeBudget(Limits(move=5.0, bank=1.0, increment=0.5))

    assert budget.limit_for(TURN) == 1.0
    budget.spend(TURN, 1.0)
    assert budget.limit_for(TURN) == 0.5
    budget.spend(TURN, 0.0)
    assert budget.limit_for(TURN) == 1.0


def test_a_full_bank_does_not_make_a_move_longer() -> None:
    budget = TimeBudget(Limits(move=5.0, bank=600.0, increment=10.0))

    budget.spend(TURN, 0.0)

    assert budget.limit_for(TURN) == 5.0


seconds = st.floats(0, 10)


@given(st.floats(0.1, 100), st.floats(0, 5), st.lists(seconds, max_size=40))
def test_turns_within_limits_never_exceed_bank_and_increments(
    bank: float, increment: float, wishes: list[float]
) -> None:
    budget, spent = TimeBudget(Limits(move=5.0, bank=bank, increment=increment)), 0.0

    for wish in wishes:
        taken = min(wish, budget.limit_for(TURN))
        budget.spend(TURN, taken)
        spent += taken
        assert 0 <= budget.limit_for(TURN) <= 5.0

    assert spent <= bank + increment * len(wishes) + 1e-6


# A meter that cannot fail is no meter.


class Forgetful(TimeBudget):
    """A budget that gives the increment whether the bank is empty or not, and takes nothing."""

    def spend(self, message: Message, seconds: float) -> None:
        super().spend(message, 0.0)


def test_the_bank_test_detects_a_budget_that_charges_nothing() -> None:
    budget, spent = Forgetful(Limits(move=5.0, bank=1.0)), 0.0

    for _ in range(10):
        taken = budget.limit_for(TURN)
        budget.spend(TURN, taken)
        spent += taken

    assert spent > 1.0


def test_time_spent_before_an_interruption_stays_spent() -> None:
    budget = TimeBudget(Limits(move=5.0, first_move=20.0, bank=10.0, increment=1.0))

    budget.spend_turns([4.0, 30.0, 0.5])

    assert budget.limit_for(TakeTurn(None)) == pytest.approx(1.5)  # 10 - 4 + 1, nothing + 1, - 0.5 + 1


@pytest.mark.parametrize(
    ("text", "took", "why"),
    [
        ("5", (), "no answer within 5 s"),
        ("5,first=20", (), "no answer within 20 s"),
        ("5,first=20", (1.0,), "no answer within 5 s"),
        ("5,bank=60", (50.0,), "no answer within 5 s"),
        (
            "5,bank=60",
            (59.82134,),
            "the bank of 60 s for all turns is used up: no answer within the 0.179 s that were left",
        ),
        ("5,bank=60", (60.0,), "the bank of 60 s for all turns is used up"),
        (
            "5,bank=6,increment=0.5",
            (5.0,),
            "the bank of 6 s, and 0.5 s more for each turn, is used up: no answer within the 1.5 s that were left",
        ),
    ],
)
def test_the_text_of_a_timeout_names_the_limit_or_the_bank(text: str, took: tuple[float, ...], why: str) -> None:
    budget = TimeBudget(parse_limits(text))
    budget.spend_turns(took)

    assert budget.describe_timeout(budget.limit_for(TURN)) == why
