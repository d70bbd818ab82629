"""Test that any reply and any call is either understood or refused in a few words."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairplay.core.errors import BadRequest
from fairplay.core.messages import Start, TakeTurn
from fairplay.course.dialects.by_game import DIALECTS
from fairplay.course.dialects.dialect import Call, Callee, Caller
from fairplay.course.formats.plain import MAX_ERROR_VALUE_CHARS
from fairplay.games.fish.game import Fish
from fairplay.games.fish.state import state_of
from fairplay.games.q.game import Q
from fairplay.games.tsuro.game import Tsuro
from fairplay.testing.hostile import AnyGame
from tests.nonempty import nonempty

modest = settings(max_examples=600, deadline=None, derandomize=True, database=None)
LONGEST = MAX_ERROR_VALUE_CHARS + 100  # characters of a refusal

MATCHES: dict[str, tuple[AnyGame, Any]] = {
    "fish, placing": (Fish(rows=5, columns=5), Fish(rows=5, columns=5).deal(2, bytes(32))),
    "fish, playing": (Fish(rows=5, columns=5), state_of([[1] * 5] * 5, [[(0, 0)], [(0, 2)]], each=1)),
    "tsuro, placing": (Tsuro(), Tsuro().deal(3, bytes(32))),
    "tsuro, playing": (Tsuro(), Tsuro().deal(3, bytes(32))),
    "q": (Q(), Q().deal(2, bytes(32))),
}
WORDS = ["pass", "replace", "void", "skip", "A", "H", "red", "white", "black", "star", "coordinate", "row", "column",
         "1tile", "color", "shape", "players", "board", "score", "places", "map", "tile*", "name"]  # fmt: skip

numbers = st.integers(-1, 10) | st.sampled_from([90, 180, 270, 2**31, 2**63, 10**300, -(10**300)])
floats = st.sampled_from([0.0, 1.0, 90.0, -0.0, 1e300, float("inf"), float("nan")])
texts = st.sampled_from(WORDS) | st.text(max_size=3) | st.sampled_from(["\ud800", "x" * 10**5])
scalars = st.none() | st.booleans() | numbers | floats | texts
plain = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


every_match = pytest.mark.parametrize("label", MATCHES)


def begun(label: str) -> tuple[AnyGame, Callee, Caller, list[Call]]:
    """Both ends after a greeting and the question for an action, and what was called."""
    game, state = MATCHES[label]
    if label == "tsuro, playing":
        for seat in range(3):
            state = game.apply(state, next(game.actions(game.view(state, seat))))
    dialect = DIALECTS[game.name]
    callee, caller = dialect.callee(game, "abc"), dialect.caller("abc")
    view = game.view(state, 0)
    calls = [*callee.calls(Start(0, ("a",) * len(game.order(state)), view)), *callee.calls(TakeTurn(view))]
    calls = [msgspec.json.decode(msgspec.json.encode(call), type=Call) for call in calls]
    for call in nonempty(calls):
        caller.messages(call)
    return game, callee, caller, calls


def right(label: str) -> Any:
    """A reply that is an action."""
    game, _, caller, calls = begun(label)
    [*_, turn] = caller.messages(calls[-1])
    assert isinstance(turn, TakeTurn)
    options = list(zip(range(30), game.actions(turn.view), strict=False))
    return msgspec.json.decode(msgspec.json.encode(caller.reply(options[-1][1])))


@st.composite
def spoilt(draw: st.DrawFn, whole: Any) -> Any:
    """Plain JSON with something else in one place of it."""
    if not isinstance(whole, list | dict) or not whole or draw(st.integers(0, 3)) == 0:
        return draw(plain)
    keys = list(whole) if isinstance(whole, dict) else list(range(len(whole)))
    key = draw(st.sampled_from(keys))
    other: Any = whole.copy()
    match draw(st.integers(0, 3)):
        case 0:
            del other[key]
        case 1 if isinstance(other, dict):
            other[draw(texts)] = draw(plain)
        case 1:
            other.insert(key, draw(plain))
        case _:
            other[key] = draw(spoilt(whole[key]))
    return other


@every_match
def test_any_reply_and_any_that_is_wrong_in_one_part_makes_an_action_or_is_refused(label: str) -> None:
    @modest
    @given(plain | spoilt(right(label)))
    def tried(reply: Any) -> None:
        game, callee, _, _ = begun(label)
        try:
            action = callee.action(reply)
        except BadRequest as refused:
            assert len(str(refused)) <= LONGEST
            assert str(refused).isprintable()
        else:
            msgspec.json.decode(msgspec.json.encode(action), type=game.action)

    tried()


@every_match
def test_numbers_are_integers_and_no_field_is_too_many(label: str) -> None:
    """Whatever is changed in one place into what only looks like it, it is refused."""
    for reply in nonempty(lookalikes(right(label))):
        _, callee, _, _ = begun(label)
        with pytest.raises(BadRequest):
            callee.action(reply)


def lookalikes(whole: Any) -> list[Any]:
    """Plain JSON with one thing in it changed into what only looks like it."""
    match whole:
        case int():
            return [float(whole), bool(whole), str(whole), [whole], 10**30, -(10**5000)]
        case list():
            return [*within(whole, range(len(whole))), {"0": whole}, [*whole, 0]]
        case dict():
            return [*within(whole, whole), {**whole, "more": 1}, {**whole, "": None}]
        case _:
            return [None, f"{whole} ", [whole]]


def within(whole: Any, keys: Iterable[Any]) -> Iterator[Any]:
    """The same with a part of it changed."""
    for key in keys:
        for other in lookalikes(whole[key]):
            changed = whole.copy()
            changed[key] = other
            yield changed


@every_match
def test_any_call_makes_messages_or_is_refused(label: str) -> None:
    game, _, _, calls = begun(label)

    @modest
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        _, _, caller, _ = begun(label)
        call = data.draw(st.sampled_from(calls))
        method = data.draw(st.sampled_from([call.method, call.method, "end", "win", "x" * 10**4]))
        arguments = data.draw(spoilt(list(call.arguments)))
        try:
            messages = caller.messages(Call(method, tuple(arguments) if isinstance(arguments, list) else (arguments,)))
        except BadRequest as refused:
            assert len(str(refused)) <= LONGEST
        else:
            for message in messages:
                if isinstance(message, TakeTurn):
                    assert game.unpack(game.pack(message.view)).seat == message.view.seat

    tried()


@every_match
@pytest.mark.parametrize("action", [None, object(), {"type": "fly"}, {1, 2}, 10**5000, "\ud800"], ids=type)
def test_an_invalid_action_of_our_player_is_no_reply(label: str, action: Any) -> None:
    _, _, caller, _ = begun(label)

    with pytest.raises(BadRequest, match="not an action of"):
        caller.reply(action)
