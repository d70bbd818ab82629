"""Make strange things that a player in this process may answer or raise."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import msgspec

HUGE_COUNT = 10**6
NESTING_DEPTH = 10**4


class HostileCodeRan(AssertionError):
    """Somebody used what a player made, in a way that runs the player's code."""


def fail_if_called(*_: Any, **__: Any) -> NoReturn:
    """What nobody may call."""
    raise HostileCodeRan("the player's code was run after it had answered")


class LyingInt(int):
    """A number that equals whatever it is compared with."""

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = fail_if_called
    __add__ = __mul__ = __sub__ = __rshift__ = fail_if_called

    def __hash__(self) -> int:
        return 0


class LyingText(str):
    """A text that is whatever anybody wants."""

    __slots__ = ()
    __eq__ = __ne__ = __len__ = __iter__ = encode = fail_if_called

    def __hash__(self) -> int:
        return 0


class TrappedMapping(Mapping[str, Any]):
    """An object of JSON that does something whenever it is looked at."""

    __getitem__ = __iter__ = __len__ = items = keys = values = get = __contains__ = fail_if_called


class Disguised:
    """An object that says it is of another class."""

    @property  # type: ignore[misc]  # that is the disguise
    def __class__(self) -> type:
        return dict

    __getattr__ = fail_if_called


class IndescribableError(Exception):
    """An exception that cannot be described."""

    __str__ = __repr__ = __format__ = fail_if_called

    @property
    def args(self) -> Any:  # type: ignore[override]
        """What it was raised with, if it would tell."""
        return fail_if_called()


class InvalidTextError(Exception):
    """An exception with a text that is none."""

    def __init__(self) -> None:
        super().__init__(LyingText("a bad day"))


def raise_from(make: Callable[[], BaseException]) -> Callable[[], Any]:
    """The deed of raising what this makes."""

    def deed() -> Any:
        raise make()

    return deed


def raise_chained() -> Any:
    """Raise something while something else is dealt with, again and again."""
    error: BaseException = ValueError("the first")
    for number in range(NESTING_DEPTH):
        following = ValueError(str(number))
        following.__cause__, error = error, following
    raise error


def self_containing_list() -> list[Any]:
    """A list with nothing in it but itself."""
    found: list[Any] = []
    found.append(found)
    return found


def nested_list() -> Any:
    """Lists in one another, deeper than any stack."""
    found: list[Any] = []
    for _ in range(NESTING_DEPTH):
        found = [found]
    return found


def count_endlessly() -> Iterator[int]:
    """Numbers, one at a time."""
    yield from range(HUGE_COUNT)


def replace_values(plain: Any, kind: type, make: Callable[[Any], Any]) -> Any:
    """Plain JSON with something else wherever a value of this kind was."""
    match plain:
        case dict():
            return {key: replace_values(value, kind, make) for key, value in plain.items()}
        case list() | tuple():
            return [replace_values(value, kind, make) for value in plain]
        case _:
            return make(plain) if type(plain) is kind else plain


def replace_numbers(make: Callable[[int], Any]) -> Callable[[Any], Any]:
    """The twist of making something else of all numbers in an action; None: there are none."""

    def twist(action: Any) -> Any:
        plain = msgspec.to_builtins(action)
        found: list[int] = []
        replace_values(plain, int, found.append)
        return replace_values(plain, int, make) if found else None

    return twist


def drop_type(action: Any) -> Any:
    """An action that does not say which it is."""
    return {key: value for key, value in msgspec.to_builtins(action).items() if key != "type"}


HOSTILE_ERRORS: dict[str, Callable[[], Any]] = {
    "GeneratorExit": raise_from(lambda: GeneratorExit("a bad day")),
    "StopIteration": raise_from(lambda: StopIteration({"type": "pass"})),
    "MemoryError": lambda: bytes(2**62),
    "what cannot be described": raise_from(IndescribableError),
    "a text that lies": raise_from(InvalidTextError),
    "a very long text": raise_from(lambda: ValueError("x" * 10 * HUGE_COUNT)),
    "half a character": raise_from(lambda: ValueError("\ud800")),
    "under a name that clears the screen": raise_from(type("\x1b[2J", (Exception,), {})),
    "under a very long name": raise_from(type("E" * HUGE_COUNT, (Exception,), {})),
    "a group": raise_from(lambda: BaseExceptionGroup("two bad days", [SystemExit(0), ValueError("x")])),
    "a chain of exceptions": raise_chained,
}
HOSTILE_ANSWERS: dict[str, Callable[[], Any]] = {
    "a number": lambda: 7,
    "a truth": lambda: False,
    "a fraction": lambda: float("nan"),
    "an empty list": list,
    "a set": lambda: {"pass"},
    "bytes": lambda: b'{"type":"pass"}',
    "half a character": lambda: {"type": "\ud800"},
    "a very long text": lambda: "x" * 10 * HUGE_COUNT,
    "a very long list": lambda: [0] * HUGE_COUNT,
    "a very long number": lambda: 10**4400,
    "a list in itself": self_containing_list,
    "lists in lists": nested_list,
    "a generator": count_endlessly,
    "a class": lambda: dict,
    "a function": lambda: self_containing_list,
    "foreign keys": lambda: {(1, 2): None, None: 1},
    "a trap": TrappedMapping,
    "a disguise": Disguised,
    "raw junk": lambda: msgspec.Raw(b'{"type":"pass"} {"type":"pass"}'),
    "raw brackets": lambda: msgspec.Raw(b"[" * HUGE_COUNT),
    "an exception": lambda: ValueError("a bad day"),
}
ACTION_TWISTS: dict[str, Callable[[Any], Any]] = {  # from a good action; None: this one cannot be twisted like that
    "numbers that lie": replace_numbers(LyingInt),
    "fractions": replace_numbers(float),
    "truths": replace_numbers(bool),
    "numbers in text": replace_numbers(str),
    "numbers in lists": replace_numbers(lambda number: [number]),
    "numbers out of range": replace_numbers(lambda number: 2**40 + number),
    "texts that lie": lambda action: replace_values(msgspec.to_builtins(action), str, LyingText),
    "one field more": lambda action: {**msgspec.to_builtins(action), "extra": 1},
    "no type": drop_type,
    "a list around it": lambda action: [action],
}
