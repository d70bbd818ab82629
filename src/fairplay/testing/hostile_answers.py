"""Make odd answers and exceptions of players in this process."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import msgspec

HUGE_COUNT = 10**6
NESTING_DEPTH = 10**4


class HostileCodeRan(AssertionError):
    """The referee used an object of a player in a way that runs the player's code."""


def fail_if_called(*_: Any, **__: Any) -> NoReturn:
    """Fail, as this must not be called."""
    raise HostileCodeRan("the player's code was run after it had answered")


class LyingInt(int):
    """A number whose comparisons run the player's code."""

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = fail_if_called
    __add__ = __mul__ = __sub__ = __rshift__ = fail_if_called

    def __hash__(self) -> int:
        return 0


class LyingText(str):
    """A text whose comparisons run the player's code."""

    __slots__ = ()
    __eq__ = __ne__ = __len__ = __iter__ = encode = fail_if_called

    def __hash__(self) -> int:
        return 0


class TrappedMapping(Mapping[str, Any]):
    """A mapping that runs the player's code whenever it is read."""

    __getitem__ = __iter__ = __len__ = items = keys = values = get = __contains__ = fail_if_called


class Disguised:
    """An object that claims to be of another class."""

    @property  # type: ignore[misc]  # that is the disguise
    def __class__(self) -> type:
        return dict

    __getattr__ = fail_if_called


class IndescribableError(Exception):
    """An exception that cannot be described."""

    __str__ = __repr__ = __format__ = fail_if_called

    @property
    def args(self) -> Any:  # type: ignore[override]
        """Fail, as the arguments must not be read."""
        return fail_if_called()


class InvalidTextError(Exception):
    """An exception whose text is not a plain string."""

    def __init__(self) -> None:
        super().__init__(LyingText("a bad day"))


def raise_from(make: Callable[[], BaseException]) -> Callable[[], Any]:
    """A behaviour that raises what this makes."""

    def behaviour() -> Any:
        raise make()

    return behaviour


def raise_chained() -> Any:
    """Raise an exception with a very long chain of causes."""
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
    """Plain JSON with all values of this kind replaced."""
    match plain:
        case dict():
            return {key: replace_values(value, kind, make) for key, value in plain.items()}
        case list() | tuple():
            return [replace_values(value, kind, make) for value in plain]
        case _:
            return make(plain) if type(plain) is kind else plain


def replace_numbers(make: Callable[[int], Any]) -> Callable[[Any], Any]:
    """A twist that replaces all numbers in an action; None: there are none."""

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
