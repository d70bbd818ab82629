"""Make strange things that a player in this process may answer or raise."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import msgspec

HUGE = 10**6
DEEP = 10**4


class Used(AssertionError):
    """Somebody used what a player made, in a way that runs the player's code."""


def trap(*_: Any, **__: Any) -> NoReturn:
    """What nobody may call."""
    raise Used("the player's code was run after it had answered")


class LyingInt(int):
    """A number that equals whatever it is compared with."""

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = trap
    __add__ = __mul__ = __sub__ = __rshift__ = trap

    def __hash__(self) -> int:
        return 0


class LyingText(str):
    """A text that is whatever anybody wants."""

    __slots__ = ()
    __eq__ = __ne__ = __len__ = __iter__ = encode = trap

    def __hash__(self) -> int:
        return 0


class Trapped(Mapping[str, Any]):
    """An object of JSON that does something whenever it is looked at."""

    __getitem__ = __iter__ = __len__ = items = keys = values = get = __contains__ = trap


class Disguised:
    """An object that says it is of another class."""

    @property  # type: ignore[misc]  # that is the disguise
    def __class__(self) -> type:
        return dict

    __getattr__ = trap


class Unspeakable(Exception):
    """An exception that cannot be described."""

    __str__ = __repr__ = __format__ = trap

    @property
    def args(self) -> Any:  # type: ignore[override]
        """What it was raised with, if it would tell."""
        return trap()


class LastWords(Exception):
    """An exception with a text that is none."""

    def __init__(self) -> None:
        super().__init__(LyingText("a bad day"))


def raised(make: Callable[[], BaseException]) -> Callable[[], Any]:
    """The deed of raising what this makes."""

    def deed() -> Any:
        raise make()

    return deed


def chained() -> Any:
    """Raise something while something else is dealt with, again and again."""
    error: BaseException = ValueError("the first")
    for number in range(DEEP):
        following = ValueError(str(number))
        following.__cause__, error = error, following
    raise error


def itself() -> list[Any]:
    """A list with nothing in it but itself."""
    found: list[Any] = []
    found.append(found)
    return found


def nested() -> Any:
    """Lists in one another, deeper than any stack."""
    found: list[Any] = []
    for _ in range(DEEP):
        found = [found]
    return found


def counting() -> Iterator[int]:
    """Numbers, one at a time."""
    yield from range(HUGE)


def twisted(plain: Any, kind: type, make: Callable[[Any], Any]) -> Any:
    """Plain JSON with something else wherever a value of this kind was."""
    match plain:
        case dict():
            return {key: twisted(value, kind, make) for key, value in plain.items()}
        case list() | tuple():
            return [twisted(value, kind, make) for value in plain]
        case _:
            return make(plain) if type(plain) is kind else plain


def numbers(make: Callable[[int], Any]) -> Callable[[Any], Any]:
    """The twist of making something else of all numbers in an action; None: there are none."""

    def twist(action: Any) -> Any:
        plain = msgspec.to_builtins(action)
        found: list[int] = []
        twisted(plain, int, found.append)
        return twisted(plain, int, make) if found else None

    return twist


def without_type(action: Any) -> Any:
    """An action that does not say which it is."""
    return {key: value for key, value in msgspec.to_builtins(action).items() if key != "type"}


RAISED: dict[str, Callable[[], Any]] = {
    "GeneratorExit": raised(lambda: GeneratorExit("a bad day")),
    "StopIteration": raised(lambda: StopIteration({"type": "pass"})),
    "MemoryError": lambda: bytes(2**62),
    "what cannot be described": raised(Unspeakable),
    "a text that lies": raised(LastWords),
    "a very long text": raised(lambda: ValueError("x" * 10 * HUGE)),
    "half a character": raised(lambda: ValueError("\ud800")),
    "under a name that clears the screen": raised(type("\x1b[2J", (Exception,), {})),
    "under a very long name": raised(type("E" * HUGE, (Exception,), {})),
    "a group": raised(lambda: BaseExceptionGroup("two bad days", [SystemExit(0), ValueError("x")])),
    "a chain of exceptions": chained,
}
ANSWERS: dict[str, Callable[[], Any]] = {
    "a number": lambda: 7,
    "a truth": lambda: False,
    "a fraction": lambda: float("nan"),
    "an empty list": list,
    "a set": lambda: {"pass"},
    "bytes": lambda: b'{"type":"pass"}',
    "half a character": lambda: {"type": "\ud800"},
    "a very long text": lambda: "x" * 10 * HUGE,
    "a very long list": lambda: [0] * HUGE,
    "a very long number": lambda: 10**4400,
    "a list in itself": itself,
    "lists in lists": nested,
    "a generator": counting,
    "a class": lambda: dict,
    "a function": lambda: itself,
    "foreign keys": lambda: {(1, 2): None, None: 1},
    "a trap": Trapped,
    "a disguise": Disguised,
    "raw junk": lambda: msgspec.Raw(b'{"type":"pass"} {"type":"pass"}'),
    "raw brackets": lambda: msgspec.Raw(b"[" * HUGE),
    "an exception": lambda: ValueError("a bad day"),
}
TWISTS: dict[str, Callable[[Any], Any]] = {  # from a good action; None: this one cannot be twisted like that
    "numbers that lie": numbers(LyingInt),
    "fractions": numbers(float),
    "truths": numbers(bool),
    "numbers in text": numbers(str),
    "numbers in lists": numbers(lambda number: [number]),
    "numbers out of range": numbers(lambda number: 2**40 + number),
    "texts that lie": lambda action: twisted(msgspec.to_builtins(action), str, LyingText),
    "one field more": lambda action: {**msgspec.to_builtins(action), "extra": 1},
    "no type": without_type,
    "a list around it": lambda action: [action],
}
