"""Check that a local player's exceptions and return values become plain answers."""

import datetime
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairplay.core.events import Ejected, Fault, Result
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


# Good players.


def test_an_action_survives_the_round_trip_through_json() -> None:
    assert answer_of(saying(STEP)) == Answered(STEP)


@pytest.mark.parametrize(
    "plain",
    [
        {"type": "move", "from": [3, 1], "to": [1, 1]},
        {"to": (1, 1), "from": (3, 1), "type": "move"},
        msgspec.Raw(b'{"type":"move","from":[3,1],"to":[1,1]}'),
    ],
    ids=["as on the wire", "in another order", "as bytes"],
)
def test_an_action_in_plain_json_is_an_action(plain: Any) -> None:
    answer = answer_of(saying(plain))

    assert answer == Answered(STEP)
    assert isinstance(answer, Answered)
    assert type(answer.value) is Move


def test_a_bare_strategy_acknowledges_everything() -> None:
    strategy = saying(STEP)

    answers = [answer_of(strategy, message) for message in MESSAGES]

    assert answers == [Answered(None), Answered(STEP), Answered(None), Answered(None)]


def test_methods_other_than_take_turn_may_be_missing() -> None:
    class Quiet:
        def take_turn(self, view: View) -> Move:
            return STEP

    answers = [answer_of(Quiet(), message) for message in MESSAGES]

    assert answers == [Answered(None), Answered(STEP), Answered(None), Answered(None)]


def test_each_message_calls_its_method_with_its_fields() -> None:
    heard: list[tuple[Any, ...]] = []

    class Noting:
        def start(self, *arguments: Any) -> None:
            heard.append(("start", *arguments))

        def take_turn(self, *arguments: Any) -> Move:
            heard.append(("take_turn", *arguments))
            return STEP

        def tell(self, *arguments: Any) -> None:
            heard.append(("tell", *arguments))

        def end(self, *arguments: Any) -> None:
            heard.append(("end", *arguments))

    for message in MESSAGES:
        answer_of(Noting(), message)

    assert heard == [
        ("start", 0, ("ann", "bob"), VIEW),
        ("take_turn", VIEW),
        ("tell", "news"),
        ("end", Result((), ())),
    ]


OUT = Ejected(1, Fault.ILLEGAL, Moment.TURN, "rule 4.2: no straight line leads there", "4.2")


class Leaving:
    """A player that has something to say about its ejection."""

    def __init__(self, do: Callable[..., Any]) -> None:
        self.ejected = do

    def take_turn(self, view: View) -> Any:
        return "a bad answer"


def test_only_an_ejected_player_is_told_why_and_only_once() -> None:
    heard: list[Any] = []
    good, bad = Leaving(lambda *said: heard.append(("good", *said))), Leaving(lambda *said: heard.append(said))
    good.take_turn = lambda view: next(FISH.actions(view))  # type: ignore[method-assign]

    match = Referee().run(FISH, [good, bad, lambda view: next(FISH.actions(view))], seed=bytes(32))

    assert [out.seat for out in match.result.ejected] == [1]
    assert heard == [(Fault.MALFORMED, "the answer is not an action of this game")]


@pytest.mark.parametrize(
    "do",
    [
        raising(RuntimeError("unfair!")),
        raising(SystemExit(1)),
        raising(RecursionError()),
        lambda *said: "unfair!",
        lambda: None,
        True,
        None,
    ],
    ids=["raises", "exits", "recurses", "answers", "takes too few", "no method at all", "nothing"],
)
def test_an_exception_in_the_method_ejected_is_ignored(do: Any) -> None:
    honest = [lambda view: next(FISH.actions(view))] * 2

    match = Referee().run(FISH, [Leaving(do), *honest], seed=bytes(32))

    assert [out.seat for out in match.result.ejected] == [0]
    assert sorted(seat for group in match.result.ranking for seat in group) == [1, 2]


def test_a_player_without_the_method_ejected_is_not_told() -> None:
    LocalChannel(saying(STEP), FISH).close(OUT)
    LocalChannel(Leaving(raising(AssertionError("no player was ejected"))), FISH).close(None)


def test_the_keyboard_is_heard_even_then() -> None:
    with pytest.raises(KeyboardInterrupt):
        LocalChannel(Leaving(raising(KeyboardInterrupt())), FISH).close(OUT)


def test_time_is_measured_by_the_clock_of_the_channel() -> None:
    times = iter([10.0, 12.5])

    answer = LocalChannel(saying(STEP), FISH, lambda: next(times)).ask(TURN)

    assert answer == Answered(STEP, took=2.5)


def test_time_is_measured_for_crashes_and_malformed_answers_too() -> None:
    def crash(view: object) -> object:
        raise RuntimeError("a bad day")

    for player in (crash, saying("nonsense"), saying(object())):
        times = iter([10.0, 12.5])

        answer = LocalChannel(player, FISH, lambda times=times: next(times)).ask(TURN)  # type: ignore[misc]

        assert isinstance(answer, Failed)
        assert answer.took == 2.5


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
        answer = answer_of(Talking(said), message)
        assert isinstance(answer, Failed)
        assert (answer.fault, answer.why) == (Fault.MALFORMED, "answered where only an acknowledgement was due")
        assert answer.evidence.detail.startswith(evidence)


class Talking:
    """Has something to say to everything."""

    def __init__(self, words: Any) -> None:
        self.start = self.take_turn = self.tell = self.end = lambda *_: words


# Players that raise.


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize(
    "error",
    [
        *(ValueError("no"), SystemExit(1), RecursionError("deep"), MemoryError(), GeneratorExit(), StopIteration(7)),
        *(AssertionError(), BaseException("bare"), BaseExceptionGroup("many", [ValueError(), SystemExit()])),
    ],
    ids=lambda error: type(error).__name__,
)
def test_any_exception_is_a_crash(error: BaseException, message: Message) -> None:
    answer = answer_of(Everywhere(raising(error)), message)

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.CRASHED, f"raised {type(error).__name__}")


def test_endless_recursion_is_a_crash() -> None:
    def again(view: View) -> Any:
        return again(view)

    answer = answer_of(again)

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.CRASHED, "raised RecursionError")


def test_the_text_of_an_exception_is_evidence_and_not_public() -> None:
    answer = answer_of(raising(ValueError("I hold the red one")))

    assert isinstance(answer, Failed)
    assert answer.why == "raised ValueError"
    assert answer.evidence.detail.startswith("ValueError: I hold the red one (test_local_channel.py, line ")


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_keyboard_interrupt_passes_through(message: Message) -> None:
    with pytest.raises(KeyboardInterrupt):
        answer_of(Everywhere(raising(KeyboardInterrupt())), message)


class Rude(Exception):
    """It fights back when it is looked at."""

    @property
    def args(self) -> Any:  # type: ignore[override]
        raise SystemExit("args")

    def __str__(self) -> str:
        raise SystemExit("str")

    def __repr__(self) -> str:
        raise SystemExit("repr")


class Endless(Exception):
    """It would take for ever to print."""

    def __str__(self) -> str:
        while True:
            pass

    __repr__ = __str__


class Sticky(str):
    """A text that cannot be formatted."""

    def __format__(self, spec: str) -> str:
        raise SystemExit("format")

    __str__ = __repr__ = __format__  # type: ignore[assignment]


@pytest.mark.parametrize(
    "error",
    [
        Rude(),
        Rude("said"),
        Endless(),
        Endless("said"),
        Exception(Sticky("said")),
        Exception(Endless()),
        Exception(Rude()),
    ],
    ids=["rude", "rude words", "endless", "endless words", "sticky words", "endless inside", "rude inside"],
)
def test_an_exception_that_raises_itself_is_a_crash(error: Exception) -> None:
    answer = answer_of(raising(error))

    assert isinstance(answer, Failed)
    assert answer.fault is Fault.CRASHED


@pytest.mark.parametrize(
    "error",
    [
        Exception("\ud800 half a letter"),
        Exception("long " * 10**6),
        type("Long" * 10**6, (Exception,), {})(),
        type("\x1b[2J cleared", (Exception,), {})("\x1b[2J"),
    ],
    ids=["surrogate", "long words", "long name", "escape"],
)
def test_the_description_of_an_exception_is_short_and_encodable(error: Exception) -> None:
    answer = answer_of(raising(error))

    assert isinstance(answer, Failed)
    assert msgspec.json.decode(msgspec.json.encode(answer.evidence), type=Evidence) == answer.evidence
    assert len(answer.evidence.detail) < MAX_EVIDENCE_CHARS + 300
    assert answer.why.isprintable()
    assert len(answer.why) < 100


def test_an_exception_that_was_never_raised_can_be_described() -> None:
    assert describe_exception(ValueError("no")) == ("raised ValueError", "ValueError: no")


# Players that return junk.


class Liar(int):
    """It is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Pretender:
    """It claims to be a move."""

    __class__ = Move  # type: ignore[assignment]
    start, to = STEP.start, STEP.to


class BadZone(datetime.tzinfo):
    """Asked for the time, it leaves."""

    def utcoffset(self, when: datetime.datetime | None) -> datetime.timedelta:
        raise SystemExit("no time")

    dst = tzname = utcoffset  # type: ignore[assignment]


class Wider(Move, frozen=True, tag="move"):
    """A move with more in it."""

    bonus: int = 100


class Stingy(dict[str, Any]):
    """An object that raises when it is inspected."""

    def __iter__(self) -> Any:
        raise SystemExit

    keys = items = values = __iter__


def ring() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


JUNK: dict[str, Any] = {
    "a text": "move",
    "a number": 7,
    "nothing in it": {},
    "a pair": ((3, 1), (1, 1)),
    "no such action": {"type": "fly", "to": [0, 0]},
    "a field too many": {"type": "place", "at": [0, 0], "fish": 5},
    "a field too few": {"type": "move", "from": [0, 0]},
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
    answer = answer_of(saying(None))

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (
        Fault.MALFORMED,
        "the answer is None (null in JSON): take_turn must return an action",
    )


@pytest.mark.parametrize("junk", JUNK)
def test_a_value_that_is_not_an_action_is_malformed(junk: str) -> None:
    answer = answer_of(saying(JUNK[junk]))

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.MALFORMED, "the answer is not an action of this game")


def test_an_action_with_hostile_attributes_is_read_without_calling_them() -> None:
    assert answer_of(saying(Stingy(type="place", at=[0, 0]))) == Answered(Place((0, 0)))


def test_an_answer_is_a_copy_of_the_players_object() -> None:
    held: dict[str, Any] = {"type": "place", "at": [0, 0]}
    answer = answer_of(saying(held))

    held["at"][0] = 3

    assert answer == Answered(Place((0, 0)))


@pytest.mark.parametrize("junk", ["a text", "an object", "a ring", "a generator"])
@pytest.mark.parametrize("call", ["start", "end"])
def test_a_player_that_returns_a_value_from_start_tell_or_end_is_ejected(call: str, junk: str) -> None:
    class Chatty:
        def take_turn(self, view: View) -> Any:
            return next(FISH.actions(view))

    chatty: Any = Chatty()
    setattr(chatty, call, lambda *arguments: JUNK[junk])

    match = Referee().run(FISH, [chatty, lambda view: next(FISH.actions(view))], seed=bytes(32))

    assert [(ejected.seat, ejected.fault) for ejected in match.ejected] == [(0, Fault.MALFORMED)]


# Players that meddle.


def test_a_view_is_immutable_for_players() -> None:
    def meddle(view: Any) -> Any:
        view.state.scores = (100, 0)
        return STEP

    before = FISH.pack(VIEW)

    answer = answer_of(meddle)

    assert isinstance(answer, Failed)
    assert (answer.fault, answer.why) == (Fault.CRASHED, "raised AttributeError")
    assert FISH.pack(VIEW) == before


@pytest.mark.parametrize("junk", JUNK)
def test_junk_ejects_only_the_player_that_returns_it(junk: str) -> None:
    match = Referee().run(FISH, [saying(JUNK[junk]), lambda view: next(FISH.actions(view))], seed=bytes(32))

    assert match.result.ranking == (frozenset({1}),)
    assert [(ejected.seat, ejected.fault) for ejected in match.ejected] == [(0, Fault.MALFORMED)]
