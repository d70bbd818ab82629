"""Check that a local player's exceptions and return values become plain answers."""

import datetime
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Ejected, Fault, Receipt, Result
from fairplay.core.game import Moment
from fairplay.core.messages import Answer, Answered, End, Evidence, Failed, Message, Start, TakeTurn, Tell
from fairplay.games.fish import Fish, Move, Place, View
from fairplay.games.fish.examples import EXAMPLES
from fairplay.referee.local_channel import MAX_EVIDENCE_CHARS, LocalChannel, describe_exception
from fairplay.referee.referee import Referee
from tests.nonempty import nonempty

FISH = Fish(rows=4, columns=4)
VIEW = FISH.view(EXAMPLES["star"], 0)
TURN = TakeTurn(VIEW)
MESSAGES: list[Message] = [Start(0, ("ann", "bob"), VIEW), TURN, Tell("news"), End(Result((), ()))]
STEP = Move((3, 1), (1, 1))


def answer_of(player: Any, message: Message = TURN) -> Answer:
    return LocalChannel(player, FISH).ask(message)


def saying(value: Any) -> Callable[[Any], Any]:
    return lambda view: value


def raising(error: BaseException) -> Callable[..., Any]:
    def raise_it(*arguments: Any) -> Any:
        raise error

    return raise_it


class Everywhere:
    """A player that does the same at every call."""

    def __init__(self, do: Callable[..., Any]) -> None:
        self.start = self.take_turn = self.tell = self.end = do


def failed(answer: Answer) -> Failed:
    assert isinstance(answer, Failed), answer
    return answer


# Good players.


@pytest.mark.parametrize(
    "plain",
    [
        STEP,
        {"type": "move", "from": [3, 1], "to": [1, 1]},
        {"to": (1, 1), "from": (3, 1), "type": "move"},
        msgspec.Raw(b'{"type":"move","from":[3,1],"to":[1,1]}'),
    ],
    ids=["an action", "as on the wire", "in another order", "as bytes"],
)
def test_an_action_or_its_plain_json_is_an_action(plain: Any) -> None:
    answer = answer_of(saying(plain))

    assert answer == Answered(STEP)
    assert isinstance(answer, Answered)
    assert type(answer.value) is Move


@pytest.mark.parametrize("player", [saying(STEP), SimpleNamespace(take_turn=saying(STEP))], ids=["function", "method"])
def test_methods_other_than_take_turn_may_be_missing(player: Any) -> None:
    answers = [answer_of(player, message) for message in MESSAGES]

    assert answers == [Answered(None), Answered(STEP), Answered(None), Answered(None)]


def test_each_message_calls_its_method_with_its_fields() -> None:
    heard: list[tuple[Any, ...]] = []
    noting = SimpleNamespace(
        **{name: partial(lambda *said: heard.append(said), name) for name in ("start", "take_turn", "tell", "end")}
    )

    for message in MESSAGES:
        answer_of(noting, message)

    assert heard == [("start", 0, ("ann", "bob"), VIEW), ("take_turn", VIEW), ("tell", "news"), ("end", Result((), ()))]


def cheating(do: Any) -> Any:
    """A player that has something to say about its ejection."""
    return SimpleNamespace(take_turn=lambda view: "a bad answer", ejected=do)


def honest(view: View) -> Any:
    return next(FISH.actions(view))


def test_only_an_ejected_player_is_told_why_and_only_once() -> None:
    heard: list[Any] = []
    bad = cheating(lambda *said: heard.append(said))
    good = SimpleNamespace(take_turn=honest, ejected=lambda *said: heard.append("good"))

    match = Referee().run(FISH, [good, bad, honest], seed=bytes(32))

    assert [out.seat for out in match.result.ejected] == [1]
    assert heard == [(Fault.MALFORMED, "the answer is not an action of this game")]


LAST_WORDS: dict[str, Any] = {
    "raises": raising(RuntimeError("unfair!")),
    "exits": raising(SystemExit(1)),
    "answers": lambda *said: "unfair!",
    "takes too few": lambda: None,
    "no method at all": True,
    "nothing": None,
}


@pytest.mark.parametrize("do", LAST_WORDS)
def test_an_exception_in_the_method_ejected_is_ignored(do: str) -> None:
    match = Referee().run(FISH, [cheating(LAST_WORDS[do]), honest, honest], seed=bytes(32))

    assert [out.seat for out in match.result.ejected] == [0]
    assert sorted(seat for group in match.result.ranking for seat in group) == [1, 2]


def test_a_player_is_given_the_receipt_if_there_is_one() -> None:
    given: list[Any] = []
    channel = LocalChannel(SimpleNamespace(take_turn=honest, closing=given.append, ejected=given.append), FISH)

    channel.close(None)
    channel.close(Receipt(7, "0f" * 32))

    assert given == [Receipt(7, "0f" * 32)]


def test_the_keyboard_is_heard_even_then() -> None:
    out = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 4.2: no straight line leads there", "4.2")

    with pytest.raises(KeyboardInterrupt):
        LocalChannel(cheating(raising(KeyboardInterrupt())), FISH).close(out)


def crash(*arguments: Any) -> Any:
    raise RuntimeError("a bad day")


@pytest.mark.parametrize("player", [saying(STEP), crash, saying("nonsense"), saying(object())])
def test_time_is_measured_by_the_clock_of_the_channel(player: Any) -> None:
    times = iter([10.0, 12.5])

    assert LocalChannel(player, FISH, lambda: next(times)).ask(TURN).took == 2.5


@pytest.mark.parametrize(
    ("said", "evidence"),
    [
        ("unfair!", 'answered "unfair!"'),
        ([1, None], "answered [1,null]"),
        ("x" * 10_000, 'answered "' + "x" * 511),
        (object(), "answered with something that is not plain data: TypeError"),
    ],
)
def test_an_answer_to_a_message_without_one_is_malformed_with_evidence(said: Any, evidence: str) -> None:
    for message in nonempty(message for message in MESSAGES if message is not TURN):
        answer = failed(answer_of(Everywhere(lambda *_: said), message))
        assert (answer.fault, answer.why) == (Fault.MALFORMED, "answered where only an acknowledgement was due")
        assert answer.evidence.detail.startswith(evidence)


# Players that raise.


def again(*arguments: Any) -> Any:
    return again(*arguments)


def test_endless_recursion_is_a_crash() -> None:
    answer = failed(answer_of(again))

    assert (answer.fault, answer.why) == (Fault.CRASHED, "raised RecursionError")


def test_the_text_of_an_exception_is_evidence_and_not_public() -> None:
    answer = failed(answer_of(raising(ValueError("I hold the red one"))))

    assert answer.why == "raised ValueError"
    assert answer.evidence.detail.startswith("ValueError: I hold the red one (test_local_channel.py, line ")


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_keyboard_interrupt_passes_through(message: Message) -> None:
    with pytest.raises(KeyboardInterrupt):
        answer_of(Everywhere(raising(KeyboardInterrupt())), message)


def hostile(name: str, base: type, do: Any, *methods: str) -> Any:
    """A class of objects that do something when one of these methods is called, or one of these properties is read."""
    return type(name, (base,), {method: property(do) if method == "args" else do for method in methods})


def for_ever(*arguments: Any) -> str:
    while True:
        pass


leave = raising(SystemExit("not me"))
Rude = hostile("Rude", Exception, leave, "args", "__str__", "__repr__")
Endless = hostile("Endless", Exception, for_ever, "__str__", "__repr__")
Sticky = hostile("Sticky", str, leave, "__format__", "__str__", "__repr__")

ORDINARY = (ValueError("no"), SystemExit(1), RecursionError("deep"), MemoryError(), GeneratorExit(), StopIteration(7))
ERRORS: dict[str, BaseException] = {
    **{type(error).__name__: error for error in (*ORDINARY, AssertionError(), BaseException("bare"))},
    "BaseExceptionGroup": BaseExceptionGroup("many", [ValueError(), SystemExit()]),
    "rude": Rude(),
    "rude words": Rude("said"),
    "endless": Endless(),
    "endless words": Endless("said"),
    "sticky words": Exception(Sticky("said")),
    "endless inside": Exception(Endless()),
    "rude inside": Exception(Rude()),
    "surrogate": Exception("\ud800 half a letter"),
    "long words": Exception("long " * 10**6),
    "long name": type("Long" * 10**6, (Exception,), {})(),
    "escape": type("\x1b[2J cleared", (Exception,), {})("\x1b[2J"),
}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("error", ERRORS)
def test_any_exception_is_a_crash_with_a_short_description_that_can_be_encoded(error: str, message: Message) -> None:
    answer = failed(answer_of(Everywhere(raising(ERRORS[error])), message))

    assert answer.fault is Fault.CRASHED
    assert answer.why == f"raised {error}" or error != type(ERRORS[error]).__name__
    assert answer.why.isprintable()
    assert len(answer.why) < 100
    assert msgspec.json.decode(msgspec.json.encode(answer.evidence), type=Evidence) == answer.evidence
    assert len(answer.evidence.detail) < MAX_EVIDENCE_CHARS + 300


def test_an_exception_that_was_never_raised_can_be_described() -> None:
    assert describe_exception(ValueError("no")) == ("raised ValueError", "ValueError: no")


# Players that return junk.


class Pretender:
    """It claims to be a move."""

    __class__ = Move  # type: ignore[assignment]
    start, to = STEP.start, STEP.to


class Wider(Move, frozen=True, tag="move"):
    """A move with more in it."""

    bonus: int = 100


Liar = hostile("Liar", int, lambda *_: True, "__eq__", "__hash__")  # it is equal to everything
BadZone = hostile("BadZone", datetime.tzinfo, leave, "utcoffset", "dst", "tzname")
Stingy = hostile("Stingy", dict, leave, "__iter__", "keys", "items", "values")


def ring() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


JUNK: dict[str, Any] = {
    "a text": "move",
    "too many coordinates": Place((0, 0, 0)),  # type: ignore[arg-type]
    "a subclass with more in it": Wider((3, 1), (1, 1)),
    "an int that lies": Place((Liar(0), Liar(0))),
    "bools": Place((False, True)),
    "a float": Place((0.0, 1.0)),  # type: ignore[arg-type]
    "not a number": Place((float("nan"), 0)),  # type: ignore[arg-type]
    "infinite": Place((float("inf"), 0)),  # type: ignore[arg-type]
    "a huge int": Place((10**4000, 0)),
    "a big int": Place((2**31, 0)),
    "a ring": ring(),
    "a ring inside": Place(ring()),  # type: ignore[arg-type]
    "a generator": (move for move in [STEP]),
    "a function": saying,
    "a class": Move,
    "an object": object(),
    "a pretender": Pretender(),
    "a set of moves": {STEP},
    "an exception": ValueError("no"),
    "a text with half a letter": {"type": "\ud800"},
    "bytes that are no JSON": msgspec.Raw(b'{"type":"place","at":[0,'),
    "bytes that are no text": msgspec.Raw(b'{"type":"pl\xff'),
    "deep bytes": msgspec.Raw(b"[" * 100_000),
    "a time without a zone": datetime.datetime(2020, 1, 1, tzinfo=BadZone()),
}


def test_returning_none_for_a_turn_says_that_an_action_is_needed() -> None:
    answer = failed(answer_of(saying(None)))

    assert answer.fault is Fault.MALFORMED
    assert answer.why == "the answer is None (null in JSON): take_turn must return an action"


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_malformed_and_ejects_only_the_player_that_returns_it(junk: str) -> None:
    match = Referee().run(FISH, [saying(JUNK[junk]), honest], seed=bytes(32))

    (ejected,) = match.ejected
    assert (ejected.seat, ejected.fault) == (0, Fault.MALFORMED)
    assert ejected.why == "the answer is not an action of this game"
    assert match.result.ranking == (frozenset({1}),)


def test_an_action_with_hostile_attributes_is_read_without_calling_them() -> None:
    assert answer_of(saying(Stingy(type="place", at=[0, 0]))) == Answered(Place((0, 0)))


def test_an_answer_is_a_copy_of_the_players_object() -> None:
    held: dict[str, Any] = {"type": "place", "at": [0, 0]}
    answer = answer_of(saying(held))

    held["at"][0] = 3

    assert answer == Answered(Place((0, 0)))


# Players that meddle.


def test_a_view_is_immutable_for_players() -> None:
    def meddle(view: Any) -> Any:
        view.state.scores = (100, 0)
        return STEP

    before = FISH.pack(VIEW)

    answer = failed(answer_of(meddle))

    assert (answer.fault, answer.why) == (Fault.CRASHED, "raised AttributeError")
    assert FISH.pack(VIEW) == before
