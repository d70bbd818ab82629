"""Run files of test cases through a harness, and compare the answers with the expected ones."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from fairplay.core.errors import BadRequest, FairplayError

Harness = Callable[..., Any]  # from JSON values to a JSON value

WHITE_SPACE_CHARS = " \t\r\n"
BRACKETS = '[]{}"'  # need no blank beside them


class AnswerList(list[Any]):
    """The answers of a harness that takes any number of values, one for each."""


class Case(msgspec.Struct, frozen=True):
    """A test case with its expected answer; `settings` are the named arguments of the harness."""

    id: str
    input: list[Any]
    expected: Any
    settings: dict[str, Any]


class CaseResult(msgspec.Struct, frozen=True):
    """The answer of a harness to a case, and whether it is correct."""

    id: str
    expected: Any
    got: Any
    passed: bool


def run_cases(harness: Harness, cases: Iterable[Case]) -> Iterator[CaseResult]:
    """The outcome of each case, one by one."""
    for case in cases:
        try:
            got = call_harness(harness, case.input, case.settings)
        except FairplayError as error:
            yield CaseResult(case.id, case.expected, f"{type(error).__name__}: {error}", passed=False)
        else:
            yield CaseResult(case.id, case.expected, got, passed=is_same_value(case.expected, got))


def call_harness(harness: Harness, values: list[Any], settings: dict[str, Any]) -> Any:
    """The answer of a harness. Raises BadRequest if it reads fewer or more values."""
    signature = inspect.signature(harness)
    try:
        signature.bind(*values, **settings)
    except TypeError as error:
        reads = sum(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in signature.parameters.values())
        if len(values) != reads:
            raise BadRequest(f"the harness reads {reads} JSON value{'s' * (reads != 1)}, not {len(values)}") from None
        raise BadRequest(f"the harness does not take these settings: {error}") from None
    return harness(*values, **settings)


def is_same_value(one: Any, other: Any) -> bool:
    """Are these the same JSON values? Python takes true for 1, and JSON does not.

    >>> is_same_value([1, {"a": 0}], [1, {"a": False}])
    False
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_value(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_value, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def read_cases(text: bytes) -> list[Case]:
    """The cases of a file, one on each line. Raises BadRequest with the number of the line."""
    cases: list[Case] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        try:
            cases += _parse_case(read_values(line))
        except BadRequest as error:
            raise BadRequest(f"line {number}: {error}") from None
    return cases


def read_values(text: bytes) -> list[Any]:
    """The JSON values in a text, with any white space between them.

    >>> read_values(b' [1, 2]{"a": 3}  4 5')
    [[1, 2], {'a': 3}, 4, 5]
    """
    try:
        return list(_values(text.decode()))
    except RecursionError:
        raise BadRequest("not JSON: it is nested too deep") from None
    except ValueError as error:  # also invalid UTF-8, and numbers that are too long
        raise BadRequest(f"not JSON: {error}") from None


def _values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    at = _skip_blanks(text, 0)
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        at = _skip_blanks(text, end)
        if at == end < len(text) and text[end - 1] not in BRACKETS and text[end] not in BRACKETS:
            raise json.JSONDecodeError("Expecting a blank after the value", text, end)  # 01 is not 0 and 1
        yield value


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITE_SPACE_CHARS:
        at += 1
    return at


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _parse_case(values: list[Any]) -> list[Case]:
    """The case on a line; an empty line has none."""
    match values:
        case []:
            return []
        case [{"id": str(name), "input": list(given), "expected": expected, **rest}]:
            settings = {
                str(key): value for key, value in rest.items() if key != "group"
            }  # the group says where the case comes from
            return [Case(name, given, expected, settings)]
    raise BadRequest('not a case: an object with an "id", an array "input" and an "expected" answer')
