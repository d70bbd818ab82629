"""Test how time limits are parsed, and turns charged to a time bank."""

import msgspec
import pytest

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
    with pytest.raises(BadRequest, match=r"^[^\n]* is not a time limit[^\n]*write (seconds|SECONDS)[^\n]*$"):
        parse_limits(text)


def test_limits_can_be_encoded_and_decoded() -> None:
    limits = parse_limits("2,bank=60")

    assert msgspec.json.decode(msgspec.json.encode(limits), type=Limits) == limits
    assert msgspec.json.decode(msgspec.json.encode(Limits()))["move"] == 5.0


MOVE, FIRST = {"move": 5.0}, {"move": 5.0, "first_move": 60.0}


@pytest.mark.parametrize(
    ("limits", "turns", "limit_after_each"),
    [
        (MOVE, [4.9] * 5, [5.0] * 6),
        (FIRST, [30.0, 4.0], [60.0, 5.0, 5.0]),
        ({**MOVE, "bank": 8.0}, [4.0, 3.5, 2.0], [5.0, 4.0, 0.5, 0.0]),
        ({**MOVE, "bank": 1.0, "increment": 0.5}, [1.0, 0.0, 3.0], [1.0, 0.5, 1.0, 0.5]),
        ({**MOVE, "bank": 600.0, "increment": 10.0}, [0.0], [5.0, 5.0]),
        ({**FIRST, "bank": 10.0, "increment": 1.0}, [4.0, 30.0, 0.5], [10.0, 5.0, 1.0, 1.5]),
    ],
    ids=["for each move", "for the first", "a bank", "an increment", "a full bank", "all of them"],
)
def test_a_turn_has_its_limit_and_at_most_what_is_left_in_the_bank(
    limits: dict[str, float], turns: list[float], limit_after_each: list[float]
) -> None:
    budget, resumed = TimeBudget(Limits(**limits)), TimeBudget(Limits(**limits))

    found = [budget.limit_for(TURN)]
    for seconds in turns:
        budget.spend(TURN, seconds)
        found.append(budget.limit_for(TURN))
    resumed.spend_turns(turns)

    assert found == pytest.approx(limit_after_each)
    assert resumed.limit_for(TURN) == found[-1]


def test_messages_other_than_turns_have_the_move_limit_and_are_not_charged() -> None:
    budget = TimeBudget(Limits(move=5.0, first_move=60.0, bank=3.0))

    for message in OTHERS:
        assert budget.limit_for(message) == 5.0
        budget.spend(message, 4.0)

    assert budget.limit_for(TURN) == 3.0


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
        ("5,first=20,bank=6", (), "the bank of 6 s for all turns is used up: no answer within the 6 s that were left"),
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
