"""Hear a host that says more than anybody has time for: what matters is kept, and memory is not filled."""

from collections.abc import Callable, Iterator

import pytest

from fairplay.core.events import Fault
from fairplay.core.messages import Failed
from fairplay.players.backlog import MOST_WAITING, Backlog
from fairplay.protocol import wire
from fairplay.transport.dial import Lost
from tests.players.a_house import FISH, TURN

MANY = 10 * MOST_WAITING
GOODBYE = wire.goodbye("m", Failed(Fault.TIMED_OUT, "no answer within 1 s", 1.0))


def changed(number: int) -> bytes:
    return wire.encode(wire.Changed(match="m", view=number))


def welcome(number: int) -> bytes:
    return wire.encode(wire.Welcome(name="ann", window=number))


def question(number: int) -> bytes:
    return wire.question(TURN, FISH, match_id="m", turn=number, nonce=f"{number}", limit=5.0)


def heard(*lines: bytes, end: Exception | None = None) -> tuple[Backlog, list[bool]]:
    """What waits when a host has said all of this; and of every call for whoever may not look: was the turn over?"""
    backlog, calls = Backlog(), list[bool]()

    def said() -> Iterator[bytes]:
        yield from lines
        if end is not None:
            raise end

    backlog.listen(said(), lambda: calls.append(backlog.over))
    return backlog, calls


def taken(backlog: Backlog) -> list[bytes]:
    return list(iter(lambda: backlog.next(0), None))


def test_what_was_said_comes_in_order() -> None:
    lines = [wire.hello(FISH, match_id="m", nonce="1", limit=5.0), changed(1), question(1), b"nonsense", changed(2)]

    assert taken(heard(*lines)[0]) == lines


@pytest.mark.parametrize("say", [changed, welcome])
def test_what_is_of_no_use_any_more_gives_way(say: Callable[[int], bytes]) -> None:
    backlog, calls = heard(question(1), *map(say, range(MANY)), GOODBYE)

    newest = [say(number) for number in range(MANY - MOST_WAITING + 2, MANY)]
    assert calls == [False, True, True]  # for the question, the goodbye and the end
    assert taken(backlog) == [question(1), *newest, GOODBYE]


def test_who_asks_and_asks_before_anybody_could_answer_says_too_much() -> None:
    backlog, calls = heard(*map(question, range(MANY)))

    assert calls == [False, True]
    with pytest.raises(Lost, match="the host says too much"):
        backlog.next(0)


def test_as_much_as_is_allowed_is_not_too_much() -> None:
    lines = [question(number) for number in range(MOST_WAITING)]

    assert taken(heard(*lines)[0]) == lines


def test_how_the_line_ended_is_said_to_everybody_who_asks() -> None:
    lost, _ = heard(end=Lost("the cable was cut"))
    whole, _ = heard()

    for _ in range(2):
        with pytest.raises(Lost, match="the cable was cut"):
            lost.next(0)
        assert whole.next(0) is None


def test_a_line_that_does_not_come_is_not_waited_for_any_longer() -> None:
    with pytest.raises(TimeoutError):
        Backlog().next(0)
